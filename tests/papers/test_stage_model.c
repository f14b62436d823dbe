/* SPDX-License-Identifier: MIT */
/* Widths from stages whose times are simulated for a recorded GPU: the sums are near the simulated
 * factorizations, and the sequence is as fast as the model's own plan, which a search found. */
#include "factor/model/predictions/model_factor.h"
#include "factor/validation/cases.h"
#include "factor/validation/papers/stage_rows.h"
#include "factor/validation/whole.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>

enum { N = 8192 };

/* Simulated seconds of a row. */
static double simulated(const struct profile *profile, const struct result *row)
{
	static struct whole_plan plan;
	const struct bench_shape shape = {"geqrf", SINGLE, row->n, row->n, 0};
	struct factor_question asked = cases_question(&shape, MATH_FP32);

	whole_plan_parse(row->plan, false, row->nb, &plan);
	asked.plan = &plan.plan;
	struct executor *e = model_factor_executor(profile, MODEL_CUDA, &asked, LEVEL_FULL);
	const double seconds = model_factor_run(e, &asked) ? executor_model_seconds(e) : NAN;
	executor_free(e);
	return seconds;
}

static void take(const struct profile *profile, struct stage_times *times)
{
	struct results *results = results_new();
	int64_t size[STAGE_SIZES];
	const size_t sizes = stage_sizes(&times->stages, N, size);

	for (size_t i = 0; i < sizes; i++) {
		struct result row[STAGE_ROWS];
		const size_t rows = stage_rows(&times->stages, "cuda", size[i], row);
		for (size_t r = 0; r < rows; r++) {
			row[r].seconds.value = simulated(profile, &row[r]);
			results_add(results, &row[r]);
		}
	}
	stage_times_take(times, results, "cuda");
	results_free(results);
}

static double one_width(
        const struct profile *profile, const struct stage_times *times, const int64_t *width)
{
	struct result row;

	widths_row("cuda", N, width, 1, NULL, &row);
	const double seconds = simulated(profile, &row);
	is_real(stages_sum(&times->stages, N, width, 1), seconds, 0.05,
	        "a single width: the sum of stages is near its time");
	return seconds;
}

int main(void)
{
	static const struct bench_shape shape = {"geqrf", SINGLE, N, N, 0};
	struct fault fault;
	struct profile *profile = profile_read(RECORDED "/profile.tsv", &fault);
	struct stage_times *times = malloc(sizeof *times);
	static int64_t widths[N / 32];
	struct result row, model;
	double one = INFINITY;

	if (!ok(profile && times, "a recorded GPU"))
		return finish();
	stage_times_start(times, "cuda");
	take(profile, times);
	for (size_t i = 0; i < times->stages.widths; i++)
		one = fmin(one, one_width(profile, times, &times->stages.width[i]));
	const size_t count = stages_least(&times->stages, N, widths);
	ok(count && widths_row("cuda", N, widths, count, "stages", &row), "a sequence");
	const double ours = simulated(profile, &row);
	is_real(stages_sum(&times->stages, N, widths, count), ours, 0.05,
	        "its sum is near its time");
	ok(ours < one, "it is faster than the best single width: %.1f and %.1f ms, %s", 1e3 * ours,
	        1e3 * one, row.plan);
	ok(cases_model_plan(profile, &shape, false, MATH_FP32, &model), "the model's plan");
	is_real(ours, simulated(profile, &model), 0.02, "which is as fast");
	profile_free(profile);
	free(times);
	return finish();
}
