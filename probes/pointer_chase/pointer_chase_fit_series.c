/* SPDX-License-Identifier: MIT */
#include "pointer_chase_fit_internal.h"

#include "lib/base/msg.h"

#include <stdlib.h>
#include <string.h>

static int by_place(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The levels of a series; false when it has too few points. */
bool chase_read_levels(
        const struct table *curve, const char *series, const char *column, struct levels *levels)
{
	struct curve_series chain = curve_series_read(curve, series, column, 0);
	const bool fitted = curve_series_levels(&chain, levels);
	curve_series_free(&chain);
	return fitted;
}

static int by_seconds(const void *a, const void *b)
{
	const double x = ((const struct point *)a)->seconds.value;
	const double y = ((const struct point *)b)->seconds.value;
	return (x > y) - (x < y);
}

/* The median, by time, of the points with low <= bytes <= high. */
struct estimate chase_plateau(
        const struct table *curve, const char *series, double low, double high)
{
	struct point *point;
	struct estimate middle = estimate_none;
	const size_t count = curve_points(curve, series, &point);
	size_t inside = 0;
	for (size_t i = 0; i < count; ++i) {
		const double bytes = curve_arg(curve, &point[i], "bytes");
		if ((isnan(bytes) || (bytes >= low && bytes <= high)) &&
		        point[i].seconds.samples > 0)
			point[inside++] = point[i];
	}
	if (inside > 0) {
		qsort(point, inside, sizeof *point, by_seconds);
		middle = point[(inside - 1) / 2].seconds;
	}
	free(point);
	return middle;
}

size_t chase_strides(const struct table *curve, const char *series, double *stride)
{
	struct point *point;
	const size_t count = curve_points(curve, series, &point);
	size_t n = 0;
	for (size_t i = 0; i < count; ++i) {
		const double value = curve_arg(curve, &point[i], "stride");
		size_t k = 0;
		while (k < n && stride[k] != value)
			++k;
		if (k == n && n < STRIDES && value > 0)
			stride[n++] = value;
	}
	free(point);
	qsort(stride, n, sizeof *stride, by_place);
	return n;
}
