/* SPDX-License-Identifier: MIT */
/* Parameters of pointer_chase's fit: values, or what bounds them. */
#include "pointer_chase_fit_internal.h"

#include <stdio.h>

/* A value, or what bounds it when it has none. A kink that could not be placed has no bounds: where
 * conflicts smear it over doublings even those would be guesses; only "beyond the largest set" stays.
 */
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
	const struct parameter_spec spec = {
	        .name = name, .unit = "s", .method = method, .low = bound, .high = slowest};
	chase_add(out, &spec, NULL, 0, estimate);
}

/* stated: what the device says of it, NaN when nothing. */
void chase_add_size(const struct output *out, const char *name, const char *unit,
        const char *method, double stated, struct estimate estimate)
{
	char text[200];
	snprintf(text, sizeof text, "%s", method);
	if (estimate.samples > 0 && fabs(estimate.value / stated - 1) > 0.15)
		snprintf(text, sizeof text, "%s; attribute says %.0f", method, stated);
	const struct parameter_spec spec = {
	        .name = name, .unit = unit, .method = text, .low = 1, .high = 1e13};
	chase_add(out, &spec, NULL, 0, estimate);
}

/* With few ways and hashed sets a kink moves by several percent: simulated machines of 4 to 32 ways
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
