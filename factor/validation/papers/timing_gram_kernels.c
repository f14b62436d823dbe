/* SPDX-License-Identifier: MIT */
/* Times Gram-Schmidt's kernels in a row. Checked is one call: columns chosen at random against
 * modified Gram-Schmidt in double precision on the host. */
#include "lib/base/msg.h"
#include "factor/validation/check.h"
#include "gram_kernels.h"
#include "factor/validation/matrices.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKED = 4, FILLED = 128 /* columns that are made; the others repeat them */ };

struct kernel_fixture {
	struct timing_fixture fixture;
	struct gram_kernel_data data;
	struct matrix original;
	uint64_t state; /* of the choice of what is checked */
};

struct kernel_entry {
	struct kernel_fixture *fixture;
	const struct gram_kernel *kernel;
};

/* ---- candidates ---- */

static bool restore(struct timing_fixture *fixture, struct fault *fault)
{
	struct kernel_fixture *s = (struct kernel_fixture *)fixture;
	struct executor *e = fixture->executor;

	return timing_lift(e,
	        e->ops->duplicate(e, s->original, s->data.a) && ex_clear_info(e, s->data.info) &&
	                ex_fill(e, WHOLE, NAN, NAN, s->data.r) && e->ops->sync(e),
	        fault);
}

static bool before(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	const struct kernel_entry *entry = candidate->context;
	struct executor *e = entry->fixture->fixture.executor;

	(void)problem;
	return timing_lift(e,
	        gram_kernel_before(e, entry->kernel, &entry->fixture->data) && e->ops->sync(e),
	        fault);
}

static bool run(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	const struct kernel_entry *entry = candidate->context;
	struct executor *e = entry->fixture->fixture.executor;

	(void)problem;
	return timing_lift(e,
	        gram_kernel_run(e, entry->kernel, &entry->fixture->data, entry->kernel->calls) &&
	                e->ops->sync(e),
	        fault);
}

static bool run_once(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	const struct kernel_entry *entry = candidate->context;
	struct kernel_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;

	return restore(&s->fixture, fault) && before(candidate, problem, fault) &&
	       timing_lift(e,
	               gram_kernel_run(e, entry->kernel, &s->data, 1) &&
	                       gram_kernel_after(e, entry->kernel, &s->data) && e->ops->sync(e),
	               fault);
}

/* ---- data ---- */

static bool take(struct executor *e, struct matrix *a)
{
	return e->ops->alloc(e, a->ld * a->n * precision_bytes(a->precision), &a->data);
}

/* Random columns, then copies of all there are, which twice as many hold. */
static bool fill(struct kernel_fixture *s)
{
	struct executor *e = s->fixture.executor;
	const struct matrix a = s->original;
	const int64_t made = a.n < FILLED ? a.n : FILLED;
	void *host = xmalloc((size_t)(a.ld * made * precision_bytes(a.precision)));

	matrix_fill(host, a.ld, a.m, made, a.precision, MATRIX_RANDOM, s->fixture.plan->seed);
	bool ok = e->ops->upload(e, host, a.ld, matrix_view(a, 0, 0, a.m, made));
	for (int64_t there = made, more; ok && there < a.n; there += more) {
		more = a.n - there < there ? a.n - there : there;
		ok = e->ops->duplicate(
		        e, matrix_view(a, 0, 0, a.m, more), matrix_view(a, 0, there, a.m, more));
	}
	free(host);
	return ok;
}

/* Room for all kernels: the most columns that one of them takes out. */
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
	bool ok = take(e, &s->original) && take(e, &s->data.a) && take(e, &s->data.r) &&
	          take(e, &s->data.norms) && e->ops->alloc(e, sizeof(int), &info) &&
	          e->ops->alloc(e, e->ops->gram_work(e, s->data.a), &s->data.work) && fill(s);
	s->data.info = info;
	return ok;
}

static void fixture_close(struct kernel_fixture *s)
{
	void *pieces[] = {s->original.data, s->data.a.data, s->data.r.data, s->data.norms.data,
	        s->data.work, s->data.info};

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		if (pieces[i])
			s->fixture.executor->ops->release(s->fixture.executor, pieces[i]);
}

