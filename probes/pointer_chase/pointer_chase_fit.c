/* SPDX-License-Identifier: MIT */
/* Curve of the pointer_chase probe -> latencies, sizes, lines, sectors, ways, partitions, TLBs and
 * sharing of the GPU's memory hierarchy. Device attributes only stand beside measured values and
 * never change them. */
#include "pointer_chase_fit_internal.h"

#include "lib/stats/tlb.h"

#include <stdlib.h>
#include <string.h>

/* ---- series and rows ---- */

bool chase_read_levels(const struct table *curve, const char *series, struct levels *levels)
{
	struct curve_series chain = curve_series_read(curve, series, "bytes", 0);
	const bool fitted = curve_series_levels(&chain, levels);
	curve_series_free(&chain);
	return fitted;
}

static int by_seconds(const void *a, const void *b)
{
	const double x = ((const struct point *)a)->seconds.value;
	const double y = ((const struct point *)b)->seconds.value;
	return (x > y) - (x < y);
}

struct estimate chase_plateau(
        const struct table *curve, const char *series, double low, double high)
{
	struct point *point;
	struct estimate middle = estimate_none;
	const size_t count = curve_points(curve, series, &point);
	size_t inside = 0;
	for (size_t i = 0; i < count; ++i) {
		const double bytes = curve_arg(curve, &point[i], "bytes");
		if ((isnan(bytes) || (bytes >= low && bytes <= high)) &&
		        point[i].seconds.samples > 0)
			point[inside++] = point[i];
	}
	if (inside > 0) {
		qsort(point, inside, sizeof *point, by_seconds);
		middle = point[(inside - 1) / 2].seconds;
	}
	free(point);
	return middle;
}

double chase_next_stride(const struct table *curve, double above)
{
	double next = INFINITY;
	for (size_t row = 0; row < curve->row_count; ++row) {
		const double stride = table_real(curve, row, "stride");
		if (stride > above && strcmp(table_text(curve, row, "series"), "pages") == 0)
			next = fmin(next, stride);
	}
	return next;
}

void chase_add(const struct output *out, const char *series, struct parameter_spec spec,
        const struct arg *arg, struct estimate estimate)
{
	if (series && !curve_has_series(out->curve, series))
		return;
	if (estimate.samples > 0 && isfinite(estimate.value))
		profile_add(out->profile, &spec, arg, arg != NULL, estimate, out->busy);
	else
		profile_add_bounded(out->profile, &spec, arg, arg != NULL,
		        isnan(estimate.high) ? estimate.low : NAN, NAN, estimate.samples);
}

struct estimate chase_size_of(const struct levels *levels, size_t level)
{
	static const double smear = 0.08;
	struct estimate size = levels->level[level].size;
	if (level == levels->count)
		return estimate_between(size.low, NAN, size.samples);
	size.low *= 1 - smear;
	size.high *= 1 + smear;
	return size;
}

/* ---- constant memory, read-only and volatile loads ---- */

static void fit_constant(const struct output *out)
{
	static const char *const chain = "random chains in constant memory",
	                         *const series = "chain_constant";
	struct levels levels;
	if (!chase_read_levels(out->curve, series, &levels))
		return;
	chase_add(out, series, chase_time("gpu.constant.latency", chain, quickest), NULL,
	        levels.level[0].latency);
	chase_add(out, series, chase_bytes("gpu.constant.size", chain), NULL,
	        chase_size_of(&levels, 0));
	if (levels.count == 0)
		return;
	chase_add(out, series, chase_time("gpu.constant.l15.latency", chain, quickest), NULL,
	        levels.level[1].latency);
	chase_add(out, series, chase_bytes("gpu.constant.l15.size", chain), NULL,
	        chase_size_of(&levels, 1));
	chase_fit_constant_sharing(out, levels.level[1].latency.value);
}

/* From sets that one cache holds; sizes an doubling apart do not give the cache's size. */
static void fit_readonly(const struct output *out)
{
	struct levels levels;
	if (chase_read_levels(out->curve, "chain_nc", &levels))
		chase_add(out, "chain_nc",
		        chase_time("gpu.readonly.latency",
		                "dependent ld.nc loads along a random chain", quickest),
		        NULL, levels.level[0].latency);
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
	chase_add(out, "cycle_cv",
	        chase_time("gpu.l2.volatile.latency", "dependent ld.cv loads around a random cycle",
	                quickest),
	        NULL, latency);
	free(point);
}

/* ---- TLBs: pointer chains over pages, less packed ones (lib/stats/tlb) ---- */

/* Subtracts the time of as many nodes on adjacent lines, less its minimum; only where that time has
 * more than one plateau, whose scatter would be added for nothing. */
static void isolate(struct curve_series *pages, const struct curve_series *packed)
{
	struct levels levels;
	if (!curve_series_levels(packed, &levels) || levels.count == 0)
		return;
	for (size_t i = 0; i < pages->n; ++i) {
		const double more = curve_series_at(packed, pages->x[i]) - packed->seconds[0];
		pages->error[i] *= pages->seconds[i] / (pages->seconds[i] - more) * 1.4;
		pages->seconds[i] -= more;
	}
}

