/* SPDX-License-Identifier: MIT */
/* Shared by the fits of the probes: rows of the profile from the points of a series, a line through
 * points, and facts that a probe noted in the metadata. */
#pragma once

#include "probe_fits.h"
#include "lib/stats/fit.h"

/* The value of a point, in the unit of its parameter. */
typedef struct estimate (*curve_value)(const struct table *curve, const struct point *point);

/* `bytes` over seconds: bytes per second. */
struct estimate curve_rate(const struct table *curve, const struct point *point);

enum { CURVE_ROWS_ARGS = 3 };

/* A series whose every point is a row of one parameter. */
struct curve_rows {
	const char *series;
	struct parameter_spec spec;
	/* Argument columns that become the parameter's arguments; NULL beyond the last. */
	const char *column[CURVE_ROWS_ARGS];
	curve_value value;  /* NULL: the point's seconds */
	const char *called; /* the first argument in the profile; NULL: as its column */
};

/* A surface: seconds of calls (regime "library") or of our kernels ("calibrated") by shape, between
 * low and high; then the argument columns. */
#define CURVE_SURFACE(series, parameter, method, regime, low, high, ...)                           \
	{                                                                                          \
		series, {parameter, "s", method, regime, low, high}, .column = { __VA_ARGS__ }     \
	}

/* Adds the row of one point of the series. */
void curve_fit_point(const struct table *curve, struct profile *profile,
        const struct curve_rows *rows, const struct point *point);

/* Adds the rows of `count` series. A required series without points gives one failed row, unless
 * the metadata has unavailable.<series>. */
void curve_fit_rows(const struct table *curve, struct profile *profile,
        const struct curve_rows *rows, size_t count, bool required);

/* seconds = alpha + bytes / beta through n points. Not fitted: no samples, n_half NaN. */
struct curve_line {
	struct fit_line fit;
	bool fitted, busy;
	char residuals[64]; /* for the text of a method */
};
struct curve_line curve_fit_line(
        const struct table *curve, const struct point *points, size_t n, curve_value value);

/* The SM clock over all points, Hz; samples 0 when there is none. *busy: whether any point is. */
struct estimate curve_clock(const struct table *curve, bool *busy);

/* A number in the metadata; NaN when it is absent. */
double curve_fact(const struct table *curve, const char *key);

/* So much a cycle on each multiprocessor of the device, by the second; infinite where the curve
 * does not have the device or its clock. For bounds: the most that any architecture can do. */
double curve_most(const struct table *curve, double per_cycle);

/* Seconds: no kernel starts sooner after the one before, whose last access alone takes longer. */
#define CURVE_SOONEST_KERNEL 1e-7

/* Whether a series has any row. */
bool curve_has_series(const struct table *curve, const char *series);

/* Whether any row was measured while others used the device. */
bool curve_any_busy(const struct table *curve);
