/* SPDX-License-Identifier: MIT */
/* A measured curve: the rows of <probe>.tsv, one per series, arguments and process, and their
 * combination over the processes. Probes write rows; fits read points. */
#ifndef FATHOM_CURVE_H
#define FATHOM_CURVE_H

#include "lib/base/base.h"
#include "lib/profile/profile.h"
#include "lib/host/sample.h"
#include "lib/base/table.h"

/* Columns of every curve file: series, the probe's argument columns (units in their names: bytes,
 * stride_bytes, blocks, threads ...), then these. */
#define CURVE_COLUMNS                                                                              \
	"process", "seconds", "low_seconds", "high_seconds", "samples", "discarded", "disturbed",  \
	        "sm_hz", "busy"

/* An empty curve table for a probe with the given argument columns. */
struct table *curve_new(const char *const *arg_columns, size_t count);

/* Appends one process's measurement. Argument columns not named in args are nan. */
void curve_add(struct table *curve, const char *series, const struct arg *args, size_t arg_count,
        int process, const struct measurement *measurement, bool busy);

/* Says of a curve that its processes differ by more than a third only where others worked on the
 * host's cores meanwhile, which makes nothing quicker. Of its points the processes that took more
 * than a third longer than the quickest one do not count, where two or more are left. */
void curve_slow_are_disturbed(struct table *curve);

/* What curve_add was given; no samples where the value is not finite. */
struct measurement curve_row(const struct table *curve, size_t row);

/* Whether a row has these arguments, others ignored. */
bool curve_row_has(const struct table *curve, size_t row, const struct arg *args, size_t arg_count);

/* One point: all processes combined. */
struct point {
	const char *series; /* points into the table */
	struct estimate seconds;
	double hz; /* median over the processes */
	size_t processes, discarded;
	bool busy;  /* any process saw another user of the device, or its samples were mostly
	               discarded, those on a shared core (disturbed) aside */
	size_t row; /* first row of this point in the table, for reading its arguments */
};

/* The points of one series in file order (NULL series: all). Returns their number; the caller frees
 * *points. Rows with the same series and arguments are one point. */
size_t curve_points(const struct table *curve, const char *series, struct point **points);

/* The point of a series at the given arguments (others ignored); samples = 0 when absent. */
struct point curve_at(
        const struct table *curve, const char *series, const struct arg *args, size_t arg_count);

/* How many columns, which come first, tell points apart: those before the process, or all. */
size_t curve_key_columns(const struct table *curve);

/* Whether two rows are of one point: the same series and arguments, that is, the same text in every
 * column before the process. */
bool curve_same_point(const struct table *curve, size_t a, size_t b);

/* An argument of a point. */
double curve_arg(const struct table *curve, const struct point *point, const char *column);

#endif
