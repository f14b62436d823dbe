/* SPDX-License-Identifier: MIT */
/* Parameters of two machines side by side: ratios with their intervals, and which machine is
 * better. */
#pragma once

#include "profile_compare.h"

/* Same: within the change that repeats of one machine may show, and known to 10 %. Else faster or
 * slower, of sizes and counts more or less, where the interval of the ratio excludes 1; open where
 * it does not, or where a value is noisy. Mixed: of a family, none of these for over half. */
enum ratio_verdict {
	RATIO_SAME,
	RATIO_FASTER,
	RATIO_SLOWER,
	RATIO_MORE,
	RATIO_LESS,
	RATIO_OPEN,
	RATIO_MIXED,
	RATIO_VERDICTS
};
extern const char *const ratio_verdict_name[RATIO_VERDICTS];

/* value: second / first, or with several parameters the median, and low and high the extremes. */
struct ratio {
	double value, low, high;
	enum ratio_verdict verdict;
};

/* Of two estimates of this unit. Relative distances to the ends add in quadrature, as those of
 * independent errors. */
struct ratio ratio_of(struct estimate first, struct estimate second, const char *unit);
struct ratio ratio_of_rows(const struct parameter *first, const struct parameter *second);

/* How many times as much time the second needs; NaN of sizes and counts. */
double ratio_slowdown(double ratio, const char *unit);

/* A family: the parameters of one name that both have. */
struct family_ratio {
	const struct parameter *first, *second; /* its first row in both */
	size_t count;
	struct ratio ratio;
};

/* In the first profile's order; *count is their number. The caller frees them. */
struct family_ratio *profile_ratios(
        const struct profile *first, const struct profile *second, size_t *count);
