/* SPDX-License-Identifier: MIT */
/* LU factorization with partial pivoting, P A = L U, of any m x n matrix: blocked, right-looking,
 * with look-ahead, panels on the device or on the host CPU (Volkov and Demmel, LAWN 202, section
 * 5). The result is that of LAPACK's getrf: unit lower L and U in place of A, ipiv, info.
 *
 * Row-major input: a row-major A (m x n, lda >= n) is the column-major A^T (n x m, same lda). getrf
 * factorizes A^T without a transpose: P A^T = L U. Read row-major, the memory then holds A P^T = L'
 * U' with L' = U^T lower and U' = L^T unit upper: pivoting exchanges columns of A, the unit
 * diagonal is the upper factor's, and info counts rows. The factorization is as stable, but it is
 * not LAPACK's L, U and ipiv of A. getrs solves A x = b with TRANSPOSED, A^T x = b with PLAIN. */
#pragma once

#include "factor/executors/executor.h"
#include "plan.h"

/* Bytes of executor memory that getrf needs besides the matrix, or -1 with the executor's fault
 * when it refuses the plan or the shape. They include a copy of the matrix where getrf works on its
 * transpose or on an aligned copy (aligned.h). */
int64_t getrf_work(struct executor *, const struct plan *, struct matrix a);

/* Factorizes a in place. pivots: n = min(m, n), 1-based rows, then info: the 1-based column of the
 * first exactly zero pivot, or 0. work: getrf_work bytes. False with the executor's fault on
 * failure. The call may return before the work is done; later work in QUEUE_MAIN comes after it. A
 * NaN propagates. */
bool getrf(
        struct executor *, const struct plan *, struct matrix a, void *work, struct pivots pivots);

/* Whether getrf works on the transpose. */
bool getrf_row_major(const struct executor *, const struct plan *, struct matrix a);

/* Row-major: c is the transpose of columns beside a panel from the panel's first row on. Swaps rows
 * and solves the first of them with the panel's triangle, which is column-major. */
bool lu_top_row_major(struct executor *, struct matrix triangle, struct pivots p, struct matrix c);

/* The view of a row-major m x n matrix that getrf and getrs take. */
static inline struct matrix matrix_of_rows(
        void *data, int64_t m, int64_t n, int64_t lda, enum precision precision)
{
	return (struct matrix){data, 0, n, m, lda, precision};
}
