/* SPDX-License-Identifier: MIT */
#include "curve_series.h"

#include <math.h>
#include <stdlib.h>

#include "lib/stats/estimate.h"
#include "lib/base/msg.h"

static const double normal_95 = 1.96;

double curve_series_error(struct estimate seconds)
{
	return estimate_half_width(seconds) / normal_95;
}

static int by_x(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct curve_series curve_series_read(
        const struct table *curve, const char *series, const char *column, double stride)
{
	struct point *point;
	const size_t count = curve_points(curve, series, &point);
	double(*row)[3] = xmalloc((count + 1) * sizeof *row);
	struct curve_series s = {.x = xmalloc(3 * (count + 1) * sizeof *s.x)};

	s.seconds = s.x + count + 1;
	s.error = s.seconds + count + 1;
	for (size_t i = 0; i < count; i++) {
		const struct estimate t = point[i].seconds;
		const double x = curve_arg(curve, &point[i], column);
		if (t.samples == 0 || !(x >= 0) ||
		        (stride > 0 && curve_arg(curve, &point[i], "stride") != stride))
			continue;
		row[s.n][0] = x;
		row[s.n][1] = t.value;
		row[s.n++][2] = curve_series_error(t) / t.value;
	}
	qsort(row, s.n, sizeof *row, by_x);
	for (size_t i = 0; i < s.n; i++) {
		s.x[i] = row[i][0];
		s.seconds[i] = row[i][1];
		s.error[i] = row[i][2];
	}
	free(row);
	free(point);
	return s;
}

void curve_series_free(struct curve_series *series)
{
	free(series->x);
}

double curve_series_at(const struct curve_series *series, double x)
{
	const double *at = series->x;
	size_t i = 0;

	if (x <= at[0] || series->n == 1)
		return series->seconds[0];
	while (i + 2 < series->n && at[i + 1] < x)
		i++;
	if (x >= at[i + 1])
		return series->seconds[i + 1];
	const double part = log(x / at[i]) / log(at[i + 1] / at[i]);
	return series->seconds[i] + part * (series->seconds[i + 1] - series->seconds[i]);
}

double curve_series_end(const struct curve_series *series)
{
	return series->n > 0 ? series->x[series->n - 1] : 0;
}

bool curve_series_levels(const struct curve_series *series, struct levels *levels)
{
	return levels_fit(series->x, series->seconds, series->error, series->n, levels);
}
