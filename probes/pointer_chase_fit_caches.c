/* SPDX-License-Identifier: MIT */
/* Latencies, sizes, lines, sectors and ways of the GPU's caches, of memory and of shared memory.
 * Sizes are the kinks of random walks (lib/levels), lines the quotient of a kink in bytes and one
 * in entries. */
#include "pointer_chase_fit_parts.h"

#include <stdlib.h>

/* A level beyond is slower by more than this; a latency this close to memory's is memory's. */
static const double slower = 1.25, as_slow = 0.8;

/* The first kink beyond which loads surely take as long as memory does. */
static size_t memory_kink(const struct levels *levels, double dram)
{
	for (size_t i = 0; i < levels->count; ++i) {
		const struct estimate next = levels->level[i + 1].latency;
		if (!isnan(dram) && next.low >= as_slow * dram)
			return i;
	}
	return levels->count;
}

void chase_read_caches(const struct table *curve, struct caches *caches)
{
	const double l2 = chase_attribute(curve, "gpu_l2_bytes");
	caches->has_ca = chase_read_levels(curve, "walk_ca", "bytes", &caches->ca);
	caches->has_cg = chase_read_levels(curve, "walk_cg", "bytes", &caches->cg);
	caches->has_lines_ca = chase_read_levels(curve, "entries_ca", "nodes", &caches->lines_ca);
	caches->has_lines_cg = chase_read_levels(curve, "entries_cg", "nodes", &caches->lines_cg);
	caches->dram = chase_plateau(curve, "cold", 0, INFINITY);
	caches->l2_latency = chase_plateau(curve, "walk_cg", l2 / 8, l2 / 4);
	if (caches->l2_latency.samples == 0 && caches->has_cg)
		caches->l2_latency = caches->cg.level[0].latency;
	caches->l1_latency = caches->has_ca ? caches->ca.level[0].latency : unknown;
	const struct estimate quick = chase_plateau(curve, "walk_ca", 0, 4096);
	const struct estimate slow = chase_plateau(curve, "walk_cg", 0, INFINITY);
	caches->no_l1 = caches->has_ca && caches->has_cg && quick.samples > 0 && slow.samples > 0 &&
	                quick.high * slower >= caches->cg.level[0].latency.low;
	if (caches->no_l1)
		caches->l1_latency = unknown;
	caches->l2_end = memory_kink(&caches->cg, caches->dram.value);
}

/* The first kink past which loads take as long as L2 does. Conflicts in a cache of few ways make a
 * kink of their own long before, with only part of the step behind it: then it is not resolved. */
static struct estimate l1_size(const struct caches *caches, const struct levels *levels)
{
	if (caches->no_l1)
		return unknown;
	if (levels->count > 0 &&
	        !(levels->level[1].latency.low >= as_slow * caches->l2_latency.value))
		return unknown;
	return chase_size_of(levels, 0);
}

static void fit_latencies(const struct output *out, const struct caches *caches)
{
	static const char *const cycle = "dependent loads around a random cycle";
	static const char *const walk = "dependent loads along a random walk";
	const struct table *curve = out->curve;
	if (chase_has_series(curve, "shared"))
		chase_add_time(out, "gpu.shared.latency", cycle, quickest,
		        chase_plateau(curve, "shared", 0, INFINITY));
	if (caches->has_ca)
		chase_add_time(out, "gpu.l1.latency",
		        caches->no_l1 ? "not resolved: loads through L1 take as long as past it"
		                      : walk,
		        quickest, caches->l1_latency);
	if (caches->has_cg)
		chase_add_time(out, "gpu.l2.latency", walk,
		        caches->l1_latency.samples > 0 ? fmax(caches->l1_latency.low, quickest)
		                                       : quickest,
		        caches->l2_latency);
	if (chase_has_series(curve, "cold"))
		chase_add_time(out, "gpu.dram.latency", cycle,
		        caches->l2_latency.samples > 0 ? fmax(caches->l2_latency.low, quickest)
		                                       : quickest,
		        caches->dram);
}

static void fit_line(
        const struct output *out, const char *name, struct estimate bytes, struct estimate lines)
{
	struct estimate line = levels_quotient(bytes, lines);
	const double exact = levels_power_of_two(line);
	if (isnan(bytes.value) || isnan(lines.value))
		line = unknown;
	else if (!isnan(exact))
		line = (struct estimate){exact, exact, exact, line.samples};
	chase_add_size(out, name, "B",
	        isnan(exact) || line.samples == 0
	                ? "size in bytes over size in lines"
	                : "size in bytes over size in lines, the one power of two in the interval",
	        NAN, line);
}

static void fit_sizes(const struct output *out, const struct caches *caches)
{
	static const char *const kink = "kink of random walks over ever larger sets";
	const struct levels *ca = &caches->ca, *cg = &caches->cg;
	const double stated = chase_attribute(out->curve, "gpu_l2_bytes");
	const struct estimate l1 = l1_size(caches, ca);
	const struct estimate l2 = chase_size_of(cg, caches->l2_end);
	if (caches->has_ca)
		chase_add_size(out, "gpu.l1.size", "B", kink, NAN, l1);
	if (caches->has_cg)
		chase_add_size(out, "gpu.l2.size", "B", kink, stated, l2);
	if (caches->has_cg && caches->l2_end > 0 && caches->l2_end < cg->count)
		chase_add_size(out, "gpu.l2.near.size", "B", "first kink of random walks in L2",
		        NAN, chase_size_of(cg, 0));
	if (caches->has_lines_ca)
		fit_line(out, "gpu.l1.line", l1, l1_size(caches, &caches->lines_ca));
	if (caches->has_lines_cg)
		fit_line(out, "gpu.l2.line", chase_size_of(cg, 0),
		        chase_size_of(&caches->lines_cg, 0));
}

