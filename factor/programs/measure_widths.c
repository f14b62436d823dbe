/* SPDX-License-Identifier: MIT */
/* Widths of QR's blocks by dynamic programming over measured stages (LAWN 202, section 5). First
 * the times of the stages, and the sequence of least sum. Then whole factorizations run in turns:
 * by this sequence, by each single width, and by the model's plan.
 *
 * On a GPU the panels are on the GPU, too; the paper's are on the CPU. Stages of one order serve
 * all larger matrices: their leading dimension is their own. */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/validation/cases.h"
#include "factor/validation/papers/stage_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The host has small matrices, a GPU larger ones. */
enum { HOST_LARGEST = 512, QUICK_LARGEST = 2048 };

/* Relative half-width of a time's interval: gains are a few percent. */
static const double target = 0.005;

static bool suits(const struct measure *m, int64_t n)
{
	if (!m->executor[0])
		return n <= (m->common.quick ? HOST_LARGEST / 2 : HOST_LARGEST);
	return n > HOST_LARGEST && (n <= QUICK_LARGEST || !m->common.quick);
}

/* Stages that the results do not have. Returns whether rows are new. */
static bool measure_stages(struct measure *m, const struct stages *stages, int64_t n)
{
	const char *name;
	struct executor *executor = measure_first(m, &name);
	int64_t size[STAGE_SIZES];
	const size_t sizes = stage_sizes(stages, n, size);
	bool any = false;

	for (size_t i = 0; i < sizes && !measure_over(m); i++) {
		struct result row[STAGE_ROWS];
		const size_t rows = stage_rows(stages, name, size[i], row);
		for (size_t r = 0; r < rows; r++)
			measure_list(m, &row[r], NULL, false);
		m->plan.ld = size[i];
		any |= measure_listed(m, time_whole, executor);
	}
	return any;
}

/* Lists a factorization, after its sum of stages. */
static void list(struct measure *m, const struct stages *stages, const struct result *row,
        const int64_t *widths, size_t count)
{
	const struct result sum = widths_sum_row(row, stages_sum(stages, row->n, widths, count));

	if (isfinite(sum.seconds.value) && !results_find(m->results, &sum))
		results_add(m->results, &sum);
	measure_list(m, row, NULL, false);
}

/* The sequence of least sum. One that is too long for a row is replaced by the best one of widths
 * that get narrower. */
static void list_sequence(struct measure *m, struct stages *stages, const char *name, int64_t n)
{
	int64_t *widths = xmalloc((size_t)(n / stages->width[0]) * sizeof *widths);
	struct result row;
	bool fits = false;

	for (int narrowing = 0; narrowing < 2 && !fits; narrowing++) {
		stages->narrowing = narrowing;
		const size_t count = stages_least(stages, n, widths);
		fits = count && widths_row(name, n, widths, count, "stages", &row);
		if (fits)
			list(m, stages, &row, widths, count);
	}
	stages->narrowing = false;
	if (!fits)
		msg_warn("QR %" PRId64 " x %" PRId64 ": stages without times, no sequence", n, n);
	free(widths);
}

static void list_model(struct measure *m, const struct bench_shape *shape)
{
	const struct bench_shape whole = {"geqrf", SINGLE, shape->n, shape->n, 0};
	struct result row;

	if (!m->executor[0] || !m->profile ||
	        !cases_model_plan(m->profile, &whole, false, MATH_FP32, &row))
		return;
	snprintf(row.operation, sizeof row.operation, WIDTHS_OPERATION);
	measure_list(m, &row, NULL, false);
}

static void list_whole(struct measure *m, struct stages *stages, const struct bench_shape *shape)
{
	const char *name;

	measure_first(m, &name);
	for (size_t i = 0; i < stages->widths; i++) {
		struct result row;
		widths_row(name, shape->n, &stages->width[i], 1, NULL, &row);
		list(m, stages, &row, &stages->width[i], 1);
	}
	list_sequence(m, stages, name, shape->n);
	list_model(m, shape);
}

bool measure_widths(struct measure *m, const struct bench_shape *shape)
{
	const char *name;
	struct executor *executor = measure_first(m, &name);
	const double usual = m->plan.target;
	struct stage_times *times;

	if (!executor || !suits(m, shape->n))
		return false;
	times = xmalloc(sizeof *times);
	stage_times_start(times, name);
	m->plan.target = target;
	bool any = measure_stages(m, &times->stages, shape->n);
	if (!measure_over(m)) {
		stage_times_take(times, m->results, name);
		list_whole(m, &times->stages, shape);
		m->plan.ld = shape->n;
		any |= measure_listed(m, time_whole, executor);
	}
	m->plan.target = usual;
	free(times);
	return any;
}
