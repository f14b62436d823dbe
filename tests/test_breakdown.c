/* SPDX-License-Identifier: MIT */
/* Where the time of factorizations goes, on the synthetic profile: what the phases and idleness
 * cost adds up to the whole; panels on the host alone bring transfers. */
#include "tap.h"
#include "model_profile.h"

#include "../factor/runs/predict_breakdown.h"

static bool is(const struct table *t, size_t row, const char *column, const char *text)
{
	return strcmp(table_text(t, row, column), text) == 0;
}

/* Rows of one run follow each other and end with "all". */
static void test_sums(const struct table *t)
{
	double sum = 0, worst = 0, shortest = INFINITY;
	size_t runs = 0;

	for (size_t r = 0; r < t->row_count; r++) {
		const double owed = table_real(t, r, "owed_s");
		shortest = fmin(shortest, owed);
		if (!is(t, r, "phase", "all")) {
			sum += owed;
			continue;
		}
		worst = fmax(worst, fabs(sum / owed - 1));
		sum = 0;
		runs++;
	}
	ok(runs >= 3 * 2 * 4, "three factorizations, two places of panels, four sizes: %d runs",
	        (int)runs);
	ok(worst < 1e-6, "what the phases cost adds up to the whole");
	ok(shortest >= 0, "nothing costs less than nothing");
}

static void test_transfers(const struct table *t)
{
	bool hybrid = false, device = false;

	for (size_t r = 0; r < t->row_count; r++)
		if (is(t, r, "phase", "transfer") && table_real(t, r, "busy_s") > 0) {
			hybrid = hybrid || is(t, r, "variant", "hybrid");
			device = device || is(t, r, "variant", "gpu");
		}
	ok(hybrid, "panels on the host travel");
	ok(!device, "those on the device do not");
}

int main(void)
{
	struct profile *profile = synthetic(0.01);

	add_blocks(profile, 0.01);
	struct table *table = predict_breakdown(profile, true);

	test_sums(table);
	test_transfers(table);
	table_free(table);
	profile_free(profile);
	return finish();
}
