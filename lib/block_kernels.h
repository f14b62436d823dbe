/* SPDX-License-Identifier: MIT */
/* Launchers of the kernels of blocked factorizations. Column-major device memory, leading
 * dimensions in elements; each returns a cudaError_t as an int. stream is a cudaStream_t. None
 * allocates or waits. Matrices without elements are allowed. */
#ifndef FATHOM_BLOCK_KERNELS_H
#define FATHOM_BLOCK_KERNELS_H

#include "matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Largest sizes: of potrf's block, of the triangle to be inverted, of larft's T. */
enum { BLOCK_POTRF_MAX = 512, BLOCK_TRTRI_MAX = 128, BLOCK_LARFT_MAX = 512 };

/* Device memory that an operation of several kernels needs: larft's V^T V in double, a diagonal
 * block of potrf. */
enum { BLOCK_SCRATCH_BYTES = BLOCK_LARFT_MAX * BLOCK_LARFT_MAX * 8 };

/* layout_kernels.cu: b = a^T; to = from; laset; V of the reflectors below a's diagonal. */
int block_transpose(struct matrix a, struct matrix b, void *stream);
int block_copy(struct matrix from, struct matrix to, void *stream);
int block_fill(enum uplo uplo, double off, double on, struct matrix a, void *stream);
int block_explicit_v(struct matrix a, struct matrix v, void *stream);

/* pivot_kernels.cu. laswp: rows i and ipiv[i]-1 of a exchanged for i = 0 .. p.n-1, or backwards; a
 * pivot that is no row of a from its own downwards exchanges nothing. adopt_pivots: all[first + i]
 * = panel[i] + first; the first info that is not zero stays, moved by first. raise_info: *info =
 * value unless *info is set. */
int block_laswp(struct matrix a, struct pivots p, bool backwards, void *stream);
int block_adopt_pivots(struct pivots panel, int64_t first, struct pivots all, void *stream);
int block_raise_info(int value, int *info, void *stream);

/* shared_bytes is what a block of threads may have of shared memory.
 * potrf_kernels.cu: Cholesky of a diagonal block whose first row is row `first` of the matrix: a
 * pivot that is not positive (or NaN) sets info, once, to its 1-based row; from then on all calls
 * with this info leave their blocks alone. scratch holds BLOCK_SCRATCH_BYTES. */
int block_potrf(enum uplo uplo, struct matrix a, int64_t first, int *info, void *scratch,
        int64_t shared_bytes, void *stream);

/* triangle_kernels.cu. trtri: inverse of the triangle a, zeros in the other triangle. larft: T out
 * of G = V^T V (both n x n) and tau. */
int block_trtri(enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse,
        int64_t shared_bytes, void *stream);
int block_larft(
        struct matrix g, struct matrix tau, struct matrix t, int64_t shared_bytes, void *stream);

/* guard_kernels.cu, a of order BLOCK_TRTRI_MAX at most: b, which is inverse times kept (or kept
 * times inverse), stays when the product of the largest magnitudes of the triangle a and of its
 * inverse is at most `growth`; else, and when the inverse has a NaN, b becomes the solution by
 * substitution from kept. */
int block_trsm_guard(enum side side, enum uplo uplo, enum trans trans, enum diag diag,
        struct matrix a, struct matrix inverse, double growth, struct matrix kept, struct matrix b,
        void *stream);

#ifdef __cplusplus
}
#endif
#endif
