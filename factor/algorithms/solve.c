/* SPDX-License-Identifier: MIT */
/* Operations with r right-hand sides: getrs and potrs 2 n^2 r; k reflectors of length m applied to
 * c columns 2 k c (2 m - k), Q formed with p columns 4 m p k - 2 (m + p) k^2 + 4 k^3 / 3. */
#include "solve.h"

#include "geqrf.h"
#include "reflectors.h"
#include "schedule.h"

#include "lib/base/msg.h"

#include <inttypes.h>

static bool square_check(struct executor *e, struct matrix a, struct matrix b)
{
	if (!matrix_check(e, a) || !matrix_check(e, b))
		return false;
	if (a.m != a.n || a.n != b.m)
		return fault_refuse(&e->fault,
		        "factors of %" PRId64 " x %" PRId64 " can't solve for %" PRId64 " rows",
		        a.m, a.n, b.m);
	return true;
}

bool getrs(struct executor *e, enum trans trans, struct matrix lu, struct pivots pivots,
        struct matrix b)
{
	if (!square_check(e, lu, b))
		return false;
	e->queue = QUEUE_MAIN;
	if (trans == PLAIN)
		return ex_laswp(e, b, pivots, false) &&
		       ex_trsm(e, LEFT, LOWER, PLAIN, UNIT, 1, lu, b) &&
		       ex_trsm(e, LEFT, UPPER, PLAIN, NON_UNIT, 1, lu, b);
	return ex_trsm(e, LEFT, UPPER, TRANSPOSED, NON_UNIT, 1, lu, b) &&
	       ex_trsm(e, LEFT, LOWER, TRANSPOSED, UNIT, 1, lu, b) && ex_laswp(e, b, pivots, true);
}

bool potrs(struct executor *e, enum uplo uplo, struct matrix a, struct matrix b)
{
	enum trans first = uplo == LOWER ? PLAIN : TRANSPOSED;
	enum trans second = uplo == LOWER ? TRANSPOSED : PLAIN;

	if (!square_check(e, a, b))
		return false;
	e->queue = QUEUE_MAIN;
	return ex_trsm(e, LEFT, uplo, first, NON_UNIT, 1, a, b) &&
	       ex_trsm(e, LEFT, uplo, second, NON_UNIT, 1, a, b);
}

/* ---- Q, block by block ---- */

struct application {
	struct schedule schedule; /* for its blocks only */
	struct executor *e;
	const struct plan *plan;
	struct matrix a, tau;
	struct reflectors reflectors;
	struct reflector_work work;
	int64_t bytes;
};

/* columns: of C (its rows, from the right) */
static bool set_up(struct application *s, struct executor *e, const struct plan *plan,
        struct matrix a, struct matrix tau, int64_t columns, void *work)
{
	struct workspace workspace = {work, 0};

	*s = (struct application){.e = e, .plan = plan, .a = a, .tau = tau};
	s->schedule = (struct schedule){.e = e, .plan = plan, .steps = tau.m};
	if (!plan_check(e, plan) || !matrix_check(e, a))
		return false;
	if (tau.m > a.m || tau.m > a.n)
		return fault_refuse(&e->fault,
		        "%" PRId64 " reflectors are more than a matrix of %" PRId64 " x %" PRId64
		        " holds",
		        tau.m, a.m, a.n);
	int64_t widest = plan_widest(plan, tau.m);
	s->reflectors = reflectors_workspace(&workspace, a.m, widest, a.precision);
	s->work = reflector_work_workspace(
	        &workspace, widest, max_int64(columns, widest), a.precision);
	s->bytes = workspace.used;
	e->queue = QUEUE_MAIN;
	return true;
}

