/* SPDX-License-Identifier: MIT */
/* What bounds factorizations, on the synthetic profile: no part by itself and nothing that is left
 * without one takes longer than the whole, all parts together take at least as long, and their
 * operations bound it from below. */
#include "tests/tap.h"
#include "model_profile.h"

#include "factor/programs/predict.h"

static const char *const parts[] = {"panels", "updates", "others"};

static double seconds(const struct table *t, size_t row, const char *without, const char *part)
{
	char column[32];

	snprintf(column, sizeof column, "%s%s_s", without, part);
	return table_real(t, row, column);
}

static void test_row(const struct table *t, size_t row)
{
	const double whole = table_real(t, row, "seconds"), bound = table_real(t, row, "bound_s");
	const double anomaly = 0.01; /* with less to do the order of what is left may be worse */
	double sum = 0, longest = 0, least = INFINITY;

	for (size_t p = 0; p < ARRAY_LEN(parts); p++) {
		const double alone = seconds(t, row, "", parts[p]);
		sum += alone;
		longest = fmax(longest, fmax(alone, seconds(t, row, "without_", parts[p])));
		least = fmin(least, fmin(alone, seconds(t, row, "without_", parts[p])));
	}
	ok(bound > 0 && bound <= whole, "%s %s, n = %s: its operations bound it",
	        table_text(t, row, "operation"), table_text(t, row, "math"),
	        table_text(t, row, "n"));
	ok(least >= 0 && longest <= whole * (1 + anomaly), "no part takes longer than the whole");
	ok(sum >= whole * (1 - anomaly), "all of them, one after the other, no less");
	ok(table_real(t, row, "without_panels_s") < whole,
	        "without its panels the rest is done sooner");
}

int main(void)
{
	struct profile *profile = synthetic(0.01), *host = synthetic(0.01);

	add_blocks(profile, 0.01);
	struct table *table = predict_bounds(profile, true);
	ok(table->row_count == 3 * 3 * 2,
	        "three factorizations, three sizes, two precisions: %d rows",
	        (int)table->row_count);
	for (size_t r = 0; r < table->row_count; r++)
		test_row(table, r);
	struct table *none = predict_bounds(host, true);
	ok(none->row_count == 0, "a profile that costs no factorization has no rows");
	table_free(none);
	table_free(table);
	profile_free(host);
	profile_free(profile);
	return finish();
}
