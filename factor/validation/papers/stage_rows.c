/* SPDX-License-Identifier: MIT */
#include "stage_rows.h"

#include "factor/validation/whole.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- times ---- */

static bool index_of(const struct stages *stages, int64_t width, size_t *index)
{
	for (*index = 0; *index < stages->widths; ++*index)
		if (stages->width[*index] == width)
			return true;
	return false;
}

static double seconds_of(const void *context, int64_t s, int64_t w, int64_t v)
{
	const struct stage_times *times = context;
	size_t first, second = 0;

	if (!index_of(&times->stages, w, &first) || (v && !index_of(&times->stages, v, &second)))
		return INFINITY;
	const struct stage_curve *c = &times->curve[first][v ? second + 1 : 0];
	size_t i = 0;
	while (i < c->count && c->s[i] < (double)s)
		i++;
	if (i == c->count || (i == 0 && c->s[0] > (double)s))
		return INFINITY;
	if (c->s[i] == (double)s)
		return c->seconds[i];
	const double at = log((double)s / c->s[i - 1]) / log(c->s[i] / c->s[i - 1]);
	return c->seconds[i - 1] * pow(c->seconds[i] / c->seconds[i - 1], at);
}

void stage_times_start(struct stage_times *times, const char *executor)
{
	static const int64_t width[STAGE_WIDTHS] = {32, 64, 128, 256};

	memset(times, 0, sizeof *times);
	memcpy(times->stages.width, width, sizeof width);
	times->stages.widths = strcmp(executor, "cuda") == 0 ? STAGE_WIDTHS : STAGE_WIDTHS - 1;
	times->stages.seconds = seconds_of;
	times->stages.context = times;
}

static void insert(struct stage_curve *c, double s, double seconds)
{
	size_t i = c->count;

	if (c->count == STAGE_SIZES)
		return;
	for (; i > 0 && c->s[i - 1] > s; i--) {
		c->s[i] = c->s[i - 1];
		c->seconds[i] = c->seconds[i - 1];
	}
	c->s[i] = s;
	c->seconds[i] = seconds;
	c->count++;
}

void stage_times_take(
        struct stage_times *times, const struct results *results, const char *executor)
{
	for (const struct result *row = results->row; row < results->row + results->count; row++) {
		size_t first, second = 0;
		if (!results_is_stage(row) || strcmp(row->executor, executor) != 0 ||
		        !(row->seconds.value > 0) || !index_of(&times->stages, row->nb, &first) ||
		        (row->k > row->nb && !index_of(&times->stages, row->k - row->nb, &second)))
			continue;
		insert(&times->curve[first][row->k > row->nb ? second + 1 : 0], (double)row->n,
		        row->seconds.value);
	}
}

/* ---- rows of stages ---- */

/* Orders at which all stages are measured: 1, 2, 3, 4, 6, 8, 12, 16 .. times the widest block. The
 * next of these orders. */
static int64_t next_coarse(const struct stages *stages, int64_t s)
{
	const int64_t widest = stages->width[stages->widths - 1];
	int64_t power = widest;

	if (s < widest)
		return widest;
	while (2 * power <= s)
		power *= 2;
	return s + max_int64(power / 2, widest);
}

/* Whether a pair is as long as the matrix: the shortest one that it fits into. */
static bool shortest(const struct stages *stages, int64_t s)
{
	for (size_t i = 0; i < stages->widths; i++) {
		if (stages->width[i] == s)
			return true;
		for (size_t j = 0; j < stages->widths; j++)
			if (stages->width[i] + stages->width[j] == s)
				return true;
	}
	return false;
}

size_t stage_sizes(const struct stages *stages, int64_t n, int64_t size[STAGE_SIZES])
{
	int64_t coarse = next_coarse(stages, 0);
	size_t count = 0;

	for (int64_t s = stages->width[0]; s <= n; s += stages->width[0]) {
		const bool all = s == coarse || s == n;
		if (s == coarse)
			coarse = next_coarse(stages, coarse);
		if ((all || shortest(stages, s)) && count < STAGE_SIZES)
			size[count++] = s;
	}
	return count;
}

static bool fill(struct result *row, const int64_t *widths, size_t count, int64_t stop)
{
	enum { LEAF = 64 };
	const struct whole whole = {.operation = GEQRF};
	const struct plan plan = {.hybrid = whole_panels_on_host(row->variant),
	        .widths = widths,
	        .count = (int64_t)count,
	        .leaf = LEAF,
	        .lookahead = 1,
	        .stop = stop};

	row->nb = widths[0];
	return whole_plan_text(&whole, &plan, row->plan);
}

static struct result empty(const char *operation, const char *executor, int64_t n)
{
	const char *variant = strcmp(executor, "cuda") == 0 ? "gpu" : "hybrid";

	return result_new(operation, variant, executor, SINGLE, n, n);
}

size_t stage_rows(
        const struct stages *stages, const char *executor, int64_t s, struct result row[STAGE_ROWS])
{
	const bool all = s % stages->width[stages->widths - 1] == 0;
	size_t count = 0;

	for (size_t i = 0; i < stages->widths; i++)
		for (size_t j = 0; j <= stages->widths; j++) {
			const int64_t widths[] = {stages->width[i], j ? stages->width[j - 1] : 0};
			const int64_t stop = widths[0] + widths[1];
			if (stop > s || (!all && stop != s))
				continue;
			row[count] = empty(STAGE_OPERATION, executor, s);
			row[count].k = stop;
			fill(&row[count++], widths, j ? 2 : 1, stop);
		}
	return count;
}

/* ---- rows of whole factorizations ---- */

bool widths_row(const char *executor, int64_t n, const int64_t *widths, size_t count,
        const char *plan, struct result *row)
{
	*row = empty(WIDTHS_OPERATION, executor, n);
	if (plan)
		results_option_add(row->options, "plan", plan);
	return fill(row, widths, count, 0);
}

struct result widths_sum_row(const struct result *row, double seconds)
{
	struct result sum = *row;

	snprintf(sum.variant, sizeof sum.variant, STAGES_VARIANT);
	sum.seconds = (struct estimate){seconds, NAN, NAN, 0};
	return sum;
}
