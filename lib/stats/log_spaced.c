/* SPDX-License-Identifier: MIT */
#include "lib/base/base.h"
#include "log_spaced.h"

#include <math.h>

int64_t log_spaced_size(int64_t low, int64_t high, int per_doubling, int k, int64_t unit)
{
	const double size = (double)low * exp2((double)k / per_doubling);
	const int64_t units = (int64_t)(size / (double)unit + 0.5);

	if (size > 1.0001 * (double)high)
		return 0;
	return (units > 0 ? units : 1) * unit;
}

int64_t log_spaced_count(int k)
{
	return (int64_t)(4 + k % 4) << k / 4;
}
