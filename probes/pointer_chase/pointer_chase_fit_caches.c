/* SPDX-License-Identifier: MIT */
/* Latencies, sizes, lines, sectors and ways of the GPU's caches, of memory and of shared memory.
 * Sizes are the kinks of random chains (lib/stats/levels), lines the quotient of the bytes and the numbers
 * of lines that take equally long. */
#include "pointer_chase_fit_internal.h"

#include "lib/base/msg.h"

#include <stdlib.h>

/* A level beyond is slower by more than this; a latency surely this close to memory's, and possibly
 * that close, is memory's. */
static const double slower = 1.25, as_slow = 0.8, maybe_as_slow = 0.95;

/* The first kink beyond which loads take as long as memory does. */
static size_t memory_kink(const struct levels *levels, double dram)
{
	for (size_t i = 0; i < levels->count; ++i) {
		const struct estimate next = levels->level[i + 1].latency;
		if (next.low >= as_slow * dram && next.high >= maybe_as_slow * dram)
			return i;
	}
	return levels->count;
}

/* Where a chain, on its way up, takes so long; NaN: nowhere. */
static double x_of(const struct chain *chain, double seconds)
{
	for (size_t i = 1; i < chain->n; ++i)
		if (chain->seconds[i - 1] < seconds && seconds <= chain->seconds[i]) {
			const double part = (seconds - chain->seconds[i - 1]) /
			                    (chain->seconds[i] - chain->seconds[i - 1]);
			return chain->x[i - 1] * pow(chain->x[i] / chain->x[i - 1], part);
		}
	return NAN;
}

/* The bytes of dense sets over the nodes, a line each, of sparse ones that miss as often: between
 * latencies that are surely neither hits alone nor misses alone. The shape of the rise, which sets
 * and replacement bend, is the same in both. Three times a power of two is no line: the number of
 * sets is divisible by three then, and nodes in every third line fill a third of them. */
static struct estimate find_line(const struct table *curve, const char *dense_series,
        const char *sparse_series, struct estimate hit, struct estimate miss)
{
	const double margin = 0.2, apart = 0.05;
	struct chain dense = chase_read_chain(curve, dense_series, "bytes", 0);
	struct chain sparse = chase_read_chain(curve, sparse_series, "nodes", 0);
	double *line = xmalloc((sparse.n + 1) * sizeof *line);
	struct estimate found = unknown;
	size_t n = 0;
	for (size_t i = 0; i < sparse.n; ++i) {
		const double part = (sparse.seconds[i] - hit.value) / (miss.value - hit.value);
		const double bytes = x_of(&dense, sparse.seconds[i]);
		if (part > margin && part < 1 - margin && !isnan(bytes))
			line[n++] = bytes / sparse.x[i];
	}
	if (n >= 3 && miss.value > slower * hit.value) {
		found = (struct estimate){NAN, stats_quantile(line, n, 0) * (1 - apart),
		        stats_quantile(line, n, 1) * (1 + apart), n};
		const double exact = levels_power_of_two(found);
		if (!isnan(exact))
			found = (struct estimate){exact, exact, exact, n};
	}
	free(line);
	chase_chain_free(&dense);
	chase_chain_free(&sparse);
	return found;
}

