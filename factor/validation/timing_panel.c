/* SPDX-License-Identifier: MIT */
#include "timing_panel.h"

#include "lib/base/msg.h"
#include "check.h"
#include "matrices.h"
#include "factor/algorithms/panel_getrf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Everything one shape needs, in host memory and in the executor's. */
struct panel_fixture {
	struct timing_fixture fixture;
	struct matrix original;       /* the panel before factorization */
	struct matrix pivots, poison; /* pivots and their poison, seen as a column of words */
	void *a, *x, *y, *result;     /* host copies, leading dimension ld */
	int *ipiv;
};

/* ---- candidates ---- */

static bool panel_prepare(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct executor *executor = candidate->context;
	int64_t bytes = panel_getrf_work(executor, candidate->variant, problem->a);

	if (bytes < 0)
		return timing_lift(executor, false, fault);
	if (bytes == 0)
		return true;
	/* Scratch memory starts as garbage: nothing may rely on zeros. */
	int64_t words = (bytes + 3) / 4;
	struct matrix work = {NULL, 0, words, 1, words, SINGLE};
	void *garbage = xmalloc((size_t)words * 4);
	memset(garbage, 0xff, (size_t)words * 4);
	bool ok = timing_lift(
	        executor, executor->ops->alloc(executor, words * 4, &candidate->work), fault);
	work.data = candidate->work;
	ok = ok &&
	     timing_lift(executor, executor->ops->upload(executor, garbage, words, work), fault);
	free(garbage);
	return ok;
}

static bool run_without(struct candidate *candidate, const struct timing_problem *problem,
        unsigned skip, struct fault *fault)
{
	struct executor *executor = candidate->context;

	executor->skip = skip;
	bool ok = panel_getrf(
	        executor, candidate->variant, problem->a, candidate->work, problem->pivots);
	executor->skip = 0;
	return timing_lift(executor, ok && executor->ops->sync(executor), fault);
}

static bool panel_run(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	return run_without(candidate, problem, candidate->skip, fault);
}

/* A phase alone finds what it takes from the others: candidates for the pivot, the panel on the
 * host. */
static bool phase_before(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	unsigned needed = 1u << PHASE_SEARCH | 1u << PHASE_TRANSFER;
	return run_without(candidate, problem, ~needed, fault);
}

static bool ger_run(
        struct candidate *candidate, const struct timing_problem *problem, struct fault *fault)
{
	struct executor *executor = candidate->context;
	bool ok = ex_ger(executor, problem->x, problem->y, problem->a);
	return timing_lift(executor, ok && executor->ops->sync(executor), fault);
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

static bool new_matrix(const struct panel_fixture *panel, struct matrix *matrix, const void *host,
        struct fault *fault)
{
	struct executor *executor = panel->fixture.executor;
	int64_t bytes = matrix->ld * matrix->n * precision_bytes(matrix->precision);
	struct matrix whole = *matrix;

	if (!timing_lift(executor, executor->ops->alloc(executor, bytes, &matrix->data), fault))
		return false;
	whole.data = matrix->data;
	whole.m = matrix->ld; /* with the padding */
	return timing_lift(
	        executor, executor->ops->upload(executor, host, matrix->ld, whole), fault);
}

static bool fixture_open(struct panel_fixture *panel, enum precision precision, int64_t m, int64_t n,
        struct fault *fault)
{
	int64_t ld = panel->fixture.plan->ld, words = n + 1;
	struct timing_problem *problem = &panel->fixture.problem;
	struct matrix shape = {NULL, 0, m, n, ld, precision};
	struct matrix column = {NULL, 0, words, 1, words, SINGLE};

	panel->a = xmalloc((size_t)(ld * n * precision_bytes(precision)));
	panel->x = xmalloc((size_t)(m * precision_bytes(precision)));
	panel->y = xmalloc((size_t)(n * precision_bytes(precision)));
	matrix_fill(panel->a, ld, m, n, precision, MATRIX_RANDOM, panel->fixture.plan->seed);
	matrix_fill(panel->x, m, m, 1, precision, MATRIX_RANDOM, panel->fixture.plan->seed + 1);
	matrix_fill(panel->y, 1, 1, n, precision, MATRIX_RANDOM, panel->fixture.plan->seed + 2);
	panel->result = xmalloc((size_t)(ld * n * precision_bytes(precision)));
	panel->ipiv = xmalloc((size_t)words * sizeof *panel->ipiv);
	memset(panel->ipiv, 0xff, (size_t)words * sizeof *panel->ipiv);

