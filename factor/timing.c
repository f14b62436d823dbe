/* SPDX-License-Identifier: MIT */
#include "timing.h"

#include "../lib/clock.h"
#include "../lib/msg.h"
#include "check.h"
#include "matrices.h"
#include "panel_getrf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_TURN = 5 }; /* runs of a contender's first turn: the fewest samples it can end with */

/* Everything one shape needs, in host memory and in the executor's. */
struct bench {
	struct executor *executor;
	const struct timing_plan *plan;
	struct timing_problem problem; /* what the contenders get */
	struct matrix original;        /* the panel before factorization */
	struct matrix pivots, poison;  /* pivots and their poison, seen as a column of words */
	void *a, *x, *y, *result;      /* host copies, leading dimension ld */
	int *ipiv;
};

/* ---- contenders ---- */

static bool lift(struct executor *executor, bool ok, struct fault *fault)
{
	return ok || fault_set(fault, "%s", executor->fault.text);
}

static bool panel_prepare(
        struct contender *contender, const struct timing_problem *problem, struct fault *fault)
{
	struct executor *executor = contender->context;
	int64_t bytes = panel_getrf_work(executor, contender->variant, problem->a);

	if (bytes < 0)
		return lift(executor, false, fault);
	if (bytes == 0)
		return true;
	/* Scratch memory starts as garbage: nothing may rely on zeros. */
	int64_t words = (bytes + 3) / 4;
	struct matrix work = {NULL, 0, words, 1, words, SINGLE};
	void *garbage = xmalloc((size_t)words * 4);
	memset(garbage, 0xff, (size_t)words * 4);
	bool ok =
	        lift(executor, executor->ops->alloc(executor, words * 4, &contender->work), fault);
	work.data = contender->work;
	ok = ok && lift(executor, executor->ops->upload(executor, garbage, words, work), fault);
	free(garbage);
	return ok;
}

static bool run_without(struct contender *contender, const struct timing_problem *problem,
        unsigned skip, struct fault *fault)
{
	struct executor *executor = contender->context;

	executor->skip = skip;
	bool ok = panel_getrf(
	        executor, contender->variant, problem->a, contender->work, problem->pivots);
	executor->skip = 0;
	return lift(executor, ok && executor->ops->sync(executor), fault);
}

static bool panel_run(
        struct contender *contender, const struct timing_problem *problem, struct fault *fault)
{
	return run_without(contender, problem, contender->skip, fault);
}

/* A phase alone finds what it takes from the others: candidates for the pivot, the panel on the
 * host. */
static bool phase_before(
        struct contender *contender, const struct timing_problem *problem, struct fault *fault)
{
	unsigned needed = 1u << PHASE_SEARCH | 1u << PHASE_TRANSFER;
	return run_without(contender, problem, ~needed, fault);
}

static bool ger_run(
        struct contender *contender, const struct timing_problem *problem, struct fault *fault)
{
	struct executor *executor = contender->context;
	bool ok = ex_ger(executor, problem->x, problem->y, problem->a);
	return lift(executor, ok && executor->ops->sync(executor), fault);
}

struct contender contender_panel(struct executor *executor, const char *variant, unsigned skip)
{
	return (struct contender){.variant = variant,
	        .run = panel_run,
	        .prepare = panel_prepare,
	        .before = skip ? phase_before : NULL,
	        .context = executor,
	        .skip = skip};
}

struct contender contender_ger(struct executor *executor)
{
	return (struct contender){
	        .variant = "cublas", .run = ger_run, .context = executor, .ger = true};
}

/* ---- data ---- */

static bool new_matrix(
        struct bench *bench, struct matrix *matrix, const void *host, struct fault *fault)
{
	struct executor *executor = bench->executor;
	int64_t bytes = matrix->ld * matrix->n * precision_bytes(matrix->precision);
	struct matrix whole = *matrix;

	if (!lift(executor, executor->ops->alloc(executor, bytes, &matrix->data), fault))
		return false;
	whole.data = matrix->data;
	whole.m = matrix->ld; /* with the padding */
	return lift(executor, executor->ops->upload(executor, host, matrix->ld, whole), fault);
}

static bool bench_open(
        struct bench *bench, enum precision precision, int64_t m, int64_t n, struct fault *fault)
{
	int64_t ld = bench->plan->ld, words = n + 1;
	struct timing_problem *problem = &bench->problem;
	struct matrix panel = {NULL, 0, m, n, ld, precision};
	struct matrix column = {NULL, 0, words, 1, words, SINGLE};

