/* SPDX-License-Identifier: MIT */
/* One series of a curve as arrays: seconds against one argument, in ascending order. */
#pragma once

#include "curve.h"
#include "lib/stats/levels.h"

struct curve_series {
	double *x, *seconds, *error; /* error: relative standard error of seconds */
	size_t n;
};

/* The measured points with x >= 0 in `column`, of the given stride only; stride 0: of all strides.
 */
struct curve_series curve_series_read(
        const struct table *curve, const char *series, const char *column, double stride);
void curve_series_free(struct curve_series *series);

/* Standard error of an estimate, from its 95 % interval. */
double curve_series_error(struct estimate seconds);

/* Seconds at x, linear in the logarithm of x between points, constant beyond the ends. n > 0. */
double curve_series_at(const struct curve_series *series, double x);

/* The largest x; 0 without points. */
double curve_series_end(const struct curve_series *series);

/* levels_fit of a series. */
bool curve_series_levels(const struct curve_series *series, struct levels *levels);
