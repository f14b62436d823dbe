/* SPDX-License-Identifier: MIT */
#include "measure.h"

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
static void try_again(
        struct measure *screened, struct executor *executor, const struct result *listed)
{
	struct results *found = screened->results, *again = results_new();
	struct result some[MEASURE_CANDIDATES];
	size_t place[MEASURE_CANDIDATES], count = 0;

	for (size_t i = 0; i < found->count; i++)
		if (behind(found, &found->row[i]) > hopeless) {
			some[count] = listed[i];
			place[count++] = i;
		}
	screened->results = again;
	if (count && measure_rows(screened, time_whole, executor, some, count))
		for (size_t i = 0; i < count; i++)
			if (again->row[i].seconds.value < found->row[place[i]].seconds.value)
				found->row[place[i]].seconds = again->row[i].seconds;
	screened->results = found;
	results_free(again);
}

void screening_choose(struct measure *measure, struct executor *executor, struct results *rejected)
{
	struct measure screened = *measure;
	struct results *found = screened.results = results_new();
	struct result *row = measure->row;

	screened.plan.screened = true;
	if (measure_rows(&screened, time_whole, executor, screened.row, screened.listed))
		try_again(&screened, executor, row);
	measure->listed = 0;
	for (size_t i = 0; i < found->count; i++) {
		struct result *one = &found->row[i];
		const double ratio = behind(found, one);
		/* From host memory only the best is timed. Failures stay, to be recorded. */
		const double limit = result_has(one, "from") ? 1 : hopeless;
		if (!(ratio > limit)) {
			row[measure->listed] = row[i];
			row[measure->listed++].seconds = one->seconds;
			continue;
		}
		snprintf(one->note, sizeof one->note,
		        "one run, not checked: %.0f %% behind the best of its kind",
		        100 * (ratio - 1));
		results_add(rejected, one);
	}
	results_free(found);
}
