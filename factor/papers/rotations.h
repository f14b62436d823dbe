/* SPDX-License-Identifier: MIT */
/* Wavefronts of Givens rotations (R. Andrew, N. Dingle, Parallel Computing, 2014; Fig. 1): one
 * kernel makes and applies those of one stage, another applies them elsewhere. Kept for study: the
 * sweeps of sweep.h need far fewer kernels. */
#ifndef FATHOM_ROTATIONS_H
#define FATHOM_ROTATIONS_H

#include "lib/base/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Column-major device memory; g 2 x count (cosines above sines), x of 2 count columns. make: the
 * i-th rotation, of columns 2 i and 2 i + 1, makes x(row + i, 2 i + 1) zero, and goes to g; apply:
 * those in g. Each returns a cudaError_t as an int; stream is a cudaStream_t. */
int rotations_make(int64_t row, struct matrix x, struct matrix g, void *stream);
int rotations_apply(struct matrix g, struct matrix x, void *stream);

#ifdef __cplusplus
}
#endif
#endif