static void add_tlb(const struct output *out, const char *name, const char *unit,
        const char *method, size_t level, struct estimate estimate)
{
	const struct arg arg = {"level", (double)level};
	chase_add(out, "pages", (struct parameter_spec){name, unit, method, NULL, 1e-12, 1e14},
	        &arg, estimate);
}

/* Returns the number of levels. */
static size_t fit_tlb(const struct output *out, struct tlb_level *level)
{
	enum { STRIDES = 16 };
	struct tlb_walk chain[STRIDES];
	struct curve_series packed = curve_series_read(out->curve, "packed", "nodes", 0);
	double stride = 0;
	size_t n = 0;
	while (n < STRIDES && isfinite(stride = chase_next_stride(out->curve, stride))) {
		struct curve_series pages = curve_series_read(out->curve, "pages", "nodes", stride);
		isolate(&pages, &packed);
		chain[n].stride = stride;
		chain[n].largest = curve_series_end(&pages) * stride;
		n += curve_series_levels(&pages, &chain[n].levels);
		curve_series_free(&pages);
	}
	curve_series_free(&packed);
	if (n == 0)
		return 0;
	const size_t count = tlb_find(chain, n, level);
	for (size_t k = 0; k < count; ++k) {
		add_tlb(out, "gpu.tlb.reach", "B", "kink of chains over pages, less packed ones",
		        k + 1, level[k].reach);
		add_tlb(out, "gpu.tlb.entries", "count", "nodes at the kink, strides of a page on",
		        k + 1, level[k].entries);
		add_tlb(out, "gpu.tlb.page", "B",
		        "reach over entries, a power of two if only one fits", k + 1,
		        level[k].page);
		add_tlb(out, "gpu.tlb.penalty", "s", "step of chains over pages, less packed ones",
		        k + 1, level[k].penalty);
	}
	add_tlb(out, "gpu.tlb.reach", "B", "no further kink up to the largest set", count + 1,
	        estimate_between(chain[0].largest, NAN, chain[0].levels.level[0].size.samples));
	return count;
}

/* ---- everything ---- */

static const struct curve_rows cluster = {"cluster",
        {"gpu.cluster.latency", "s", "dependent loads from another block's shared memory", NULL,
                0.5e-9, 10e-6},
        .column = {"distance"}};

/* Of sets that L1 does not hold and L2 may. */
static void fit_curve(const struct output *out)
{
	const struct parameter_spec spec = {"gpu.load.latency", "s",
	        "dependent loads past L1, of sets up to the size of L2", NULL, quickest, slowest};
	const double least = 512 * 1024,
	             most = fmax(4 * least, curve_fact(out->curve, "gpu_l2_bytes"));
	struct point *point;
	const size_t count = curve_points(out->curve, "chain_cg", &point);
	for (size_t i = 0; i < count; ++i) {
		const struct arg bytes = {"bytes", curve_arg(out->curve, &point[i], "bytes")};
		if (bytes.value >= least && bytes.value <= most)
			profile_add(
			        out->profile, &spec, &bytes, 1, point[i].seconds, point[i].busy);
	}
	free(point);
}

/* Cycles over %globaltimer, one value a point; the chases need little power. */
static void fit_clock(const struct output *out)
{
	const struct parameter_spec spec = {"gpu.clock.sm", "Hz",
	        "cycles over %globaltimer during the chases", NULL, 1e8, 1e10};
	bool unused;
	const struct estimate clock = curve_clock(out->curve, &unused);
	if (out->curve->row_count > 0)
		profile_add(out->profile, &spec, NULL, 0, clock, out->busy);
}

/* Device attributes, exact. */
static void fit_device(const struct output *out)
{
	static const struct {
		const char *key, *name, *unit;
	} facts[] = {{"gpu_compute_capability", "gpu.compute_capability", "count"},
	        {"gpu_sms", "gpu.sm.count", "count"},
	        {"gpu_threads_per_sm", "gpu.sm.threads", "count"},
	        {"gpu_blocks_per_sm", "gpu.sm.blocks", "count"},
	        {"gpu_shared_per_block", "gpu.shared.per_block", "B"},
	        {"gpu_l2_bytes", "gpu.l2.stated", "B"}};
	for (size_t i = 0; i < ARRAY_LEN(facts); ++i) {
		const double value = curve_fact(out->curve, facts[i].key);
		const struct parameter_spec spec = {
		        facts[i].name, facts[i].unit, "device attribute", NULL, 1, 1e12};
		if (!isnan(value))
			profile_add(out->profile, &spec, NULL, 0, estimate_exact(value, 1), false);
	}
}

void pointer_chase_fit(const struct table *curve, struct profile *profile)
{
	const struct output out = {curve, profile, curve_any_busy(curve)};
	struct caches caches = {0};
	struct tlb_level tlb[LEVELS_MAX];
	chase_read_caches(curve, &caches);
	chase_fit_caches(&out, &caches);
	fit_constant(&out);
	fit_readonly(&out);
	fit_volatile(&out);
	chase_fit_slices(&out);
	chase_fit_partitions(&out);
	chase_fit_once(&out);
	const size_t tlbs = fit_tlb(&out, tlb);
	chase_fit_sharing(&out, &caches, tlb, tlbs);
	curve_fit_rows(curve, profile, &cluster, 1, false);
	fit_curve(&out);
	fit_clock(&out);
	fit_device(&out);
}
