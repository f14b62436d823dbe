/* SPDX-License-Identifier: MIT */
/* Curve of the pointer_chase probe -> latencies, sizes, lines, sectors, ways, partitions, TLBs and
 * sharing of the GPU's memory hierarchy. Sizes are the kinks of random walks (lib/levels), lines
 * the quotient of a kink in bytes and one in entries, TLBs come from walks over pages (lib/tlb).
 * Device attributes are named beside what was measured and never change it. */
#include "../lib/base.h"
#include "pointer_chase.h"

#include "../lib/curve.h"
#include "../lib/levels.h"
#include "../lib/msg.h"
#include "../lib/partition.h"
#include "../lib/profile.h"
#include "../lib/sharing.h"
#include "../lib/stats.h"
#include "../lib/tlb.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No load returns within two cycles of 4 GHz; none takes 10 us on a device that works. */
static const double quickest = 0.5e-9, slowest = 10e-6;
/* A level beyond is slower by more than this; a latency this close to memory's is memory's. */
static const double slower = 1.25, as_slow = 0.8;

enum { STRIDES = 16 };

static const struct estimate unknown = {NAN, NAN, NAN, 0};

/* ---- series ---- */

struct walk {
	double *x, *seconds, *error; /* ascending x; error is relative */
	size_t n;
	bool busy;
};

