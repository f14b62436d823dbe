/* SPDX-License-Identifier: MIT */
/* The kernel of the transfer probe. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

/* Copies with 16-byte accesses from `blocks` blocks; from or to may be mapped host memory. Both lie
 * at multiples of 16 bytes. Errors stay in cudaGetLastError, as this is timed. stream is a
 * cudaStream_t. */
void transfer_copy(void *to, const void *from, int64_t bytes, int blocks, void *stream);

C_END
