/* SPDX-License-Identifier: MIT */
/* Updating of a QR factorization A = Q R when rows or columns of A are added or removed: R. Andrew,
 * N. Dingle, "Implementing QR factorization updating algorithms on GPUs" (Parallel Computing,
 * 2014), with the order of work of sweep.h. Backward stable unless stated.
 *
 * All calls return false with the executor's fault on failure, leave the factorization unchanged
 * when they refuse, and may return before the work is done. work: qr_update_work bytes. info, in
 * executor memory: 0, or as stated. */
#pragma once

#include "factor/executors/executor.h"

/* The part of Q that is kept: nothing, its first n columns, all m columns. */
enum q_kept { Q_NONE, Q_THIN, Q_FULL };
extern const char *const q_kept_name[3];

/* The factorization of an m x n matrix, m >= n. The matrices may be larger than their used part, as
 * room to grow (qr_update_room). */
struct qr_factors {
	int64_t m, n;
	enum q_kept kept;
	struct matrix q; /* m x n or m x m */
	struct matrix r; /* n x n, upper triangular, zeros below */
	struct matrix d; /* Q^T B of d.n right-hand sides B (0: none): n rows, with Q_FULL m */
};

/* A change of p rows or columns at k (0-based), its operands u, v and b, and its info. */
enum qr_change {
	/* Columns k .. k+p-1 of A. */
	QR_REMOVE_COLUMNS,
	/* Columns of u (m x p), before column k of A; b (m x d.n): the right-hand sides, read with
	 * thin Q only. m >= n + p. u is overwritten. Needs Q. info (thin Q): the 1-based number of
	 * the first new column that depends on A's columns and the new ones before it; zeros then
	 * replace it in Q, whose columns are not orthonormal any more. */
	QR_ADD_COLUMNS,
	/* Rows of u (p x n), before row k of A, and those of b (p x d.n) to B. u and b are
	 * overwritten. */
	QR_ADD_ROWS,
	/* Rows k .. k+p-1 of A, which are u (p x n; read without Q only), and of B, which are b (p
	 * x d.n). m - p >= n. info (not with Q_FULL): the 1-based number of the first row without
	 * which A is not, or hardly, of full rank; the factorization is then undefined. Without Q
	 * the error grows with 1 / (1 - norm2(R^-T u^T)^2). */
	QR_REMOVE_ROWS,
	/* A := A + u v^T, u m x p and v n x p; b and info as with added columns. Needs Q. u is
	 * overwritten. */
	QR_MODIFY
};
extern const char *const qr_change_name[5];

/* The largest k of a change of p rows or columns; below 0: the change is impossible. */
int64_t qr_change_last(const struct qr_factors *, enum qr_change, int64_t p);

/* Bytes of executor memory that a change needs, or -1 with the executor's fault when it is refused.
 */
int64_t qr_update_work(struct executor *, const struct qr_factors *, enum qr_change, int64_t p);

/* Rows and columns that f->q, f->r and f->d need during the change; 0 x 0 for a part that is not
 * kept. */
struct qr_room {
	int64_t q_rows, q_columns, r_rows, r_columns, d_rows;
};
struct qr_room qr_update_room(const struct qr_factors *, enum qr_change, int64_t p);

/* Makes the change. u, v and b: its operands, as enum qr_change says; others are not read. */
bool qr_update(struct executor *, struct qr_factors *, enum qr_change, int64_t k, int64_t p,
        struct matrix u, struct matrix v, struct matrix b, void *work, int *info);
