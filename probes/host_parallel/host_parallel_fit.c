/* SPDX-License-Identifier: MIT */
/* Fit of the host_parallel probe. */
#include "lib/base/base.h"
#include "lib/probe/probe.h"

#include <math.h>
#include <stdlib.h>

void host_parallel_fit(const struct table *curve, struct profile *profile);

static void add(const struct table *curve, struct profile *profile, const char *series,
        const struct parameter_spec *spec)
{
	struct point *points;
	size_t n = curve_points(curve, series, &points);

	for (size_t i = 0; i < n; i++) {
		struct arg args[] = {{"threads", curve_arg(curve, &points[i], "threads")}};
		profile_add(
		        profile, spec, args, ARRAY_LEN(args), points[i].seconds, points[i].busy);
	}
	if (n == 0)
		profile_add(profile, spec, NULL, 0, (struct estimate){NAN, NAN, NAN, 0}, false);
	free(points);
}

void host_parallel_fit(const struct table *curve, struct profile *profile)
{
	/* Below: less than a cycle of any processor; above: the threads were not running. */
	static const struct parameter_spec fork = {"host.parallel.fork", "s",
	        "empty OpenMP regions in a row, bound threads", NULL, 1e-10, 0.1};
	static const struct parameter_spec barrier = {"host.parallel.barrier", "s",
	        "OpenMP barriers in a row, bound threads", NULL, 1e-10, 0.1};

	add(curve, profile, "fork", &fork);
	add(curve, profile, "barrier", &barrier);
}
