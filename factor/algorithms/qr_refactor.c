/* SPDX-License-Identifier: MIT */
#include "qr_refactor.h"

#include "lib/base/msg.h"
#include "geqrf.h"
#include "gram_schmidt.h"
#include "plan_default.h"
#include "solve.h"
#include "host_transfer.h"

#include <float.h>
#include <math.h>

void update_shape_after(const struct update_question *q, int64_t *m, int64_t *n)
{
	bool rows = q->change == QR_ADD_ROWS || q->change == QR_REMOVE_ROWS;
	bool columns = q->change == QR_ADD_COLUMNS || q->change == QR_REMOVE_COLUMNS;
	bool more = q->change == QR_ADD_ROWS || q->change == QR_ADD_COLUMNS;

	*m = q->m + (rows ? more ? q->p : -q->p : 0);
	*n = q->n + (columns ? more ? q->p : -q->p : 0);
}

/* ---- from the host ---- */

/* Columns of the rectangles of a triangle (host_transfer.h). */
enum { TRIANGLE_COLUMNS = 256 };

struct update_given update_given_view(
        const struct update_question *q, struct matrix u, struct matrix b)
{
	bool columns = q->change == QR_ADD_COLUMNS || q->change == QR_MODIFY;
	int64_t p = q->change == QR_REMOVE_COLUMNS ? 0 : q->p, m = columns ? q->m : p;

	return (struct update_given){matrix_view(u, 0, 0, m, columns ? p : q->n),
	        matrix_view(b, 0, 0, m, p > 0 ? q->sides : 0)};
}

static bool move(struct executor *e, struct matrix host, struct matrix a)
{
	return a.m == 0 || a.n == 0 || matrix_to_device(e, WHOLE, 1, host, a);
}

static bool factors_to_device(
        struct executor *e, const struct qr_factors *host, const struct qr_factors *f)
{
	int64_t n = f->n, rows = f->kept == Q_FULL ? f->m : n;
	struct matrix r = matrix_view(f->r, 0, 0, n, n);

	return ex_fill(e, LOWER, 0, 0, matrix_view(r, 1, 0, n - 1, n - 1)) &&
	       matrix_to_device(e, UPPER, TRIANGLE_COLUMNS, matrix_view(host->r, 0, 0, n, n), r) &&
	       move(e, matrix_view(host->d, 0, 0, rows, f->d.n),
	               matrix_view(f->d, 0, 0, rows, f->d.n)) &&
	       (f->kept == Q_NONE || move(e, matrix_view(host->q, 0, 0, f->m, rows),
	                                     matrix_view(f->q, 0, 0, f->m, rows)));
}

bool update_to_device(struct executor *e, const struct update_question *q,
        const struct qr_factors *host, const struct qr_factors *f, struct update_given host_given,
        struct update_given given)
{
	bool removes = q->change == QR_REMOVE_ROWS;

	e->queue = QUEUE_MAIN;
	return factors_to_device(e, host, f) &&
	       ((removes && f->kept != Q_NONE) || move(e, host_given.u, given.u)) &&
	       ((f->kept == Q_FULL && q->change != QR_ADD_ROWS) || move(e, host_given.b, given.b));
}

/* ---- again ---- */

struct refactor {
	struct executor *e;
	const struct qr_factors *f;
	struct default_plan choice;
	struct matrix a, b, tau, q; /* q: the part of Q that is kept */
	void *work;
	int64_t bytes; /* -1: refused */
};

static void refactor_set_up(
        struct refactor *s, struct executor *e, const struct qr_factors *f, void *work)
{
	struct workspace workspace = {work, 0};
	enum precision precision = f->r.precision;
	const struct plan *plan = &s->choice.plan;
	int64_t inner;

