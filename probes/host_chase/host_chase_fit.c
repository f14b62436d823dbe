/* SPDX-License-Identifier: MIT */
/* Curve of the host_chase probe -> host.l<i>.size, host.l<i>.latency (i-th cache),
 * host.dram.latency[node], host.tlb.{entries,reach,penalty}[level,page], host.line.size; beside
 * them the sizes that hwloc states: host.l<i>.stated, host.line.stated. */
#include "host_chase_fit_internal.h"

#include "lib/base/msg.h"
#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- series as input of the fit of levels ---- */

/* relative error of the misses, from one line a page to all lines */
static const double misses_known = 0.05;

/* A series less the seconds of `packed` at as many nodes, plus the smallest of these. */
static struct curve_series less_packed(const struct table *curve, const char *series)
{
	struct curve_series all = curve_series_read(curve, series, "nodes", 0);
	double base = INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < all.n; i++) {
		const struct arg at[] = {{"nodes", all.x[i]}};
		const struct estimate own = curve_at(curve, series, at, 1).seconds,
		                      other = curve_at(curve, "packed", at, 1).seconds;
		if (other.samples == 0)
			continue;
		all.x[n] = all.x[i];
		all.seconds[n] = own.value - other.value;
		all.error[n++] = hypot(curve_series_error(own), curve_series_error(other));
		base = fmin(base, other.value);
	}
	all.n = n;
	for (size_t i = 0; i < n; i++) {
		all.seconds[i] += base;
		all.error[i] /= all.seconds[i];
	}
	return all;
}

/* TLB misses in a chain over `bytes` bytes of small pages, seconds a load. Beyond the measured
 * pages they follow the last TLB's law. */
static double missing(const struct curve_series *pages, const struct tlbs *small, double bytes)
{
	const struct levels *tlbs = &small->levels;
	const double followed = curve_series_end(pages), n = bytes / small->page;
	double seconds = curve_series_at(pages, n) - curve_series_at(pages, 0);

	if (n > followed && tlbs->count > 0 && tlbs->level[tlbs->count - 1].resolved &&
	        tlbs->level[tlbs->count - 1].step_resolved) {
		const struct level *last = &tlbs->level[tlbs->count - 1];
		seconds += last->step.value * last->size.value * (1 / followed - 1 / n);
	}
	return fmax(0, seconds);
}

/* Whether huge pages are walked like small ones, as under a hypervisor with small pages. */
static bool huge_as_small(const struct curve_series *huge, const struct curve_series *small,
        const struct curve_series *pages, const struct tlbs *tlbs)
{
	static const double counts = 0.1; /* misses above this share of a load count */
	double more = 0, expected = 0;

	for (size_t i = 0; small->n > 0 && i < huge->n; i++) {
		const double misses = missing(pages, tlbs, huge->x[i]);
		if (huge->x[i] > curve_series_end(small) || misses < counts * huge->seconds[i])
			continue;
		more += huge->seconds[i] - (curve_series_at(small, huge->x[i]) - misses);
		expected += misses;
	}
	return more > expected / 2;
}

/* TLB misses in the chains over nodes' memory, all of one size. */
static double node_misses(
        const struct table *curve, const struct curve_series *pages, const struct tlbs *tlbs)
{
	struct point *point;
	const size_t count = curve_points(curve, "chain_node", &point);
	const double misses =
	        count ? missing(pages, tlbs, curve_arg(curve, &point[0], "bytes")) : 0;

	free(point);
	return misses;
}

static struct chain host_chase_chain(const struct table *curve, const struct tlbs *tlbs)
{
	struct curve_series huge = curve_series_read(curve, "chain_huge", "bytes", 0),
	                    small = curve_series_read(curve, "chain_small", "bytes", 0),
	                    pages = less_packed(curve, "pages_small");
	struct chain chain = {.points = huge.n ? huge : small};
	const bool known = tlbs->page > 0 && pages.n > 0;

	chain.huge_pages = huge.n && !(known && huge_as_small(&huge, &small, &pages, tlbs));
	if (known && !chain.huge_pages)
		chain.node_misses = node_misses(curve, &pages, tlbs);
	for (size_t i = 0; known && !chain.huge_pages && i < chain.points.n; i++) {
		double *seconds = &chain.points.seconds[i], *error = &chain.points.error[i];
		const double misses = missing(&pages, tlbs, chain.points.x[i]);
		const double left = *seconds - misses;
		*error = hypot(*error * *seconds, misses_known * misses) / left;
		*seconds = left;
	}
	curve_series_free(&pages);
	curve_series_free(huge.n ? &small : &huge);
	return chain;
}

/* No load returns within two cycles of 6 GHz; none takes 10 us on a machine that works. */
static const double quickest = 0.3e-9, slowest = 10e-6;
static const double other_line =
        1.15; /* time of a pair of loads on two lines over that on one line */

enum { TLBS = 2, PAGES = 2 /* small and huge */ };

