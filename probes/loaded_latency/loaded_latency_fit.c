/* SPDX-License-Identifier: MIT */
/* Curve of the loaded_latency probe -> gpu.loaded.{dram,l2}.latency[load] (s, against the share of
 * the most that was offered), gpu.loaded.l2.{read,write} (B/s), gpu.engine.read[engine] (B/s, the
 * best of the sweep: 1 plain loads, 2 asynchronous copies, 3 bulk copies),
 * gpu.saturation.dram.bytes_per_sm[engine], gpu.saturation.dram.sms and .warps
 * (the number that reaches 90 % of the best) and gpu.sm.read (B/s of one SM alone), of plain loads
 * and, with .async and .bulk behind, of both kinds of copies, gpu.sm.l2_read. */
#include "loaded_latency.h"

#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEVELS = 64 };

static const double saturated = 0.9, highest_rate = 1e14;

/* Measured places on a curve, ascending in x. */
struct place {
	double x;
	struct estimate y;
	bool busy;
};

static int by_x(const void *a, const void *b)
{
	const struct place *p = a, *q = b;
	return (p->x > q->x) - (p->x < q->x);
}

/* Rates of a series against one of its arguments, of one engine (0: all). */
static size_t rates(const struct table *curve, const char *series, const char *column, int engine,
        struct place *place)
{
	struct point *points;
	const size_t count = curve_points(curve, series, &points);
	size_t kept = 0;
	for (size_t i = 0; i < count && kept < LEVELS; i++)
		if (points[i].seconds.samples > 0 &&
		        (engine == 0 || curve_arg(curve, &points[i], "engine") == engine))
			place[kept++] = (struct place){curve_arg(curve, &points[i], column),
			        estimate_inverse(1, points[i].seconds), points[i].busy};
	free(points);
	qsort(place, kept, sizeof *place, by_x);
	return kept;
}

static const struct place *best_of(const struct place *place, size_t count)
{
	const struct place *best = place;
	for (size_t i = 1; i < count; i++)
		if (place[i].y.value > best->y.value)
			best = &place[i];
	return best;
}

/* The x where the rate first reaches `wanted`, linear between places; NaN when it never does, the
 * first place when that has it. */
static double crossing(const struct place *place, size_t count, double wanted)
{
	for (size_t i = 0; i < count; i++) {
		if (place[i].y.value < wanted)
			continue;
		if (i == 0)
			return place[0].x;
		const double part =
		        (wanted - place[i - 1].y.value) / (place[i].y.value - place[i - 1].y.value);
		return place[i - 1].x + part * (place[i].x - place[i - 1].x);
	}
	return NAN;
}

/* The place from which 90 % of the best rate is reached; its interval follows from the rates'
 * intervals. When the first place has the rate, it is only a bound. */
static void add_saturation(struct profile *profile, const struct parameter_spec *spec,
        const struct arg *arg, const struct place *place, size_t count)
{
	const struct place *best = count > 0 ? best_of(place, count) : NULL;
	if (!best)
		return;
	const double wanted = saturated * best->y.value,
	             slack = (best->y.high - best->y.low) / best->y.value + 0.005;
	const double value = crossing(place, count, wanted),
	             low = crossing(place, count, wanted * (1 - slack)),
	             high = crossing(place, count, fmin(wanted * (1 + slack), best->y.value));
	if (value <= place[0].x)
		profile_add_bounded(profile, spec, arg, arg ? 1 : 0, NAN, value, best->y.samples);
	else
		profile_add(profile, spec, arg, arg ? 1 : 0,
		        (struct estimate){value, low, high, best->y.samples}, best->busy);
}

static void fit_engines(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec read = {"gpu.engine.read", "B/s",
	        "streams out of DRAM on all SMs, the best of the sweep", NULL, 1e9, highest_rate};
	const struct parameter_spec each = {"gpu.saturation.dram.bytes_per_sm", "B",
	        "bytes under way on an SM that reach 90 % of the engine's best rate", NULL, 64,
	        1e7};
	for (int engine = ENGINE_PLAIN; engine <= ENGINE_BULK; engine++) {
		const struct arg arg = {"engine", engine};
		struct place place[LEVELS];
		const size_t count = rates(curve, "inflight", "inflight", engine, place);
		if (count == 0)
			continue;
		const struct place *best = best_of(place, count);
		profile_add(profile, &read, &arg, 1, best->y, best->busy);
		add_saturation(profile, &each, &arg, place, count);
	}
}

