/* SPDX-License-Identifier: MIT */
/* Curve of the bank_conflict probe -> gpu.bank.*, gpu.atomic.*, gpu.shared.{read,write}. The values
 * are seconds per warp-wide instruction: in the regime `alone` of one warp, in the regime
 * `saturated` of one SM (gpu.atomic.global.saturated: of the whole device). Derived from them: the
 * time and cycles of one more way, the factor of 32 ways, the rate of all shared memories. */
#include "bank_conflict.h"

#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"
#include "lib/base/msg.h"

#include <stdlib.h>

/* An SM starts at most one access a cycle of 5 GHz; a device, one on each of 1000 SMs. Nothing
 * takes a millisecond. */
#define OF_SM(name, method)                                                                        \
	{                                                                                          \
		name, "s", method, NULL, 0.2e-9, 1e-3                                              \
	}
#define OF_DEVICE(name)                                                                            \
	{                                                                                          \
		name, "s", "independent atomics on all SMs", NULL, 0.2e-12, 1e-3                   \
	}
#define CHAINED(name) OF_SM(name, "one warp's dependent loads")
#define FULL_SM(name) OF_SM(name, "independent accesses, 32 warps on every SM")
#define RETURNED(name) OF_SM(name, "one warp's dependent atomics")
#define LOOP(name) OF_SM(name, "one warp's dependent additions: a load, then compare and swap")
#define FULL_LOOP(name)                                                                            \
	OF_SM(name, "additions, 32 warps on every SM: a load, then compare and swap until it "     \
	            "works")
#define ONE_THREAD(name) OF_SM(name, "one thread's dependent atomics")

/* Of one SM's shared memory; and how far its rate may be off that, by the clock. */
static const double bytes_a_cycle = 128, clock_steady = 1.01;

static const struct curve_rows rows[] = {
        {"alone_load", CHAINED("gpu.bank.alone.load"), .column = {"ways", "width"}},
        {"saturated_load", FULL_SM("gpu.bank.saturated.load"), .column = {"ways", "width"}},
        {"saturated_store", FULL_SM("gpu.bank.saturated.store"), .column = {"ways", "width"}},
        {"saturated_broadcast", FULL_SM("gpu.bank.saturated.broadcast"),
                .column = {"words", "width"}},
        {"saturated_tile_load", FULL_SM("gpu.bank.tile.saturated.load"), .column = {"pitch"}},
        {"saturated_tile_store", FULL_SM("gpu.bank.tile.saturated.store"), .column = {"pitch"}},
        {"alone_shared_f32", RETURNED("gpu.atomic.shared.alone.f32"), .column = {"ways"}},
        {"alone_shared_cas", LOOP("gpu.atomic.shared.alone.cas"), .column = {"ways"}},
        {"saturated_shared_u32", FULL_SM("gpu.atomic.shared.saturated.u32"), .column = {"ways"}},
        {"saturated_shared_f32", FULL_SM("gpu.atomic.shared.saturated.f32"), .column = {"ways"}},
        {"saturated_shared_cas", FULL_LOOP("gpu.atomic.shared.saturated.cas"), .column = {"ways"}},
        {"alone_global_u32", .spec = ONE_THREAD("gpu.atomic.global.alone.u32")},
        {"alone_global_f32", .spec = ONE_THREAD("gpu.atomic.global.alone.f32")},
        {"alone_global_u64", .spec = ONE_THREAD("gpu.atomic.global.alone.u64")},
        {"alone_global_f64", .spec = ONE_THREAD("gpu.atomic.global.alone.f64")},
#define ON_DEVICE(operation)                                                                       \
	{                                                                                          \
		"saturated_global_" operation,                                                     \
		        .spec = OF_DEVICE("gpu.atomic.global.saturated." operation), .column = {   \
			        "stride_bytes"                                                     \
		        }                                                                          \
	}
        ON_DEVICE("atom_u32"),
        ON_DEVICE("atom_f32"),
        ON_DEVICE("atom_u64"),
        ON_DEVICE("atom_f64"),
        ON_DEVICE("red_u32"),
        ON_DEVICE("red_f32"),
        ON_DEVICE("red_u64"),
        ON_DEVICE("red_f64"),
};

/* The slope of a warp's latency over its ways, 4 bytes, in seconds and in cycles of each point's
 * own clock. Bounds only when no line can be fitted. */
