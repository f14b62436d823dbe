/* SPDX-License-Identifier: MIT */
/* Widths from measured stages: the dynamic programming against all sequences of small tables, the
 * stages to be measured and their interpolation. */
#include "factor/validation/papers/stage_rows.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNITS = 9, TABLES = 200 };

/* ---- the least sum ---- */

/* Seconds by s, w and v in units; 0: one block. */
struct random_table {
	double seconds[UNITS + 1][UNITS + 1][UNITS + 1];
};

static double of_table(const void *context, int64_t s, int64_t w, int64_t v)
{
	const struct random_table *table = context;
	return table->seconds[s][w][v];
}

/* The least sum over all sequences that begin with `count` widths. */
static double brute(
        const struct stages *stages, int64_t *widths, size_t count, int64_t left, int64_t n)
{
	double least = left ? INFINITY : stages_sum(stages, n, widths, count);

	for (size_t i = 0; i < stages->widths; i++) {
		const int64_t w = stages->width[i];
		if (w > left || (stages->narrowing && count && w > widths[count - 1]))
			continue;
		widths[count] = w;
		least = fmin(least, brute(stages, widths, count + 1, left - w, n));
	}
	return least;
}

/* Some stages are not known. */
static void fill(struct random_table *table, unsigned missing)
{
	for (int s = 0; s <= UNITS; s++)
		for (int w = 0; w <= UNITS; w++)
			for (int v = 0; v <= UNITS; v++)
				table->seconds[s][w][v] = missing && (unsigned)rand() % missing == 0
				                                  ? INFINITY
				                                  : s + rand() / (RAND_MAX + 1.0);
}

static bool agrees(const struct stages *stages, int64_t n)
{
	int64_t tried[UNITS], widths[UNITS], sum = 0;
	const double least = brute(stages, tried, 0, n, n);
	const size_t count = stages_least(stages, n, widths);

	if (count == 0)
		return isinf(least);
	for (size_t i = 0; i < count; i++)
		sum += widths[i];
	return sum == n && fabs(stages_sum(stages, n, widths, count) - least) <= 1e-12 * least;
}

static void test_least(void)
{
	static struct random_table table;
	struct stages stages = {.width = {1, 2, 3, 4}, .seconds = of_table, .context = &table};
	int wrong[4] = {0};

	srand(7);
	for (int t = 0; t < 4 * TABLES; t++) {
		const int kind = t / TABLES;
		fill(&table, kind == 2 ? 40 : kind == 3 ? 2 : 0);
		stages.widths = 1 + (size_t)t % STAGE_WIDTHS;
		stages.narrowing = kind == 1;
		wrong[kind] += !agrees(&stages, 1 + t % UNITS);
	}
	ok(!wrong[0], "the least sum of all sequences, %d tables", TABLES);
	ok(!wrong[1], "and of those that get narrower");
	ok(!wrong[2] && !wrong[3], "sequences with unknown stages are left out");
}

/* two(s, w, v) = panel + max(update, panel) + update, and a start: overlapped stages add up, and
 * one start is left. */
static double of_law(const void *context, int64_t s, int64_t w, int64_t v)
{
	const double start = *(const double *)context, left = (double)(s - w);
	const double panel = (double)(s * w), update = 3 * left * (double)w;
	const double next = (double)(v * (s - w));

	return start + panel +
	       (v ? fmax(update, next) + 3 * (left - (double)v) * (double)v : update);
}

static void test_law(void)
{
	const double start = 1000;
	const int64_t widths[] = {2, 1, 1};
	const struct stages stages = {
	        .width = {1, 2}, .widths = 2, .seconds = of_law, .context = &start};

	is_real(stages_sum(&stages, 4, widths, 3), start + 8 + fmax(12, 2) + fmax(3, 1), 1e-15,
	        "a sum of stages: panel, updates beside panels, one start");
	is_real(stages_sum(&stages, 4, widths, 1), start + 8 + fmax(12, 4), 1e-15,
	        "the last width repeats");
	ok(isinf(stages_sum(&stages, 3, widths, 1)), "widths that do not fill the columns");
}

/* ---- rows ---- */

static void test_rows(void)
{
	struct stage_times *times = malloc(sizeof *times);
	struct result row[STAGE_ROWS], whole;
	struct results *results = results_new();
	int64_t size[STAGE_SIZES];

	stage_times_start(times, "cuda");
	const struct stages *stages = &times->stages;
	const size_t sizes = stage_sizes(stages, 8192, size);
	bool rises = size[0] == 32 && size[sizes - 1] == 8192;
	for (size_t i = 0; i < sizes; i++) {
		const size_t rows = stage_rows(stages, "cuda", size[i], row);
		rises = rises && rows > 0 && (i == 0 || size[i] > size[i - 1]);
		for (size_t r = 0; r < rows; r++) {
			row[r].seconds.value = (double)(row[r].n * row[r].n) * (double)row[r].k;
			results_add(results, &row[r]);
		}
	}
	ok(rises && sizes < 24 && results->count < 250, "%zu stages of %zu orders", results->count,
	        sizes);
	ok(isinf(stages->seconds(times, 512, 64, 64)), "no time without rows");
	stage_times_take(times, results, "cuda");
	bool all = true;
	for (int64_t s = 32; s <= 8192; s += 32)
		for (size_t i = 0; i < stages->widths; i++)
			for (size_t j = 0; j <= stages->widths; j++) {
				const int64_t w = stages->width[i],
				              v = j ? stages->width[j - 1] : 0;
				const double want = (double)(s * s) * (double)(w + v),
				             got = stages->seconds(times, s, w, v);
				if (w + v <= s)
					all = all && fabs(got / want - 1) < 1e-9;
			}
	ok(all, "each stage has a time, along s by logarithms");
	ok(isinf(stages->seconds(times, 8224, 64, 0)) && isinf(stages->seconds(times, 512, 96, 0)),
	        "none beyond the largest order, none of other widths");
	is_real(results_flops(&results->row[results->count - 1]),
	        4. / 3 * (pow(8192, 3) - pow(7680, 3)), 1e-3, "operations of the first two blocks");
	ok(widths_row("cuda", 384, (const int64_t[]){256, 128}, 2, "stages", &whole) &&
	                strstr(whole.plan, "widths=256,128") &&
	                result_has_value(&whole, "plan", "stages"),
	        "the row of a sequence: %s", whole.plan);
	const struct result sum = widths_sum_row(&whole, 1);
	ok(!result_same_case(&sum, &whole) && results_is_widths(&sum), "and of its sum");
	results_free(results);
	free(times);
}

int main(void)
{
	test_least();
	test_law();
	test_rows();
	return finish();
}