/* Cycles of a load at the core's clock. More cycles pass outside the core, in page chains or shared
 * caches. */
static const double core_cycles = 20;

/* The curve at the median clock: the core's part of each row is stretched. */
static struct table *at_one_clock(const struct table *curve)
{
	static const char *const column[] = {"seconds", "low_seconds", "high_seconds"};
	struct table *steady = table_new((const char *const *)curve->column, curve->column_count);
	double *hz = xmalloc((curve->row_count + 1) * sizeof *hz);
	size_t n = 0;

	table_meta_add(steady, curve);
	for (size_t row = 0; row < curve->row_count; row++) {
		hz[n] = table_real(curve, row, "sm_hz");
		n += isfinite(hz[n]) && hz[n] > 0;
	}
	const double typical = stats_median(hz, n);
	for (size_t row = 0; row < curve->row_count; row++) {
		const double now = table_real(curve, row, "sm_hz");
		const double seconds = table_real(curve, row, "seconds");
		const bool chain = strncmp(table_text(curve, row, "series"), "chain", 4) == 0;
		const double core = chain ? fmin(seconds, core_cycles / now) : seconds;
		const double factor = 1 + core / seconds * (now / typical - 1);
		table_add_row(steady);
		for (size_t c = 0; c < curve->column_count; c++)
			table_set_text(steady, row, curve->column[c],
			        table_text(curve, row, curve->column[c]));
		for (size_t c = 0; c < ARRAY_LEN(column) && now > 0 && isfinite(factor); c++)
			table_set_real(
			        steady, row, column[c], factor * table_real(curve, row, column[c]));
	}
	free(hz);
	return steady;
}

void host_chase_add(struct profile *profile, const struct parameter_spec *spec,
        const struct arg *args, size_t count, const struct estimate *estimate, bool resolved)
{
	if (resolved)
		profile_add(profile, spec, args, count, *estimate, false);
	else
		profile_add_bounded(profile, spec, args, count, estimate->low, estimate->high,
		        estimate->samples);
}

struct parameter_spec host_chase_seconds(const char *name, const char *method)
{
	return (struct parameter_spec){name, "s", method, NULL, quickest, slowest};
}

struct parameter_spec host_chase_bytes(const char *name, const char *method)
{
	return (struct parameter_spec){name, "B", method, NULL, 8, 1e14};
}

/* Fits the levels of a pages series. Returns the page size, 0 when it was not measured. */
static double fit_pages(const struct table *curve, const char *series, struct levels *levels)
{
	struct point *point;
	const size_t count = curve_points(curve, series, &point);
	const double page = count ? curve_arg(curve, &point[0], "stride") : 0;
	struct curve_series points = less_packed(curve, series);
	const bool fitted = curve_series_levels(&points, levels);

	if (fitted && levels->count == 0)
		levels->level[0].size = estimate_between(curve_series_end(&points), NAN, points.n);
	curve_series_free(&points);
	free(point);
	return fitted ? page : 0;
}

static void add_tlbs(struct profile *profile, const struct levels *levels, double page)
{
	static const char method[] = "random chain over one line a page less as many in few pages";
	const struct parameter_spec entries = {"host.tlb.entries", "count", method, NULL, 2, 1e7};
	const struct parameter_spec reach = host_chase_bytes("host.tlb.reach", method);
	const struct parameter_spec penalty = {
	        "host.tlb.penalty", "s", method, NULL, 0.05e-9, slowest};

	bool doubtful = false;

	for (size_t i = 0; i <= levels->count && i < TLBS; i++) {
		struct level level = levels->level[i];
		const struct arg args[] = {{"level", (double)(i + 1)}, {"page", page}};
		/* a level without size and step may be no level; then the next one may be this one
		 */
		doubtful =
		        doubtful || (i < levels->count && !level.resolved && !level.step_resolved);
		if (doubtful)
			level = (struct level){
			        .size = estimate_between(NAN, NAN, level.size.samples),
			        .step = estimate_between(NAN, NAN, level.step.samples)};
		const struct estimate bytes = estimate_times(level.size, page);
		host_chase_add(profile, &entries, args, 2, &level.size, level.resolved);
		host_chase_add(profile, &reach, args, 2, &bytes, level.resolved);
		if (i < levels->count)
			host_chase_add(
			        profile, &penalty, args, 2, &level.step, level.step_resolved);
	}
}

/* Latency of another node's memory, when the caches hold the same share of the set as of the first
 * node's: hits = (dram - chain) / (dram - cache). The chain's own seconds are the least where that
 * share is unknown. */
static struct estimate far_latency(
        const struct levels *levels, struct estimate near_chain, struct estimate chain)
{
	const struct level *memory = &levels->level[levels->count];
	const double cache = levels->level[levels->count - 1].latency.value;
	const double share =
	        (memory->latency.value - near_chain.value) / (memory->latency.value - cache);
	const double hits = fmin(fmax(share, 0), 0.9);

	if (isnan(share))
		return estimate_between(chain.low, NAN, chain.samples);
	return (struct estimate){(chain.value - hits * cache) / (1 - hits),
	        (chain.low - hits * cache) / (1 - hits), (chain.high - hits * cache) / (1 - hits),
	        chain.samples};
}