	bench->a = xmalloc((size_t)(ld * n * precision_bytes(precision)));
	bench->x = xmalloc((size_t)(m * precision_bytes(precision)));
	bench->y = xmalloc((size_t)(n * precision_bytes(precision)));
	matrix_fill(bench->a, ld, m, n, precision, MATRIX_RANDOM, bench->plan->seed);
	matrix_fill(bench->x, m, m, 1, precision, MATRIX_RANDOM, bench->plan->seed + 1);
	matrix_fill(bench->y, 1, 1, n, precision, MATRIX_RANDOM, bench->plan->seed + 2);
	bench->result = xmalloc((size_t)(ld * n * precision_bytes(precision)));
	bench->ipiv = xmalloc((size_t)words * sizeof *bench->ipiv);
	memset(bench->ipiv, 0xff, (size_t)words * sizeof *bench->ipiv);

	bench->original = problem->a = panel;
	problem->x = (struct matrix){NULL, 0, m, 1, m, precision};
	problem->y = (struct matrix){NULL, 0, 1, n, 1, precision};
	bench->pivots = bench->poison = column;
	bool ok = new_matrix(bench, &bench->original, bench->a, fault) &&
	          new_matrix(bench, &problem->a, bench->a, fault) &&
	          new_matrix(bench, &problem->x, bench->x, fault) &&
	          new_matrix(bench, &problem->y, bench->y, fault) &&
	          new_matrix(bench, &bench->pivots, bench->ipiv, fault) &&
	          new_matrix(bench, &bench->poison, bench->ipiv, fault);
	problem->pivots = (struct pivots){bench->pivots.data, n};
	return ok;
}