	*s = (struct refactor){.e = e, .f = f, .bytes = -1};
	if (f->n < 1 || f->m < f->n) {
		fault_refuse(&e->fault, "a factorization that changes has at least as many rows as "
		                        "columns, and a column");
		return;
	}
	s->a = workspace_matrix(&workspace, f->m, f->n, precision);
	s->b = workspace_matrix(&workspace, f->m, f->d.n, precision);
	s->tau = workspace_matrix(&workspace, f->n, 1, precision);
	s->q = matrix_view(f->q, 0, 0, f->m, f->kept == Q_FULL ? f->m : f->n);
	s->work = workspace_bytes(&workspace, 0);
	plan_default(e, GEQRF, f->m, f->n, precision, false, &s->choice);
	inner = geqrf_work(e, plan, s->a);
	if (inner >= 0 && f->d.n > 0)
		inner = max_int64(inner, ormqr_work(e, plan, LEFT, s->a, s->tau, s->b));
	if (inner >= 0 && f->kept != Q_NONE)
		inner = max_int64(inner, orgqr_work(e, plan, s->a, s->tau, s->q));
	s->bytes = inner < 0 ? -1 : workspace.used + inner;
}

int64_t qr_refactor_work(struct executor *e, const struct qr_factors *f)
{
	struct refactor s;

	refactor_set_up(&s, e, f, NULL);
	return s.bytes;
}

/* R and zeros below it, from the factorized copy. */
static bool take_r(const struct refactor *s)
{
	int64_t n = s->f->n;
	struct matrix r = s->f->r;

	return ex_copy(s->e, WHOLE, matrix_view(s->a, 0, 0, n, n), matrix_view(r, 0, 0, n, n)) &&
	       ex_fill(s->e, LOWER, 0, 0, matrix_view(r, 1, 0, n - 1, n - 1));
}

static bool take_sides(struct refactor *s, struct matrix b)
{
	const struct qr_factors *f = s->f;
	int64_t rows = f->kept == Q_FULL ? f->m : f->n, count = f->d.n;

	return count == 0 || (ex_copy(s->e, WHOLE, b, s->b) &&
	                             ormqr(s->e, &s->choice.plan, LEFT, TRANSPOSED, s->a, s->tau,
	                                     s->b, s->work) &&
	                             ex_copy(s->e, WHOLE, matrix_view(s->b, 0, 0, rows, count),
	                                     matrix_view(f->d, 0, 0, rows, count)));
}

bool qr_refactor(struct executor *e, const struct qr_factors *f, struct matrix a, struct matrix b,
        void *work)
{
	struct refactor s;

	refactor_set_up(&s, e, f, work);
	e->queue = QUEUE_MAIN;
	return s.bytes >= 0 && ex_copy(e, WHOLE, a, s.a) &&
	       geqrf(e, &s.choice.plan, s.a, s.tau, s.work) && take_r(&s) && take_sides(&s, b) &&
	       (f->kept == Q_NONE || orgqr(e, &s.choice.plan, s.a, s.tau, s.q, s.work));
}

bool qr_solve(struct executor *e, const struct qr_factors *f, struct matrix x)
{
	return ex_copy(e, WHOLE, matrix_view(f->d, 0, 0, f->n, f->d.n), x) &&
	       ex_trsm(e, LEFT, UPPER, PLAIN, NON_UNIT, 1, matrix_view(f->r, 0, 0, f->n, f->n), x);
}

int64_t qr_least_squares_work(struct executor *e, struct matrix a, struct matrix b)
{
	struct default_plan choice;

	plan_default(e, GEQRF, a.m, a.n, a.precision, false, &choice);
	return gels_work(e, &choice.plan, a, b);
}

bool qr_least_squares(struct executor *e, struct matrix a, struct matrix b, void *work, int *info)
{
	struct default_plan choice;

	plan_default(e, GEQRF, a.m, a.n, a.precision, false, &choice);
	return gels(e, &choice.plan, PLAIN, a, b, work, info, NULL);
}

/* ---- orthonormal again ---- */