void chase_read_caches(const struct table *curve, struct caches *caches)
{
	const double l2 = chase_attribute(curve, "gpu_l2_bytes");
	caches->has_ca = chase_read_levels(curve, "chain_ca", "bytes", &caches->ca);
	caches->has_cg = chase_read_levels(curve, "chain_cg", "bytes", &caches->cg);
	caches->dram = chase_plateau(curve, "cold", 0, INFINITY);
	caches->l2_latency = chase_plateau(curve, "chain_cg", l2 / 8, l2 / 4);
	if (caches->l2_latency.samples == 0 && caches->has_cg)
		caches->l2_latency = caches->cg.level[0].latency;
	caches->l1_latency = caches->has_ca ? caches->ca.level[0].latency : unknown;
	const struct estimate quick = chase_plateau(curve, "chain_ca", 0, 4096);
	const struct estimate slow = chase_plateau(curve, "chain_cg", 0, INFINITY);
	caches->no_l1 = caches->has_ca && caches->has_cg && quick.samples > 0 && slow.samples > 0 &&
	                quick.high * slower >= caches->cg.level[0].latency.low;
	if (caches->no_l1)
		caches->l1_latency = unknown;
	caches->l2_end = memory_kink(&caches->cg, caches->dram.value);
	caches->l1_line =
	        find_line(curve, "chain_ca", "entries_ca", caches->l1_latency, caches->l2_latency);
	caches->l2_line =
	        find_line(curve, "chain_cg", "entries_cg", caches->l2_latency, caches->dram);
}

/* The first kink past which loads take as long as L2 does. Conflicts in a cache of few ways make a
 * kink of their own long before, with only part of the step behind it: then it is not resolved. */
static struct estimate l1_size(const struct caches *caches)
{
	const struct levels *levels = &caches->ca;
	if (caches->no_l1)
		return unknown;
	if (levels->count > 0 &&
	        !(levels->level[1].latency.low >= as_slow * caches->l2_latency.value))
		return unknown;
	return chase_size_of(levels, 0);
}

/* A kink before the one where memory begins: an SM has a near part of L2. */
static bool divided(const struct caches *caches)
{
	return caches->l2_end > 0 && caches->l2_end < caches->cg.count;
}

/* What misses the near part of L2, in sets that fit in L2, takes its latency and the step at its
 * size: of a chain a share only misses, which the law of the rise tells. It is the mean of all such
 * loads: a hit in the other partition as far as memory serves none of them. */
static struct estimate beyond_near(const struct levels *levels)
{
	const struct level *near = &levels->level[0];
	const struct estimate hit = near->latency, step = near->step;
	const double value = near->resolved && near->step_resolved ? hit.value + step.value : NAN;
	return (struct estimate){value, value - hypot(hit.value - hit.low, step.value - step.low),
	        value + hypot(hit.high - hit.value, step.high - step.value), step.samples};
}

/* Beyond the largest set only where loads from that are surely quicker than memory's. */
static struct estimate l2_size(const struct caches *caches)
{
	const struct levels *levels = &caches->cg;
	if (caches->l2_end == levels->count &&
	        !(levels->level[levels->count].latency.high < as_slow * caches->dram.value))
		return unknown;
	return chase_size_of(levels, caches->l2_end);
}

static void fit_latencies(const struct output *out, const struct caches *caches)
{
	static const char *const cycle = "dependent loads around a random cycle";
	static const char *const chain = "dependent loads along a random chain";
	const struct table *curve = out->curve;
	if (chase_has_series(curve, "shared"))
		chase_add_time(out, "gpu.shared.latency", cycle, quickest,
		        chase_plateau(curve, "shared", 0, INFINITY));
	if (caches->has_ca)
		chase_add_time(out, "gpu.l1.latency",
		        caches->no_l1 ? "not resolved: loads through L1 take as long as past it"
		                      : chain,
		        quickest, caches->l1_latency);
	if (caches->has_cg)
		chase_add_time(out, "gpu.l2.latency", chain,
		        caches->l1_latency.samples > 0 ? fmax(caches->l1_latency.low, quickest)
		                                       : quickest,
		        caches->l2_latency);
	if (caches->has_cg && divided(caches))
		chase_add_time(out, "gpu.l2.beyond_near.latency",
		        "what misses the near part of sets that fit in L2: step of random chains",
		        fmax(caches->cg.level[0].latency.low, quickest), beyond_near(&caches->cg));
	if (chase_has_series(curve, "cold"))
		chase_add_time(out, "gpu.dram.latency", cycle,
		        caches->l2_latency.samples > 0 ? fmax(caches->l2_latency.low, quickest)
		                                       : quickest,
		        caches->dram);
}

