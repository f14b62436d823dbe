/* SPDX-License-Identifier: MIT */
/* The panel_kernel probe's analysis on synthetic curves: every point becomes a row of its surface,
 * columns with two passes are apart. */
#include "lib/probe/curve.h"
#include "factor/calibration/panel_kernel/panel_kernel.h"
#include "tests/tap.h"

static void put(struct table *curve, const char *series, const struct arg *args, size_t count,
        double seconds)
{
	for (int process = 0; process < 3; process++) {
		double off = seconds * (1 + 0.01 * (process - 1));
		struct measurement m = {.seconds = {off, 0.99 * off, 1.01 * off, 10}, .hz = 1e9};
		curve_add(curve, series, args, count, process, &m, false);
	}
}

static void is_value(const struct profile *profile, const char *name, const struct arg *args,
        size_t count, double want)
{
	struct lookup found = profile_get(profile, name, args, count);
	ok(found.found && !found.extrapolated, "%s is there", name);
	is_real(found.estimate.value, want, 1e-9, name);
}

int main(void)
{
	static const char *const columns[] = {"m", "blocks", "n", "rows", "threads", "bytes"};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	struct arg update[] = {{"m", 512}, {"n", 32}};
	struct arg once[] = {{"blocks", 8}, {"n", 64}, {"rows", 128}};
	struct arg twice[] = {{"blocks", 8}, {"n", 64}, {"rows", 384}};
	struct arg sweep[] = {{"threads", 256}, {"bytes", 8.0 * 256 * 64}};
	struct arg pass = {"n", 64};

	put(curve, "step_s", update, 2, 3e-6);
	put(curve, "pivot_d", update, 2, 2e-6);
	put(curve, "column_s", once, 3, 2e-6);
	put(curve, "column_s", twice, 3, 2.5e-6);
	put(curve, "shared_update", sweep, 2, 1e-6);
	panel_kernel_fit(curve, profile);

	is_value(profile, "gpu.panel.step.s", update, 2, 3e-6);
	is_value(profile, "gpu.panel.pivot.d", update, 2, 2e-6);
	is_value(profile, "gpu.panel.column.s", once, 2, 2e-6);
	is_value(profile, "gpu.panel.twice.s", &pass, 1, 2.5e-6);
	struct lookup found = profile_get(profile, "gpu.panel.twice.s", &pass, 1);
	ok(found.estimate.low < 2.5e-6 && found.estimate.high > 2.5e-6,
	        "with an interval over the processes");
	is_text(found.regime, "surface", "our kernels' steps are surfaces");
	is_value(profile, "gpu.shared.update", sweep, 1, 131072e6);
	struct estimate rate = profile_get(profile, "gpu.shared.update", sweep, 1).estimate;
	ok(rate.low < rate.value && rate.value < rate.high,
	        "the rate's interval is the right way round");
	ok(!profile_get(profile, "gpu.panel.step.d", update, 2).found,
	        "what was not measured is not there");
	profile_free(profile);
	table_free(curve);
	return finish();
}
