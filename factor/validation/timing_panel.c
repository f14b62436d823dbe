/* SPDX-License-Identifier: MIT */
#include "timing_panel.h"

#include "lib/base/msg.h"
#include "fixture.h"
#include "matrices.h"
#include "factor/algorithms/panel_getrf.h"

#include <math.h>
#include <stdlib.h>

/* One shape in host memory and in the executor's. */
struct panel_fixture {
	struct timing_fixture fixture;
	struct matrix original; /* the panel before factorization */
	struct matrix pivots;   /* seen as a column of words */
	void *a, *result;       /* host copies, leading dimension ld */
};

/* ---- candidates ---- */

/* Scratch memory starts as garbage: nothing may rely on zeros. */
static bool panel_prepare(struct candidate *candidate)
{
	struct executor *e = candidate->context;
	int64_t bytes = panel_getrf_work(e, candidate->variant, candidate->fixture->problem.a);
	int64_t words = (bytes + 3) / 4;

	return timing_work(candidate, e, bytes < 0 ? bytes : words * 4) &&
	       (words <= 0 ||
	               ex_fill(e, WHOLE, NAN, NAN,
	                       (struct matrix){candidate->work, 0, words, 1, words, SINGLE}));
}

static bool run_without(struct candidate *candidate, unsigned skip)
{
	const struct timing_problem *problem = &candidate->fixture->problem;
	struct executor *e = candidate->context;

	e->skip = skip;
	bool ok = panel_getrf(e, candidate->variant, problem->a, candidate->work, problem->pivots);
	e->skip = 0;
	return ok && e->ops->sync(e);
}

static bool panel_run(struct candidate *candidate)
{
	return run_without(candidate, candidate->skip);
}

/* A single phase needs from the others: candidates for the pivot, the panel on the host. */
static bool phase_before(struct candidate *candidate)
{
	return run_without(candidate, ~(1u << PHASE_SEARCH | 1u << PHASE_TRANSFER));
}

static bool ger_run(struct candidate *candidate)
{
	const struct timing_problem *problem = &candidate->fixture->problem;
	struct executor *e = candidate->context;

	return ex_ger(e, problem->x, problem->y, problem->a) && e->ops->sync(e);
}

struct candidate candidate_panel(struct executor *executor, const char *variant, unsigned skip)
{
	return (struct candidate){.variant = variant,
	        .run = panel_run,
	        .prepare = panel_prepare,
	        .before = skip ? phase_before : NULL,
	        .context = executor,
	        .skip = skip};
}

struct candidate candidate_ger(struct executor *executor)
{
	return (struct candidate){
	        .variant = "cublas", .run = ger_run, .context = executor, .ger = true};
}

/* ---- data ---- */

/* A copy of `host`, with the padding. */
static bool new_matrix(struct panel_fixture *s, struct matrix *a, enum precision precision,
        int64_t m, int64_t n, int64_t ld)
{
	struct executor *e = s->fixture.executor;

	if (!fixture_matrix(&s->fixture, a, m, n, ld, precision))
		return false;
	struct matrix padded = *a;
	padded.m = ld;
	return e->ops->upload(e, s->a, ld, padded);
}

static bool panel_open(struct panel_fixture *s, enum precision precision, int64_t m, int64_t n)
{
	struct timing_fixture *fixture = &s->fixture;
	struct timing_problem *problem = &fixture->problem;
	int64_t ld = fixture->plan->ld, bytes = ld * n * precision_bytes(precision);
	const uint64_t seed = fixture->plan->seed;

	s->a = xmalloc((size_t)bytes);
	s->result = xmalloc((size_t)bytes);
	matrix_fill(s->a, ld, m, n, precision, MATRIX_RANDOM, seed);
	bool ok = new_matrix(s, &s->original, precision, m, n, ld) &&
	          new_matrix(s, &problem->a, precision, m, n, ld) &&
	          fixture_matrix(fixture, &problem->x, m, 1, m, precision) &&
	          fixture_matrix(fixture, &problem->y, 1, n, 1, precision) &&
	          fixture_fill(fixture->executor, problem->x, 1, seed + 1) &&
	          fixture_fill(fixture->executor, problem->y, n, seed + 2) &&
	          fixture_matrix(fixture, &s->pivots, n + 1, 1, n + 1, SINGLE);
	problem->pivots = (struct pivots){s->pivots.data, n};
	return ok;
}

