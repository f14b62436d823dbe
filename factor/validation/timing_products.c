/* SPDX-License-Identifier: MIT */
/* Times products in a row. What is checked, at places chosen at random, is one call. */
#include "lib/base/msg.h"
#include "check.h"
#include "matrices.h"
#include "products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKED = 12, FILLED = 16 /* columns that are made; the others repeat them */ };

struct product_fixture {
	struct timing_fixture fixture;
	struct product_data data;
	struct matrix original; /* of C */
	uint64_t state;         /* of the choice of what is checked */
};

struct product_entry {
	struct product_fixture *fixture;
	const struct product *product;
};

/* ---- candidates ---- */

static struct executor *executor_of(const struct candidate *candidate)
{
	const struct product_entry *entry = candidate->context;
	return entry->fixture->fixture.executor;
}

static bool run_calls(struct candidate *candidate, int64_t calls, struct fault *fault)
{
	const struct product_entry *entry = candidate->context;
	struct executor *e = executor_of(candidate);
	bool ok = product_run(e, entry->product, &entry->fixture->data, calls);

	return timing_lift(e, ok && e->ops->sync(e), fault);
}

static bool run(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	const struct product_entry *entry = candidate->context;

	(void)problem;
	return run_calls(candidate, entry->product->calls, fault);
}

static bool restore(struct timing_fixture *fixture, struct fault *fault)
{
	struct product_fixture *s = (struct product_fixture *)fixture;
	struct executor *e = fixture->executor;

	return timing_lift(
	        e, e->ops->duplicate(e, s->original, s->data.c) && e->ops->sync(e), fault);
}

static bool run_once(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	const struct product_entry *entry = candidate->context;

	(void)problem;
	return restore(&entry->fixture->fixture, fault) && run_calls(candidate, 1, fault);
}

/* ---- data ---- */

/* Random columns, then copies of all there are, which twice as many hold. */
static bool new_matrix(
        struct product_fixture *s, struct matrix *a, uint64_t seed, struct fault *fault)
{
	struct executor *e = s->fixture.executor;
	const int64_t word = precision_bytes(a->precision);
	const int64_t made = a->n < FILLED ? a->n : FILLED;

	if (!timing_lift(e, e->ops->alloc(e, a->ld * a->n * word, &a->data), fault))
		return false;
	void *host = xmalloc((size_t)(a->ld * made * word));
	matrix_fill(host, a->ld, a->m, made, a->precision, MATRIX_RANDOM, seed);
	bool ok = e->ops->upload(e, host, a->ld, matrix_view(*a, 0, 0, a->m, made));
	for (int64_t there = made, more; ok && there < a->n; there += more) {
		more = a->n - there < there ? a->n - there : there;
		ok = e->ops->duplicate(e, matrix_view(*a, 0, 0, a->m, more),
		        matrix_view(*a, 0, there, a->m, more));
	}
	free(host);
	return timing_lift(e, ok, fault);
}

static bool fixture_open(struct product_fixture *s, struct fault *fault)
{
	const uint64_t seed = s->fixture.plan->seed;

	s->original = s->data.c;
	return new_matrix(s, &s->data.a, seed, fault) &&
	       new_matrix(s, &s->data.b, seed + 1, fault) &&
	       new_matrix(s, &s->original, seed + 2, fault) &&
	       new_matrix(s, &s->data.c, seed + 3, fault);
}

static void fixture_close(struct product_fixture *s)
{
	void *data[] = {s->data.a.data, s->data.b.data, s->data.c.data, s->original.data};

	for (size_t i = 0; i < ARRAY_LEN(data); i++)
		if (data[i])
			s->fixture.executor->ops->release(s->fixture.executor, data[i]);
}

/* ---- checks ---- */

static int64_t choose(struct product_fixture *s, int64_t below)
{
	s->state = s->state * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((s->state >> 33) % (uint64_t)below);
}

/* A row or column as doubles; NULL with a fault. The caller frees it. */
static double *line_of(struct product_fixture *s, struct matrix line, struct fault *fault)
{
	struct executor *e = s->fixture.executor;
	const int64_t count = line.m * line.n;
	double *x = xmalloc((size_t)count * sizeof *x);

	if (!timing_lift(e, e->ops->download(e, line, x, line.m), fault)) {
		free(x);
		return NULL;
	}
	for (int64_t i = count; line.precision == SINGLE && i-- > 0;) {
		float word;
		memcpy(&word, (const char *)x + (size_t)i * sizeof word, sizeof word);
		x[i] = (double)word;
	}
	return x;
}

static double deviation(
        const double *a, const double *b, int64_t count, double before, double after, double eps)
{
	double sum = 0, magnitude = 0;

	for (int64_t l = 0; l < count; l++) {
		sum += a[l] * b[l];
		magnitude += fabs(a[l] * b[l]);
	}
	return fabs(after - (before + PRODUCT_ALPHA * sum)) / eps /
	       (fabs(before) + PRODUCT_ALPHA * magnitude);
}

/* How far an element of C is off, in units of the rounding of the terms' magnitudes. */
static double ratio_at(struct product_fixture *s, const struct product *p, struct fault *fault)
{
	const struct product_data *d = &s->data;
	const int64_t i = choose(s, d->c.m), j = choose(s, d->c.n);
	const bool by_column = p->gemv && p->trans == TRANSPOSED;
	const struct matrix row =
	        by_column ? matrix_view(d->a, 0, i, d->a.m, 1) : matrix_view(d->a, i, 0, 1, d->a.n);
	double *a = line_of(s, row, fault);
	double *b = line_of(s, matrix_view(d->b, 0, j, d->b.m, 1), fault);
	double *before = line_of(s, matrix_view(s->original, i, j, 1, 1), fault);
	double *after = line_of(s, matrix_view(d->c, i, j, 1, 1), fault);
	double ratio = NAN;

	if (a && b && before && after)
		ratio = deviation(
		        a, b, d->b.m, *before, *after, p->precision == SINGLE ? 0x1p-24 : 0x1p-53);
	free(a);
	free(b);
	free(before);
	free(after);
	return ratio;
}

static bool check(struct timing_fixture *fixture, struct candidate *candidate, struct fault *fault)
{
	struct product_fixture *s = (struct product_fixture *)fixture;
	const struct product_entry *entry = candidate->context;
	double worst = 0;

	for (int c = 0; c < CHECKED; c++) {
		const double ratio = ratio_at(s, entry->product, fault);
		worst = ratio <= worst ? worst : ratio; /* NaN, too */
	}
	candidate->residual = worst;
	return worst < CHECK_THRESHOLD || fault_set(fault, "failed: residual ratio %.3g", worst);
}

bool timing_products(struct executor *executor, const struct product *product,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault)
{
	struct product_fixture s = {.fixture = {executor, plan, {.x = {0}}, restore, check},
	        .data = product_shapes(product),
	        .state = plan->seed};
	struct product_entry *entry = xcalloc(count, sizeof *entry);

	for (size_t i = 0; i < count; i++) {
		entry[i] = (struct product_entry){&s, &product[i]};
		candidate[i] =
		        (struct candidate){.variant = product[i].blas_only ? "cublas" : "own",
		                .run = run,
		                .after = run_once,
		                .context = &entry[i]};
	}
	executor->queue = QUEUE_MAIN;
	bool ok = fixture_open(&s, fault) && timing_turns(&s.fixture, candidate, count, fault);
	for (size_t i = 0; i < count; i++)
		timing_per_call(&candidate[i], product[i].calls);
	fixture_close(&s);
	free(entry);
	return ok;
}
