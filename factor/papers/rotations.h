/* SPDX-License-Identifier: MIT */
/* Wavefronts of Givens rotations (R. Andrew, N. Dingle, Parallel Computing, 2014; Fig. 1): one
 * kernel computes and applies the rotations of a stage, another applies them to other rows. Kept
 * for study: the sweeps of sweep.h need far fewer kernels. */
#pragma once

#include "lib/base/matrix.h"

C_BEGIN

/* Column-major device memory; g is 2 x count (cosines above sines), x has 2 count columns. make:
 * rotation i, of columns 2 i and 2 i + 1, makes x(row + i, 2 i + 1) zero and is stored in g. apply:
 * applies the rotations in g. stream is a cudaStream_t. Each returns a cudaError_t as an int. */
int rotations_make(int64_t row, struct matrix x, struct matrix g, void *stream);
int rotations_apply(struct matrix g, struct matrix x, void *stream);

C_END
