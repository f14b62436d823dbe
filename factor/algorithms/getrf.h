/* SPDX-License-Identifier: MIT */
/* LU factorization with partial pivoting, P A = L U, of any m x n matrix: blocked, right-looking,
 * with look-ahead, panels on the device or on the host CPU (Volkov and Demmel, LAWN 202, section
 * 3). LAPACK's getrf answer: unit lower L and U in place of A, ipiv, info.
 *
 * Row-major input: a row-major A (m x n, lda >= n) is the column-major A^T (n x m, same lda), and
 * that is what getrf factorizes, without a transpose: P A^T = L U. Read row-major, the memory then
 * holds A P^T = L' U' with L' = U^T lower and U' = L^T unit upper: pivoting exchanges columns of A
 * instead of rows, the unit diagonal is the upper factor's, and info counts rows. It is as stable,
 * but not LAPACK's L, U and ipiv of A. A x = b is solved by getrs with TRANSPOSED, A^T x = b by
 * PLAIN. */
#ifndef FATHOM_GETRF_H
#define FATHOM_GETRF_H

#include "factor/executors/executor.h"
#include "plan.h"

/* Bytes of executor memory that getrf needs besides the matrix (a copy of it and more where it
 * works on its transpose: executor.h, row_major; or where it is not aligned: aligned.h), or -1 with
 * the executor's fault when the plan or the shape is refused. */
int64_t getrf_work(struct executor *, const struct plan *, struct matrix a);

/* Factorizes a in place. pivots: n = min(m, n), 1-based rows, then info: the 1-based column of the
 * first exactly zero pivot, or 0. work: getrf_work bytes. False with the executor's fault on
 * failure. The call may return before it is done; what is put into QUEUE_MAIN later comes after
 * it. A NaN propagates. */
bool getrf(
        struct executor *, const struct plan *, struct matrix a, void *work, struct pivots pivots);

/* Whether that works on the transpose. */
bool getrf_row_major(const struct executor *, const struct plan *, struct matrix a);

/* The view of a row-major m x n matrix that getrf and getrs take. */
static inline struct matrix matrix_of_rows(
        void *data, int64_t m, int64_t n, int64_t lda, enum precision precision)
{
	return (struct matrix){data, 0, n, m, lda, precision};
}

#endif
