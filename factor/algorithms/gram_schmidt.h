/* SPDX-License-Identifier: MIT */
/* The Gram-Schmidt process: the thin QR factorization A = Q R, m >= n, with Q's orthonormal columns
 * in place of A and R upper triangular with zeros below. It is bound by memory bandwidth (T.
 * Brandes, A. Arnold, T. Soddemann, D. Reith, "CPU vs. GPU - performance comparison for the
 * Gram-Schmidt algorithm", 2012), and can continue when columns arrive.
 *
 * A column that depends on earlier ones up to rounding leaves zeros in its column of Q and row of
 * R: the other columns of Q are orthonormal, and A = Q R. Norms are sums of squares: below 1e-19 or
 * above 1e18 in single precision the column looks dependent, or gives Inf and NaN. A NaN
 * propagates. */
#pragma once

#include "factor/executors/executor.h"

/* The forms. u is the unit roundoff, k A's condition after scaling its columns. norm2(I - Q^T Q) is
 * about u k in the forms down to blocked (modified Gram-Schmidt), up to u k^2 in block, u in twice
 * while u k is small. A - Q R is about u in all.
 *   - blas: dot products by gemv, normalization by scal, update by ger (their Listing 3); the host
 *     waits for every norm
 *   - kernels: dot products and update in two passes of our own
 *   - direct, shared, wide, atomic: the paper's kernels on the GPU
 *     (factor/kernels/gram_schmidt/gram_schmidt_shaped.cu); sums of atomic differ in their last
 *     bits from call to call;
 *     direct=NXxNY gives the blocks of threads
 *   - fused: both in one pass over the matrix
 *   - blocked: panels of nb columns; then the columns right of them are updated at once, in
 *     cache (their one-dimensional blocking; in pairs on the host, by the inverse of the triangle
 *     of their dot products)
 *   - block: halves down to nb columns, with gemm between
 *   - twice: blocks of nb columns against all before by gemm, each orthogonalized twice (BCGS2) */
extern const char *const gram_schmidt_forms[]; /* NULL-terminated */
bool gram_schmidt_in_blocks(const char *form); /* it reads nb */

enum { GRAM_SCHMIDT_BLOCK = 64 }; /* nb that suits most shapes */

/* The shape of the paper's kernels for a form, with the default or the named blocks of threads;
 * access GRAM_OWN for other forms and for an unknown name. */
struct gram_shape gram_schmidt_shape(const char *form);

/* Whether ex_gram_apply takes columns of these; false with a refusal. */
bool gram_apply_fits(struct executor *, struct matrix a);

/* Bytes of executor memory that gram_schmidt needs besides the matrices, or -1 with the executor's
 * fault when it refuses the form or the shape (n = 0, m < n). */
int64_t gram_schmidt_work(struct executor *, const char *form, int64_t nb, struct matrix a);

/* a (m x n) := Q, r (n x n) := R. info, in executor memory: 0, or the 1-based number of the first
 * dependent column. work: gram_schmidt_work bytes. False with the executor's fault on failure. May
 * return before the work is done. */
bool gram_schmidt(struct executor *, const char *form, int64_t nb, struct matrix a, struct matrix r,
        void *work, int *info);

/* The same for the first k columns only, 1 <= k <= n: they become orthonormal, and their parts are
 * subtracted from the other columns; r is k x n. Not by block and twice. */
bool gram_schmidt_first(struct executor *, const char *form, int64_t nb, int64_t k, struct matrix a,
        struct matrix r, void *work, int *info);

/* Adds columns to a basis: the first `basis` columns of a are orthonormal and stay. The other n
 * become orthonormal to them and to one another, nb at a time and each twice. r (basis + n x n):
 * the given columns equal the new a times r. info: as above, of the n columns. */
int64_t orthogonalize_work(struct executor *, int64_t nb, struct matrix a, int64_t basis);
bool orthogonalize(struct executor *, int64_t nb, struct matrix a, int64_t basis, struct matrix r,
        void *work, int *info);