static void bench_close(struct bench *bench)
{
	struct executor *executor = bench->executor;
	void *device[] = {bench->original.data, bench->problem.a.data, bench->problem.x.data,
	        bench->problem.y.data, bench->pivots.data, bench->poison.data};
	void *host[] = {bench->a, bench->x, bench->y, bench->result, bench->ipiv};

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
static double ger_ratio(const struct bench *bench)
{
	const struct matrix *a = &bench->original;
	double eps = a->precision == SINGLE ? 0x1p-24 : 0x1p-53, worst = 0;

	for (int64_t j = 0; j < a->n; j++) {
		double y = element(bench->y, j, a->precision);
		for (int64_t i = 0; i < a->m; i++) {
			double before = element(bench->a, i + j * a->ld, a->precision);
			double product = element(bench->x, i, a->precision) * y;
			double got = element(bench->result, i + j * a->ld, a->precision);
			double scale = eps * (fabs(before) + fabs(product));
			double ratio = fabs(got - (before - product)) / scale;
			if (!(ratio <= worst)) /* NaN too */
				worst = ratio;
		}
	}
	return worst;
}

static bool check_factors(struct bench *bench, struct contender *contender, struct fault *fault)
{
	struct executor *executor = bench->executor;
	const struct matrix *a = &bench->original;
	struct panel_check check;
	int info = -1;

	if (!lift(executor,
	            executor->ops->read_pivots(executor, bench->problem.pivots, bench->ipiv, &info),
	            fault))
		return false;
	check_panel(bench->a, a->ld, bench->result, a->ld, a->m, a->n, bench->ipiv, a->precision,
	        &check);
	contender->residual = check.ratio;
	if (check.passed && info == 0)
		return true;
	return fault_set(fault, "failed: residual ratio %.3g, largest |l| %.3g, pivots %s, info %d",
	        check.ratio, check.max_l, check.pivots_valid ? "valid" : "invalid", info);
}

static bool check_ger(struct bench *bench, struct contender *contender, struct fault *fault)
{
	contender->residual = ger_ratio(bench);
	return contender->residual < CHECK_THRESHOLD ||
	       fault_set(fault, "failed: residual ratio %.3g", contender->residual);
}

/* Looks at what the last run left behind. */
static bool check_result(struct bench *bench, struct contender *contender, struct fault *fault)
{
	struct executor *executor = bench->executor;
	const struct matrix *a = &bench->original;
	struct matrix whole = bench->problem.a;

	whole.m = whole.ld;
	if (!lift(executor, executor->ops->download(executor, whole, bench->result, a->ld), fault))
		return false;
	if (!matrix_padding_intact(bench->result, a->ld, a->m, a->n, a->precision))
		return fault_set(fault, "failed: rows below the panel were overwritten");
	return contender->ger ? check_ger(bench, contender, fault)
	                      : check_factors(bench, contender, fault);
}

/* ---- the protocol ---- */

static bool restore(struct bench *bench, struct fault *fault)
{
	struct executor *executor = bench->executor;
	const struct executor_ops *ops = executor->ops;
	return lift(executor,
	        ops->duplicate(executor, bench->poison, bench->pivots) &&
	                ops->duplicate(executor, bench->original, bench->problem.a) &&
	                ops->sync(executor),
	        fault);
}

static bool run_once(
        struct bench *bench, struct contender *contender, double *seconds, struct fault *fault)
{
	if (!restore(bench, fault))
		return false;
	if (contender->before && !contender->before(contender, &bench->problem, fault))
		return false;
	double start = clock_now();
	bool ok = contender->run(contender, &bench->problem, fault);
	*seconds = clock_now() - start;
	return ok;
}

static void give_up(struct contender *contender, const struct fault *fault)
{
	contender->done = contender->failed = true;
	contender->samples = 0;
	snprintf(contender->note, sizeof contender->note, "%s", fault->text);
}

static void begin(struct bench *bench, struct contender *contender)
{
	struct fault fault = {""};
	double start = clock_now(), seconds;

	contender->residual = NAN;
	contender->seconds = (struct estimate){NAN, NAN, NAN, 0};
	if (contender->prepare && !contender->prepare(contender, &bench->problem, &fault)) {
		give_up(contender, &fault);
		contender->refused = true;
		contender->failed = false;
		return;
	}
	for (int runs = 0; runs < 2 || clock_now() - start < bench->plan->warm_seconds; runs++) {
		if (!run_once(bench, contender, &seconds, &fault)) {
			give_up(contender, &fault);
			return;
		}
	}
}

/* Turns grow with what is there already, so that short operations are not sorted thousands of
 * times. */
static void take_turn(struct bench *bench, struct contender *contender)
{
	const struct timing_plan *plan = bench->plan;
	struct fault fault = {""};
	size_t runs = contender->samples / 4 > FIRST_TURN ? contender->samples / 4 : FIRST_TURN;
	double start = clock_now();

	contender->sample = xrealloc(
	        contender->sample, (contender->samples + runs) * sizeof *contender->sample);
	for (size_t i = 0; i < runs; i++) {
		bool late = contender->spent + (clock_now() - start) > plan->max_seconds;
		if (*plan->stop || (late && contender->samples >= FIRST_TURN))
			break;
		if (!run_once(bench, contender, &contender->sample[contender->samples], &fault)) {
			give_up(contender, &fault);
			return;
		}
		contender->samples++;
	}
	contender->spent += clock_now() - start;
	contender->seconds = stats_median_interval(contender->sample, contender->samples);
	const struct estimate *t = &contender->seconds;
	contender->done = contender->spent > plan->max_seconds ||
	                  (t->high - t->low) / 2 <= plan->target * t->value;
}

/* The last run of a contender is repeated once for the check, since others have run since. */
static void finish(struct bench *bench, struct contender *contender)
{
	struct fault fault = {""};
	double seconds;

	if (contender->samples && !contender->skip && !*bench->plan->stop &&
	        !(run_once(bench, contender, &seconds, &fault) &&
	                check_result(bench, contender, &fault))) {
		give_up(contender, &fault);
		contender->seconds = (struct estimate){NAN, NAN, NAN, 0};
	}
	if (contender->work)
		bench->executor->ops->release(bench->executor, contender->work);
	contender->work = NULL;
	free(contender->sample);
	contender->sample = NULL;
}

bool timing_run(struct executor *executor, enum precision precision, int64_t m, int64_t n,
        const struct timing_plan *plan, struct contender *contender, size_t count,
        struct fault *fault)
{
	struct bench bench = {.executor = executor, .plan = plan};
	bool ok = bench_open(&bench, precision, m, n, fault);

	for (size_t i = 0; ok && i < count && !*plan->stop; i++)
		begin(&bench, &contender[i]);
	for (bool busy = ok; busy && !*plan->stop;) {
		busy = false;
		for (size_t i = 0; i < count && !*plan->stop; i++) {
			if (!contender[i].done)
				take_turn(&bench, &contender[i]);
			busy = busy || !contender[i].done;
		}
	}
	for (size_t i = 0; i < count; i++)
		finish(&bench, &contender[i]);
	bench_close(&bench);
	if (ok && *plan->stop)
		return fault_set(fault, "interrupted");
	return ok;
}
