/* SPDX-License-Identifier: MIT */
/* Curve of the bank_conflict probe -> gpu.bank.*, gpu.atomic.*, gpu.shared.{read,write}. The values
 * are seconds per warp-wide instruction, as recorded: in the regime alone from one to the next of
 * one warp, in the regime saturated per instruction of one SM (gpu.atomic.global.saturated: of the
 * whole device). From them the seconds and cycles of an extra way, the factors over no conflict,
 * and the bytes that all SMs' shared memories move in a second. */
#include "lib/base/base.h"
#include "bank_conflict.h"

#include "lib/probe/curve.h"
#include "lib/stats/fit.h"
#include "lib/base/msg.h"
#include "lib/profile/profile.h"

#include <math.h>
#include <stdlib.h>

/* An SM starts at most one access a cycle of 5 GHz; a device, one on each of 1000 SMs. Nothing
 * takes a millisecond. */
static const double quickest = 0.2e-9, quickest_device = 0.2e-12, slowest = 1e-3;
/* Of one SM's shared memory; and how far its rate may be off that, by the clock. */
static const double bytes_a_cycle = 128, clock_steady = 1.01;

static const char chained[] = "one warp's dependent loads";
static const char one_warp[] = "one warp's stores, one after the other";
static const char full_sm[] = "independent accesses, 32 warps on every SM";
static const char returned[] = "one warp's dependent atomics";
static const char one_thread[] = "one thread's dependent atomics";
static const char device[] = "independent atomics on all SMs";

static const struct function {
	const char *series, *name, *method;
	const char *arg[2];
} functions[] = {
        {"alone_load", "gpu.bank.alone.load", chained, {"ways", "width"}},
        {"alone_store", "gpu.bank.alone.store", one_warp, {"ways", "width"}},
        {"saturated_load", "gpu.bank.saturated.load", full_sm, {"ways", "width"}},
        {"saturated_store", "gpu.bank.saturated.store", full_sm, {"ways", "width"}},
        {"alone_broadcast", "gpu.bank.alone.broadcast", chained, {"words", "width"}},
        {"saturated_broadcast", "gpu.bank.saturated.broadcast", full_sm, {"words", "width"}},
        {"alone_tile_load", "gpu.bank.tile.alone.load", chained, {"pitch"}},
        {"alone_tile_store", "gpu.bank.tile.alone.store", one_warp, {"pitch"}},
        {"saturated_tile_load", "gpu.bank.tile.saturated.load", full_sm, {"pitch"}},
        {"saturated_tile_store", "gpu.bank.tile.saturated.store", full_sm, {"pitch"}},
        {"alone_shared_u32", "gpu.atomic.shared.alone.u32", returned, {"ways"}},
        {"alone_shared_f32", "gpu.atomic.shared.alone.f32", returned, {"ways"}},
        {"alone_shared_cas", "gpu.atomic.shared.alone.cas", returned, {"ways"}},
        {"saturated_shared_u32", "gpu.atomic.shared.saturated.u32", full_sm, {"ways"}},
        {"saturated_shared_f32", "gpu.atomic.shared.saturated.f32", full_sm, {"ways"}},
        {"saturated_shared_cas", "gpu.atomic.shared.saturated.cas", full_sm, {"ways"}},
        {"alone_global_u32", "gpu.atomic.global.alone.u32", one_thread, {NULL}},
        {"alone_global_f32", "gpu.atomic.global.alone.f32", one_thread, {NULL}},
        {"alone_global_u64", "gpu.atomic.global.alone.u64", one_thread, {NULL}},
        {"alone_global_f64", "gpu.atomic.global.alone.f64", one_thread, {NULL}},
        {"saturated_global_atom_u32", "gpu.atomic.global.saturated.atom_u32", device,
                {"stride_bytes"}},
        {"saturated_global_atom_f32", "gpu.atomic.global.saturated.atom_f32", device,
                {"stride_bytes"}},
        {"saturated_global_atom_u64", "gpu.atomic.global.saturated.atom_u64", device,
                {"stride_bytes"}},
        {"saturated_global_atom_f64", "gpu.atomic.global.saturated.atom_f64", device,
                {"stride_bytes"}},
        {"saturated_global_red_u32", "gpu.atomic.global.saturated.red_u32", device,
                {"stride_bytes"}},
        {"saturated_global_red_f32", "gpu.atomic.global.saturated.red_f32", device,
                {"stride_bytes"}},
        {"saturated_global_red_u64", "gpu.atomic.global.saturated.red_u64", device,
                {"stride_bytes"}},
        {"saturated_global_red_f64", "gpu.atomic.global.saturated.red_f64", device,
                {"stride_bytes"}},
};

static void fit_function(
        const struct table *curve, struct profile *profile, const struct function *function)
{
	const struct parameter_spec spec = {.name = function->name,
	        .unit = "s",
	        .method = function->method,
	        .low = function->method == device ? quickest_device : quickest,
	        .high = slowest};
	struct point *point;
	const size_t count = curve_points(curve, function->series, &point);
	for (size_t i = 0; i < count; ++i) {
		struct arg args[2];
		size_t known = 0;
		for (size_t a = 0; a < ARRAY_LEN(args) && function->arg[a]; ++a, ++known)
			args[a] = (struct arg){
			        function->arg[a], curve_arg(curve, &point[i], function->arg[a])};
		profile_add(profile, &spec, args, known, point[i].seconds, point[i].busy);
	}
	free(point);
}