static void fit_way(const struct table *curve, struct profile *profile)
{
	static const char method[] = "slope of the latency over 1 to 32 ways, 4 bytes";
	const struct parameter_spec spec[] = {
	        {"gpu.bank.alone.way", "s", method, NULL, 0.1e-9, 1e-6},
	        {"gpu.bank.alone.way_cycles", "cycle", method, NULL, 0.5, 64}};
	struct point *point;
	const size_t count = curve_points(curve, "alone_load", &point);
	double *ways = xmalloc((3 * count + 1) * sizeof *ways);
	double *time[] = {ways + count, ways + 2 * count};
	size_t used = 0;
	bool busy = false;
	for (size_t i = 0; i < count; ++i) {
		if (curve_arg(curve, &point[i], "width") != 4 || point[i].seconds.samples == 0)
			continue;
		ways[used] = curve_arg(curve, &point[i], "ways");
		time[0][used] = point[i].seconds.value;
		time[1][used++] = point[i].seconds.value * point[i].hz;
		busy = busy || point[i].busy;
	}
	for (size_t i = 0; used > 0 && i < ARRAY_LEN(spec); ++i) {
		struct fit_line line;
		if (fit_line(ways, time[i], used, &line))
			profile_add(
			        profile, &spec[i], NULL, 0, estimate_inverse(1, line.beta), busy);
		else
			profile_add_bounded(profile, &spec[i], NULL, 0, NAN, NAN, used);
	}
	free(ways);
	free(point);
}

/* What a conflict of all banks costs a saturated SM: the time of WAYS ways over that of one. It is
 * at least 1, and not far above the number of wavefronts. */
static void fit_factor(
        const struct table *curve, struct profile *profile, const char *series, const char *name)
{
	enum { WAYS = 32 };
	const struct arg args[] = {{"ways", WAYS}, {"width", 4}},
	                 one[] = {{"ways", 1}, {"width", 4}};
	const struct point all = curve_at(curve, series, args, ARRAY_LEN(args)),
	                   base = curve_at(curve, series, one, ARRAY_LEN(one));
	const struct estimate t = all.seconds, t1 = base.seconds;
	const struct parameter_spec spec = {name, "ratio",
	        "seconds over those of one way, 32 warps on every SM", NULL, 0.9, 1.5 * WAYS};

	if (t.samples > 0 && t1.samples > 0)
		profile_add(profile, &spec, args, ARRAY_LEN(args),
		        (struct estimate){
		                t.value / t1.value, t.low / t1.high, t.high / t1.low, t.samples},
		        all.busy || base.busy);
}

/* The rate of the shared memories of all SMs: the widest conflict-free access of the median SM,
 * times the number of SMs. */
static void fit_rate(
        const struct table *curve, struct profile *profile, const char *series, const char *name)
{
	const double sms = curve_fact(curve, "gpu_sms");
	struct point *point;
	const size_t count = curve_points(curve, series, &point);
	const struct point *widest = NULL;
	double width = 0;
	for (size_t i = 0; i < count; ++i) {
		const double bytes = curve_arg(curve, &point[i], "width");
		if (curve_arg(curve, &point[i], "ways") == 1 && bytes > width &&
		        point[i].seconds.samples > 0) {
			widest = &point[i];
			width = bytes;
		}
	}
	if (!isnan(sms) && widest) {
		const struct parameter_spec spec = {name, "B/s",
		        "widest access without conflict, 32 warps on every SM", NULL, 1e9,
		        clock_steady * bytes_a_cycle * sms * widest->hz};
		profile_add(profile, &spec, NULL, 0,
		        estimate_inverse(32 * width * sms, widest->seconds), widest->busy);
	}
	free(point);
}

static void fit_clock(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec spec = {"gpu.bank.clock", "Hz",
	        "cycles over %globaltimer during the accesses", NULL, 1e8, 1e10};
	bool busy;
	const struct estimate clock = curve_clock(curve, &busy);
	if (curve->row_count > 0)
		profile_add(profile, &spec, NULL, 0, clock, busy);
}

void bank_conflict_fit(const struct table *curve, struct profile *profile)
{
	fit_way(curve, profile);
	fit_factor(curve, profile, "saturated_load", "gpu.bank.saturated.factor");
	fit_factor(curve, profile, "saturated_store", "gpu.bank.saturated.store_factor");
	fit_rate(curve, profile, "saturated_load", "gpu.shared.read");
	fit_rate(curve, profile, "saturated_store", "gpu.shared.write");
	curve_fit_rows(curve, profile, rows, ARRAY_LEN(rows), false);
	fit_clock(curve, profile);
}