	panel->original = problem->a = shape;
	problem->x = (struct matrix){NULL, 0, m, 1, m, precision};
	problem->y = (struct matrix){NULL, 0, 1, n, 1, precision};
	panel->pivots = panel->poison = column;
	bool ok = new_matrix(panel, &panel->original, panel->a, fault) &&
	          new_matrix(panel, &problem->a, panel->a, fault) &&
	          new_matrix(panel, &problem->x, panel->x, fault) &&
	          new_matrix(panel, &problem->y, panel->y, fault) &&
	          new_matrix(panel, &panel->pivots, panel->ipiv, fault) &&
	          new_matrix(panel, &panel->poison, panel->ipiv, fault);
	problem->pivots = (struct pivots){panel->pivots.data, n};
	return ok;
}

static void fixture_close(struct panel_fixture *panel)
{
	struct executor *executor = panel->fixture.executor;
	void *device[] = {panel->original.data, panel->fixture.problem.a.data,
	        panel->fixture.problem.x.data, panel->fixture.problem.y.data, panel->pivots.data,
	        panel->poison.data};
	void *host[] = {panel->a, panel->x, panel->y, panel->result, panel->ipiv};

	for (size_t i = 0; i < ARRAY_LEN(device); i++)
		if (device[i])
			executor->ops->release(executor, device[i]);
	for (size_t i = 0; i < ARRAY_LEN(host); i++)
		free(host[i]);
}

/* ---- checks ---- */

static double element(const void *data, int64_t i, enum precision precision)
{
	return precision == SINGLE ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

/* Largest error of A - x y^T, element by element, in units of eps times the terms' magnitudes. */
static double ger_ratio(const struct panel_fixture *panel)
{
	const struct matrix *a = &panel->original;
	double eps = a->precision == SINGLE ? 0x1p-24 : 0x1p-53, worst = 0;

	for (int64_t j = 0; j < a->n; j++) {
		double y = element(panel->y, j, a->precision);
		for (int64_t i = 0; i < a->m; i++) {
			double before = element(panel->a, i + j * a->ld, a->precision);
			double product = element(panel->x, i, a->precision) * y;
			double got = element(panel->result, i + j * a->ld, a->precision);
			double scale = eps * (fabs(before) + fabs(product));
			double ratio = fabs(got - (before - product)) / scale;
			if (!(ratio <= worst)) /* NaN too */
				worst = ratio;
		}
	}
	return worst;
}

static bool check_factors(
        struct panel_fixture *panel, struct candidate *candidate, struct fault *fault)
{
	struct executor *executor = panel->fixture.executor;
	const struct matrix *a = &panel->original;
	struct panel_check check;
	int info = -1;

	if (!timing_lift(executor,
	            executor->ops->read_pivots(
	                    executor, panel->fixture.problem.pivots, panel->ipiv, &info),
	            fault))
		return false;
	check_panel(panel->a, a->ld, panel->result, a->ld, a->m, a->n, panel->ipiv, a->precision,
	        &check);
	candidate->residual = check.ratio;
	if (check.passed && info == 0)
		return true;
	return fault_set(fault, "failed: residual ratio %.3g, largest |l| %.3g, pivots %s, info %d",
	        check.ratio, check.max_l, check.pivots_valid ? "valid" : "invalid", info);
}

static bool check_ger(struct panel_fixture *panel, struct candidate *candidate, struct fault *fault)
{
	candidate->residual = ger_ratio(panel);
	return candidate->residual < CHECK_THRESHOLD ||
	       fault_set(fault, "failed: residual ratio %.3g", candidate->residual);
}

static bool check_result(
        struct timing_fixture *fixture, struct candidate *candidate, struct fault *fault)
{
	struct panel_fixture *panel = (struct panel_fixture *)fixture;
	struct executor *executor = panel->fixture.executor;
	const struct matrix *a = &panel->original;
	struct matrix whole = panel->fixture.problem.a;

	whole.m = whole.ld;
	if (!timing_lift(executor, executor->ops->download(executor, whole, panel->result, a->ld),
	            fault))
		return false;
	if (!matrix_padding_intact(panel->result, a->ld, a->m, a->n, a->precision))
		return fault_set(fault, "failed: rows below the panel were overwritten");
	return candidate->ger ? check_ger(panel, candidate, fault)
	                      : check_factors(panel, candidate, fault);
}

static bool restore(struct timing_fixture *fixture, struct fault *fault)
{
	struct panel_fixture *panel = (struct panel_fixture *)fixture;
	struct executor *executor = fixture->executor;
	const struct executor_ops *ops = executor->ops;

	return timing_lift(executor,
	        ops->duplicate(executor, panel->poison, panel->pivots) &&
	                ops->duplicate(executor, panel->original, fixture->problem.a) &&
	                ops->sync(executor),
	        fault);
}

bool timing_panel(struct executor *executor, enum precision precision, int64_t m, int64_t n,
        const struct timing_plan *plan, struct candidate *candidate, size_t count,
        struct fault *fault)
{
	struct panel_fixture panel = {.fixture = {executor, plan, {.x = {0}}, restore, check_result}};
	bool ok = fixture_open(&panel, precision, m, n, fault) &&
	          timing_turns(&panel.fixture, candidate, count, fault);

	fixture_close(&panel);
	return ok;
}
