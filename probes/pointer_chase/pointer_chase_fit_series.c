/* SPDX-License-Identifier: MIT */
/* Series of the pointer_chase probe's curve, for its fit. */
#include "pointer_chase_fit_internal.h"

#include "lib/base/msg.h"

#include <stdlib.h>
#include <string.h>

static int by_place(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The points of a series along one column; only those of the given stride unless that is 0. */
struct chain chase_read_chain(
        const struct table *curve, const char *series, const char *column, double stride)
{
	struct point *point;
	const size_t count = curve_points(curve, series, &point);
	double(*row)[3] = xmalloc((count + 1) * sizeof *row);
	struct chain chain = {.x = xmalloc(3 * (count + 1) * sizeof *chain.x)};
	chain.seconds = chain.x + count + 1;
	chain.error = chain.seconds + count + 1;
	for (size_t i = 0; i < count; ++i) {
		const struct estimate t = point[i].seconds;
		const double x = curve_arg(curve, &point[i], column);
		if (t.samples == 0 || !(x > 0 || strcmp(column, "distance") == 0) ||
		        (stride > 0 && curve_arg(curve, &point[i], "stride") != stride))
			continue;
		row[chain.n][0] = x;
		row[chain.n][1] = t.value;
		row[chain.n++][2] = (t.high - t.low) / (2 * 1.96 * t.value);
		chain.busy = chain.busy || point[i].busy;
	}
	qsort(row, chain.n, sizeof *row, by_place);
	for (size_t i = 0; i < chain.n; ++i) {
		chain.x[i] = row[i][0];
		chain.seconds[i] = row[i][1];
		chain.error[i] = row[i][2];
	}
	free(row);
	free(point);
	return chain;
}

void chase_chain_free(struct chain *chain)
{
	free(chain->x);
}

/* The series' levels; false when it has too few points. */
bool chase_read_levels(
        const struct table *curve, const char *series, const char *column, struct levels *levels)
{
	struct chain chain = chase_read_chain(curve, series, column, 0);
	const bool fitted = levels_fit(chain.x, chain.seconds, chain.error, chain.n, levels);
	chase_chain_free(&chain);
	return fitted;
}

static int by_seconds(const void *a, const void *b)
{
	const double x = ((const struct point *)a)->seconds.value;
	const double y = ((const struct point *)b)->seconds.value;
	return (x > y) - (x < y);
}

/* The middle one, by time, of the measured points with low <= bytes <= high. */
struct estimate chase_plateau(
        const struct table *curve, const char *series, double low, double high)
{
	struct point *point;
	struct estimate middle = unknown;
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

bool chase_has_series(const struct table *curve, const char *series)
{
	for (size_t row = 0; row < curve->row_count; ++row)
		if (strcmp(table_text(curve, row, "series"), series) == 0)
			return true;
	return false;
}

double chase_attribute(const struct table *curve, const char *key)
{
	const char *text = table_meta(curve, key);
	return text ? atof(text) : NAN;
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
