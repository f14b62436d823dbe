/* SPDX-License-Identifier: MIT */
/* Times Gram-Schmidt's kernels in a row. Checks columns of one call, chosen at random, against
 * modified Gram-Schmidt in double precision on the host. */
#include "lib/base/msg.h"
#include "factor/validation/fixture.h"
#include "gram_kernels.h"

#include <math.h>
#include <stdlib.h>

enum { CHECKED = 4, FILLED = 128 /* columns that are made */ };

struct kernel_fixture {
	struct timing_fixture fixture;
	struct gram_kernel_data data;
	struct matrix original;
	uint64_t state; /* of the random choice of columns */
};

static struct kernel_fixture *fixture_of(struct timing_fixture *fixture)
{
	return (struct kernel_fixture *)fixture;
}

/* ---- candidates, with the kernel as way ---- */

static bool restore(struct timing_fixture *fixture)
{
	struct kernel_fixture *s = fixture_of(fixture);
	struct executor *e = fixture->executor;

	return e->ops->duplicate(e, s->original, s->data.a) && ex_clear_info(e, s->data.info) &&
	       ex_fill(e, WHOLE, NAN, NAN, s->data.r) && e->ops->sync(e);
}

static bool before(struct candidate *candidate)
{
	struct executor *e = candidate->fixture->executor;

	return gram_kernel_before(e, candidate->way, &fixture_of(candidate->fixture)->data) &&
	       e->ops->sync(e);
}

static bool run(struct candidate *candidate)
{
	const struct gram_kernel *kernel = candidate->way;
	struct executor *e = candidate->fixture->executor;

	return gram_kernel_run(e, kernel, &fixture_of(candidate->fixture)->data, kernel->calls) &&
	       e->ops->sync(e);
}

static bool run_once(struct candidate *candidate)
{
	const struct gram_kernel *kernel = candidate->way;
	struct executor *e = candidate->fixture->executor;
	struct gram_kernel_data *data = &fixture_of(candidate->fixture)->data;

	return restore(candidate->fixture) && before(candidate) &&
	       gram_kernel_run(e, kernel, data, 1) && gram_kernel_after(e, kernel, data) &&
	       e->ops->sync(e);
}

/* ---- data ---- */

static bool take(struct kernel_fixture *s, struct matrix *a)
{
	return fixture_matrix(&s->fixture, a, a->m, a->n, a->ld, a->precision);
}

/* Room for all kernels: k is the largest number of columns that one of them removes. */
static bool fixture_open(struct kernel_fixture *s, const struct gram_kernel *kernel, size_t count)
{
	struct executor *e = s->fixture.executor;
	struct gram_kernel widest = kernel[0];
	void *info = NULL;

	for (size_t i = 1; i < count; i++)
		widest.k = kernel[i].k > widest.k ? kernel[i].k : widest.k;
	s->data = gram_kernel_shapes(&widest);
	s->original = s->data.a;
	if (s->data.r.m < 2)
		s->data.r.m = s->data.r.ld = 2;
	bool ok = take(s, &s->original) && take(s, &s->data.a) && take(s, &s->data.r) &&
	          take(s, &s->data.norms) && fixture_alloc(&s->fixture, sizeof(int), &info) &&
	          fixture_alloc(&s->fixture, e->ops->gram_work(e, s->data.a), &s->data.work) &&
	          fixture_fill(e, s->original, FILLED, s->fixture.plan->seed);
	s->data.info = info;
	return ok;
}

/* ---- checks ---- */

static bool fetch(struct kernel_fixture *s, struct matrix from, int64_t column, double *x)
{
	return fixture_line(s->fixture.executor, matrix_view(from, 0, column, from.m, 1), x);
}

/* Subtracts from x its components along the `taken` columns of q, each of length 1. */
static void take_out(const double *q, int64_t taken, double *x, int64_t m)
{
	for (int64_t k = 0; k < taken; k++) {
		const double part = fixture_dot(q + k * m, x, m);
		for (int64_t i = 0; i < m; i++)
			x[i] -= part * q[k * m + i];
	}
}

/* The orthonormal columns that the kernel takes out. */
static bool find_q(struct kernel_fixture *s, int64_t taken, double *q)
{
	const int64_t m = s->original.m;

	for (int64_t k = 0; k < taken; k++) {
		double *column = q + k * m;
		if (!fetch(s, s->original, k, column))
			return false;
		take_out(q, k, column, m);
		const double length = sqrt(fixture_dot(column, column, m));
		for (int64_t i = 0; i < m; i++)
			column[i] /= length;
	}
	return true;
}

/* How far a column is off, in units of the rounding of its norm: sqrt(m) eps norm. */
static double ratio_at(
        struct kernel_fixture *s, const double *q, int64_t taken, int64_t column, double *x)
{
	const int64_t m = s->original.m;
	double *y = x + m, sum = 0;

	if (!fetch(s, s->original, column, x) || !fetch(s, s->data.a, column, y))
		return NAN;
	const double norm = sqrt(fixture_dot(x, x, m));
	take_out(q, taken, x, m);
	for (int64_t i = 0; i < m; i++)
		sum += (x[i] - y[i]) * (x[i] - y[i]);
	return sqrt(sum) / (norm * sqrt((double)m) * check_eps(s->original.precision));
}

static bool check(struct timing_fixture *fixture, struct candidate *candidate)
{
	struct kernel_fixture *s = (struct kernel_fixture *)fixture;
	const struct gram_kernel *p = candidate->way;
	const int64_t taken = p->k > 0 ? p->k : p->step == GRAM_FUSED ? 2 : 1;
	const int64_t rest = p->k + p->n - taken, m = p->m;
	double *q = xmalloc((size_t)((taken + 2) * m) * sizeof *q), worst = 0;
	bool ok = find_q(s, taken, q);

	for (int c = 0; c < CHECKED && ok && rest > 0; c++) {
		int64_t column = taken + fixture_random(&s->state, rest);
		worst = check_worse(
		        worst, ratio_at(s, q, taken, c ? column : taken + rest - 1, q + taken * m));
	}
	free(q);
	return ok && fixture_residual(candidate, worst);
}

bool timing_gram_kernels(struct executor *executor, const struct gram_kernel *kernel,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault)
{
	struct kernel_fixture s = {
	        .fixture = {.executor = executor, .plan = plan, .restore = restore, .check = check},
	        .state = plan->seed};

	for (size_t i = 0; i < count; i++)
		candidate[i] = (struct candidate){.run = run,
		        .before = before,
		        .after = run_once,
		        .calls = kernel[i].calls,
		        .way = &kernel[i]};
	executor->queue = QUEUE_MAIN;
	return fixture_time(&s.fixture, fixture_open(&s, kernel, count), candidate, count, fault);
}
