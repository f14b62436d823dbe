/* SPDX-License-Identifier: MIT */
/* Latencies, sizes, lines, sectors and ways of the GPU's caches, of memory and of shared memory.
 * Sizes are the kinks of random pointer chains (lib/stats/levels). A line is the quotient of bytes
 * and number of lines of two chains that miss equally often. */
#include "pointer_chase_fit_internal.h"

#include <stdio.h>
#include <stdlib.h>

/* A level beyond is slower by more than `slower`. A latency surely above `as_slow` times memory's,
 * and possibly above `maybe_as_slow` times, is memory's. */
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

/* The x at which a rising chain first takes so long; NaN: nowhere. */
static double x_of(const struct curve_series *chain, double seconds)
{
	for (size_t i = 1; i < chain->n; ++i)
		if (chain->seconds[i - 1] < seconds && seconds <= chain->seconds[i]) {
			const double part = (seconds - chain->seconds[i - 1]) /
			                    (chain->seconds[i] - chain->seconds[i - 1]);
			return chain->x[i - 1] * pow(chain->x[i] / chain->x[i - 1], part);
		}
	return NAN;
}

/* Line size: bytes of a dense set over the nodes (a line each) of a sparse set with the same
 * latency, between hit and miss latency. Sets and replacement bend both curves alike. Three times a
 * power of two is no line: then the number of sets is divisible by three, and nodes in every third
 * line fill a third of the sets. */
static struct estimate find_line(const struct table *curve, const char *dense_series,
        const char *sparse_series, struct estimate hit, struct estimate miss)
{
	const double margin = 0.2, apart = 0.05;
	struct curve_series dense = curve_series_read(curve, dense_series, "bytes", 0);
	struct curve_series sparse = curve_series_read(curve, sparse_series, "nodes", 0);
	double *line = xmalloc((sparse.n + 1) * sizeof *line);
	struct estimate found = estimate_none;
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
			found = estimate_exact(exact, n);
	}
	free(line);
	curve_series_free(&dense);
	curve_series_free(&sparse);
	return found;
}

void chase_read_caches(const struct table *curve, struct caches *caches)
{
	const double l2 = curve_fact(curve, "gpu_l2_bytes");
	caches->has_ca = chase_read_levels(curve, "chain_ca", &caches->ca);
	caches->has_cg = chase_read_levels(curve, "chain_cg", &caches->cg);
	caches->dram = chase_plateau(curve, "cold", 0, INFINITY);
	caches->l2_latency = chase_plateau(curve, "chain_cg", l2 / 8, l2 / 4);
	if (caches->l2_latency.samples == 0 && caches->has_cg)
		caches->l2_latency = caches->cg.level[0].latency;
	caches->l1_latency = caches->has_ca ? caches->ca.level[0].latency : estimate_none;
	const struct estimate quick = chase_plateau(curve, "chain_ca", 0, 4096);
	const struct estimate slow = chase_plateau(curve, "chain_cg", 0, INFINITY);
	caches->no_l1 = caches->has_ca && caches->has_cg && quick.samples > 0 && slow.samples > 0 &&
	                quick.high * slower >= caches->cg.level[0].latency.low;
	if (caches->no_l1)
		caches->l1_latency = estimate_none;
	caches->l2_end = memory_kink(&caches->cg, caches->dram.value);
	caches->l1_line =
	        find_line(curve, "chain_ca", "entries_ca", caches->l1_latency, caches->l2_latency);
	caches->l2_line =
	        find_line(curve, "chain_cg", "entries_cg", caches->l2_latency, caches->dram);
}

/* The first kink after which loads take as long as L2. Conflicts in a cache of few ways make an
 * earlier kink with a part of the step; then the size is not resolved. */
static struct estimate l1_size(const struct caches *caches)
{
	const struct levels *levels = &caches->ca;
	if (caches->no_l1)
		return estimate_none;
	if (levels->count > 0 &&
	        !(levels->level[1].latency.low >= as_slow * caches->l2_latency.value))
		return estimate_none;
	return chase_size_of(levels, 0);
}

/* Whether a kink comes before the start of memory: the SM has a near part of L2. */
static bool divided(const struct caches *caches)
{
	return caches->l2_end > 0 && caches->l2_end < caches->cg.count;
}

/* The latency of a miss in the near part of L2, in sets that fit in L2: the hit latency plus the
 * step at the near part's size. It is a mean over hits in the other partition and memory accesses.
 */
static struct estimate beyond_near(const struct levels *levels)
{
	const struct level *near = &levels->level[0];
	const struct estimate hit = near->latency, step = near->step;
	const double value = near->resolved && near->step_resolved ? hit.value + step.value : NAN;
	return (struct estimate){value, value - hypot(hit.value - hit.low, step.value - step.low),
	        value + hypot(hit.high - hit.value, step.high - step.value), step.samples};
}

/* A lower bound only where the largest set's loads are surely quicker than memory's. */
static struct estimate l2_size(const struct caches *caches)
{
	const struct levels *levels = &caches->cg;
	if (caches->l2_end == levels->count &&
	        !(levels->level[levels->count].latency.high < as_slow * caches->dram.value))
		return estimate_none;
	return chase_size_of(levels, caches->l2_end);
}

