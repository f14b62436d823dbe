/* SPDX-License-Identifier: MIT */
/* The load_latency probe's fit on a synthetic chase: plateaus, clock, update rate, and levels in an
 * impossible order. */
#include "tap.h"
#include "../lib/curve.h"
#include "../lib/profile.h"
#include "../probes/load_latency.h"

static const char *const columns[] = {"bytes", "threads"};

/* Three processes that agree within a percent. */
static void add(
        struct table *curve, const char *series, double bytes, double threads, double seconds)
{
	const struct arg args[] = {{"bytes", bytes}, {"threads", threads}};
	for (int process = 0; process < 3; ++process) {
		const double value = seconds * (1 + 0.002 * (process - 1));
		const struct measurement measurement = {
		        .seconds = {value, 0.998 * value, 1.002 * value, 20}, .hz = 1.98e9};
		curve_add(curve, series, args, threads > 0 ? 2 : 1, process, &measurement, false);
	}
}

static double value_at(
        const struct profile *profile, const char *name, const struct arg *args, size_t n)
{
	const struct lookup lookup = profile_get(profile, name, args, n);
	return lookup.found ? lookup.estimate.value : NAN;
}

static const struct parameter *row_of(const struct profile *profile, const char *name)
{
	static const struct parameter none = {.status = NULL};
	for (size_t i = 0; i < profile->count; ++i)
		if (strcmp(profile->row[i].name, name) == 0)
			return &profile->row[i];
	return &none;
}

/* A chip with 16.2 ns L1, L2 rising from 140 to 150 ns and one slow outlier, DRAM at `dram`. */
static struct table *synthetic(double dram)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	add(curve, "shared", 8192, 0, 15e-9);
	for (double bytes = 4096; bytes <= 512 * 1024; bytes *= 2)
		add(curve, "load_l1", bytes, 0, bytes <= 128 * 1024 ? 16.2e-9 : 100e-9);
	add(curve, "load_l2", 1 << 20, 0, 140e-9);
	add(curve, "load_l2", 4 << 20, 0, 141e-9);
	add(curve, "load_l2", 6 << 20, 0, 145e-9);
	add(curve, "load_l2", 8 << 20, 0, 190e-9);
	add(curve, "load_mixed", 64 << 20, 0, 260e-9);
	add(curve, "load_dram", 256 << 20, 0, dram);
	add(curve, "shared_update", 8.0 * 256 * 64, 256, 1e-6);
	return curve;
}

int main(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	load_latency_fit(curve, profile);
	ok(profile->count == 0, "an empty curve gives no parameters");
	table_free(curve);

	curve = synthetic(350e-9);
	load_latency_fit(curve, profile);
	is_real(value_at(profile, "gpu.shared.latency", NULL, 0), 15e-9, 1e-6, "shared memory");
	is_real(value_at(profile, "gpu.l1.latency", NULL, 0), 16.2e-9, 1e-6, "L1 below its knee");
	is_real(value_at(profile, "gpu.l2.latency", NULL, 0), 145e-9, 1e-6,
	        "L2: the middle of its larger sets, whatever one of them does");
	is_real(value_at(profile, "gpu.dram.latency", NULL, 0), 350e-9, 1e-6, "DRAM");
	is_real(value_at(profile, "gpu.clock.sm", NULL, 0), 1.98e9, 1e-9, "clock");
	const struct arg bytes[] = {{"bytes", 64 << 20}};
	is_real(value_at(profile, "gpu.load.latency", bytes, 1), 260e-9, 1e-6, "the curve");
	const struct arg threads[] = {{"threads", 256}};
	is_real(value_at(profile, "gpu.shared.update", threads, 1), 131072e6, 1e-6, "update rate");
	const struct estimate rate = row_of(profile, "gpu.shared.update")->estimate;
	ok(rate.low < rate.value && rate.value < rate.high,
	        "the rate's interval is the right way round");
	is_text(row_of(profile, "gpu.dram.latency")->status, "ok", "a plausible order is ok");
	profile_free(profile);
	table_free(curve);

	curve = synthetic(100e-9);
	profile = profile_new();
	load_latency_fit(curve, profile);
	is_text(row_of(profile, "gpu.dram.latency")->status, "failed",
	        "DRAM quicker than L2 fails");
	profile_free(profile);
	table_free(curve);
	return finish();
}
