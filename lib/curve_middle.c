/* SPDX-License-Identifier: MIT */
#include "base.h"
#include "curve_middle.h"

#include <math.h>

struct estimate curve_middle(const struct table *curve, const struct point *point)
{
	struct estimate all = point->seconds;
	double least = INFINITY, most = 0;

	if (all.samples == 0)
		return all;
	for (size_t row = point->row; row < curve->row_count; row++) {
		const struct estimate own = curve_row(curve, row).seconds;
		if (own.samples == 0 || !curve_same_point(curve, row, point->row))
			continue;
		least = fmin(least, own.value);
		most = fmax(most, own.value);
		all.low = fmin(all.low, own.low);
		all.high = fmax(all.high, own.high);
	}
	if (point->processes > 1)
		all.value = 0.5 * (least + most);
	return all;
}
