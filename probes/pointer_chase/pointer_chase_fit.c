/* SPDX-License-Identifier: MIT */
/* Curve of the pointer_chase probe -> latencies, sizes, lines, sectors, ways, partitions, TLBs and
 * sharing of the GPU's memory hierarchy. Sizes are the kinks of random chains (lib/stats/levels), lines
 * the quotient of the bytes and the numbers of lines that take equally long, TLBs come from chains
 * over pages (lib/stats/tlb).
 * Device attributes are named beside what was measured and never change it. */
#include "pointer_chase_fit_internal.h"

#include "lib/base/msg.h"
#include "lib/stats/stats.h"

#include <stdlib.h>

/* ---- the curve itself, the clock and the device ---- */

static void fit_cluster(const struct output *out)
{
	struct chain chain = chase_read_chain(out->curve, "cluster", "distance", 0);
	const struct parameter_spec spec = {.name = "gpu.cluster.latency",
	        .unit = "s",
	        .method = "dependent loads from another block's shared memory",
	        .low = quickest,
	        .high = slowest};
	struct point *point;
	const size_t count = curve_points(out->curve, "cluster", &point);
	for (size_t i = 0; i < count; ++i) {
		const struct arg args[] = {
		        {"distance", curve_arg(out->curve, &point[i], "distance")}};
		profile_add(out->profile, &spec, args, 1, point[i].seconds, point[i].busy);
	}
	free(point);
	chase_chain_free(&chain);
}

static void add_curve(const struct output *out, const char *series, double above, double below)
{
	const struct parameter_spec spec = {.name = "gpu.load.latency",
	        .unit = "s",
	        .method = "dependent loads (ca to 512 KiB, cg beyond, cold from four L2s on)",
	        .low = quickest,
	        .high = slowest};
	struct point *point;
	const size_t count = curve_points(out->curve, series, &point);
	for (size_t i = 0; i < count; ++i) {
		const struct arg args[] = {{"bytes", curve_arg(out->curve, &point[i], "bytes")}};
		if (args[0].value > above && args[0].value < below)
			profile_add(out->profile, &spec, args, 1, point[i].seconds, point[i].busy);
	}
	free(point);
}

static void fit_curve(const struct output *out)
{
	static const double through_l1 = 512 * 1024;
	struct chain cold = chase_read_chain(out->curve, "cold", "bytes", 0);
	add_curve(out, "chain_ca", 0, through_l1 + 1);
	add_curve(out, "chain_cg", through_l1, cold.n > 0 ? cold.x[0] : INFINITY);
	add_curve(out, "cold", through_l1, INFINITY);
	chase_chain_free(&cold);
}

/* The clock during the chases, which need little power: cycles over %globaltimer, one value a
 * point. */
static void fit_clock(const struct output *out)
{
	const struct parameter_spec spec = {.name = "gpu.clock.sm",
	        .unit = "Hz",
	        .method = "cycles over %globaltimer during the chases",
	        .low = 1e8,
	        .high = 1e10};
	struct point *point;
	const size_t count = curve_points(out->curve, NULL, &point);
	double *hz = xmalloc((count + 1) * sizeof *hz);
	size_t known = 0;
	for (size_t i = 0; i < count; ++i)
		if (point[i].hz > 0)
			hz[known++] = point[i].hz;
	if (count > 0)
		profile_add(
		        out->profile, &spec, NULL, 0, stats_median_interval(hz, known), out->busy);
	free(hz);
	free(point);
}

/* What the device states of itself, exact. */
static void fit_device(const struct output *out)
{
	static const struct {
		const char *key, *name, *unit;
	} facts[] = {{"gpu_sms", "gpu.sm.count", "count"},
	        {"gpu_shared_per_block", "gpu.shared.per_block", "B"},
	        {"gpu_l2_bytes", "gpu.l2.stated", "B"}};
	for (size_t i = 0; i < ARRAY_LEN(facts); ++i) {
		const double value = chase_attribute(out->curve, facts[i].key);
		const struct parameter_spec spec = {.name = facts[i].name,
		        .unit = facts[i].unit,
		        .method = "device attribute",
		        .low = 1,
		        .high = 1e12};
		if (!isnan(value))
			profile_add(out->profile, &spec, NULL, 0,
			        (struct estimate){value, value, value, 1}, false);
	}
}

static bool any_busy(const struct table *curve)
{
	for (size_t row = 0; row < curve->row_count; ++row)
		if (table_real(curve, row, "busy") > 0)
			return true;
	return false;
}

void pointer_chase_fit(const struct table *curve, struct profile *profile)
{
	const struct output out = {curve, profile, any_busy(curve)};
	struct caches caches = {0};
	struct tlb_level tlb[LEVELS_MAX];
	chase_read_caches(curve, &caches);
	chase_fit_caches(&out, &caches);
	chase_fit_paths(&out);
	chase_fit_slices(&out);
	chase_fit_partitions(&out);
	chase_fit_once(&out);
	const size_t tlbs = chase_fit_tlb(&out, tlb);
	chase_fit_sharing(&out, &caches, tlb, tlbs);
	fit_cluster(&out);
	fit_curve(&out);
	fit_clock(&out);
	fit_device(&out);
}
