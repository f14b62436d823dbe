/* SPDX-License-Identifier: MIT */
/* Fit of the host_memory probe. */
#include "lib/base/base.h"
#include "lib/probe/probe.h"

#include <math.h>
#include <stdlib.h>

void host_memory_fit(const struct table *curve, struct profile *profile);

/* Far beyond any machine: a thousand cores of 1 TB/s each. */
static const double low_rate = 1e6, high_rate = 1e15;

static const struct estimate absent = {NAN, NAN, NAN, 0};

static struct estimate rate_of(const struct table *curve, const struct point *point)
{
	const struct estimate *t = &point->seconds;
	double bytes = curve_arg(curve, point, "bytes");
	return (struct estimate){bytes / t->value, bytes / t->high,
	        t->low > 0 ? bytes / t->low : INFINITY, t->samples};
}

static void add_function(const struct table *curve, struct profile *profile, const char *series,
        const char *parameter)
{
	const struct parameter_spec spec = {parameter, "B/s",
	        "bound threads, own buffers, plain loops", NULL, low_rate, high_rate};
	struct point *points;
	size_t n = curve_points(curve, series, &points);

	for (size_t i = 0; i < n; i++) {
		struct arg args[] = {{"threads", curve_arg(curve, &points[i], "threads")},
		        {"bytes", curve_arg(curve, &points[i], "bytes")}};
		profile_add(profile, &spec, args, ARRAY_LEN(args), rate_of(curve, &points[i]),
		        points[i].busy);
	}
	if (n == 0)
		profile_add(profile, &spec, NULL, 0, absent, false);
	free(points);
}

/* Whether no larger point of the same team stands beside this one. */
static bool largest_of_pinned(
        const struct table *curve, const struct point *points, size_t n, const struct point *point)
{
	for (size_t i = 0; i < n; i++)
		if (curve_arg(curve, &points[i], "threads") == curve_arg(curve, point, "threads") &&
		        curve_arg(curve, &points[i], "bytes") > curve_arg(curve, point, "bytes"))
			return false;
	return true;
}

/* The best team at the size that no cache holds. */
static void add_peak(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec spec = {"host.memory.copy.peak", "B/s",
	        "best team beyond the caches, read + written", NULL, low_rate, high_rate};
	struct estimate best = absent;
	struct point *points;
	size_t n = curve_points(curve, "copy", &points);
	bool busy = false;

	for (size_t i = 0; i < n; i++) {
		struct estimate rate = rate_of(curve, &points[i]);
		if (rate.samples == 0 || !largest_of_pinned(curve, points, n, &points[i]) ||
		        (best.samples && rate.value <= best.value))
			continue;
		best = rate;
		busy = points[i].busy;
	}
	profile_add(profile, &spec, NULL, 0, best, busy);
	free(points);
}

void host_memory_fit(const struct table *curve, struct profile *profile)
{
	add_function(curve, profile, "read", "host.memory.read");
	add_function(curve, profile, "write", "host.memory.write");
	add_function(curve, profile, "copy", "host.memory.copy");
	add_peak(curve, profile);
}
