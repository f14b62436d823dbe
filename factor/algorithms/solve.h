/* SPDX-License-Identifier: MIT */
/* Solves with the factors: LAPACK's getrs, potrs, ormqr, orgqr and gels. All work goes into
 * QUEUE_MAIN. Calls may return before the work is done, and return false with the executor's fault
 * on failure. A singular factor gives Inf or NaN, as in LAPACK. */
#pragma once

#include "factor/executors/executor.h"
#include "plan.h"

/* Solves A X = B (PLAIN) or A^T X = B with getrf's n x n factors lu; b, n x nrhs, becomes X. */
bool getrs(struct executor *, enum trans trans, struct matrix lu, struct pivots pivots,
        struct matrix b);

/* Solves A X = B with potrf's factor a, n x n; b, n x nrhs, becomes X. */
bool potrs(struct executor *, enum uplo uplo, struct matrix a, struct matrix b);

/* The plan gives the widths in which the reflectors are applied (any widths, not only those of the
 * factorization) and, as leaf, the widths in which T is formed. work: as many bytes as the _work
 * function returns; -1 with the executor's fault when it refuses the plan or the shapes. */

/* C := op(Q) C (LEFT) or C op(Q) (RIGHT), where Q is the m x m product of the k reflectors in a
 * (geqrf's, m x k at least) with k taus; m is C's rows or columns. */
int64_t ormqr_work(struct executor *, const struct plan *, enum side side, struct matrix a,
        struct matrix tau, struct matrix c);
bool ormqr(struct executor *, const struct plan *, enum side side, enum trans trans,
        struct matrix a, struct matrix tau, struct matrix c, void *work);

/* The first p columns of Q into q (m x p, not a): thin with p = k, full with p = m. */
int64_t orgqr_work(struct executor *, const struct plan *, struct matrix a, struct matrix tau,
        struct matrix q);
bool orgqr(struct executor *, const struct plan *, struct matrix a, struct matrix tau,
        struct matrix q, void *work);

/* Minimizes norm2(B - op(A) X), A of full rank: the least-squares solution when op(A) has at least
 * as many rows as columns, else the solution of minimum norm. b, with max(m, n) rows, holds B on
 * entry and X on return. Below a least-squares solution the sum of squares of a column is its
 * residual's. When m >= n, a is overwritten by its QR factorization; otherwise a stays, and work
 * holds the factorization of A^T. *info, in executor memory: 0, or the 1-based index of the first
 * exactly zero diagonal element of R: then A is not of full rank and X is undefined. *doubtful (or
 * NULL), in executor memory, becomes 1 when R's diagonal suggests that A is not of full rank. A
 * tiny R is multiplied by a power of two (check_triangle). */
int64_t gels_work(struct executor *, const struct plan *, struct matrix a, struct matrix b);
bool gels(struct executor *, const struct plan *, enum trans trans, struct matrix a,
        struct matrix b, void *work, int *info, int *doubtful);
