/* SPDX-License-Identifier: MIT */
/* The loaded_latency probe's fit on synthetic streams: where 90 % are reached, latency against load
 * between measured levels only, bounds where the sweep does not reach. */
#include "tests/tap.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile.h"
#include "probes/loaded_latency/loaded_latency.h"

#include <math.h>

static const char *const columns[] = {"level", "engine", "sms", "warps", "inflight"};

static void put(struct table *curve, const char *series, const struct arg *args, size_t count,
        double seconds)
{
	for (int process = 0; process < 3; process++) {
		const double off = seconds * (1 + 0.001 * (process - 1));
		const struct measurement m = {
		        .seconds = {off, 0.999 * off, 1.001 * off, 10}, .hz = 1.98e9};
		curve_add(curve, series, args, count, process, &m, false);
	}
}

/* Rate grows in proportion to x up to `knee` and stays at `most`. */
static void put_ramp(struct table *curve, const char *series, const char *column, int engine,
        double first, double last, double knee, double most)
{
	for (double x = first; x <= last; x *= 2) {
		const struct arg args[] = {{"engine", engine}, {column, x}};
		put(curve, series, args, 2, 1 / (most * fmin(1, x / knee)));
	}
}

static struct lookup at(
        const struct profile *profile, const char *name, const char *arg, double value)
{
	const struct arg args[] = {{arg ? arg : "", value}};
	return profile_get(profile, name, args, arg ? 1 : 0);
}

static const char *status_of(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->count; i++)
		if (strcmp(profile->row[i].name, name) == 0)
			return profile->row[i].status;
	return "absent";
}

static struct table *synthetic(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	table_meta_set(curve, "gpu_sms", "100");
	put_ramp(curve, "inflight", "inflight", 1, 2048, 65536, 32768, 4e12);
	put_ramp(curve, "inflight", "inflight", 3, 65536, 131072, 32768, 4.2e12);
	put_ramp(curve, "sms", "sms", 1, 1, 128, 64, 4e12);
	put_ramp(curve, "warps", "warps", 1, 1, 32, 16, 4e12);
	put_ramp(curve, "sms", "sms", 2, 1, 128, 32, 3.8e12);
	put_ramp(curve, "warps", "warps", 2, 1, 32, 8, 3.8e12);
	put_ramp(curve, "warps", "warps", 3, 8, 32, 4, 4.2e12);
	for (int level = 0; level <= 4; level++) { /* 0 .. 4 TB/s: 300 + 50 ns a level */
		const struct arg arg = {"level", level};
		put(curve, "latency_dram", &arg, 1, (300 + 50 * level) * 1e-9);
		if (level > 0)
			put(curve, "offered_dram", &arg, 1, 1e-12 / level);
	}
	return curve;
}

int main(void)
{
	struct profile *profile = profile_new();
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	loaded_latency_fit(curve, profile);
	ok(profile->count == 0, "an empty curve gives no parameters");
	table_free(curve);

	curve = synthetic();
	loaded_latency_fit(curve, profile);
	is_real(at(profile, "gpu.engine.read", "engine", 1).estimate.value, 4e12, 1e-6,
	        "best rate");
	const struct estimate each =
	        at(profile, "gpu.saturation.dram.bytes_per_sm", "engine", 1).estimate;
	is_real(each.value, 0.9 * 32768, 1e-6, "90 % of the rate lies between two places");
	ok(each.low < each.value && each.value < each.high, "with an interval");
	is_real(at(profile, "gpu.saturation.dram.bytes", "engine", 1).estimate.value,
	        100 * 0.9 * 32768, 1e-6, "of all SMs");
	size_t bounded = 0;
	for (size_t i = 0; i < profile->count; i++)
		bounded += strcmp(profile->row[i].status, "bounded") == 0;
	ok(bounded == 3, "sweeps that start saturated give bounds, no values");
	is_real(at(profile, "gpu.saturation.dram.sms", NULL, 0).estimate.value, 57.6, 1e-6,
	        "SMs that reach 90 %");
	is_real(at(profile, "gpu.sm.read", NULL, 0).estimate.value, 4e12 / 64, 1e-6, "one SM");
	is_real(at(profile, "gpu.saturation.dram.warps", NULL, 0).estimate.value, 14.4, 1e-6,
	        "warps that reach 90 %");
	is_real(at(profile, "gpu.saturation.dram.sms.async", NULL, 0).estimate.value, 28.8, 1e-6,
	        "SMs that reach 90 % by asynchronous copies");
	is_real(at(profile, "gpu.sm.read.async", NULL, 0).estimate.value, 3.8e12 / 32, 1e-6,
	        "one SM by asynchronous copies");
	is_real(at(profile, "gpu.saturation.dram.warps.async", NULL, 0).estimate.value, 7.2, 1e-6,
	        "warps that reach 90 % by asynchronous copies");
	is_text(status_of(profile, "gpu.saturation.dram.warps.bulk"), "bounded",
	        "as few warps as were tried suffice for bulk copies");
	is_text(status_of(profile, "gpu.saturation.dram.sms.bulk"), "absent",
	        "against SMs they were not measured");
	is_real(at(profile, "gpu.loaded.dram.latency", "load", 0).estimate.value, 300e-9, 1e-6,
	        "the idle device");
	is_real(at(profile, "gpu.loaded.dram.latency", "load", 0.5).estimate.value, 400e-9, 1e-6,
	        "half of the most that was offered");
	is_text(status_of(profile, "gpu.loaded.l2.latency"), "absent",
	        "what was not measured is not there");
	profile_free(profile);
	table_free(curve);

	curve = curve_new(columns, ARRAY_LEN(columns));
	profile = profile_new();
	const struct arg args[] = {{"engine", 1}, {"sms", 1}};
	put(curve, "l2_read", args, 2, 1e-15);
	loaded_latency_fit(curve, profile);
	is_text(status_of(profile, "gpu.loaded.l2.read"), "failed", "a petabyte a second fails");
	profile_free(profile);
	table_free(curve);
	return finish();
}
