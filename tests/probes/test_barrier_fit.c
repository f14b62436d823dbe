/* SPDX-License-Identifier: MIT */
/* The barrier probe's fit on a synthetic ladder: every point becomes a row with its arguments, what
 * physics forbids fails. */
#include "tests/tap.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile.h"
#include "probes/barrier/barrier.h"

static const char *const columns[] = {"blocks", "threads", "words"};

/* Three processes that agree within a percent. */
static void add(struct table *curve, const char *series, double blocks, double threads,
        double words, double seconds)
{
	const struct arg args[] = {{"blocks", blocks}, {"threads", threads}, {"words", words}};
	for (int process = 0; process < 3; ++process) {
		const double value = seconds * (1 + 0.002 * (process - 1));
		const struct measurement measurement = {
		        .seconds = {value, 0.998 * value, 1.002 * value, 20}, .hz = 1.98e9};
		curve_add(curve, series, args, words > 0 ? 3 : 2, process, &measurement, false);
	}
}

static double value_at(
        const struct profile *profile, const char *name, const struct arg *args, size_t n)
{
	const struct lookup lookup = profile_get(profile, name, args, n);
	return lookup.found ? lookup.estimate.value : NAN;
}

static const char *status_of(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->count; ++i)
		if (strcmp(profile->row[i].name, name) == 0)
			return profile->row[i].status;
	return NULL;
}

int main(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	barrier_fit(curve, profile);
	ok(profile->count == 0, "an empty curve gives no parameters");

	add(curve, "warp", 1, 32, 0, 1e-9);
	add(curve, "block", 1, 256, 0, 14e-9);
	add(curve, "cluster", 8, 256, 0, 190e-9);
	add(curve, "counter", 16, 256, 0, 0.9e-6);
	add(curve, "counter", 132, 256, 0, 1.1e-6);
	add(curve, "master", 132, 256, 0, 1.4e-6);
	add(curve, "grid", 132, 1024, 0, 1.2e-6);
	add(curve, "reduce_max", 1, 512, 0, 90e-9);
	add(curve, "exchange_grid", 132, 32, 64, 2e-6);
	add(curve, "flag", 132, 32, 0,
	        5e-9); /* one way through the chip in ten cycles: impossible */
	barrier_fit(curve, profile);

	ok(profile->count == 10, "every point is a row");
	is_real(value_at(profile, "gpu.barrier.warp", NULL, 0), 1e-9, 1e-6, "scalar");
	const struct arg threads[] = {{"threads", 256}};
	is_real(value_at(profile, "gpu.barrier.block", threads, 1), 14e-9, 1e-6, "against threads");
	const struct arg cluster[] = {{"blocks", 8}};
	is_real(value_at(profile, "gpu.barrier.cluster", cluster, 1), 190e-9, 1e-6,
	        "against blocks");
	const struct arg grid[] = {{"blocks", 132}, {"threads", 256}};
	is_real(value_at(profile, "gpu.barrier.counter", grid, 2), 1.1e-6, 1e-6, "against both");
	is_real(value_at(profile, "gpu.barrier.master", grid, 2), 1.4e-6, 1e-6, "master barrier");
	const struct arg words[] = {{"blocks", 132}, {"words", 64}};
	is_real(value_at(profile, "gpu.exchange.grid", words, 2), 2e-6, 1e-6, "against words");
	is_text(status_of(profile, "gpu.barrier.master"), "ok", "a plausible one is ok");
	is_text(status_of(profile, "gpu.flag.sm_to_sm"), "failed", "an impossible one fails");

	profile_free(profile);
	table_free(curve);
	return finish();
}
