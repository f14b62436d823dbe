/* SPDX-License-Identifier: MIT */
#include "screening.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Block widths slower by this factor than the best of their variant in one run are not timed. */
static const double hopeless = 1.10;

static bool same_kind(const struct result *a, const struct result *b)
{
	return strcmp(a->variant, b->variant) == 0 && a->math == b->math &&
	       result_has(a, "from") == result_has(b, "from");
}

/* Its time over the best time of its kind. */
static double behind(const struct results *found, const struct result *one)
{
	double best = INFINITY;

	for (size_t i = 0; i < found->count; i++)
		if (same_kind(one, &found->row[i]))
			best = fmin(best, found->row[i].seconds.value);
	return one->seconds.value / best;
}

/* A first run may have loaded code: slow candidates run again, and the faster run counts. */
static void try_again(struct measure *screened, struct executor *executor, const struct result *row,
        struct results *found)
{
	struct result some[MEASURE_CANDIDATES];
	size_t place[MEASURE_CANDIDATES], count = 0;
	struct results *again = results_new();

	for (size_t i = 0; i < found->count; i++)
		if (behind(found, &found->row[i]) > hopeless) {
			some[count] = row[i];
			place[count++] = i;
		}
	if (count && measure_whole(screened, executor, some, count, again))
		for (size_t i = 0; i < count; i++)
			if (again->row[i].seconds.value < found->row[place[i]].seconds.value)
				found->row[place[i]].seconds = again->row[i].seconds;
	results_free(again);
}

size_t screening_choose(const struct measure *measure, struct executor *executor,
        struct result *row, size_t n, struct results *rejected)
{
	struct measure screened = *measure;
	struct results *found = results_new();
	size_t kept = 0;

	screened.plan.screened = true;
	if (measure_whole(&screened, executor, row, n, found))
		try_again(&screened, executor, row, found);
	else
		n = 0;
	for (size_t i = 0; i < n; i++) {
		struct result *one = &found->row[i];
		const double ratio = behind(found, one);
		/* From host memory only the best is timed. Failures stay, to be recorded. */
		const double limit = result_has(one, "from") ? 1 : hopeless;
		if (!(ratio > limit)) {
			row[kept] = row[i];
			row[kept++].seconds = one->seconds;
			continue;
		}
		snprintf(one->note, sizeof one->note,
		        "one run, not checked: %.0f %% behind the best of its kind",
		        100 * (ratio - 1));
		results_add(rejected, one);
	}
	results_free(found);
	return kept;
}
