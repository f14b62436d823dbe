/* SPDX-License-Identifier: MIT */
/* Curve of the host_exchange probe -> host.exchange.latency (median of the pairs), .min, .max, and
 * the medians of pairs by what they share: .cache[level], .node, .remote. Virtual processors move
 * between cores, so processes may disagree on the order of the pairs. Extremes then become ranges,
 * only medians are values. */
#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"
#include "lib/base/msg.h"

#include <stdlib.h>

/* A write takes at least two cycles of 5 GHz; above the upper bound the threads were not running.
 */
static const double quickest = 0.4e-9, slowest = 100e-6;
static const double unsteady = 0.2; /* half of the interval over the value */
static const double agreed = 0.5;   /* rank correlation from which two processes agree */
enum { ANY = INT8_MIN, PROCESSES_MAX = 64 };

static struct parameter_spec spec_of(const char *name)
{
	return (struct parameter_spec){.name = name,
	        .unit = "s",
	        .method = "two bound threads write to a cache line in turns, one way",
	        .low = quickest,
	        .high = slowest};
}

static bool is_measured(const struct table *curve, size_t row)
{
	return curve_row(curve, row).seconds.samples > 0;
}

/* Times of the pairs with this `shared`, in one process. Returns their number. */
static size_t pairs_of(const struct table *curve, int process, int shared, double *value)
{
	size_t n = 0;

	for (size_t row = 0; row < curve->row_count; row++)
		if (table_real(curve, row, "process") == process && is_measured(curve, row) &&
		        (shared == ANY || table_real(curve, row, "shared") == shared))
			value[n++] = table_real(curve, row, "seconds");
	return n;
}

/* A quantile of the pairs with this `shared`, over the processes; its error is that between
 * processes. each[]: the processes' quantiles; samples are pairs. */
static struct estimate quantile_of(
        const struct table *curve, int shared, double q, struct estimate each[PROCESSES_MAX])
{
	double *value = xmalloc((curve->row_count + 1) * sizeof *value);
	size_t n = 0;

	for (int process = 0; process < PROCESSES_MAX; process++) {
		const size_t pairs = pairs_of(curve, process, shared, value);
		const double at = stats_quantile(value, pairs, q);
		if (pairs > 0)
			each[n++] = estimate_exact(at, pairs);
	}
	free(value);
	return n > 0 ? stats_combine(each, n) : estimate_none;
}

/* Adds no row when no pair has this `shared`. */
static void add_group(
        const struct table *curve, struct profile *profile, const char *name, int shared)
{
	const struct parameter_spec spec = spec_of(name);
	const struct arg level[] = {{"level", shared}};
	struct estimate each[PROCESSES_MAX];
	const struct estimate middle = quantile_of(curve, shared, 0.5, each);

	if (middle.samples > 0)
		profile_add(profile, &spec, level, shared > 0, middle, false);
}

static bool steady(const struct estimate *way)
{
	return estimate_half_width(*way) < unsteady * way->value;
}

/* How far the processes agree on the order of the pairs that all of them measured. */
static double agreement(const struct table *curve, const struct point *pair, size_t count)
{
	double *value = xmalloc((PROCESSES_MAX * count + 1) * sizeof *value);
	size_t n = 0, processes = 0;

	for (size_t i = 0; i < count; i++)
		processes = pair[i].processes > processes ? pair[i].processes : processes;
	processes = processes < PROCESSES_MAX ? processes : PROCESSES_MAX;
	for (size_t i = 0; i < count; i++)
		n += pair[i].processes == processes;
	for (size_t i = 0, at = 0; i < count; i++) {
		size_t process = 0;
		if (pair[i].processes != processes)
			continue;
		for (size_t row = pair[i].row; row < curve->row_count && process < processes; row++)
			if (curve_same_point(curve, row, pair[i].row) && is_measured(curve, row))
				value[process++ * n + at] = table_real(curve, row, "seconds");
		at++;
	}
	const double correlation = stats_agreement(value, n, processes);
	free(value);
	return correlation;
}

/* The quickest or slowest pair of each process; not always the same pair. */
static void add_extreme(const struct table *curve, struct profile *profile, const char *name,
        double q, bool told_apart)
{
	const struct parameter_spec spec = spec_of(name);
	struct estimate each[PROCESSES_MAX] = {{.samples = 0}};
	const struct estimate way = quantile_of(curve, ANY, q, each);
	double least = INFINITY, most = 0;

	if (way.samples == 0)
		return;
	if (told_apart && steady(&way)) {
		profile_add(profile, &spec, NULL, 0, way, false);
		return;
	}
	for (int i = 0; i < PROCESSES_MAX && each[i].samples > 0; i++) {
		least = fmin(least, each[i].value);
		most = fmax(most, each[i].value);
	}
	profile_add_bounded(profile, &spec, NULL, 0, least, most, way.samples);
}

void host_exchange_fit(const struct table *curve, struct profile *profile)
{
	struct point *point;
	const size_t count = curve_points(curve, "pair", &point);
	const bool told_apart = agreement(curve, point, count) >= agreed;

	add_extreme(curve, profile, "host.exchange.min", 0, told_apart);
	add_extreme(curve, profile, "host.exchange.max", 1, told_apart);
	add_group(curve, profile, "host.exchange.latency", ANY);
	for (int level = 1; level <= 4; level++)
		add_group(curve, profile, "host.exchange.cache", level);
	add_group(curve, profile, "host.exchange.node", 0);
	add_group(curve, profile, "host.exchange.remote", -1);
	free(point);
}
