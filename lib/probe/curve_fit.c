/* SPDX-License-Identifier: MIT */
#include "curve_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stats/estimate.h"
#include "lib/base/msg.h"

struct estimate curve_rate(const struct table *curve, const struct point *point)
{
	return estimate_inverse(curve_arg(curve, point, "bytes"), point->seconds);
}

static struct estimate value_of(
        const struct table *curve, const struct point *point, curve_value value)
{
	return value ? value(curve, point) : point->seconds;
}

static bool unavailable(const struct table *curve, const char *series)
{
	char *key = xasprintf("unavailable.%s", series);
	const bool named = table_meta(curve, key) != NULL;

	free(key);
	return named;
}

void curve_fit_point(const struct table *curve, struct profile *profile,
        const struct curve_rows *rows, const struct point *point)
{
	struct arg args[CURVE_ROWS_ARGS];
	size_t n = 0;

	for (; n < CURVE_ROWS_ARGS && rows->column[n]; n++)
		args[n] = (struct arg){rows->column[n], curve_arg(curve, point, rows->column[n])};
	if (rows->called)
		args[0].name = rows->called;
	profile_add(
	        profile, &rows->spec, args, n, value_of(curve, point, rows->value), point->busy);
}

static void fit_series(const struct table *curve, struct profile *profile,
        const struct curve_rows *rows, bool required)
{
	struct point *point;
	const size_t count = curve_points(curve, rows->series, &point);

	for (size_t i = 0; i < count; i++)
		curve_fit_point(curve, profile, rows, &point[i]);
	if (count == 0 && required && !unavailable(curve, rows->series))
		profile_add(profile, &rows->spec, NULL, 0, estimate_none, false);
	free(point);
}

void curve_fit_rows(const struct table *curve, struct profile *profile,
        const struct curve_rows *rows, size_t count, bool required)
{
	for (size_t i = 0; i < count; i++)
		fit_series(curve, profile, &rows[i], required);
}

/* Adds the relative width to an interval. */
static struct estimate with_relative_width(struct estimate e, double width)
{
	return e.samples && width > 0 && isfinite(e.high)
	               ? estimate_around(e.value,
	                         hypot(estimate_half_width(e), width * fabs(e.value)), e.samples)
	               : e;
}

/* The same for a rate by its seconds: it stays above 0. */
static struct estimate rate_with_relative_width(struct estimate rate, double width)
{
	return estimate_inverse(1, with_relative_width(estimate_inverse(1, rate), width));
}

/* A disturbance of all points of a process widens their intervals, but leaves no residuals.
 * `width`: relative half-widths of the points, in the order of their sizes. Those of the shorter
 * half widen alpha, those of the longer half beta. */
static void widen_line(struct curve_line *line, const double *width, size_t n)
{
	const size_t half = n / 2;

	line->fit.alpha = with_relative_width(line->fit.alpha, stats_median(width, n - half));
	line->fit.beta =
	        rate_with_relative_width(line->fit.beta, stats_median(width + half, n - half));
}

struct curve_line curve_fit_line(
        const struct table *curve, const struct point *points, size_t n, curve_value value)
{
	struct curve_line line = {
	        .fit = {.alpha = estimate_none, .beta = estimate_none, .n_half = NAN},
	        .residuals = "not fitted"};
	double *bytes = xcalloc(3 * n + 1, sizeof *bytes), *seconds = bytes + n,
	       *width = seconds + n;

	for (size_t i = 0; i < n; i++) {
		const struct estimate t = value_of(curve, &points[i], value);
		bytes[i] = curve_arg(curve, &points[i], "bytes");
		seconds[i] = t.value;
		width[i] = t.samples > 1 ? estimate_half_width(t) / t.value : 0;
		line.busy = line.busy || points[i].busy;
	}
	line.fitted = fit_line(bytes, seconds, n, &line.fit);
	if (line.fitted) {
		widen_line(&line, width, n);
		snprintf(line.residuals, sizeof line.residuals,
		        "residuals median %.2g%% worst %.2g%%", 100 * line.fit.median_residual,
		        100 * line.fit.worst_residual);
	}
	free(bytes);
	return line;
}

struct estimate curve_clock(const struct table *curve, bool *busy)
{
	struct point *point;
	const size_t count = curve_points(curve, NULL, &point);
	double *hz = xmalloc((count + 1) * sizeof *hz);
	size_t known = 0;

	*busy = false;
	for (size_t i = 0; i < count; i++) {
		*busy = *busy || point[i].busy;
		if (point[i].hz > 0)
			hz[known++] = point[i].hz;
	}
	const struct estimate clock = stats_median_interval(hz, known);
	free(hz);
	free(point);
	return clock;
}

double curve_fact(const struct table *curve, const char *key)
{
	const char *text = table_meta(curve, key);

	return text ? atof(text) : NAN;
}

double curve_most(const struct table *curve, double per_cycle)
{
	bool unused;
	const double sms = curve_fact(curve, "gpu_sms");
	const struct estimate clock = curve_clock(curve, &unused);

	return sms > 0 && clock.samples > 0 ? per_cycle * sms * clock.value : INFINITY;
}

bool curve_has_series(const struct table *curve, const char *series)
{
	for (size_t row = 0; row < curve->row_count; row++)
		if (strcmp(table_text(curve, row, "series"), series) == 0)
			return true;
	return false;
}

bool curve_any_busy(const struct table *curve)
{
	for (size_t row = 0; row < curve->row_count; row++)
		if (table_real(curve, row, "busy") > 0)
			return true;
	return false;
}
