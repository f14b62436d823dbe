/* SPDX-License-Identifier: MIT */
#include "timing_gram_schmidt.h"

#include "lib/base/msg.h"
#include "factor/algorithms/gram_schmidt.h"
#include "factor/validation/check.h"
#include "factor/validation/check_whole.h"
#include "factor/validation/matrices.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gram_fixture {
	struct timing_fixture fixture;
	struct matrix original;
	struct matrix copy;  /* of a matrix, in double precision */
	struct matrix x, z;  /* n x CHECK_VECTORS */
	struct matrix ax, y; /* m x CHECK_VECTORS */
	double *host;        /* two of these */
};

/* ---- candidates: problem->x is R, problem->pivots has info alone ---- */

static bool gram_prepare(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct gram_entry *entry = candidate->context;
	struct executor *e = entry->executor;
	int64_t bytes = gram_schmidt_work(e, entry->form, entry->nb, problem->a);

	return timing_lift(e, bytes >= 0 && e->ops->alloc(e, bytes, &candidate->work), fault);
}

static bool gram_run(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct gram_entry *entry = candidate->context;
	struct executor *e = entry->executor;
	bool ok = gram_schmidt(e, entry->form, entry->nb, problem->a, problem->x, candidate->work,
	        problem->pivots.data);

	return timing_lift(e, ok && e->ops->sync(e), fault);
}

struct candidate candidate_gram_schmidt(struct gram_entry *entry, const char *variant)
{
	return (struct candidate){
	        .variant = variant, .run = gram_run, .prepare = gram_prepare, .context = entry};
}

/* ---- checks ---- */

static double norm(const double *x, const double *y, int64_t count)
{
	double sum = 0;

	for (int64_t i = 0; i < count; i++) {
		double d = x[i] - (y ? y[i] : 0);
		sum += d * d;
	}
	return sqrt(sum);
}

/* norm(a - b) / norm(a) of vectors. */
static bool difference(struct gram_fixture *s, struct matrix a, struct matrix b, double *result)
{
	struct executor *e = s->fixture.executor;
	int64_t count = a.m * a.n;
	double *x = s->host, *y = s->host + count;

	if (!e->ops->sync(e) || !e->ops->download(e, a, x, a.m) || !e->ops->download(e, b, y, b.m))
		return false;
	*result = norm(x, y, count) / norm(x, NULL, count);
	return true;
}

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

	return times(s, PLAIN, s->original, s->x, s->ax) && times(s, PLAIN, p->x, s->x, s->z) &&
	       times(s, PLAIN, p->a, s->z, s->y) && difference(s, s->ax, s->y, residual) &&
	       times(s, PLAIN, p->a, s->x, s->y) && times(s, TRANSPOSED, p->a, s->y, s->z) &&
	       difference(s, s->x, s->z, orthogonality);
}

