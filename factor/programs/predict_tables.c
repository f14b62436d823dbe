/* SPDX-License-Identifier: MIT */
#include "predict.h"

#include "lib/base/msg.h"
#include "factor/model/plan/plan_choice.h"
#include "factor/algorithms/plan_default.h"
#include "factor/validation/breakdown.h"
#include "factor/validation/cases.h"
#include "factor/validation/whole.h"

#include <math.h>
#include <stdlib.h>

enum { LARGEST_QUICK = 512, LEAST_BOUND = 256 };

/* ---- bounds ---- */

enum part { PANELS, UPDATES, OTHERS, PARTS };

static const struct {
	const char *alone, *without; /* columns */
	unsigned phases;
} parts[PARTS] = {{"panels_s", "without_panels_s", 1u << PHASE_PANEL},
        {"updates_s", "without_updates_s", 1u << PHASE_UPDATE},
        {"others_s", "without_others_s",
                ((1u << PHASE_COUNT) - 1) & ~(1u << PHASE_PANEL | 1u << PHASE_UPDATE)}};

struct run {
	struct factor_question asked;
	struct plan_choice choice;
	double bound, alone[PARTS], without[PARTS], by_default; /* seconds */
};

/* NaN when the profile has no cost of it. */
static double seconds_without(
        const struct profile *profile, const struct factor_question *asked, unsigned phases)
{
	struct executor *e = model_factor_executor(profile, MODEL_CUDA, asked, 2);

	e->skip = phases;
	const double seconds = model_factor_run(e, asked) ? executor_model_seconds(e) : NAN;
	executor_free(e);
	return seconds;
}

/* By the default plan. */
static double seconds_by_default(const struct profile *profile, struct factor_question asked)
{
	struct executor *e = model_factor_executor(profile, MODEL_CUDA, &asked, 2);
	enum operation operation = GETRF;
	struct default_plan plan;

	operation_find(asked.operation, &operation);
	plan_default(e, operation, asked.m, asked.n, asked.precision, false, &plan);
	executor_free(e);
	asked.plan = &plan.plan;
	return seconds_without(profile, &asked, 0);
}

static void simulate(const struct profile *profile, struct run *run)
{
	const unsigned all = (1u << PHASE_COUNT) - 1;
	struct plan_fixed fixed = plan_free;
	struct prediction bound;

	fixed.hybrid = 0;
	if (!plan_choose(profile, &run->asked, &fixed, &run->choice))
		return;
	run->asked.plan = &run->choice.plan;
	model_factor_predict(profile, MODEL_CUDA, &run->asked, 0, &bound);
	run->bound = bound.seconds;
	run->by_default = seconds_by_default(profile, run->asked);
	for (enum part p = 0; p < PARTS; p++) {
		run->alone[p] = seconds_without(profile, &run->asked, all & ~parts[p].phases);
		run->without[p] = seconds_without(profile, &run->asked, parts[p].phases);
	}
}

/* Each shape in each math, but for the smallest squares; quick: small squares alone. */
static size_t list_runs(const struct profile *profile, bool quick, struct run **runs)
{
	struct bench_shape *shapes;
	const size_t all = cases_largest_first(&shapes);
	size_t count = 0;

	*runs = xcalloc(all * MATHS, sizeof **runs);
	for (size_t i = 0; i < all; i++)
		for (enum math math = MATH_FP32; math < MATHS; math++) {
			const struct bench_shape *s = &shapes[i];
			if (s->n < LEAST_BOUND && s->m == s->n)
				continue;
			if ((quick && (s->m != s->n || s->n > LARGEST_QUICK)) ||
			        (math != MATH_FP32 &&
			                !(cases_split(s) && cases_estimated(profile, math))))
				continue;
			(*runs)[count++].asked = cases_question(s, math);
		}
	free(shapes);
	return count;
}

