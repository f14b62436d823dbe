/* SPDX-License-Identifier: MIT */
/* Curve of the host_gram probe -> host.gram.dot.s .d, host.gram.subtract.s .d, host.gram.fused.s
 * .d, host.gram.pair.s .d [threads,m,level], host.gram.region [threads], host.gram.fetch
 * [threads,bytes]: seconds. */
#include "../lib/base.h"
#include "../lib/msg.h"
#include "../lib/probe.h"

#include <math.h>
#include <stdlib.h>

void host_gram_fit(const struct table *curve, struct profile *profile);

static const struct {
	const char *series, *name, *method;
	const char *arg[3];
} surfaces[] = {
        {"dot_s", "host.gram.dot.s", "a dot product", {"threads", "m", "level"}},
        {"dot_d", "host.gram.dot.d", "a dot product", {"threads", "m", "level"}},
        {"subtract_s", "host.gram.subtract.s", "a multiple of a column out of one",
                {"threads", "m", "level"}},
        {"subtract_d", "host.gram.subtract.d", "a multiple of a column out of one",
                {"threads", "m", "level"}},
        {"fused_s", "host.gram.fused.s", "both at once", {"threads", "m", "level"}},
        {"fused_d", "host.gram.fused.d", "both at once", {"threads", "m", "level"}},
        {"pair_s", "host.gram.pair.s", "two columns out of four", {"threads", "m", "level"}},
        {"pair_d", "host.gram.pair.d", "two columns out of four", {"threads", "m", "level"}},
        {"region", "host.gram.region", "a parallel region of columns", {"threads"}},
        {"fetch", "host.gram.fetch", "a column that another core has changed, first read",
                {"threads", "bytes"}},
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
			profile_add(profile, &spec, args, count, points[i].seconds, points[i].busy);
		}
		/* one thread fetches nothing */
		if (n == 0 && s + 1 < ARRAY_LEN(surfaces))
			profile_add(profile, &spec, NULL, 0, (struct estimate){NAN, NAN, NAN, 0},
			        false);
		free(points);
	}
}