/* V and T of a block, in the one workspace for them. */
static bool form(struct application *s, struct block b, struct reflectors *r)
{
	int64_t m = s->a.m - b.j;

	*r = (struct reflectors){
	        room_for(s->reflectors.v, m, b.w), matrix_view(s->reflectors.t, 0, 0, b.w, b.w)};
	return reflectors_form(s->e, s->plan, matrix_view(s->a, b.j, b.j, m, b.w),
	        matrix_view(s->tau, b.j, 0, b.w, 1), *r, s->work);
}

/* The block that ends before column j. */
static struct block block_before(const struct application *s, int64_t j)
{
	struct block b = schedule_first(&s->schedule);

	while (b.w && b.j + b.w < j)
		b = schedule_next(&s->schedule, b);
	return b;
}

static bool apply_block(
        struct application *s, struct block b, enum side side, enum trans trans, struct matrix c)
{
	struct matrix part = side == LEFT ? matrix_view(c, b.j, 0, c.m - b.j, c.n)
	                                  : matrix_view(c, 0, b.j, c.m, c.n - b.j);
	struct reflectors r;

	return form(s, b, &r) && reflectors_apply(s->e, side, trans, r, s->work, part);
}

static bool ormqr_set_up(struct application *s, struct executor *e, const struct plan *plan,
        enum side side, struct matrix a, struct matrix tau, struct matrix c, void *work)
{
	int64_t length = side == LEFT ? c.m : c.n;

	if (length != a.m)
		return fault_refuse(&e->fault,
		        "reflectors of length %" PRId64
		        " can't be applied to vectors of length %" PRId64,
		        a.m, length);
	return matrix_check(e, c) && set_up(s, e, plan, a, tau, side == LEFT ? c.n : c.m, work);
}

int64_t ormqr_work(struct executor *e, const struct plan *plan, enum side side, struct matrix a,
        struct matrix tau, struct matrix c)
{
	struct application s = {0};

	return ormqr_set_up(&s, e, plan, side, a, tau, c, NULL) ? s.bytes : -1;
}

bool ormqr(struct executor *e, const struct plan *plan, enum side side, enum trans trans,
        struct matrix a, struct matrix tau, struct matrix c, void *work)
{
	struct application s = {0};
	bool ok = true;

	if (!ormqr_set_up(&s, e, plan, side, a, tau, c, work))
		return false;
	/* Q = H1 H2 ...: the last block touches C first in Q C and in C Q^T */
	if ((side == LEFT) == (trans == PLAIN))
		for (int64_t j = tau.m; ok && j > 0; j = block_before(&s, j).j)
			ok = apply_block(&s, block_before(&s, j), side, trans, c);
	else
		for (struct block b = schedule_first(&s.schedule); ok && b.w;
		        b = schedule_next(&s.schedule, b))
			ok = apply_block(&s, b, side, trans, c);
	return ok;
}

static bool orgqr_set_up(struct application *s, struct executor *e, const struct plan *plan,
        struct matrix a, struct matrix tau, struct matrix q, void *work)
{
	if (q.m != a.m || q.n < tau.m || q.n > q.m)
		return fault_refuse(&e->fault,
		        "Q of %" PRId64 " reflectors of length %" PRId64 " can't be %" PRId64
		        " x %" PRId64,
		        tau.m, a.m, q.m, q.n);
	return matrix_check(e, q) && set_up(s, e, plan, a, tau, q.n, work);
}

int64_t orgqr_work(struct executor *e, const struct plan *plan, struct matrix a, struct matrix tau,
        struct matrix q)
{
	struct application s = {0};

	return orgqr_set_up(&s, e, plan, a, tau, q, NULL) ? s.bytes : -1;
}

/* Backwards from the unit matrix: a block finds zeros left of its columns. */
bool orgqr(struct executor *e, const struct plan *plan, struct matrix a, struct matrix tau,
        struct matrix q, void *work)
{
	struct application s = {0};
	bool ok = orgqr_set_up(&s, e, plan, a, tau, q, work) && ex_fill(e, WHOLE, 0, 1, q);