/* Not below the latency of the level before, where that is known. */
static double above(struct estimate before)
{
	return before.samples > 0 ? fmax(before.low, quickest) : quickest;
}

static void fit_latencies(const struct output *out, const struct caches *caches)
{
	static const char *const cycle = "dependent loads around a random cycle";
	static const char *const chain = "dependent loads along a random chain";
	chase_add(out, "shared", chase_time("gpu.shared.latency", cycle, quickest), NULL,
	        chase_plateau(out->curve, "shared", 0, INFINITY));
	if (caches->has_ca)
		chase_add(out, NULL,
		        chase_time("gpu.l1.latency",
		                caches->no_l1
		                        ? "not resolved: loads through L1 take as long as past it"
		                        : chain,
		                quickest),
		        NULL, caches->l1_latency);
	if (caches->has_cg)
		chase_add(out, NULL, chase_time("gpu.l2.latency", chain, above(caches->l1_latency)),
		        NULL, caches->l2_latency);
	if (caches->has_cg && divided(caches))
		chase_add(out, NULL,
		        chase_time("gpu.l2.beyond_near.latency",
		                "what misses the near part of sets that fit in L2: step of random "
		                "chains",
		                fmax(caches->cg.level[0].latency.low, quickest)),
		        NULL, beyond_near(&caches->cg));
	chase_add(out, "cold", chase_time("gpu.dram.latency", cycle, above(caches->l2_latency)),
	        NULL, caches->dram);
}

static void fit_sizes(const struct output *out, const struct caches *caches)
{
	static const char *const kink = "kink of random chains over ever larger sets";
	static const char *const quotient =
	        "the power of two that bytes over lines of chains that miss as often are near";
	const double stated = curve_fact(out->curve, "gpu_l2_bytes");
	const struct estimate l2 = l2_size(caches);
	char said[100];
	snprintf(said, sizeof said, "%s; attribute says %.0f", kink, stated);
	if (caches->has_ca)
		chase_add(out, NULL, chase_bytes("gpu.l1.size", kink), NULL, l1_size(caches));
	if (caches->has_cg)
		chase_add(out, NULL,
		        chase_bytes("gpu.l2.size",
		                l2.samples > 0 && fabs(l2.value / stated - 1) > 0.15 ? said : kink),
		        NULL, l2);
	if (caches->has_cg && divided(caches))
		chase_add(out, NULL,
		        chase_bytes("gpu.l2.near.size", "first kink of random chains in L2"), NULL,
		        chase_size_of(&caches->cg, 0));
	chase_add(out, "entries_ca", chase_bytes("gpu.l1.line", quotient), NULL, caches->l1_line);
	chase_add(out, "entries_cg", chase_bytes("gpu.l2.line", quotient), NULL, caches->l2_line);
}

/* The sector: the smallest offset, a power of two, at which the second of two loads misses. */
static struct estimate first_slow_offset(const struct curve_series *chain)
{
	double low = INFINITY, high = 0, sector = NAN, before = NAN;
	for (size_t i = 0; i < chain->n; ++i) {
		low = fmin(low, chain->seconds[i]);
		high = fmax(high, chain->seconds[i]);
	}
	if (chain->n < 4 || high < slower * low)
		return estimate_none;
	for (size_t i = 0; i < chain->n; ++i) {
		const double part = (chain->seconds[i] - low) / (high - low);
		const bool slow = part > 0.5;
		if (slow && isnan(sector))
			sector = chain->x[i];
		if (!slow)
			before = chain->x[i];
		if ((part > 0.3 && part < 0.7) || (!slow && !isnan(sector)))
			return estimate_between(NAN, NAN, chain->n);
	}
	if (sector == 2 * before)
		return estimate_exact(sector, chain->n);
	return (struct estimate){NAN, isnan(before) ? NAN : 2 * before, sector, chain->n};
}

static void fit_sector(const struct output *out, const char *series, const char *name, bool known)
{
	struct curve_series chain = curve_series_read(out->curve, series, "offset", 0);
	if (chain.n > 0)
		chase_add(out, NULL,
		        chase_bytes(name, "smallest offset at which a second load misses, too"),
		        NULL, known ? first_slow_offset(&chain) : estimate_none);
	curve_series_free(&chain);
}

/* Few nodes at a large stride that miss lie in few sets: one set has more nodes than ways. When the
 * same smallest number of nodes misses at two or more strides, they all lie in one set. */
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
		return estimate_none;
	if (at_least >= 2 && most_hit == least_miss - 1)
		return estimate_exact(most_hit, count);
	return estimate_between(NAN, least_miss - 1, count);
}

static void fit_ways(const struct output *out, const char *series, const char *name,
        struct estimate latency, struct estimate size, struct estimate line)
{
	const double lines = size.value / line.value;
	const struct parameter_spec spec = {
	        name, "count", "number of nodes at a large stride that still hit", NULL, 1, 1e6};
	chase_add(out, series, spec, NULL,
	        isnan(latency.value) || isnan(lines)
	                ? estimate_none
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