static void fit_constant(const struct output *out)
{
	static const char *const walk = "random walks in constant memory";
	struct levels levels;
	if (!chase_read_levels(out->curve, "walk_constant", "bytes", &levels))
		return;
	chase_add_time(out, "gpu.constant.latency", walk, quickest, levels.level[0].latency);
	chase_add_size(out, "gpu.constant.size", "B", walk, NAN, chase_size_of(&levels, 0));
	if (levels.count == 0)
		return;
	chase_add_time(out, "gpu.constant.l15.latency", walk, quickest, levels.level[1].latency);
	chase_add_size(out, "gpu.constant.l15.size", "B", walk, NAN, chase_size_of(&levels, 1));
}

/* ---- sectors ---- */

/* The second of two loads hits what the first brought in as long as the offset stays within it, a
 * power of two: the smallest offset that is slow. */
static struct estimate first_slow_offset(const struct walk *walk)
{
	double low = INFINITY, high = 0, sector = NAN, before = NAN;
	for (size_t i = 0; i < walk->n; ++i) {
		low = fmin(low, walk->seconds[i]);
		high = fmax(high, walk->seconds[i]);
	}
	if (walk->n < 4 || high < slower * low)
		return unknown;
	for (size_t i = 0; i < walk->n; ++i) {
		const double part = (walk->seconds[i] - low) / (high - low);
		const bool slow = part > 0.5;
		if (slow && isnan(sector))
			sector = walk->x[i];
		if (!slow)
			before = walk->x[i];
		if ((part > 0.3 && part < 0.7) || (!slow && !isnan(sector)))
			return (struct estimate){NAN, NAN, NAN, walk->n};
	}
	if (sector == 2 * before)
		return (struct estimate){sector, sector, sector, walk->n};
	return (struct estimate){NAN, isnan(before) ? NAN : 2 * before, sector, walk->n};
}

static void fit_sector(const struct output *out, const char *series, const char *name, bool known)
{
	struct walk walk = chase_read_walk(out->curve, series, "offset", 0);
	if (walk.n > 0)
		chase_add_size(out, name, "B", "smallest offset at which a second load misses, too",
		        NAN, known ? first_slow_offset(&walk) : unknown);
	chase_walk_free(&walk);
}

/* ---- associativity ---- */

/* Few nodes at a large stride that miss lie in fewer sets than the cache has: more nodes than ways
 * in one of them. At two or more strides the same smallest number of nodes misses: they all lie in
 * one set. */
static struct estimate find_ways(
        const struct table *curve, const char *series, double latency, double lines)
{
	struct point *point;
	const size_t count = curve_points(curve, series, &point);
	double most_hit = 0, least_miss = INFINITY;
	size_t at_least = 0;
	for (size_t i = 0; i < count; ++i) {
		const double stride = curve_arg(curve, &point[i], "stride");
		const double nodes = floor(curve_arg(curve, &point[i], "bytes") / stride);
		const double seconds = point[i].seconds.value;
		if (point[i].seconds.samples == 0 || !(nodes < lines / 4) || nodes < 2)
			continue;
		if (seconds > slower * latency && nodes <= least_miss) {
			at_least = nodes < least_miss ? 1 : at_least + 1;
			least_miss = nodes;
		}
	}
	for (size_t i = 0; i < count; ++i) {
		const double nodes = floor(curve_arg(curve, &point[i], "bytes") /
		                           curve_arg(curve, &point[i], "stride"));
		if (point[i].seconds.samples > 0 && nodes < least_miss &&
		        point[i].seconds.value <= slower * latency)
			most_hit = fmax(most_hit, nodes);
	}
	free(point);
	if (!isfinite(least_miss))
		return unknown;
	if (at_least >= 2 && most_hit == least_miss - 1)
		return (struct estimate){most_hit, most_hit, most_hit, count};
	return (struct estimate){NAN, NAN, least_miss - 1, count};
}

static void fit_ways(const struct output *out, const char *series, const char *name,
        struct estimate latency, struct estimate lines)
{
	const struct parameter_spec spec = {.name = name,
	        .unit = "count",
	        .method = "number of nodes at a large stride that still hit",
	        .low = 1,
	        .high = 1e6};
	if (chase_has_series(out->curve, series))
		chase_add(out, &spec, NULL, 0,
		        isnan(latency.value) || isnan(lines.value)
		                ? unknown
		                : find_ways(out->curve, series, latency.value, lines.value));
}

void chase_fit_caches(const struct output *out, const struct caches *caches)
{
	fit_latencies(out, caches);
	fit_sizes(out, caches);
	fit_constant(out);
	fit_sector(out, "fetch_l1", "gpu.l1.sector", !caches->no_l1);
	fit_sector(out, "fetch_l2", "gpu.l2.sector", true);
	fit_ways(out, "cycle_ca", "gpu.l1.ways", caches->l1_latency,
	        l1_size(caches, &caches->lines_ca));
	fit_ways(out, "cycle_cg", "gpu.l2.ways", caches->l2_latency,
	        chase_size_of(&caches->lines_cg, 0));
}