static int by_place(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The points of a series along one column; only those of the given stride unless that is 0. */
static struct walk read_walk(
        const struct table *curve, const char *series, const char *column, double stride)
{
	struct point *point;
	const size_t count = curve_points(curve, series, &point);
	double(*row)[3] = xmalloc((count + 1) * sizeof *row);
	struct walk walk = {.x = xmalloc(3 * (count + 1) * sizeof *walk.x)};
	walk.seconds = walk.x + count + 1;
	walk.error = walk.seconds + count + 1;
	for (size_t i = 0; i < count; ++i) {
		const struct estimate t = point[i].seconds;
		const double x = curve_arg(curve, &point[i], column);
		if (t.samples == 0 || !(x > 0 || strcmp(column, "distance") == 0) ||
		        (stride > 0 && curve_arg(curve, &point[i], "stride") != stride))
			continue;
		row[walk.n][0] = x;
		row[walk.n][1] = t.value;
		row[walk.n++][2] = (t.high - t.low) / (2 * 1.96 * t.value);
		walk.busy = walk.busy || point[i].busy;
	}
	qsort(row, walk.n, sizeof *row, by_place);
	for (size_t i = 0; i < walk.n; ++i) {
		walk.x[i] = row[i][0];
		walk.seconds[i] = row[i][1];
		walk.error[i] = row[i][2];
	}
	free(row);
	free(point);
	return walk;
}

static void walk_free(struct walk *walk)
{
	free(walk->x);
}

/* The series' levels; false when it has too few points. */
static bool read_levels(
        const struct table *curve, const char *series, const char *column, struct levels *levels)
{
	struct walk walk = read_walk(curve, series, column, 0);
	const bool fitted = levels_fit(walk.x, walk.seconds, walk.error, walk.n, levels);
	walk_free(&walk);
	return fitted;
}

static int by_seconds(const void *a, const void *b)
{
	const double x = ((const struct point *)a)->seconds.value;
	const double y = ((const struct point *)b)->seconds.value;
	return (x > y) - (x < y);
}

/* The middle one, by time, of the measured points with low <= bytes <= high. */
static struct estimate plateau(
        const struct table *curve, const char *series, double low, double high)
{
	struct point *point;
	struct estimate middle = unknown;
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

static bool has_series(const struct table *curve, const char *series)
{
	for (size_t row = 0; row < curve->row_count; ++row)
		if (strcmp(table_text(curve, row, "series"), series) == 0)
			return true;
	return false;
}

static double attribute(const struct table *curve, const char *key)
{
	const char *text = table_meta(curve, key);
	return text ? atof(text) : NAN;
}

/* ---- parameters ---- */

struct output {
	const struct table *curve;
	struct profile *profile;
	bool busy;
};

/* A value, or what bounds it when it has none. A kink that could not be placed has no bounds: where
 * conflicts smear it over octaves even those would be guesses; only "beyond the largest set" stays.
 */
static void add(const struct output *out, const struct parameter_spec *spec, const struct arg *args,
        size_t count, struct estimate estimate)
{
	if (estimate.samples > 0 && isfinite(estimate.value))
		profile_add(out->profile, spec, args, count, estimate, out->busy);
	else
		profile_add_bounded(out->profile, spec, args, count,
		        isnan(estimate.high) ? estimate.low : NAN, NAN, estimate.samples);
}

static void add_time(const struct output *out, const char *name, const char *method, double bound,
        struct estimate estimate)
{
	const struct parameter_spec spec = {
	        .name = name, .unit = "s", .method = method, .low = bound, .high = slowest};
	add(out, &spec, NULL, 0, estimate);
}

/* stated: what the device says of it, NaN when nothing. */
static void add_size(const struct output *out, const char *name, const char *unit,
        const char *method, double stated, struct estimate estimate)
{
	char text[200];
	snprintf(text, sizeof text, "%s", method);
	if (estimate.samples > 0 && fabs(estimate.value / stated - 1) > 0.15)
		snprintf(text, sizeof text, "%s; attribute says %.0f", method, stated);
	const struct parameter_spec spec = {
	        .name = name, .unit = unit, .method = text, .low = 1, .high = 1e13};
	add(out, &spec, NULL, 0, estimate);
}

/* With few ways and hashed sets a kink moves by several percent: simulated machines of 4 to 32 ways
 * under four replacement policies stay within this. */
static struct estimate size_of(const struct levels *levels, size_t level)
{
	static const double smear = 0.08;
	struct estimate size =
	        level < levels->count
	                ? levels->level[level].size
	                : (struct estimate){NAN, levels->level[levels->count].size.low, NAN,
	                          levels->level[levels->count].size.samples};
	if (level < levels->count) {
		size.low *= 1 - smear;
		size.high *= 1 + smear;
	}
	return size;
}

/* ---- caches ---- */

/* What the walks say of L1 and L2: which of their kinks ends which cache. */
struct caches {
	struct levels ca, cg, lines_ca, lines_cg;
	bool has_ca, has_cg, has_lines_ca, has_lines_cg;
	bool no_l1;    /* loads through L1 take as long as those past it */
	size_t l2_end; /* kink of cg where memory begins; == count: not seen */
	struct estimate l1_latency, l2_latency, dram;
};

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

static void read_caches(const struct table *curve, struct caches *caches)
{
	const double l2 = attribute(curve, "gpu_l2_bytes");
	caches->has_ca = read_levels(curve, "walk_ca", "bytes", &caches->ca);
	caches->has_cg = read_levels(curve, "walk_cg", "bytes", &caches->cg);
	caches->has_lines_ca = read_levels(curve, "entries_ca", "nodes", &caches->lines_ca);
	caches->has_lines_cg = read_levels(curve, "entries_cg", "nodes", &caches->lines_cg);
	caches->dram = plateau(curve, "cold", 0, INFINITY);
	caches->l2_latency = plateau(curve, "walk_cg", l2 / 8, l2 / 4);
	if (caches->l2_latency.samples == 0 && caches->has_cg)
		caches->l2_latency = caches->cg.level[0].latency;
	caches->l1_latency = caches->has_ca ? caches->ca.level[0].latency : unknown;
	const struct estimate quick = plateau(curve, "walk_ca", 0, 4096);
	const struct estimate slow = plateau(curve, "walk_cg", 0, INFINITY);
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
	return size_of(levels, 0);
}

static void fit_latencies(const struct output *out, const struct caches *caches)
{
	static const char *const cycle = "dependent loads around a random cycle";
	static const char *const walk = "dependent loads along a random walk";
	const struct table *curve = out->curve;
	if (has_series(curve, "shared"))
		add_time(out, "gpu.shared.latency", cycle, quickest,
		        plateau(curve, "shared", 0, INFINITY));
	if (caches->has_ca)
		add_time(out, "gpu.l1.latency",
		        caches->no_l1 ? "not resolved: loads through L1 take as long as past it"
		                      : walk,
		        quickest, caches->l1_latency);
	if (caches->has_cg)
		add_time(out, "gpu.l2.latency", walk,
		        caches->l1_latency.samples > 0 ? fmax(caches->l1_latency.low, quickest)
		                                       : quickest,
		        caches->l2_latency);
	if (has_series(curve, "cold"))
		add_time(out, "gpu.dram.latency", cycle,
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
	add_size(out, name, "B",
	        isnan(exact) || line.samples == 0
	                ? "size in bytes over size in lines"
	                : "size in bytes over size in lines, the one power of two in the interval",
	        NAN, line);
}

static void fit_sizes(const struct output *out, const struct caches *caches)
{
	static const char *const kink = "kink of random walks over ever larger sets";
	const struct levels *ca = &caches->ca, *cg = &caches->cg;
	const double stated = attribute(out->curve, "gpu_l2_bytes");
	const struct estimate l1 = l1_size(caches, ca);
	const struct estimate l2 = size_of(cg, caches->l2_end);
	if (caches->has_ca)
		add_size(out, "gpu.l1.size", "B", kink, NAN, l1);
	if (caches->has_cg)
		add_size(out, "gpu.l2.size", "B", kink, stated, l2);
	if (caches->has_cg && caches->l2_end > 0 && caches->l2_end < cg->count)
		add_size(out, "gpu.l2.near.size", "B", "first kink of random walks in L2", NAN,
		        size_of(cg, 0));
	if (caches->has_lines_ca)
		fit_line(out, "gpu.l1.line", l1, l1_size(caches, &caches->lines_ca));
	if (caches->has_lines_cg)
		fit_line(out, "gpu.l2.line", size_of(cg, 0), size_of(&caches->lines_cg, 0));
}

static void fit_constant(const struct output *out)
{
	static const char *const walk = "random walks in constant memory";
	struct levels levels;
	if (!read_levels(out->curve, "walk_constant", "bytes", &levels))
		return;
	add_time(out, "gpu.constant.latency", walk, quickest, levels.level[0].latency);
	add_size(out, "gpu.constant.size", "B", walk, NAN, size_of(&levels, 0));
	if (levels.count == 0)
		return;
	add_time(out, "gpu.constant.l15.latency", walk, quickest, levels.level[1].latency);
	add_size(out, "gpu.constant.l15.size", "B", walk, NAN, size_of(&levels, 1));
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
	struct walk walk = read_walk(out->curve, series, "offset", 0);
	if (walk.n > 0)
		add_size(out, name, "B", "smallest offset at which a second load misses, too", NAN,
		        known ? first_slow_offset(&walk) : unknown);
	walk_free(&walk);
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
	if (has_series(out->curve, series))
		add(out, &spec, NULL, 0,
		        isnan(latency.value) || isnan(lines.value)
		                ? unknown
		                : find_ways(out->curve, series, latency.value, lines.value));
}

/* ---- partitions ---- */

/* Lines are drawn anew by every process: each process has columns of its own. */
static void fit_partitions(const struct output *out)
{
	const struct table *curve = out->curve;
	size_t sms = 0, lines = 0, processes = 0;
	for (size_t row = 0; row < curve->row_count; ++row)
		if (strcmp(table_text(curve, row, "series"), "slice") == 0) {
			sms = (size_t)fmax((double)sms, table_real(curve, row, "sm") + 1);
			lines = (size_t)fmax((double)lines, table_real(curve, row, "line") + 1);
			processes = (size_t)fmax(
			        (double)processes, table_real(curve, row, "process") + 1);
		}
	const size_t items = lines * processes;
	if (sms == 0 || items == 0)
		return;
	double *seconds = xmalloc(sms * items * sizeof *seconds);
	int *group = xcalloc(sms, sizeof *group);
	for (size_t i = 0; i < sms * items; ++i)
		seconds[i] = NAN;
	for (size_t row = 0; row < curve->row_count; ++row)
		if (strcmp(table_text(curve, row, "series"), "slice") == 0) {
			const size_t sm = (size_t)table_real(curve, row, "sm");
			const size_t line = (size_t)table_real(curve, row, "line");
			const size_t process = (size_t)table_real(curve, row, "process");
			seconds[sm * items + process * lines + line] =
			        table_real(curve, row, "seconds");
		}
	const struct partition found = partition_find(seconds, sms, items, group);
	const struct parameter_spec spec = {.name = "gpu.l2.partitions",
	        .unit = "count",
	        .method = "SMs in groups by the latency of the same L2 lines",
	        .low = 1,
	        .high = 2};
	const double groups = found.groups;
	add(out, &spec, NULL, 0,
	        found.groups > 0 ? (struct estimate){groups, groups, groups, sms * items}
	                         : (struct estimate){NAN, 1, 2, sms * items});
	if (found.groups == 2) {
		add_time(out, "gpu.l2.near.latency", "lines of the SM's own partition", quickest,
		        found.near);
		add_time(out, "gpu.l2.far.latency", "lines of the other partition", found.near.low,
		        found.far);
		for (size_t sm = 0; sm < sms; ++sm) {
			const struct parameter_spec map = {.name = "gpu.l2.partition",
			        .unit = "count",
			        .method = "group of the SM by the latency of L2 lines",
			        .low = -0.5,
			        .high = 1.5};
			const struct arg args[] = {{"sm", (double)sm}};
			const double side = group[sm];
			profile_add(out->profile, &map, args, 1,
			        (struct estimate){side, side, side, items}, out->busy);
		}
	}
	free(group);
	free(seconds);
}

/* ---- TLBs ---- */

/* Seconds of the walk at x, interpolated; the end value beyond. */
static double walk_seconds(const struct walk *walk, double x)
{
	size_t i = 0;
	if (x <= walk->x[0] || walk->n == 1)
		return walk->seconds[0];
	while (i + 2 < walk->n && walk->x[i + 1] < x)
		++i;
	if (x >= walk->x[i + 1])
		return walk->seconds[i + 1];
	const double part = log(x / walk->x[i]) / log(walk->x[i + 1] / walk->x[i]);
	return (1 - part) * walk->seconds[i] + part * walk->seconds[i + 1];
}

/* What the same number of nodes takes on adjacent lines is taken away, but for its least. */
static void isolate(struct walk *pages, const struct walk *packed)
{
	for (size_t i = 0; i < pages->n && packed->n > 0; ++i) {
		const double more = walk_seconds(packed, pages->x[i]) - packed->seconds[0];
		pages->error[i] *= pages->seconds[i] / (pages->seconds[i] - more) * 1.4;
		pages->seconds[i] -= more;
	}
}

static size_t strides_of(const struct table *curve, const char *series, double *stride)
{
	struct point *point;
	const size_t count = curve_points(curve, series, &point);
	size_t n = 0;
	for (size_t i = 0; i < count; ++i) {
		const double value = curve_arg(curve, &point[i], "stride");
		size_t k = 0;
		while (k < n && stride[k] != value)
			++k;
		if (k == n && n < STRIDES && value > 0)
			stride[n++] = value;
	}
	free(point);
	qsort(stride, n, sizeof *stride, by_place);
	return n;
}

static void add_tlb(const struct output *out, const char *name, const char *unit,
        const char *method, size_t level, struct estimate estimate)
{
	const struct arg args[] = {{"level", (double)level}};
	const struct parameter_spec spec = {
	        .name = name, .unit = unit, .method = method, .low = 1e-12, .high = 1e14};
	add(out, &spec, args, 1, estimate);
}

static size_t fit_tlb(const struct output *out, struct tlb_level *level)
{
	double stride[STRIDES];
	struct tlb_walk walk[STRIDES];
	const size_t strides = strides_of(out->curve, "pages", stride);
	struct walk packed = read_walk(out->curve, "packed", "nodes", 0);
	size_t n = 0;
	double largest = 0;
	for (size_t i = 0; i < strides; ++i) {
		struct walk pages = read_walk(out->curve, "pages", "nodes", stride[i]);
		isolate(&pages, &packed);
		walk[n].stride = stride[i];
		walk[n].largest = pages.n > 0 ? pages.x[pages.n - 1] * stride[i] : 0;
		largest = fmax(largest, walk[n].largest);
		n += levels_fit(pages.x, pages.seconds, pages.error, pages.n, &walk[n].levels);
		walk_free(&pages);
	}
	walk_free(&packed);
	if (n == 0)
		return 0;
	const size_t count = tlb_find(walk, n, level);
	for (size_t k = 0; k < count; ++k) {
		add_tlb(out, "gpu.tlb.reach", "B", "kink of walks over pages, less packed ones",
		        k + 1, level[k].reach);
		add_tlb(out, "gpu.tlb.entries", "count", "nodes at the kink, strides of a page on",
		        k + 1, level[k].entries);
		add_tlb(out, "gpu.tlb.page", "B",
		        "reach over entries, a power of two if only one fits", k + 1,
		        level[k].page);
		add_tlb(out, "gpu.tlb.penalty", "s", "step of walks over pages, less packed ones",
		        k + 1, level[k].penalty);
	}
	add_tlb(out, "gpu.tlb.reach", "B", "no further kink up to the largest set", count + 1,
	        (struct estimate){NAN, walk[0].largest, NAN, walk[0].levels.level[0].size.samples});
	return count;
}

/* ---- sharing ---- */

static struct estimate sharers(const struct output *out, const char *all_series, const char *series,
        const char *column, double stride)
{
	const struct table *curve = out->curve;
	const double sms = attribute(curve, "gpu_sms");
	struct walk all = read_walk(curve, all_series, "bytes", 0);
	struct walk alone = read_walk(curve, series, column, stride);
	for (size_t i = 0; i < alone.n && stride > 0; ++i)
		alone.x[i] *= stride;
	const struct sharing_curve one = {alone.x, alone.seconds, alone.n};
	const struct sharing_curve each = {all.x, all.seconds, all.n};
	struct estimate found = sharing_fit(one, each, sms > 0 ? sms : 1024);
	/* a count: the one whole number in the interval */
	const double whole = ceil(found.low);
	if (found.samples > 0 && whole <= found.high && whole + 1 > found.high)
		found = (struct estimate){whole, whole, whole, found.samples};
	walk_free(&all);
	walk_free(&alone);
	return found;
}

static void fit_sharing(const struct output *out, const struct caches *caches, size_t tlbs)
{
	struct parameter_spec spec = {.unit = "count",
	        .method = "all SMs chasing private sets, against one alone",
	        .low = 0.5,
	        .high = 1e5};
	if (has_series(out->curve, "all_ca")) {
		spec.name = "gpu.l1.shared_by";
		add(out, &spec, NULL, 0,
		        caches->no_l1 ? unknown : sharers(out, "all_ca", "walk_ca", "bytes", 0));
	}
	if (has_series(out->curve, "all_cg")) {
		spec.name = "gpu.l2.shared_by";
		add(out, &spec, NULL, 0, sharers(out, "all_cg", "walk_cg", "bytes", 0));
	}
	double stride[STRIDES];
	const size_t strides = strides_of(out->curve, "pages", stride);
	if (!has_series(out->curve, "all_pages") || strides == 0 || tlbs == 0)
		return;
	/* one curve for all levels: it tells of one only */
	const struct estimate found =
	        tlbs == 1 ? sharers(out, "all_pages", "pages", "nodes", stride[0]) : unknown;
	spec.name = "gpu.tlb.shared_by";
	for (size_t k = 0; k < tlbs; ++k) {
		const struct arg args[] = {{"level", (double)(k + 1)}};
		add(out, &spec, args, 1, found);
	}
}

/* ---- the curve itself, the clock and the device ---- */

static void fit_cluster(const struct output *out)
{
	struct walk walk = read_walk(out->curve, "cluster", "distance", 0);
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
	walk_free(&walk);
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
	struct walk cold = read_walk(out->curve, "cold", "bytes", 0);
	add_curve(out, "walk_ca", 0, through_l1 + 1);
	add_curve(out, "walk_cg", through_l1, cold.n > 0 ? cold.x[0] : INFINITY);
	add_curve(out, "cold", through_l1, INFINITY);
	walk_free(&cold);
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
		const double value = attribute(out->curve, facts[i].key);
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
	read_caches(curve, &caches);
	fit_latencies(&out, &caches);
	fit_sizes(&out, &caches);
	fit_constant(&out);
	fit_sector(&out, "fetch_l1", "gpu.l1.sector", !caches.no_l1);
	fit_sector(&out, "fetch_l2", "gpu.l2.sector", true);
	fit_ways(&out, "cycle_ca", "gpu.l1.ways", caches.l1_latency,
	        l1_size(&caches, &caches.lines_ca));
	fit_ways(&out, "cycle_cg", "gpu.l2.ways", caches.l2_latency, size_of(&caches.lines_cg, 0));
	fit_partitions(&out);
	const size_t tlbs = fit_tlb(&out, tlb);
	fit_sharing(&out, &caches, tlbs);
	fit_cluster(&out);
	fit_curve(&out);
	fit_clock(&out);
	fit_device(&out);
}
