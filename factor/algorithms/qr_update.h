/* SPDX-License-Identifier: MIT */
/* A QR factorization A = Q R goes on when rows or columns of A come and go: R. Andrew, N. Dingle,
 * "Implementing QR factorization updating algorithms on GPUs" (Parallel Computing, 2014), in the
 * order of work of sweep.h. Backward stable but where said.
 *
 * All calls return false with the executor's fault on failure, leave the factorization alone when
 * they refuse, and may return before they are done. work: qr_update_work bytes. info, in executor
 * memory: 0, or said. */
#ifndef FATHOM_QR_UPDATE_H
#define FATHOM_QR_UPDATE_H

#include "factor/executors/executor.h"

/* What is kept of Q: nothing, its first n columns, all of its m columns. */
enum q_kept { Q_NONE, Q_THIN, Q_FULL };
extern const char *const q_kept_name[3];

/* The factorization of an m x n matrix, m >= n. The matrices are room: larger than what is used of
 * them where they are to grow. */
struct qr_factors {
	int64_t m, n;
	enum q_kept kept;
	struct matrix q; /* m x n or m x m */
	struct matrix r; /* n x n, upper triangular, zeros below; any rows below are not its */
	struct matrix d; /* Q^T B of the right-hand sides B, d.n of them (0: none): n rows, with all
	                    of Q m */
};

/* A change of p rows or columns at k (0-based). */
enum qr_change { QR_REMOVE_COLUMNS, QR_ADD_COLUMNS, QR_ADD_ROWS, QR_REMOVE_ROWS, QR_MODIFY };
extern const char *const qr_change_name[5];

/* Bytes of executor memory that a change needs, -1 with the executor's fault when it is refused. */
int64_t qr_update_work(struct executor *, const struct qr_factors *, enum qr_change, int64_t p);

/* Room that the change needs in f->q, f->r and f->d while it lasts (rows and columns; 0 x 0 for
 * what is not kept). */
struct qr_room {
	int64_t q_rows, q_columns, r_rows, r_columns, d_rows;
};
struct qr_room qr_update_room(const struct qr_factors *, enum qr_change, int64_t p);

/* A loses its columns k .. k+p-1. */
bool qr_remove_columns(struct executor *, struct qr_factors *, int64_t k, int64_t p, void *work);

/* A gets the columns of u (m x p) before its column k; b (m x d.n) are the right-hand sides, which
 * only thin Q needs. m >= n + p. u is overwritten. Needs Q. info (thin): the 1-based number of the
 * first of the new columns that depends on those of A and those before it; zeros stand for it in
 * what Q is made of, whose columns are not orthonormal any more. */
bool qr_add_columns(struct executor *, struct qr_factors *, int64_t k, struct matrix u,
        struct matrix b, void *work, int *info);

/* A gets the rows of u (p x n) before its row k, B those of b (p x d.n). Both are overwritten. */
bool qr_add_rows(struct executor *, struct qr_factors *, int64_t k, struct matrix u,
        struct matrix b, void *work);

/* A loses its rows k .. k+p-1, u (p x n; needed without Q only), and B the rows b (p x d.n). m - p
 * >= n. Without all of Q: info is the 1-based number of the first of the rows without which A has
 * not full rank (or nearly so); the factorization is worth nothing then. Without Q the error grows
 * with 1 / (1 - norm2(R^-T u^T)^2). */
bool qr_remove_rows(struct executor *, struct qr_factors *, int64_t k, int64_t p, struct matrix u,
        struct matrix b, void *work, int *info);

/* A := A + u v^T, u m x p and v n x p; b as in qr_add_columns. Needs Q. u is overwritten. */
bool qr_modify(struct executor *, struct qr_factors *, struct matrix u, struct matrix v,
        struct matrix b, void *work, int *info);

#endif
