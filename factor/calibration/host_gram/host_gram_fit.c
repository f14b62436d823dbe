/* SPDX-License-Identifier: MIT */
/* Curve of the host_gram probe -> host.gram.dots, host.gram.update, host.gram.fused, host.gram.few,
 * host.gram.many [threads,bytes,level]: seconds of a pass; host.gram.handed [bytes]: of a column.
 * A process has several rows of a point, one for each quarter of its time. */
#include "lib/base/base.h"
#include "lib/probe/curve_fit.h"

void host_gram_fit(const struct table *curve, struct profile *profile);

#define SURFACE(series, method, ...)                                                               \
	CURVE_SURFACE(series, "host.gram." series, method, "calibrated", 1e-10, 0.1, __VA_ARGS__)
#define PASS(series, method) SURFACE(series, method, "threads", "bytes", "level")

static const struct curve_rows passes[] = {
        PASS("dots", "dot products of a column"),
        PASS("update", "a column out of others"),
        PASS("fused", "both in one pass"),
        PASS("few", "8 columns out of others"),
        PASS("many", "48 columns out of others"),
};
static const struct curve_rows handed =
        SURFACE("handed", "columns that all threads have changed, by column", "bytes");

void host_gram_fit(const struct table *curve, struct profile *profile)
{
	curve_fit_rows(curve, profile, passes, ARRAY_LEN(passes), true);
	/* one thread fetches nothing */
	curve_fit_rows(curve, profile, &handed, 1, false);
}
