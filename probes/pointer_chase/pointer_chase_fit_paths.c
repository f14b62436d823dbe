/* SPDX-License-Identifier: MIT */
/* Latencies of other paths than ld.ca and ld.cg: constant memory, ld.nc (read-only data), ld.cv
 * (volatile). */
#include "pointer_chase_fit_internal.h"

#include <stdlib.h>

static void fit_constant(const struct output *out)
{
	static const char *const chain = "random chains in constant memory";
	struct levels levels;
	if (!chase_read_levels(out->curve, "chain_constant", "bytes", &levels))
		return;
	chase_add_time(out, "gpu.constant.latency", chain, quickest, levels.level[0].latency);
	chase_add_size(out, "gpu.constant.size", "B", chain, NAN, chase_size_of(&levels, 0));
	if (levels.count == 0)
		return;
	chase_add_time(out, "gpu.constant.l15.latency", chain, quickest, levels.level[1].latency);
	chase_add_size(out, "gpu.constant.l15.size", "B", chain, NAN, chase_size_of(&levels, 1));
	chase_fit_constant_sharing(out, levels.level[1].latency.value);
}

/* From sets that one cache holds; sizes an doubling apart do not give the cache's size. */
static void fit_readonly(const struct output *out)
{
	struct levels levels;
	if (chase_read_levels(out->curve, "chain_nc", "bytes", &levels))
		chase_add_time(out, "gpu.readonly.latency",
		        "dependent ld.nc loads along a random chain", quickest,
		        levels.level[0].latency);
}

/* From the cycle with the most lines in at most half of L2 (which may be near), an average over the
 * slices. */
static void fit_volatile(const struct output *out)
{
	const double half = curve_fact(out->curve, "gpu_l2_bytes") / 2;
	struct point *point;
	const size_t count = curve_points(out->curve, "cycle_cv", &point);
	struct estimate latency = estimate_none;
	double most = 0;
	for (size_t i = 0; i < count; ++i) {
		const double bytes = curve_arg(out->curve, &point[i], "bytes");
		const double lines = bytes / curve_arg(out->curve, &point[i], "stride");
		if (point[i].seconds.samples > 0 && bytes <= half && lines > most) {
			most = lines;
			latency = point[i].seconds;
		}
	}
	if (count > 0)
		chase_add_time(out, "gpu.l2.volatile.latency",
		        "dependent ld.cv loads around a random cycle", quickest, latency);
	free(point);
}

void chase_fit_paths(const struct output *out)
{
	fit_constant(out);
	fit_readonly(out);
	fit_volatile(out);
}