/* Q = Q' S by Gram-Schmidt, and R' = S R. A column of Q that depends on others leaves a zero column
 * in Q' and a zero row in S, hence in R': any column may stand there, and Q' R' is the same. It is
 * a column of Z, made orthogonal to Q': Y = Z (I - Q'^T Q') is about zero in all other columns. */
struct repair {
	struct executor *e;
	const struct qr_factors *f;
	struct matrix q, s, t; /* Q; n x n */
	struct matrix y, z;    /* as large as Q */
	void *gram;
	int64_t bytes; /* -1: refused */
};

static const char form[] = "twice";

static void repair_set_up(
        struct repair *u, struct executor *e, const struct qr_factors *f, void *work)
{
	struct workspace workspace = {work, 0};
	enum precision precision = f->r.precision;

	*u = (struct repair){.e = e, .f = f, .bytes = -1};
	if (f->kept != Q_THIN) {
		fault_refuse(&e->fault, "what is made orthonormal again is thin Q, not Q %s",
		        q_kept_name[f->kept]);
		return;
	}
	u->q = matrix_view(f->q, 0, 0, f->m, f->n);
	u->s = workspace_matrix(&workspace, f->n, f->n, precision);
	u->t = workspace_matrix(&workspace, f->n, f->n, precision);
	u->y = workspace_matrix(&workspace, f->m, f->n, precision);
	u->z = workspace_matrix(&workspace, f->m, f->n, precision);
	u->gram = workspace_bytes(&workspace, 0);
	int64_t inner = gram_schmidt_work(e, form, GRAM_SCHMIDT_BLOCK, u->q);
	u->bytes = inner < 0 ? -1 : workspace.used + inner;
}

int64_t qr_reorthogonalize_work(struct executor *e, const struct qr_factors *f)
{
	struct repair u;

	repair_set_up(&u, e, f, NULL);
	return u.bytes;
}

static bool orthonormal(const struct repair *u, int *info)
{
	return gram_schmidt(u->e, form, GRAM_SCHMIDT_BLOCK, u->q, u->s, u->gram, info);
}

/* R := S R */
static bool move_into_r(const struct repair *u)
{
	struct matrix r = matrix_view(u->f->r, 0, 0, u->f->n, u->f->n);

	return ex_gemm(u->e, PLAIN, PLAIN, 1, u->s, r, 0, u->t) && ex_copy(u->e, WHOLE, u->t, r);
}

/* y := Z (I - Q^T Q). Z: the last n unit vectors, each with a small part of every other one. */
static bool draw(const struct repair *u)
{
	struct executor *e = u->e;
	int64_t m = u->f->m, n = u->f->n;
	double little = 1 / (double)m;

	return ex_fill(e, WHOLE, little, little, u->z) &&
	       ex_fill(e, WHOLE, little, 1, matrix_view(u->z, m - n, 0, n, n)) &&
	       ex_fill(e, WHOLE, 0, 1, u->t) &&
	       ex_gemm(e, TRANSPOSED, PLAIN, -1, u->q, u->q, 1, u->t) &&
	       ex_gemm(e, PLAIN, PLAIN, 1, u->z, u->t, 0, u->y);
}

static bool take_out(const struct repair *u)
{
	return ex_gemm(u->e, TRANSPOSED, PLAIN, 1, u->q, u->y, 0, u->t) &&
	       ex_gemm(u->e, PLAIN, PLAIN, -1, u->q, u->t, 1, u->y);
}

/* Q += y */
static bool fill_in(const struct repair *u)
{
	return ex_fill(u->e, WHOLE, 0, 1, u->t) &&
	       ex_gemm(u->e, PLAIN, PLAIN, 1, u->y, u->t, 1, u->q);
}

bool qr_reorthogonalize(
        struct executor *e, const struct qr_factors *f, struct matrix b, void *work, int *info)
{
	struct repair u;