static void fit_sizes(const struct output *out, const struct caches *caches)
{
	static const char *const kink = "kink of random chains over ever larger sets";
	static const char *const quotient =
	        "the power of two that bytes over lines of chains that miss as often are near";
	const struct levels *cg = &caches->cg;
	const double stated = chase_attribute(out->curve, "gpu_l2_bytes");
	const struct estimate l1 = l1_size(caches);
	const struct estimate l2 = l2_size(caches);
	if (caches->has_ca)
		chase_add_size(out, "gpu.l1.size", "B", kink, NAN, l1);
	if (caches->has_cg)
		chase_add_size(out, "gpu.l2.size", "B", kink, stated, l2);
	if (caches->has_cg && divided(caches))
		chase_add_size(out, "gpu.l2.near.size", "B", "first kink of random chains in L2",
		        NAN, chase_size_of(cg, 0));
	if (chase_has_series(out->curve, "entries_ca"))
		chase_add_size(out, "gpu.l1.line", "B", quotient, NAN, caches->l1_line);
	if (chase_has_series(out->curve, "entries_cg"))
		chase_add_size(out, "gpu.l2.line", "B", quotient, NAN, caches->l2_line);
}

/* ---- sectors ---- */

/* The second of two loads hits what the first brought in as long as the offset stays within it, a
 * power of two: the smallest offset that is slow. */
static struct estimate first_slow_offset(const struct chain *chain)
{
	double low = INFINITY, high = 0, sector = NAN, before = NAN;
	for (size_t i = 0; i < chain->n; ++i) {
		low = fmin(low, chain->seconds[i]);
		high = fmax(high, chain->seconds[i]);
	}
	if (chain->n < 4 || high < slower * low)
		return unknown;
	for (size_t i = 0; i < chain->n; ++i) {
		const double part = (chain->seconds[i] - low) / (high - low);
		const bool slow = part > 0.5;
		if (slow && isnan(sector))
			sector = chain->x[i];
		if (!slow)
			before = chain->x[i];
		if ((part > 0.3 && part < 0.7) || (!slow && !isnan(sector)))
			return (struct estimate){NAN, NAN, NAN, chain->n};
	}
	if (sector == 2 * before)
		return (struct estimate){sector, sector, sector, chain->n};
	return (struct estimate){NAN, isnan(before) ? NAN : 2 * before, sector, chain->n};
}

static void fit_sector(const struct output *out, const char *series, const char *name, bool known)
{
	struct chain chain = chase_read_chain(out->curve, series, "offset", 0);
	if (chain.n > 0)
		chase_add_size(out, name, "B", "smallest offset at which a second load misses, too",
		        NAN, known ? first_slow_offset(&chain) : unknown);
	chase_chain_free(&chain);
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
        struct estimate latency, struct estimate size, struct estimate line)
{
	const double lines = size.value / line.value;
	const struct parameter_spec spec = {.name = name,
	        .unit = "count",
	        .method = "number of nodes at a large stride that still hit",
	        .low = 1,
	        .high = 1e6};
	if (chase_has_series(out->curve, series))
		chase_add(out, &spec, NULL, 0,
		        isnan(latency.value) || isnan(lines)
		                ? unknown
		                : find_ways(out->curve, series, latency.value, lines));
}

void chase_fit_caches(const struct output *out, const struct caches *caches)
{
	fit_latencies(out, caches);
	fit_sizes(out, caches);
	fit_sector(out, "fetch_l1", "gpu.l1.sector", !caches->no_l1);
	fit_sector(out, "fetch_l2", "gpu.l2.sector", true);
	fit_ways(out, "cycle_ca", "gpu.l1.ways", caches->l1_latency, l1_size(caches),
	        caches->l1_line);
	fit_ways(out, "cycle_cg", "gpu.l2.ways", caches->l2_latency, chase_size_of(&caches->cg, 0),
	        caches->l2_line);
}