/* ---- checks ---- */

static bool fetch(struct kernel_fixture *s, struct matrix from, int64_t column, double *x)
{
	struct executor *e = s->fixture.executor;
	const int64_t m = from.m;

	if (!e->ops->download(e, matrix_view(from, 0, column, m, 1), x, m))
		return false;
	for (int64_t i = m; from.precision == SINGLE && i-- > 0;) {
		float word;
		memcpy(&word, (const char *)x + (size_t)i * sizeof word, sizeof word);
		x[i] = (double)word;
	}
	return true;
}

static double dot(const double *x, const double *y, int64_t m)
{
	double sum = 0;

	for (int64_t i = 0; i < m; i++)
		sum += x[i] * y[i];
	return sum;
}

/* x without what it has of the `taken` columns of q, each of length 1. */
static void take_out(const double *q, int64_t taken, double *x, int64_t m)
{
	for (int64_t k = 0; k < taken; k++) {
		const double part = dot(q + k * m, x, m);
		for (int64_t i = 0; i < m; i++)
			x[i] -= part * q[k * m + i];
	}
}

/* The columns that the kernel takes out. */
static bool find_q(struct kernel_fixture *s, int64_t taken, double *q)
{
	const int64_t m = s->original.m;

	for (int64_t k = 0; k < taken; k++) {
		double *column = q + k * m;
		if (!fetch(s, s->original, k, column))
			return false;
		take_out(q, k, column, m);
		const double length = sqrt(dot(column, column, m));
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
	const double eps =
	        (s->original.precision == SINGLE ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
	double *y = x + m, sum = 0;

	if (!fetch(s, s->original, column, x) || !fetch(s, s->data.a, column, y))
		return NAN;
	const double norm = sqrt(dot(x, x, m));
	take_out(q, taken, x, m);
	for (int64_t i = 0; i < m; i++)
		sum += (x[i] - y[i]) * (x[i] - y[i]);
	return sqrt(sum) / (norm * sqrt((double)m) * eps);
}

static bool check(struct timing_fixture *fixture, struct candidate *candidate, struct fault *fault)
{
	struct kernel_fixture *s = (struct kernel_fixture *)fixture;
	const struct gram_kernel *p = ((const struct kernel_entry *)candidate->context)->kernel;
	const int64_t taken = p->k > 0 ? p->k : p->step == GRAM_FUSED ? 2 : 1;
	const int64_t rest = p->k + p->n - taken, m = p->m;
	double *q = xmalloc((size_t)((taken + 2) * m) * sizeof *q), worst = 0;
	bool ok = find_q(s, taken, q);

	for (int c = 0; c < CHECKED && ok && rest > 0; c++) {
		s->state = s->state * 6364136223846793005u + 1442695040888963407u;
		int64_t column = taken + (int64_t)((s->state >> 33) % (uint64_t)rest);
		double ratio = ratio_at(s, q, taken, c ? column : taken + rest - 1, q + taken * m);
		worst = ratio <= worst ? worst : ratio; /* NaN, too */
	}
	free(q);
	candidate->residual = worst;
	return timing_lift(fixture->executor, ok, fault) &&
	       (worst < CHECK_THRESHOLD || fault_set(fault, "failed: residual ratio %.3g", worst));
}

bool timing_gram_kernels(struct executor *executor, const struct gram_kernel *kernel,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault)
{
	struct kernel_fixture s = {
	        .fixture = {executor, plan, {.x = {0}}, restore, check}, .state = plan->seed};
	struct kernel_entry *entry = xcalloc(count, sizeof *entry);

	for (size_t i = 0; i < count; i++) {
		entry[i] = (struct kernel_entry){&s, &kernel[i]};
		candidate[i] = (struct candidate){
		        .run = run, .before = before, .after = run_once, .context = &entry[i]};
	}
	executor->queue = QUEUE_MAIN;
	bool ok = timing_lift(executor, fixture_open(&s, kernel, count), fault) &&
	          timing_turns(&s.fixture, candidate, count, fault);
	for (size_t i = 0; i < count; i++)
		timing_per_call(&candidate[i], kernel[i].calls);
	fixture_close(&s);
	free(entry);
	return ok;
}