static void add_row(struct table *table, const struct run *run)
{
	const struct factor_question *asked = &run->asked;
	const char precision[] = {(char)asked->precision, 0};
	const size_t r = table_add_row(table);

	table_set_text(table, r, "operation", asked->operation);
	table_set_text(table, r, "precision", precision);
	table_set_text(
	        table, r, "math", asked->precision == DOUBLE ? "fp64" : math_name[asked->math]);
	table_set_int(table, r, "m", asked->m);
	table_set_int(table, r, "n", asked->n);
	table_set_real(table, r, "seconds", run->choice.seconds);
	table_set_real(table, r, "bound_s", run->bound);
	table_set_real(table, r, "default_s", run->by_default);
	for (enum part p = 0; p < PARTS; p++) {
		table_set_real(table, r, parts[p].alone, run->alone[p]);
		table_set_real(table, r, parts[p].without, run->without[p]);
	}
}

struct table *predict_bounds(const struct profile *profile, bool quick)
{
	static const char *const columns[] = {"operation", "precision", "math", "m", "n", "seconds",
	        "bound_s", "default_s", "panels_s", "updates_s", "others_s", "without_panels_s",
	        "without_updates_s", "without_others_s"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	struct run *runs;
	const size_t count = list_runs(profile, quick, &runs);
	size_t done = 0;

	msg_progress_step(0, (double)count, INFINITY, "bounds of %zu factorizations", count);
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < count; i++) {
		simulate(profile, &runs[i]);
#pragma omp critical(progress)
		msg_progress_step((double)++done, (double)count, INFINITY,
		        "bounds of %zu factorizations", count);
	}
	for (size_t i = 0; i < count; i++)
		if (runs[i].asked.plan)
			add_row(table, &runs[i]);
	msg_progress_end();
	free(runs);
	return table;
}

/* ---- shares of phases ---- */

enum { SMALLEST = 32, LARGEST = 8192, SIZES = 9 };

struct breakdown_run {
	struct factor_question asked;
	enum breakdown_place place;
	struct plan_choice choice;
	struct timeline *timeline; /* NULL: none */
	double seconds;
};

static void simulate_breakdown(const struct profile *profile, struct breakdown_run *run)
{
	enum model_target target = run->place == PLACE_HOST ? MODEL_HOST : MODEL_CUDA;
	struct executor *e;

	if (!breakdown_choose(profile, &run->asked, run->place, &run->choice))
		return;
	run->asked.plan = &run->choice.plan;
	e = model_factor_executor(profile, target, &run->asked, 2);
	if (model_factor_run(e, &run->asked)) {
		run->seconds = executor_model_result(e).seconds;
		run->timeline = executor_model_timeline(e, run->asked.operation);
	}
	executor_free(e);
}

struct table *predict_breakdown(const struct profile *profile, bool quick)
{
	static const char *const operations[] = {"getrf", "geqrf", "potrf"};
	struct breakdown_run *run =
	        xcalloc(ARRAY_LEN(operations) * SIZES * PLACE_COUNT, sizeof *run);
	struct table *table = breakdown_table();
	size_t count = 0, done = 0;

	for (size_t o = 0; o < ARRAY_LEN(operations); o++)
		for (int64_t n = SMALLEST; n <= (quick ? LARGEST_QUICK : LARGEST); n *= 2)
			for (enum breakdown_place place = 0; place < PLACE_COUNT; place++)
				run[count++] = (struct breakdown_run){
				        .asked = cases_question(&(struct bench_shape){operations[o],
				                                        SINGLE, n, n, 0},
				                MATH_FP32),
				        .place = place};
	msg_progress_step(0, (double)count, INFINITY, "breakdown of %zu factorizations", count);
#pragma omp parallel for schedule(dynamic)
	for (size_t i = 0; i < count; i++) {
		simulate_breakdown(profile, &run[i]);
#pragma omp critical(progress)
		msg_progress_step((double)++done, (double)count, INFINITY,
		        "breakdown of %zu factorizations", count);
	}
	for (size_t i = 0; i < count; i++) {
		if (run[i].seconds > 0)
			breakdown_add(table, &run[i].asked, run[i].place, run[i].timeline, NAN,
			        run[i].seconds);
		timeline_free(run[i].timeline);
	}
	msg_progress_end();
	free(run);
	return table;
}
