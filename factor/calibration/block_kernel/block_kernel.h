/* SPDX-License-Identifier: MIT */
/* The kernel and the fit of the block_kernel probe. */
#ifndef FATHOM_PROBE_BLOCK_KERNEL_H
#define FATHOM_PROBE_BLOCK_KERNEL_H

#include "lib/base/base.h"
#include "lib/device/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One thread, for so many cycles of its multiprocessor; *span (pinned) says when. Returns the
 * cudaError_t. */
int block_kernel_pause(int64_t cycles, struct gpu_span *span, void *stream);

#ifdef __cplusplus
}
#endif

struct table;
struct profile;
void block_kernel_fit(const struct table *curve, struct profile *profile);

#endif