	for (int64_t j = tau.m; ok && j > 0;) {
		struct block b = block_before(&s, j);
		ok = apply_block(&s, b, LEFT, PLAIN, matrix_view(q, 0, b.j, q.m, q.n - b.j));
		j = b.j;
	}
	return ok;
}

/* ---- least squares ---- */

struct gels {
	struct matrix qr; /* tall: a, or its transpose in the workspace */
	struct matrix tau;
	void *work;
	int64_t bytes;
	int *info, *doubtful;
};

static bool gels_set_up(struct gels *s, struct executor *e, const struct plan *plan,
        struct matrix a, struct matrix b, void *work)
{
	struct workspace workspace = {work, 0};
	int64_t k = min_int64(a.m, a.n);

	if (!matrix_check(e, a) || !matrix_check(e, b))
		return false;
	if (b.m != max_int64(a.m, a.n))
		return fault_refuse(&e->fault,
		        "b of %" PRId64 " rows: %" PRId64 " are needed for B and X", b.m,
		        max_int64(a.m, a.n));
	s->qr = a.m >= a.n ? a : workspace_matrix(&workspace, a.n, a.m, a.precision);
	s->tau = workspace_matrix(&workspace, k, 1, a.precision);
	s->work = workspace_bytes(&workspace, 0);

	int64_t factor = geqrf_work(e, plan, s->qr);
	int64_t apply = factor < 0 ? -1 : ormqr_work(e, plan, LEFT, s->qr, s->tau, b);
	s->bytes = workspace.used + max_int64(factor, apply);
	return apply >= 0;
}

int64_t gels_work(struct executor *e, const struct plan *plan, struct matrix a, struct matrix b)
{
	struct gels s = {0};

	return gels_set_up(&s, e, plan, a, b, NULL) ? s.bytes : -1;
}

/* The first n rows of B become inv(op(R)) times them. */
static bool solve_r(struct executor *e, const struct gels *s, enum trans trans, struct matrix b)
{
	struct matrix r = matrix_view(s->qr, 0, 0, s->qr.n, s->qr.n);
	struct matrix x = matrix_view(b, 0, 0, s->qr.n, b.n);

	return ex_check_triangle(e, r, x, s->info, s->doubtful) &&
	       ex_trsm(e, LEFT, UPPER, trans, NON_UNIT, 1, r, x);
}

/* X = inv(R) (Q^T B): B has qr.m rows */
static bool least_squares(
        struct executor *e, const struct plan *plan, const struct gels *s, struct matrix b)
{
	return ormqr(e, plan, LEFT, TRANSPOSED, s->qr, s->tau, b, s->work) &&
	       solve_r(e, s, PLAIN, b);
}

/* X = Q [inv(R^T) B; 0]: B has qr.n rows, X qr.m */
static bool minimum_norm(
        struct executor *e, const struct plan *plan, const struct gels *s, struct matrix b)
{
	int64_t n = s->qr.n;

	return solve_r(e, s, TRANSPOSED, b) &&
	       ex_fill(e, WHOLE, 0, 0, matrix_view(b, n, 0, b.m - n, b.n)) &&
	       ormqr(e, plan, LEFT, PLAIN, s->qr, s->tau, b, s->work);
}

bool gels(struct executor *e, const struct plan *plan, enum trans trans, struct matrix a,
        struct matrix b, void *work, int *info, int *doubtful)
{
	bool transposed = a.m < a.n;
	struct gels s = {0};

	if (!gels_set_up(&s, e, plan, a, b, work))
		return false;
	e->queue = QUEUE_MAIN;
	if (transposed && !ex_transpose(e, a, s.qr))
		return false;
	if (!geqrf(e, plan, s.qr, s.tau, s.work))
		return false;
	s.info = info;
	s.doubtful = doubtful;
	return (trans == PLAIN) != transposed ? least_squares(e, plan, &s, b)
	                                      : minimum_norm(e, plan, &s, b);
}
