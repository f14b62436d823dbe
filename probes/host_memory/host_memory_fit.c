/* SPDX-License-Identifier: MIT */
/* Curve of the host_memory probe -> host.memory.{read,write,copy}[threads,bytes] and
 * host.memory.copy.peak, in bytes per second. */
#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"

#include <stdlib.h>

/* Far beyond any machine: a thousand cores of 1 TB/s each. */
#define LOW_RATE 1e6
#define HIGH_RATE 1e15
#define FUNCTION(series)                                                                           \
	{                                                                                          \
		series,                                                                            \
		        {"host.memory." series, "B/s", "bound threads, own buffers, plain loops",  \
		                NULL, LOW_RATE, HIGH_RATE},                                        \
		        .column = {"threads", "bytes"}, .value = curve_rate                        \
	}

static const struct curve_rows rows[] = {FUNCTION("read"), FUNCTION("write"), FUNCTION("copy")};

/* Whether the series has no larger point of as many threads. */
static bool largest_of_pinned(
        const struct table *curve, const struct point *points, size_t n, const struct point *point)
{
	for (size_t i = 0; i < n; i++)
		if (curve_arg(curve, &points[i], "threads") == curve_arg(curve, point, "threads") &&
		        curve_arg(curve, &points[i], "bytes") > curve_arg(curve, point, "bytes"))
			return false;
	return true;
}

/* The best number of threads at the size beyond all caches. */
static void add_peak(const struct table *curve, struct profile *profile)
{
	const struct parameter_spec spec = {"host.memory.copy.peak", "B/s",
	        "best team beyond the caches, read + written", NULL, LOW_RATE, HIGH_RATE};
	struct estimate best = estimate_none;
	struct point *points;
	const size_t n = curve_points(curve, "copy", &points);
	bool busy = false;

	for (size_t i = 0; i < n; i++) {
		const struct estimate rate = curve_rate(curve, &points[i]);
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
	curve_fit_rows(curve, profile, rows, ARRAY_LEN(rows), true);
	add_peak(curve, profile);
}