/* ---- checks ---- */

/* Largest error of A - x y^T, element by element, in units of eps times the terms' magnitudes. */
static double ger_ratio(const struct panel_fixture *s)
{
	const struct matrix *a = &s->original;
	const struct timing_problem *problem = &s->fixture.problem;
	struct executor *e = s->fixture.executor;
	const enum precision p = a->precision;
	double *x = xmalloc((size_t)(a->m + a->n) * sizeof *x), *y = x + a->m;
	double worst = fixture_line(e, problem->x, x) && fixture_line(e, problem->y, y) ? 0 : NAN;

	for (int64_t j = 0; j < a->n; j++)
		for (int64_t i = 0; i < a->m; i++) {
			const double before = matrix_get(s->a, p, i + j * a->ld);
			const double product = x[i] * y[j];
			const double got = matrix_get(s->result, p, i + j * a->ld);
			const double scale = check_eps(p) * (fabs(before) + fabs(product));
			worst = check_worse(worst, fabs(got - (before - product)) / scale);
		}
	free(x);
	return worst;
}

static bool check_factors(struct panel_fixture *s, struct candidate *candidate)
{
	struct executor *e = s->fixture.executor;
	const struct matrix *a = &s->original;
	struct panel_check check;
	int info = -1, *ipiv = xmalloc((size_t)(a->n + 1) * sizeof *ipiv);
	bool read = e->ops->read_pivots(e, s->fixture.problem.pivots, ipiv, &info);

	if (read)
		check_panel(s->a, a->ld, s->result, a->ld, a->m, a->n, ipiv, a->precision, &check);
	free(ipiv);
	if (!read)
		return false;
	candidate->residual = check.ratio;
	if (check.passed && info == 0)
		return true;
	return fault_set(&candidate->fault,
	        "failed: residual ratio %.3g, largest |l| %.3g, pivots %s, info %d", check.ratio,
	        check.max_l, check.pivots_valid ? "valid" : "invalid", info);
}

static bool check_result(struct timing_fixture *fixture, struct candidate *candidate)
{
	struct panel_fixture *s = (struct panel_fixture *)fixture;
	struct executor *e = fixture->executor;
	const struct matrix *a = &s->original;
	struct matrix padded = fixture->problem.a;

	padded.m = padded.ld;
	if (!e->ops->download(e, padded, s->result, a->ld))
		return false;
	if (!matrix_padding_intact(s->result, a->ld, a->m, a->n, a->precision))
		return fault_set(
		        &candidate->fault, "failed: rows below the panel were overwritten");
	return candidate->ger ? fixture_residual(candidate, ger_ratio(s))
	                      : check_factors(s, candidate);
}

static bool restore(struct timing_fixture *fixture)
{
	struct panel_fixture *s = (struct panel_fixture *)fixture;
	struct executor *e = fixture->executor;

	return ex_fill(e, WHOLE, NAN, NAN, s->pivots) &&
	       e->ops->duplicate(e, s->original, fixture->problem.a) && e->ops->sync(e);
}

bool timing_panel(struct executor *executor, enum precision precision, int64_t m, int64_t n,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault)
{
	struct panel_fixture s = {.fixture = {.executor = executor,
	                                  .plan = plan,
	                                  .restore = restore,
	                                  .check = check_result}};
	bool ok =
	        fixture_time(&s.fixture, panel_open(&s, precision, m, n), candidate, count, fault);

	free(s.a);
	free(s.result);
	return ok;
}
