/* SPDX-License-Identifier: MIT */
/* The part of gemm_volkov.h that the cost model reads: host-only. */
#pragma once

/* Parts of a product that are left out. Without fetches the addresses of A and B stand in for their
 * elements: the instructions stay and the result has no meaning. Without prefetches every fetch
 * comes right before its use. */
enum volkov_without { VOLKOV_COMPLETE, VOLKOV_NO_FETCH, VOLKOV_NO_PREFETCH, VOLKOV_WAYS };