/* The slope of a warp's latency over its ways, 4 bytes, in seconds and in cycles of each point's
 * own clock. Bounds only when no line can be fitted. */
static void fit_way(const struct table *curve, struct profile *profile)
{
	static const char method[] = "slope of the latency over 1 to 32 ways, 4 bytes";
	const struct parameter_spec spec[] = {{.name = "gpu.bank.alone.way",
	                                              .unit = "s",
	                                              .method = method,
	                                              .low = 0.1e-9,
	                                              .high = 1e-6},
	        {.name = "gpu.bank.alone.way_cycles",
	                .unit = "cycle",
	                .method = method,
	                .low = 0.5,
	                .high = 64}};
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
		if (!fit_line(ways, time[i], used, &line)) {
			profile_add_bounded(profile, &spec[i], NULL, 0, NAN, NAN, used);
			continue;
		}
		const struct estimate slope = {1 / line.beta.value, 1 / line.beta.high,
		        1 / line.beta.low, line.beta.samples};
		profile_add(profile, &spec[i], NULL, 0, slope, busy);
	}
	free(ways);
	free(point);
}

/* What a saturated SM's accesses cost over those of one way, the same width. No conflict is cheaper
 * than none, and none costs far more than the wavefronts it takes. */
static void fit_factor(
        const struct table *curve, struct profile *profile, const char *series, const char *name)
{
	struct point *point;
	const size_t count = curve_points(curve, series, &point);
	for (size_t i = 0; i < count; ++i) {
		const struct arg args[] = {{"ways", curve_arg(curve, &point[i], "ways")},
		        {"width", curve_arg(curve, &point[i], "width")}};
		const struct arg free_args[] = {{"ways", 1}, args[1]};
		const struct point base = curve_at(curve, series, free_args, ARRAY_LEN(free_args));
		const struct estimate t = point[i].seconds, t1 = base.seconds;
		if (args[0].value == 1 || t1.samples == 0)
			continue;
		const struct parameter_spec spec = {.name = name,
		        .unit = "ratio",
		        .method = "seconds over those of one way, 32 warps on every SM",
		        .low = 0.9,
		        .high = 1.5 * args[0].value};
		const struct estimate ratio = {
		        t.value / t1.value, t.low / t1.high, t.high / t1.low, t.samples};
		profile_add(
		        profile, &spec, args, ARRAY_LEN(args), ratio, point[i].busy || base.busy);
	}
	free(point);
}

/* What the shared memory of all SMs moves: the widest access without a conflict, of the median SM,
 * times their number. */
static void fit_rate(
        const struct table *curve, struct profile *profile, const char *series, const char *name)
{
	const char *sms = table_meta(curve, "gpu_sms");
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
	if (sms && widest) {
		const double all = atof(sms), bytes = 32 * width * all;
		const struct parameter_spec spec = {.name = name,
		        .unit = "B/s",
		        .method = "widest access without conflict, 32 warps on every SM",
		        .low = 1e9,
		        .high = clock_steady * bytes_a_cycle * all * widest->hz};
		const struct estimate t = widest->seconds;
		const struct estimate rate = {
		        bytes / t.value, bytes / t.high, bytes / t.low, t.samples};
		profile_add(profile, &spec, NULL, 0, rate, widest->busy);
	}
	free(point);
}

/* The clock under these loads: cycles over %globaltimer, one value a point. */
static void fit_clock(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec spec = {.name = "gpu.bank.clock",
	        .unit = "Hz",
	        .method = "cycles over %globaltimer during the accesses",
	        .low = 1e8,
	        .high = 1e10};
	struct point *point;
	const size_t count = curve_points(curve, NULL, &point);
	double *hz = xmalloc((count + 1) * sizeof *hz);
	size_t known = 0;
	bool busy = false;
	for (size_t i = 0; i < count; ++i) {
		busy = busy || point[i].busy;
		if (point[i].hz > 0)
			hz[known++] = point[i].hz;
	}
	if (count > 0)
		profile_add(profile, &spec, NULL, 0, stats_median_interval(hz, known), busy);
	free(hz);
	free(point);
}

void bank_conflict_fit(const struct table *curve, struct profile *profile)
{
	fit_way(curve, profile);
	fit_factor(curve, profile, "saturated_load", "gpu.bank.saturated.factor");
	fit_factor(curve, profile, "saturated_store", "gpu.bank.saturated.store_factor");
	fit_rate(curve, profile, "saturated_load", "gpu.shared.read");
	fit_rate(curve, profile, "saturated_store", "gpu.shared.write");
	for (size_t i = 0; i < ARRAY_LEN(functions); ++i)
		fit_function(curve, profile, &functions[i]);
	fit_clock(curve, profile);
}
