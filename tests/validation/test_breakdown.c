/* SPDX-License-Identifier: MIT */
/* Where the time of factorizations goes, on the synthetic profile: what the phases and idleness
 * cost adds up to the whole; panels on the host alone bring transfers. */
#include "tests/tap.h"
#include "tests/model/model_profile.h"

#include "factor/validation/breakdown.h"
#include "factor/programs/predict.h"

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
		const double critical = table_real(t, r, "critical_s");
		shortest = fmin(shortest, critical);
		if (!is(t, r, "phase", "all")) {
			sum += critical;
			continue;
		}
		worst = fmax(worst, fabs(sum / critical - 1));
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
	ok(hybrid, "panels on the host are transferred");
	ok(!device, "those on the device do not");
}

/* Of a measured run: the time without records stands ahead of the whole. */
static void test_measured(const struct table *predicted)
{
	static const int64_t width[] = {32};
	const struct plan plan = {.widths = width, .count = 1};
	const struct factor_question asked = {.operation = "getrf",
	        .plan = &plan,
	        .m = 100,
	        .n = 100,
	        .precision = DOUBLE,
	        .uplo = LOWER};
	struct factor_question known = asked;
	struct timeline_entry entry = {.lane = LANE_QUEUE,
	        .engine = LANE_QUEUE,
	        .phase = PHASE_UPDATE,
	        .operation = "gemm",
	        .begin = 1e-3,
	        .end = 4e-3};
	struct timeline *timeline = timeline_new("made up");
	struct table *t = breakdown_table();

	timeline_add(timeline, &entry);
	breakdown_add(t, &asked, PLACE_HYBRID, timeline, 3.5e-3, 4e-3);
	ok(t->row_count == 4 && is(t, 0, "phase", "update") && is(t, 1, "phase", "idle") &&
	                is(t, 2, "phase", "plain") && is(t, 3, "phase", "all"),
	        "rows of a measured run");
	is_real(table_real(t, 0, "critical_s"), 3e-3, 1e-9, "what the phase costs");
	is_real(table_real(t, 1, "critical_s"), 1e-3, 1e-9, "what nothing costs");
	is_real(table_real(t, 2, "critical_s"), 3.5e-3, 1e-9, "without records");
	ok(breakdown_has(t, &asked, PLACE_HYBRID) && !breakdown_has(t, &asked, PLACE_GPU),
	        "which runs it has");
	known.n = 64;
	known.precision = SINGLE;
	ok(breakdown_has(predicted, &known, PLACE_HOST) &&
	                breakdown_has(predicted, &known, PLACE_LAWN) &&
	                !breakdown_has(predicted, &asked, PLACE_HOST),
	        "and which the predicted has");
	timeline_free(timeline);
	table_free(t);
}

int main(void)
{
	struct profile *profile = synthetic(0.01);

	add_blocks(profile, 0.01);
	struct table *table = predict_breakdown(profile, true);

	test_sums(table);
	test_transfers(table);
	test_measured(table);
	table_free(table);
	profile_free(profile);
	return finish();
}