/* The rate of one SM, and the numbers of SMs and of warps per SM that saturate, by one engine. */
static void fit_counts(
        const struct table *curve, struct profile *profile, int engine, const char *suffix)
{
	char name[3][64];
	snprintf(name[0], sizeof name[0], "gpu.sm.read%s", suffix);
	snprintf(name[1], sizeof name[1], "gpu.saturation.dram.sms%s", suffix);
	snprintf(name[2], sizeof name[2], "gpu.saturation.dram.warps%s", suffix);
	const struct parameter_spec one = {
	        name[0], "B/s", "one SM alone out of DRAM", NULL, 1e8, 1e13};
	const struct parameter_spec sms = {name[1], "count",
	        "SMs that reach 90 % of the best rate, the others idle", NULL, 1, 1e4};
	const struct parameter_spec warps = {name[2], "count",
	        "warps an SM that reach 90 % of the best rate, 64 bytes a thread under way", NULL,
	        1, 64};
	struct place place[2 * LEVELS];
	size_t count = rates(curve, "sms", "sms", engine, place);
	if (count > 0) {
		if (place[0].x == 1)
			profile_add(profile, &one, NULL, 0, place[0].y, place[0].busy);
		count += rates(curve, "sms_upper", "sms", engine, place + count);
		qsort(place, count, sizeof *place, by_x);
		add_saturation(profile, &sms, NULL, place, count);
	}
	count = rates(curve, "warps", "warps", engine, place);
	add_saturation(profile, &warps, NULL, place, count);
}

static void fit_l2(const struct table *curve, struct profile *profile)
{
	static const char *const series[][3] = {
	        {"l2_read", "gpu.loaded.l2.read", "all SMs out of L2, past L1"},
	        {"l2_write", "gpu.loaded.l2.write", "all SMs into L2"},
	        {"l2_read_one", "gpu.sm.l2_read", "one SM alone out of L2"}};
	for (size_t s = 0; s < ARRAY_LEN(series); s++) {
		const struct parameter_spec spec = {
		        series[s][1], "B/s", series[s][2], NULL, 1e9, highest_rate};
		struct place place[LEVELS];
		if (rates(curve, series[s][0], "sms", 0, place) > 0)
			profile_add(profile, &spec, NULL, 0, place[0].y, place[0].busy);
	}
}

/* Latency against offered rate, of every level; only level 0 offers nothing. Returns the number of
 * places. */
static size_t read_loaded(const struct table *curve, const char *where, struct place *place)
{
	char latency[32], offered[32];
	struct point *points;
	size_t count = 0;
	snprintf(latency, sizeof latency, "latency_%s", where);
	snprintf(offered, sizeof offered, "offered_%s", where);
	const size_t levels = curve_points(curve, latency, &points);
	for (size_t i = 0; i < levels && count < LEVELS; i++) {
		const struct arg level = {"level", curve_arg(curve, &points[i], "level")};
		const struct estimate beside = curve_at(curve, offered, &level, 1).seconds;
		if (points[i].seconds.samples > 0 && (beside.samples > 0 || level.value == 0))
			place[count++] = (struct place){beside.samples > 0 ? 1 / beside.value : 0,
			        points[i].seconds, points[i].busy};
	}
	free(points);
	qsort(place, count, sizeof *place, by_x);
	return count;
}

/* Latency against the share of the highest offered rate, at tenths, only between measured levels.
 */
static void fit_loaded(const struct table *curve, struct profile *profile, const char *where)
{
	char name[64];
	snprintf(name, sizeof name, "gpu.loaded.%s.latency", where);
	const struct parameter_spec spec = {name, "s",
	        "dependent loads beside streams, against the share of the most they move", NULL,
	        1e-8, 1e-3};
	struct place place[LEVELS];
	const size_t count = read_loaded(curve, where, place);
	const double most = count > 0 ? place[count - 1].x : 0;
	for (int tenth = 0; tenth <= 9 && most > 0; tenth++) {
		const double wanted = tenth * most / 10;
		const struct arg load = {"load", tenth / 10.0};
		size_t i = 0;
		while (i < count && place[i].x < wanted)
			i++;
		if (i == count || (i == 0 && place[0].x > wanted))
			continue;
		const struct place a = place[i > 0 ? i - 1 : 0], b = place[i];
		const double part = b.x > a.x ? (wanted - a.x) / (b.x - a.x) : 1;
		const struct estimate at = {a.y.value + part * (b.y.value - a.y.value),
		        a.y.low + part * (b.y.low - a.y.low),
		        a.y.high + part * (b.y.high - a.y.high),
		        a.y.samples < b.y.samples ? a.y.samples : b.y.samples};
		profile_add(profile, &spec, &load, 1, at, a.busy || b.busy);
	}
}

void loaded_latency_fit(const struct table *curve, struct profile *profile)
{
	fit_engines(curve, profile);
	fit_counts(curve, profile, ENGINE_PLAIN, "");
	fit_counts(curve, profile, ENGINE_ASYNC, ".async");
	fit_counts(curve, profile, ENGINE_BULK, ".bulk");
	fit_l2(curve, profile);
	fit_loaded(curve, profile, "dram");
	fit_loaded(curve, profile, "l2");
}
