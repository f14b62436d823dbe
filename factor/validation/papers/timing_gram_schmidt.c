/* SPDX-License-Identifier: MIT */
#include "timing_gram_schmidt.h"

#include "lib/base/msg.h"
#include "factor/algorithms/gram_schmidt.h"
#include "factor/validation/check_whole.h"
#include "factor/validation/fixture.h"
#include "factor/validation/matrices.h"

#include <math.h>
#include <stdlib.h>

struct gram_fixture {
	struct timing_fixture fixture;
	struct matrix original;
	struct matrix copy;  /* of a matrix, in double precision */
	struct matrix x, z;  /* n x CHECK_VECTORS */
	struct matrix ax, y; /* m x CHECK_VECTORS */
	double *host;        /* two sets of vectors */
};

/* ---- candidates: problem->x is R, problem->pivots has info alone ---- */

static bool gram_prepare(struct candidate *candidate)
{
	const struct gram_entry *entry = candidate->context;

	return timing_work(candidate, entry->executor,
	        gram_schmidt_work(
	                entry->executor, entry->form, entry->nb, candidate->fixture->problem.a));
}

static bool gram_run(struct candidate *candidate)
{
	struct gram_entry *entry = candidate->context;
	const struct timing_problem *p = &candidate->fixture->problem;
	struct executor *e = entry->executor;

	return gram_schmidt(
	               e, entry->form, entry->nb, p->a, p->x, candidate->work, p->pivots.data) &&
	       e->ops->sync(e);
}

struct candidate candidate_gram_schmidt(struct gram_entry *entry, const char *variant)
{
	return (struct candidate){
	        .variant = variant, .run = gram_run, .prepare = gram_prepare, .context = entry};
}

/* ---- checks ---- */

static bool times(
        struct gram_fixture *s, enum trans trans, struct matrix a, struct matrix x, struct matrix y)
{
	struct executor *e = s->fixture.executor;
	struct matrix wide = matrix_view(s->copy, 0, 0, a.m, a.n);

	return whole_widen(e, a, wide) && ex_gemm(e, trans, PLAIN, 1, wide, x, 0, y);
}

static bool find_ratios(struct gram_fixture *s, double *residual, double *orthogonality)
{
	struct timing_problem *p = &s->fixture.problem;
	struct executor *e = s->fixture.executor;

	return times(s, PLAIN, s->original, s->x, s->ax) && times(s, PLAIN, p->x, s->x, s->z) &&
	       times(s, PLAIN, p->a, s->z, s->y) &&
	       check_difference(e, s->ax, s->y, FROBENIUS, s->host, residual) &&
	       times(s, PLAIN, p->a, s->x, s->y) && times(s, TRANSPOSED, p->a, s->y, s->z) &&
	       check_difference(e, s->x, s->z, FROBENIUS, s->host, orthogonality);
}

static bool check(struct timing_fixture *fixture, struct candidate *candidate)
{
	struct gram_fixture *s = (struct gram_fixture *)fixture;
	struct executor *e = fixture->executor;
	const struct matrix a = fixture->problem.a;
	const double eps = check_eps(a.precision);
	int info = -1, none;

	if (!(e->ops->read_pivots(e, fixture->problem.pivots, &none, &info) &&
	            find_ratios(s, &candidate->residual, &candidate->orthogonality)))
		return false;
	candidate->residual /= (double)a.m * eps;
	candidate->orthogonality /= (double)a.m * eps;
	return (candidate->residual < CHECK_THRESHOLD && candidate->orthogonality < 1 / eps &&
	               info == 0) ||
	       fault_set(&candidate->fault,
	               "failed: residual ratio %.3g, orthogonality %.3g, info %d",
	               candidate->residual, candidate->orthogonality, info);
}

/* ---- the fixture ---- */

static bool restore(struct timing_fixture *fixture)
{
	struct gram_fixture *s = (struct gram_fixture *)fixture;
	struct executor *e = fixture->executor;

	return ex_fill(e, WHOLE, NAN, NAN, fixture->problem.x) &&
	       e->ops->duplicate(e, s->original, fixture->problem.a) && e->ops->sync(e);
}

/* A random square may be singular to rounding, though rarely: its last column is then dependent,
 * which is no fault of ours. This diagonal exceeds the norm of the rest. */
static bool move_diagonal(struct executor *e, struct matrix a)
{
	const double far = 2 * sqrt((double)a.m);
	const struct matrix diagonal = {a.data, a.offset, 1, a.n, a.ld + 1, a.precision};

	return ex_fill(e, WHOLE, far, far, diagonal) && e->ops->sync(e);
}

/* Random numbers, apart from a diagonal where there are few more rows than columns. */
static bool fill_random(struct executor *e, struct matrix a, uint64_t seed)
{
	static const struct whole general = {.operation = GEQRF};

	return whole_fill(e, &general, a, seed) && (a.m >= 2 * a.n || move_diagonal(e, a));
}

static bool fixture_open(
        struct gram_fixture *s, enum precision precision, int64_t m, int64_t n, double condition)
{
	struct timing_fixture *fixture = &s->fixture;
	struct executor *e = fixture->executor;
	struct timing_problem *p = &fixture->problem;
	void *info = NULL;
	const int64_t ld = fixture->plan->ld;
	const uint64_t seed = fixture->plan->seed;
	bool ok = fixture_matrix(fixture, &s->original, m, n, ld, precision) &&
	          fixture_matrix(fixture, &p->a, m, n, ld, precision) &&
	          fixture_matrix(fixture, &p->x, n, n, n, precision) &&
	          fixture_matrix(fixture, &s->copy, m, n, m, DOUBLE) &&
	          fixture_matrix(fixture, &s->x, n, CHECK_VECTORS, n, DOUBLE) &&
	          fixture_matrix(fixture, &s->z, n, CHECK_VECTORS, n, DOUBLE) &&
	          fixture_matrix(fixture, &s->ax, m, CHECK_VECTORS, m, DOUBLE) &&
	          fixture_matrix(fixture, &s->y, m, CHECK_VECTORS, m, DOUBLE) &&
	          fixture_alloc(fixture, sizeof(int), &info);

	p->pivots = (struct pivots){info, 0};
	s->host = xmalloc((size_t)(2 * m * CHECK_VECTORS) * sizeof *s->host);
	matrix_fill(s->host, n, n, CHECK_VECTORS, DOUBLE, MATRIX_RANDOM, 4711);
	return ok &&
	       (condition > 0 ? matrix_upload_conditioned(e, s->original, condition, seed)
	                      : fill_random(e, s->original, seed)) &&
	       e->ops->upload(e, s->host, n, s->x);
}

bool timing_gram_schmidt(struct executor *executor, enum precision precision, int64_t m, int64_t n,
        double condition, const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault)
{
	struct gram_fixture s = {
	        .fixture = {
	                .executor = executor, .plan = plan, .restore = restore, .check = check}};

	executor->queue = QUEUE_MAIN;
	bool ok = fixture_time(
	        &s.fixture, fixture_open(&s, precision, m, n, condition), candidate, count, fault);
	free(s.host);
	return ok;
}
