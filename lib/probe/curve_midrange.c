/* SPDX-License-Identifier: MIT */
#include "lib/base/base.h"
#include "curve_midrange.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/msg.h"
#include "lib/stats/stats.h"

static const double far_off = 1.25; /* times the median process */

/* The processes' estimates of a point; the caller frees them. */
static size_t processes_of(
        const struct table *curve, const struct point *point, struct estimate **processes)
{
	size_t count = 0;

	*processes = xcalloc(curve->row_count + 1, sizeof **processes);
	for (size_t row = point->row; row < curve->row_count; row++) {
		const struct estimate own = curve_row(curve, row).seconds;
		if (own.samples > 0 && curve_same_point(curve, row, point->row))
			(*processes)[count++] = own;
	}
	return count;
}

static double limit_of(const struct estimate *processes, size_t count)
{
	double *value = xcalloc(count + 1, sizeof *value);

	for (size_t i = 0; i < count; i++)
		value[i] = processes[i].value;
	const double limit = far_off * stats_median(value, count);
	free(value);
	return limit;
}

struct estimate curve_midrange(const struct table *curve, const struct point *point)
{
	struct estimate *processes, all = point->seconds;
	double least = INFINITY, most = 0;

	if (point->processes < 2)
		return all;
	const size_t count = processes_of(curve, point, &processes);
	const double limit = limit_of(processes, count);
	all.low = INFINITY;
	all.high = 0;
	for (size_t i = 0; i < count; i++) {
		const struct estimate *own = &processes[i];
		if (own->value > limit)
			continue;
		least = fmin(least, own->value);
		most = fmax(most, own->value);
		all.low = fmin(all.low, own->low);
		all.high = fmax(all.high, own->high);
	}
	free(processes);
	all.value = 0.5 * (least + most);
	return all;
}