static struct estimate less(struct estimate estimate, double seconds)
{
	return (struct estimate){estimate.value - seconds, estimate.low - seconds,
	        estimate.high - seconds, estimate.samples};
}

static void add_memory(const struct table *curve, struct profile *profile,
        const struct levels *levels, double misses)
{
	const struct parameter_spec spec = host_chase_seconds(
	        "host.dram.latency", "last plateau of the random chain, thread on the first node");
	const struct level *memory = &levels->level[levels->count];
	const struct arg node[] = {{"node", 0}};
	const struct point near_chain = curve_at(curve, "chain_node", node, 1);
	struct point *point;
	const size_t count = curve_points(curve, "chain_node", &point);
	const bool reached = host_chase_reaches_memory(curve, levels);

	if (levels->count == 0)
		profile_add_bounded(profile, &spec, node, 1, NAN, NAN, 0);
	else if (!reached)
		profile_add_bounded(
		        profile, &spec, node, 1, memory->latency.low, NAN, memory->latency.samples);
	else
		host_chase_add(profile, &spec, node, 1, &memory->latency, memory->latency_resolved);
	for (size_t i = 0; i < count; i++) {
		const struct arg other[] = {{"node", curve_arg(curve, &point[i], "node")}};
		if (!(other[0].value > 0) || !reached || !memory->latency_resolved)
			continue;
		const struct estimate far = far_latency(
		        levels, less(near_chain.seconds, misses), less(point[i].seconds, misses));
		if (far.samples > 0 && isnan(far.value))
			profile_add_bounded(
			        profile, &spec, other, 1, far.low, far.high, far.samples);
		else
			profile_add(profile, &spec, other, 1, far, point[i].busy);
	}
	free(point);
}

static void fit_chains(const struct table *curve, struct profile *profile)
{
	struct tlbs tlbs[PAGES];
	struct levels levels;

	tlbs[0].page = fit_pages(curve, "pages_small", &tlbs[0].levels);
	tlbs[1].page = fit_pages(curve, "pages_huge", &tlbs[1].levels);
	struct chain chain = host_chase_chain(curve, &tlbs[0]);
	const struct curve_series *points = &chain.points;
	if (curve_series_levels(points, &levels)) {
		const bool shown = chain.huge_pages && tlbs[1].page > 0;
		host_chase_add_caches(curve, profile, &levels, shown ? &tlbs[1] : NULL);
		add_memory(curve, profile, &levels, chain.node_misses);
	}
	for (int i = 0; i < PAGES; i++)
		if (tlbs[i].page > 0)
			add_tlbs(profile, &tlbs[i].levels, tlbs[i].page);
	curve_series_free(&chain.points);
}

static void fit_line_size(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec spec = host_chase_bytes(
	        "host.line.size", "pairs of loads beyond the first cache, by distance");
	struct curve_series points = curve_series_read(curve, "line", "stride", 0);
	double line = INFINITY, same = NAN;

	for (size_t i = 0; i < points.n; i++)
		if (points.x[i] == 0)
			same = points.seconds[i];
	for (size_t i = 0; i < points.n; i++)
		if (points.seconds[i] > other_line * same)
			line = fmin(line, points.x[i]);
	const struct estimate estimate = estimate_exact(line, points.n);
	if (points.n > 0 && isfinite(line))
		profile_add(profile, &spec, NULL, 0, estimate, false);
	else if (points.n > 0)
		profile_add_bounded(profile, &spec, NULL, 0,
		        isnan(same) ? NAN : curve_series_end(&points), NAN, points.n);
	curve_series_free(&points);
}

static void fit_stated(const struct table *curve, struct profile *profile)
{
	static const struct {
		const char *key, *name, *method;
	} stated[] = {{"stated_l1", "host.l1.stated", "hwloc"},
	        {"stated_l2", "host.l2.stated", "hwloc"}, {"stated_l3", "host.l3.stated", "hwloc"},
	        {"stated_l4", "host.l4.stated", "hwloc"},
	        {"stated_line", "host.line.stated", "sysconf"}};

	for (size_t i = 0; i < ARRAY_LEN(stated); i++) {
		const struct parameter_spec spec =
		        host_chase_bytes(stated[i].name, stated[i].method);
		const double bytes = curve_fact(curve, stated[i].key);
		if (!isnan(bytes))
			profile_add(profile, &spec, NULL, 0, estimate_exact(bytes, 1), false);
	}
}

void host_chase_fit(const struct table *curve, struct profile *profile)
{
	struct table *steady = at_one_clock(curve);

	fit_chains(steady, profile);
	fit_line_size(steady, profile);
	table_free(steady);
	fit_stated(curve, profile);
}
