/* SPDX-License-Identifier: MIT */
/* Symmetric updates by 3xTF32 in one kernel, by warpgroups of compute capability 9.0. */
#ifndef FATHOM_TF32_SYRK_H
#define FATHOM_TF32_SYRK_H

#include "matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this program has that kernel for the device that is current: it needs code for sm_90a. */
bool tf32_syrk_built(void);

/* Of the product X^T X, X the matrix that `stack` is the stack of (TF32_PAIR, lib/tf32.h, of at
 * most TF32_PIECE rows, at an address of a multiple of 16 bytes): alpha times its triangle is added
 * to that of c, and what is below (LOWER, c m x n, m >= n) or right of it (UPPER, m <= n) to what
 * is there; the stack has as many columns as the longer side. The rest of c stays as it is, but
 * beside the diagonal it is read and written back. It takes less time when c begins at 16 bytes and
 * has a leading dimension of a multiple of four. shared: a block a tile, which lets other kernels
 * in between; else blocks stay for several, which is quicker alone. stream is a cudaStream_t;
 * returns a cudaError_t. */
int tf32_syrk(enum uplo uplo, double alpha, struct matrix stack, struct matrix c, bool shared,
        void *stream);

#ifdef __cplusplus
}
#endif
#endif
