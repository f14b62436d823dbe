/* SPDX-License-Identifier: MIT */
/* Curve of the host_exchange probe -> host.exchange.pair[from,to], .latency (median of the pairs),
 * .min, .max, and the medians of pairs that share alike: .cache[level], .node, .remote. */
#include "../lib/base.h"
#include "host_exchange.h"

#include "../lib/curve.h"
#include "../lib/msg.h"

#include <math.h>
#include <stdlib.h>

/* No write is seen within two cycles of 5 GHz; above, the threads were not running. */
static const double quickest = 0.4e-9, slowest = 100e-6;
static const double unsteady = 0.2; /* half of the interval over the value */
enum { ANY = INT8_MIN, PROCESSES_MAX = 64 };

static struct parameter_spec spec_of(const char *name)
{
	return (struct parameter_spec){.name = name,
	        .unit = "s",
	        .method = "two bound threads write to a cache line in turns, one way",
	        .low = quickest,
	        .high = slowest};
}

static int by_seconds(const void *a, const void *b)
{
	const double x = ((const struct point *)a)->seconds.value;
	const double y = ((const struct point *)b)->seconds.value;
	return (x > y) - (x < y);
}

/* Median over the pairs that share this, in one process. */
static struct estimate middle_of(const struct table *curve, int process, int shared)
{
	double *value = xmalloc((curve->row_count + 1) * sizeof *value);
	struct estimate middle = {.samples = 0};
	size_t n = 0;

	for (size_t row = 0; row < curve->row_count; row++) {
		const double samples = table_real(curve, row, "samples");
		if (table_real(curve, row, "process") != process || !(samples > 0) ||
		        (shared != ANY && table_real(curve, row, "shared") != shared))
			continue;
		value[n++] = table_real(curve, row, "seconds");
		middle.samples += (size_t)samples;
	}
	/* the pairs differ, their median does not: its error is that between processes */
	middle.value = middle.low = middle.high = stats_median(value, n);
	free(value);
	return middle;
}

/* Nothing when no pair shares this. */
static void add_group(
        const struct table *curve, struct profile *profile, const char *name, int shared)
{
	const struct parameter_spec spec = spec_of(name);
	const struct arg level[] = {{"level", shared}};
	struct estimate middle[PROCESSES_MAX];
	size_t n = 0;

	for (int process = 0; process < PROCESSES_MAX; process++) {
		middle[n] = middle_of(curve, process, shared);
		n += middle[n].samples > 0;
	}
	if (n > 0)
		profile_add(profile, &spec, level, shared > 0, stats_combine(middle, n), false);
}

/* Where virtual processors move from core to core a pair has no value, only a range. */
static void add_pair(const struct table *curve, struct profile *profile, const struct point *point)
{
	const struct parameter_spec spec = spec_of("host.exchange.pair");
	const struct estimate *way = &point->seconds;
	const struct arg args[] = {
	        {"from", curve_arg(curve, point, "from")}, {"to", curve_arg(curve, point, "to")}};
	double least = INFINITY, most = 0;

	if (way->samples == 0 || way->high - way->low < 2 * unsteady * way->value) {
		profile_add(profile, &spec, args, ARRAY_LEN(args), *way, point->busy);
		return;
	}
	for (size_t row = 0; row < curve->row_count; row++)
		if (table_real(curve, row, "from") == args[0].value &&
		        table_real(curve, row, "to") == args[1].value) {
			least = fmin(least, table_real(curve, row, "low_seconds"));
			most = fmax(most, table_real(curve, row, "high_seconds"));
		}
	profile_add_bounded(profile, &spec, args, ARRAY_LEN(args), least, most, way->samples);
}

void host_exchange_fit(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec least = spec_of("host.exchange.min");
	const struct parameter_spec most = spec_of("host.exchange.max");
	struct point *point;
	size_t count = curve_points(curve, "pair", &point), n = 0;

	for (size_t i = 0; i < count; i++) {
		add_pair(curve, profile, &point[i]);
		if (point[i].seconds.samples > 0)
			point[n++] = point[i];
	}
	if (n > 0) {
		qsort(point, n, sizeof *point, by_seconds);
		profile_add(profile, &least, NULL, 0, point[0].seconds, point[0].busy);
		profile_add(profile, &most, NULL, 0, point[n - 1].seconds, point[n - 1].busy);
	}
	add_group(curve, profile, "host.exchange.latency", ANY);
	for (int level = 1; level <= 4; level++)
		add_group(curve, profile, "host.exchange.cache", level);
	add_group(curve, profile, "host.exchange.node", 0);
	add_group(curve, profile, "host.exchange.remote", -1);
	free(point);
}
