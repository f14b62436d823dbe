/* SPDX-License-Identifier: MIT */
/* The Gram-Schmidt process: the thin QR factorization A = Q R, m >= n, Q with orthonormal columns
 * in place of A, R upper triangular with zeros below. The factorization whose rate is the memory's
 * (T. Brandes, A. Arnold, T. Soddemann, D. Reith, "CPU vs. GPU - performance comparison for the
 * Gram-Schmidt algorithm", 2012), and the one that can go on when columns arrive.
 *
 * Forms, with u the unit roundoff and k the condition of A (columns that differ in scale alone
 * don't count):
 *   blas     dot products by gemv, normalization by scal, update by ger (their Listing 3); the
 *            host waits for every norm
 *   kernels  dot products and update in two passes of our own
 *   direct, shared, wide
 *            the paper's kernels on the GPU (factor/kernels/gram_schmidt/gram_schmidt_shaped.cu); by blocks of NX x NY
 *            threads when written as direct=NXxNY
 *   fused    both in one pass over the matrix
 *   blocked  panels of nb columns, then each column right of them goes through all nb at once, in
 *            cache (their one-dimensional blocking; on the host in pairs, which by the inverse
 *            of the triangle of their dot products is the same in exact arithmetic)
 *   block    halves down to nb columns, the left one taken out of the right one by gemm
 *   twice    blocks of nb columns, the ones before taken out by gemm, each orthogonalized twice
 *            (BCGS2)
 * norm2(I - Q^T Q) is about u k in those up to blocked, which are modified Gram-Schmidt, up to u
 * k^2 in block, u in twice (as long as u k is small). A - Q R is about u in all.
 *
 * A column that depends on those before it up to rounding leaves a column of zeros in Q and a row
 * of zeros in R: the other columns of Q are orthonormal, A = Q R all the same. Norms are sums of
 * squares: below 1e-19 or above 1e18 in single precision they are lost, which looks dependent or
 * gives Inf and NaN. A NaN propagates. */
#ifndef FATHOM_GRAM_SCHMIDT_H
#define FATHOM_GRAM_SCHMIDT_H

#include "factor/executors/executor.h"

/* Columns of a block that suits most shapes. */
enum { GRAM_SCHMIDT_BLOCK = 64 };

extern const char *const gram_schmidt_forms[]; /* NULL-terminated */

/* The form's kernels of the paper, with the blocks of threads that are named or suit most shapes:
 * access GRAM_OWN when it has none or the name is not one. */
struct gram_shape gram_schmidt_shape(const char *form);

/* Bytes of executor memory that gram_schmidt needs besides the matrices, or -1 with the executor's
 * fault when the form or the shape is refused (n = 0, m < n). */
int64_t gram_schmidt_work(struct executor *, const char *form, int64_t nb, struct matrix a);

/* a (m x n) := Q, r (n x n) := R. info, in executor memory: 0, or the 1-based number of the first
 * dependent column. False with the executor's fault on failure. May return before it is done. */
bool gram_schmidt(struct executor *, const char *form, int64_t nb, struct matrix a, struct matrix r,
        void *work, int *info);

/* The same when only the first k columns, 1 <= k <= n, become orthonormal and are taken out of the
 * others, which stay otherwise what they are; r (k x n). Not by block and twice. */
bool gram_schmidt_first(struct executor *, const char *form, int64_t nb, int64_t k, struct matrix a,
        struct matrix r, void *work, int *info);

/* Columns are added to a basis: the first `basis` columns of a are orthonormal and stay; the
 * others, n of them, become orthonormal to these and to one another, nb at a time and each twice. r
 * (basis + n x n): what they were is all of a times r. info: as above, of the n columns. */
int64_t orthogonalize_work(struct executor *, int64_t nb, struct matrix a, int64_t basis);
bool orthogonalize(struct executor *, int64_t nb, struct matrix a, int64_t basis, struct matrix r,
        void *work, int *info);

#endif
