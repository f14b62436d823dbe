/* SPDX-License-Identifier: MIT */
/* Curve of the load_latency probe -> gpu.*.latency, gpu.load.latency[bytes], gpu.clock.sm,
 * gpu.shared.update[threads], gpu.sm.count, gpu.shared.per_block, gpu.l2.size. A level's latency is
 * that of the middle one, by time, of the sets that lie inside it. */
#include "../lib/base.h"
#include "load_latency.h"

#include "../lib/curve.h"
#include "../lib/msg.h"
#include "../lib/profile.h"

#include <math.h>
#include <stdlib.h>

/* No load returns within two cycles of 4 GHz; none takes 10 us on a device that works. */
static const double quickest = 0.5e-9, slowest = 10e-6;

static int by_seconds(const void *a, const void *b)
{
	const double x = ((const struct point *)a)->seconds.value;
	const double y = ((const struct point *)b)->seconds.value;
	return (x > y) - (x < y);
}

/* The middle one of the series' measured points with low <= bytes <= high; without samples when
 * there is none. */
static struct point plateau(const struct table *curve, const char *series, double low, double high)
{
	struct point *point, middle = {.series = series, .seconds = {NAN, NAN, NAN, 0}};
	const size_t count = curve_points(curve, series, &point);
	size_t inside = 0;
	for (size_t i = 0; i < count; ++i) {
		const double bytes = curve_arg(curve, &point[i], "bytes");
		if (bytes >= low && bytes <= high && point[i].seconds.samples > 0)
			point[inside++] = point[i];
	}
	if (inside > 0) {
		qsort(point, inside, sizeof *point, by_seconds);
		middle = point[(inside - 1) / 2];
	}
	free(point);
	return middle;
}

static double largest_set(const struct table *curve, const char *series)
{
	struct point *point;
	const size_t count = curve_points(curve, series, &point);
	double largest = 0;
	for (size_t i = 0; i < count; ++i)
		largest = fmax(largest, curve_arg(curve, &point[i], "bytes"));
	free(point);
	return largest;
}

/* A level further out cannot be quicker than the one before; returns the bound for the next. */
static double add_level(const struct table *curve, struct profile *profile, const char *name,
        const struct point *level, double bound)
{
	const struct parameter_spec spec = {.name = name,
	        .unit = "s",
	        .method = "dependent loads around a random cycle",
	        .low = bound,
	        .high = slowest};
	if (curve->row_count == 0)
		return bound;
	profile_add(profile, &spec, NULL, 0, level->seconds, level->busy);
	return level->seconds.value > bound ? level->seconds.value : bound;
}

static void fit_levels(const struct table *curve, struct profile *profile)
{
	const double in_l2 = largest_set(curve, "load_l2");
	const struct point shared = plateau(curve, "shared", 0, INFINITY);
	const struct point l1 = plateau(curve, "load_l1", 0, 32 * 1024);
	const struct point l2 = plateau(curve, "load_l2", in_l2 / 4, in_l2);
	const struct point dram = plateau(curve, "load_dram", 0, INFINITY);
	add_level(curve, profile, "gpu.shared.latency", &shared, quickest);
	double bound = add_level(curve, profile, "gpu.l1.latency", &l1, quickest);
	bound = add_level(curve, profile, "gpu.l2.latency", &l2, bound);
	add_level(curve, profile, "gpu.dram.latency", &dram, bound);
}

static void fit_curve(const struct table *curve, struct profile *profile)
{
	static const char *const series[] = {"load_l1", "load_l2", "load_mixed", "load_dram"};
	const struct parameter_spec spec = {.name = "gpu.load.latency",
	        .unit = "s",
	        .method = "dependent loads around a random cycle (ca to 512 KiB, cg beyond)",
	        .low = quickest,
	        .high = slowest};
	for (size_t s = 0; s < ARRAY_LEN(series); ++s) {
		struct point *point;
		const size_t count = curve_points(curve, series[s], &point);
		for (size_t i = 0; i < count; ++i) {
			const struct arg args[] = {{"bytes", curve_arg(curve, &point[i], "bytes")}};
			profile_add(profile, &spec, args, 1, point[i].seconds, point[i].busy);
		}
		free(point);
	}
}

/* The clock during the chases, which need little power: cycles over %globaltimer, one value a
 * point. */
static void fit_clock(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec spec = {.name = "gpu.clock.sm",
	        .unit = "Hz",
	        .method = "cycles over %globaltimer during the chases",
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

/* Bytes of a sweep over its seconds; the shorter time is the higher rate. */
static void fit_update(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec spec = {.name = "gpu.shared.update",
	        .unit = "B/s",
	        .method = "panel update in shared memory, bytes read and written, one SM",
	        .low = 1e8,
	        .high = 1e13};
	struct point *point;
	const size_t count = curve_points(curve, "shared_update", &point);
	for (size_t i = 0; i < count; ++i) {
		const double bytes = curve_arg(curve, &point[i], "bytes");
		const struct estimate t = point[i].seconds;
		const struct estimate rate = {
		        bytes / t.value, bytes / t.high, bytes / t.low, t.samples};
		const struct arg args[] = {{"threads", curve_arg(curve, &point[i], "threads")}};
		profile_add(profile, &spec, args, 1, rate, point[i].busy);
	}
	free(point);
}

/* Sizes the device states of itself, exact. */
static void fit_device(const struct table *curve, struct profile *profile)
{
	static const struct {
		const char *key, *name, *unit;
	} sizes[] = {{"gpu_sms", "gpu.sm.count", "count"},
	        {"gpu_shared_per_block", "gpu.shared.per_block", "B"},
	        {"gpu_l2_bytes", "gpu.l2.size", "B"}};
	for (size_t i = 0; i < ARRAY_LEN(sizes); ++i) {
		const char *text = table_meta(curve, sizes[i].key);
		const struct parameter_spec spec = {.name = sizes[i].name,
		        .unit = sizes[i].unit,
		        .method = "device attribute",
		        .low = 1,
		        .high = 1e12};
		if (!text)
			continue;
		const double value = atof(text);
		profile_add(
		        profile, &spec, NULL, 0, (struct estimate){value, value, value, 1}, false);
	}
}

void load_latency_fit(const struct table *curve, struct profile *profile)
{
	fit_levels(curve, profile);
	fit_clock(curve, profile);
	fit_curve(curve, profile);
	fit_update(curve, profile);
	fit_device(curve, profile);
}
