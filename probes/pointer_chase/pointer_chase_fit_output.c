/* SPDX-License-Identifier: MIT */
/* Rows of pointer_chase's fit: values, or their bounds. */
#include "pointer_chase_fit_internal.h"

#include <stdio.h>

/* Adds a value or its lower bound. A kink that could not be placed has no bounds, as conflicts may
 * smear it over doublings; only "beyond the largest set" stays. */
void chase_add(const struct output *out, const struct parameter_spec *spec, const struct arg *args,
        size_t count, struct estimate estimate)
{
	if (estimate.samples > 0 && isfinite(estimate.value))
		profile_add(out->profile, spec, args, count, estimate, out->busy);
	else
		profile_add_bounded(out->profile, spec, args, count,
		        isnan(estimate.high) ? estimate.low : NAN, NAN, estimate.samples);
}

void chase_add_time(const struct output *out, const char *name, const char *method, double bound,
        struct estimate estimate)
{
	const struct parameter_spec spec = {name, "s", method, NULL, bound, slowest};
	chase_add(out, &spec, NULL, 0, estimate);
}

/* stated: the device attribute, NaN when there is none. */
void chase_add_size(const struct output *out, const char *name, const char *unit,
        const char *method, double stated, struct estimate estimate)
{
	char text[200];
	snprintf(text, sizeof text, "%s", method);
	if (estimate.samples > 0 && fabs(estimate.value / stated - 1) > 0.15)
		snprintf(text, sizeof text, "%s; attribute says %.0f", method, stated);
	const struct parameter_spec spec = {name, unit, text, NULL, 1, 1e13};
	chase_add(out, &spec, NULL, 0, estimate);
}

/* With few ways and hashed sets a kink moves by several percent; simulated caches of 4 to 32 ways
 * under four replacement policies stay within this. */
struct estimate chase_size_of(const struct levels *levels, size_t level)
{
	static const double smear = 0.08;
	struct estimate size =
	        level < levels->count
	                ? levels->level[level].size
	                : (struct estimate){NAN, levels->level[levels->count].size.low, NAN,
	                          levels->level[levels->count].size.samples};
	if (level < levels->count) {
		size.low *= 1 - smear;
		size.high *= 1 + smear;
	}
	return size;
}
