/* SPDX-License-Identifier: MIT */
#include "lib/base/msg.h"
#include "fixture.h"
#include "products.h"

#include <math.h>
#include <stdlib.h>

enum { CHECKED = 12 /* elements */, FILLED = 16 /* columns that are made */ };

struct product_fixture {
	struct timing_fixture fixture;
	struct product_data data;
	struct matrix original; /* of C */
	uint64_t state;         /* of the random choice of elements */
};

static struct product_fixture *fixture_of(struct timing_fixture *fixture)
{
	return (struct product_fixture *)fixture;
}

/* ---- candidates, with the product as way ---- */

static bool run_calls(struct candidate *candidate, int64_t calls)
{
	struct executor *e = candidate->fixture->executor;

	return product_run(e, candidate->way, &fixture_of(candidate->fixture)->data, calls) &&
	       e->ops->sync(e);
}

static bool run(struct candidate *candidate)
{
	return run_calls(candidate, candidate->calls);
}

static bool restore(struct timing_fixture *fixture)
{
	struct product_fixture *s = fixture_of(fixture);
	struct executor *e = fixture->executor;

	return e->ops->duplicate(e, s->original, s->data.c) && e->ops->sync(e);
}

static bool run_once(struct candidate *candidate)
{
	return restore(candidate->fixture) && run_calls(candidate, 1);
}

/* ---- data ---- */

static bool new_matrix(struct product_fixture *s, struct matrix *a, uint64_t seed)
{
	return fixture_matrix(&s->fixture, a, a->m, a->n, a->ld, a->precision) &&
	       fixture_fill(s->fixture.executor, *a, FILLED, s->fixture.plan->seed + seed);
}

static bool fixture_open(struct product_fixture *s)
{
	s->original = s->data.c;
	return new_matrix(s, &s->data.a, 0) && new_matrix(s, &s->data.b, 1) &&
	       new_matrix(s, &s->original, 2) && new_matrix(s, &s->data.c, 3);
}

/* ---- checks ---- */

/* How far an element of C is off, in units of the rounding of the terms' magnitudes. */
static double ratio_at(struct product_fixture *s, const struct product *p)
{
	const struct product_data *d = &s->data;
	struct executor *e = s->fixture.executor;
	const int64_t i = fixture_random(&s->state, d->c.m), j = fixture_random(&s->state, d->c.n);
	const bool by_column = p->gemv && p->trans == TRANSPOSED;
	const struct matrix row =
	        by_column ? matrix_view(d->a, 0, i, d->a.m, 1) : matrix_view(d->a, i, 0, 1, d->a.n);
	const int64_t count = d->b.m;
	double *a = xmalloc((size_t)(row.m * row.n) * sizeof *a),
	       *b = xmalloc((size_t)count * sizeof *b);
	double before, after, sum = 0, magnitude = 0;
	bool ok = fixture_line(e, row, a) &&
	          fixture_line(e, matrix_view(d->b, 0, j, count, 1), b) &&
	          fixture_line(e, matrix_view(s->original, i, j, 1, 1), &before) &&
	          fixture_line(e, matrix_view(d->c, i, j, 1, 1), &after);

	for (int64_t l = 0; ok && l < count; l++) {
		sum += a[l] * b[l];
		magnitude += fabs(a[l] * b[l]);
	}
	free(a);
	free(b);
	return ok ? fabs(after - (before + PRODUCT_ALPHA * sum)) / check_eps(p->precision) /
	                       (fabs(before) + PRODUCT_ALPHA * magnitude)
	          : NAN;
}

static bool check(struct timing_fixture *fixture, struct candidate *candidate)
{
	double worst = 0;

	for (int c = 0; c < CHECKED; c++)
		worst = check_worse(worst, ratio_at(fixture_of(fixture), candidate->way));
	return fixture_residual(candidate, worst);
}

bool timing_products(struct executor *executor, const struct product *product,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault)
{
	struct product_fixture s = {
	        .fixture = {.executor = executor, .plan = plan, .restore = restore, .check = check},
	        .data = product_shapes(product),
	        .state = plan->seed};

	for (size_t i = 0; i < count; i++)
		candidate[i] =
		        (struct candidate){.variant = product[i].blas_only ? "cublas" : "own",
		                .run = run,
		                .after = run_once,
		                .calls = product[i].calls,
		                .way = &product[i]};
	executor->queue = QUEUE_MAIN;
	return fixture_time(&s.fixture, fixture_open(&s), candidate, count, fault);
}
