/* SPDX-License-Identifier: MIT */
/* The kernel and the fit of the block_kernel probe. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"

C_BEGIN

/* One thread runs for `cycles` of its multiprocessor and writes its start and end to *span (pinned
 * memory). Returns a cudaError_t as an int. */
int block_kernel_pause(int64_t cycles, struct gpu_span *span, void *stream);

C_END

struct table;
struct profile;
void block_kernel_fit(const struct table *curve, struct profile *profile);