	repair_set_up(&u, e, f, work);
	e->queue = QUEUE_MAIN;
	return u.bytes >= 0 && orthonormal(&u, info) && move_into_r(&u) && draw(&u) &&
	       take_out(&u) && take_out(&u) && fill_in(&u) && orthonormal(&u, info) &&
	       (f->d.n == 0 || ex_gemm(e, TRANSPOSED, PLAIN, 1, u.q, b, 0,
	                               matrix_view(f->d, 0, 0, f->n, f->d.n)));
}

/* ---- drift ---- */

struct drift {
	struct executor *e;
	const struct qr_factors *f;
	struct matrix tall, wide, rx, sums; /* of m, n and n elements */
	int64_t bytes;
};

static struct drift drift_of(struct executor *e, const struct qr_factors *f, void *work)
{
	struct drift s = {.e = e, .f = f};
	struct workspace workspace = {work, 0};

	s.tall = workspace_matrix(&workspace, f->m, 1, f->r.precision);
	s.wide = workspace_matrix(&workspace, f->n, 1, f->r.precision);
	s.rx = workspace_matrix(&workspace, f->n, 1, f->r.precision);
	s.bytes = workspace.used;
	return s;
}

int64_t qr_drift_work(struct executor *e, const struct qr_factors *f)
{
	return drift_of(e, f, NULL).bytes;
}

static bool put_sum(const struct drift *s, struct matrix x, int64_t at)
{
	return ex_column_norms(s->e, x, matrix_view(s->sums, at, 0, 1, 1));
}

static struct matrix thin(const struct drift *s)
{
	return matrix_view(s->f->q, 0, 0, s->f->m, s->f->n);
}

static bool orthogonality(const struct drift *s, struct matrix x)
{
	struct executor *e = s->e;

	if (s->f->kept == Q_NONE)
		return ex_fill(e, WHOLE, 0, 0, matrix_view(s->sums, 0, 0, 1, 1)) &&
		       put_sum(s, x, 1);
	return ex_copy(e, WHOLE, x, s->wide) && ex_gemv(e, PLAIN, 1, thin(s), x, 0, s->tall) &&
	       ex_gemv(e, TRANSPOSED, 1, thin(s), s->tall, -1, s->wide) && put_sum(s, s->wide, 0) &&
	       put_sum(s, x, 1);
}

static bool residual(const struct drift *s, struct matrix a, struct matrix x)
{
	struct executor *e = s->e;
	struct matrix r = matrix_view(s->f->r, 0, 0, s->f->n, s->f->n);

	if (a.n == 0)
		return ex_fill(e, WHOLE, 0, 0, matrix_view(s->sums, 2, 0, 1, 1)) &&
		       put_sum(s, x, 3);
	bool ok = ex_gemv(e, PLAIN, 1, r, x, 0, s->rx) && ex_gemv(e, PLAIN, 1, a, x, 0, s->tall);
	if (s->f->kept != Q_NONE)
		return ok && put_sum(s, s->tall, 3) &&
		       ex_gemv(e, PLAIN, -1, thin(s), s->rx, 1, s->tall) && put_sum(s, s->tall, 2);
	return ok && ex_gemv(e, TRANSPOSED, 1, a, s->tall, 0, s->wide) && put_sum(s, s->wide, 3) &&
	       ex_gemv(e, TRANSPOSED, -1, r, s->rx, 1, s->wide) && put_sum(s, s->wide, 2);
}

bool qr_drift(struct executor *e, const struct qr_factors *f, struct matrix a, struct matrix x,
        struct matrix sums, void *work)
{
	struct drift s = drift_of(e, f, work);

	s.sums = sums;
	e->queue = QUEUE_MAIN;
	return orthogonality(&s, x) && residual(&s, a, x);
}

bool qr_drifted(enum precision precision, int64_t m, const double sums[4])
{
	const double eps = (precision == SINGLE ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
	const double most = QR_DRIFT_LIMIT * sqrt((double)m) * eps;

	return !(sqrt(sums[0]) <= most * sqrt(sums[1]) && sqrt(sums[2]) <= most * sqrt(sums[3]));
}
