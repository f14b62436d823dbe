/* SPDX-License-Identifier: MIT */
/* Curve of the host_gram probe -> host.gram.dots, host.gram.update, host.gram.fused, host.gram.few,
 * host.gram.many [threads,bytes,level]: seconds of a pass; host.gram.handed [bytes]: of a column.
 * The median over the visits of all processes, with its interval by order statistics. */
#include "../lib/base.h"
#include "../lib/msg.h"
#include "../lib/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static struct estimate over_visits(
        const struct table *curve, const char *series, const struct arg *args, size_t count)
{
	double *value = xcalloc(curve->row_count + 1, sizeof *value);
	size_t n = 0, samples = 0;

	for (size_t row = 0; row < curve->row_count; row++) {
		if (strcmp(table_text(curve, row, "series"), series) != 0 ||
		        !curve_row_has(curve, row, args, count))
			continue;
		const struct measurement m = curve_row(curve, row);
		if (m.seconds.samples > 0)
			value[n++] = m.seconds.value;
		samples += m.seconds.samples;
	}
	struct estimate all = stats_median_interval(value, n);
	all.samples = samples;
	free(value);
	return all;
}

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
			profile_add(profile, &spec, args, count,
			        over_visits(curve, surfaces[s].series, args, count), false);
		}
		/* one thread fetches nothing */
		if (n == 0 && s + 1 < ARRAY_LEN(surfaces))
			profile_add(profile, &spec, NULL, 0, (struct estimate){NAN, NAN, NAN, 0},
			        false);
		free(points);
	}
}
