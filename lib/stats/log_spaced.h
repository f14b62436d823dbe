/* SPDX-License-Identifier: MIT */
/* Log-spaced sizes of a sweep. */
#pragma once

#include "lib/base/base.h"

#include <math.h>

/* The k-th of the sizes from low to high, `per_doubling` in each factor of two, rounded to whole
 * units; 0 beyond high. With coarse units neighbours may be equal. */
static inline int64_t log_spaced_size(
        int64_t low, int64_t high, int per_doubling, int k, int64_t unit)
{
	const double size = (double)low * exp2((double)k / per_doubling);
	const int64_t units = (int64_t)(size / (double)unit + 0.5);

	if (size > 1.0001 * (double)high)
		return 0;
	return (units > 0 ? units : 1) * unit;
}

/* 4, 5, 6, 7, 8, 10, 12, 14, 16, 20 ...: whole numbers, four in each factor of two. */
static inline int64_t log_spaced_count(int k)
{
	return (int64_t)(4 + k % 4) << k / 4;
}
