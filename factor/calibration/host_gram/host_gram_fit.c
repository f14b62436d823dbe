/* SPDX-License-Identifier: MIT */
/* Curve of the host_gram probe -> host.gram.dots, host.gram.update, host.gram.fused, host.gram.few,
 * host.gram.many [threads,bytes,level]: seconds of a pass; host.gram.handed [bytes]: of a column.
 * A process has several rows of a point, each of one visit. */
#include "lib/base/base.h"
#include "lib/base/msg.h"
#include "lib/probe/probe.h"

#include <math.h>
#include <stdlib.h>

void host_gram_fit(const struct table *curve, struct profile *profile);

static const struct {
	const char *series, *name, *method;
	const char *arg[3];
} surfaces[] = {
        {"dots", "host.gram.dots", "dot products of a column", {"threads", "bytes", "level"}},
        {"update", "host.gram.update", "a column out of others", {"threads", "bytes", "level"}},
        {"fused", "host.gram.fused", "both in one pass", {"threads", "bytes", "level"}},
        {"few", "host.gram.few", "8 columns out of others", {"threads", "bytes", "level"}},
        {"many", "host.gram.many", "48 columns out of others", {"threads", "bytes", "level"}},
        {"handed", "host.gram.handed", "a column that another core has changed", {"bytes"}},
};

void host_gram_fit(const struct table *curve, struct profile *profile)
{
	for (size_t s = 0; s < ARRAY_LEN(surfaces); s++) {
		const struct parameter_spec spec = {
		        surfaces[s].name, "s", surfaces[s].method, "surface", 1e-10, 0.1};
		struct point *points;
		const size_t n = curve_points(curve, surfaces[s].series, &points);
		for (size_t i = 0; i < n; i++) {
			struct arg args[3];
			size_t count = 0;
			for (; count < 3 && surfaces[s].arg[count]; count++)
				args[count] = (struct arg){surfaces[s].arg[count],
				        curve_arg(curve, &points[i], surfaces[s].arg[count])};
			profile_add(profile, &spec, args, count, points[i].seconds, false);
		}
		/* one thread fetches nothing */
		if (n == 0 && s + 1 < ARRAY_LEN(surfaces))
			profile_add(profile, &spec, NULL, 0, (struct estimate){NAN, NAN, NAN, 0},
			        false);
		free(points);
	}
}