static bool check(struct timing_fixture *fixture, struct candidate *candidate, struct fault *fault)
{
	struct gram_fixture *s = (struct gram_fixture *)fixture;
	struct executor *e = fixture->executor;
	const struct matrix a = fixture->problem.a;
	const double eps = (a.precision == SINGLE ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
	int info = -1, none;

	if (!timing_lift(e,
	            e->ops->read_pivots(e, fixture->problem.pivots, &none, &info) &&
	                    find_ratios(s, &candidate->residual, &candidate->orthogonality),
	            fault))
		return false;
	candidate->residual /= (double)a.m * eps;
	candidate->orthogonality /= (double)a.m * eps;
	return (candidate->residual < CHECK_THRESHOLD && candidate->orthogonality < 1 / eps &&
	               info == 0) ||
	       fault_set(fault, "failed: residual ratio %.3g, orthogonality %.3g, info %d",
	               candidate->residual, candidate->orthogonality, info);
}

/* ---- the fixture ---- */

static bool restore(struct timing_fixture *fixture, struct fault *fault)
{
	struct gram_fixture *s = (struct gram_fixture *)fixture;
	struct executor *e = fixture->executor;

	return timing_lift(e,
	        ex_fill(e, WHOLE, NAN, NAN, fixture->problem.x) &&
	                e->ops->duplicate(e, s->original, fixture->problem.a) && e->ops->sync(e),
	        fault);
}

static bool new_matrix(struct executor *e, struct matrix *a, int64_t m, int64_t n, int64_t ld,
        enum precision precision)
{
	*a = (struct matrix){NULL, 0, m, n, ld, precision};
	return e->ops->alloc(e, ld * n * precision_bytes(precision), &a->data);
}

static bool fill_conditioned(struct gram_fixture *s, double condition)
{
	const struct matrix a = s->original;
	const int64_t count = a.m * a.n;
	double *x = xmalloc((size_t)count * sizeof *x);
	float *single = (float *)x;

	matrix_fill_conditioned(x, a.m, a.n, condition, s->fixture.plan->seed);
	for (int64_t i = 0; a.precision == SINGLE && i < count; i++) {
		const float word = (float)x[i];
		memcpy(single + i, &word, sizeof word);
	}
	bool ok = s->fixture.executor->ops->upload(s->fixture.executor, x, a.m, a);
	free(x);
	return ok;
}

static bool fixture_open(
        struct gram_fixture *s, enum precision precision, int64_t m, int64_t n, double condition)
{
	static const struct whole general = {.operation = GEQRF};
	struct executor *e = s->fixture.executor;
	struct timing_problem *p = &s->fixture.problem;
	void *info = NULL;
	const int64_t ld = s->fixture.plan->ld;
	bool ok = new_matrix(e, &s->original, m, n, ld, precision) &&
	          new_matrix(e, &p->a, m, n, ld, precision) &&
	          new_matrix(e, &p->x, n, n, n, precision) &&
	          new_matrix(e, &s->copy, m, n, m, DOUBLE) &&
	          new_matrix(e, &s->x, n, CHECK_VECTORS, n, DOUBLE) &&
	          new_matrix(e, &s->z, n, CHECK_VECTORS, n, DOUBLE) &&
	          new_matrix(e, &s->ax, m, CHECK_VECTORS, m, DOUBLE) &&
	          new_matrix(e, &s->y, m, CHECK_VECTORS, m, DOUBLE) &&
	          e->ops->alloc(e, sizeof(int), &info);

	p->pivots = (struct pivots){info, 0};
	s->host = xmalloc((size_t)(2 * m * CHECK_VECTORS) * sizeof *s->host);
	matrix_fill(s->host, n, n, CHECK_VECTORS, DOUBLE, MATRIX_RANDOM, 4711);
	return ok &&
	       (condition > 0 ? fill_conditioned(s, condition)
	                      : whole_fill(e, &general, s->original, s->fixture.plan->seed)) &&
	       e->ops->upload(e, s->host, n, s->x);
}

static void fixture_close(struct gram_fixture *s)
{
	struct executor *e = s->fixture.executor;
	const struct timing_problem *p = &s->fixture.problem;
	void *pieces[] = {s->original.data, p->a.data, p->x.data, p->pivots.data, s->copy.data,
	        s->x.data, s->z.data, s->ax.data, s->y.data};

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		if (pieces[i])
			e->ops->release(e, pieces[i]);
	free(s->host);
}

bool timing_gram_schmidt(struct executor *executor, enum precision precision, int64_t m, int64_t n,
        double condition, const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault)
{
	struct gram_fixture s = {.fixture = {executor, plan, {.x = {0}}, restore, check}};

	executor->queue = QUEUE_MAIN;
	bool ok = timing_lift(executor, fixture_open(&s, precision, m, n, condition), fault) &&
	          timing_turns(&s.fixture, candidate, count, fault);
	fixture_close(&s);
	return ok;
}
