/* SPDX-License-Identifier: MIT */
/* A QR factorization made again from its matrix, least squares with it, and its drift after many
 * changes (qr_update.h).
 *
 * All calls work on QUEUE_MAIN, return false with the executor's fault on failure and may return
 * before the work is done. work: as many bytes as the _work function returns, -1 when it is
 * refused. */
#pragma once

#include "qr_update.h"

/* The question whether to update or to factorize again. */
struct update_question {
	enum qr_change change;
	enum q_kept kept;
	int64_t m, n; /* before the change */
	int64_t k, p;
	int64_t sides; /* right-hand sides */
	enum precision precision;
	bool from_host; /* operands begin in pinned host memory, as Andrew and Dingle count time */
};

/* Rows and columns after the change. */
void update_shape_after(const struct update_question *, int64_t *m, int64_t *n);

/* Operands of the change: u and b as the functions of qr_update.h take them. */
struct update_given {
	struct matrix u, b;
};

/* The operands in larger matrices. */
struct update_given update_given_view(
        const struct update_question *, struct matrix u, struct matrix b);

/* Copies the factorization before the change (of R the triangle) and the operands that the change
 * reads from pinned host memory to executor memory; both have these shapes. */
bool update_to_device(struct executor *, const struct update_question *,
        const struct qr_factors *host, const struct qr_factors *f, struct update_given host_given,
        struct update_given given);

/* f's Q (the part that is kept), R and Q^T B become those of a (f->m x f->n) and b (f->m x f->d.n),
 * which stay: Householder's QR factorization of a copy, with the default plan. */
int64_t qr_refactor_work(struct executor *, const struct qr_factors *f);
bool qr_refactor(struct executor *, const struct qr_factors *f, struct matrix a, struct matrix b,
        void *work);

/* x (n x d.n) := R^-1 (Q^T B), which minimizes norm2(B - A x). */
bool qr_solve(struct executor *, const struct qr_factors *f, struct matrix x);

/* Least squares without a factorization that can change: gels with the default plan, in place of a
 * (m x n, m >= n) and b. */
int64_t qr_least_squares_work(struct executor *, struct matrix a, struct matrix b);
bool qr_least_squares(struct executor *, struct matrix a, struct matrix b, void *work, int *info);

/* Makes thin Q orthonormal again after drift or after dependent columns were added; Q R stays. By
 * Gram-Schmidt, twice; where Q has lost a direction, another one takes its place, with zeros in R.
 * Q^T B is made again from b (m x d.n). For use without A: with it, qr_refactor is faster. info, in
 * executor memory: 0, or the 1-based number of the first column of Q without a direction. */
int64_t qr_reorthogonalize_work(struct executor *, const struct qr_factors *f);
bool qr_reorthogonalize(
        struct executor *, const struct qr_factors *f, struct matrix b, void *work, int *info);

/* Sums of squares (sums: 4 x 1) of two errors and of their references, on the vector x (n x 1,
 * random), by at most 6 gemv. Q: its first n columns.
 *   0, 1   Q^T Q x - x and x; without Q 0 and norm2(x)^2
 *   2, 3   Q R x - A x and A x; without Q R^T R x - A^T A x and A^T A x; without a (a.n = 0) 0 and
 *          norm2(x)^2 */
int64_t qr_drift_work(struct executor *, const struct qr_factors *f);
bool qr_drift(struct executor *, const struct qr_factors *f, struct matrix a, struct matrix x,
        struct matrix sums, void *work);

/* Whether the sums, copied to the host, say that a factorization of m rows should be made again: an
 * error is more than QR_DRIFT_LIMIT sqrt(m) times the unit roundoff of the precision, or a NaN. */
enum { QR_DRIFT_LIMIT = 100 };
bool qr_drifted(enum precision precision, int64_t m, const double sums[4]);
