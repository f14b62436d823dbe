/* SPDX-License-Identifier: MIT */
/* A measured curve: the rows of <probe>.tsv, one per series, arguments and process, and their
 * combination over the processes. Probes write rows; fits read points. */
#pragma once

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

/* Appends one process's measurement. Cells are empty where there is no number: arguments not named
 * in args, the interval of a single sample, an unknown clock. A measurement that the CPU quota
 * stopped is busy. */
void curve_add(struct table *curve, const char *series, const struct arg *args, size_t arg_count,
        int process, const struct measurement *measurement, bool busy);

/* Reads a curve and checks each row: a series, numbers where there are any, a whole process and
 * count of samples. NULL with a fault that names file and line. */
struct table *curve_read(const char *path, struct fault *fault);

/* Marks a curve whose processes differ by more than a third only through interference on the host's
 * cores. At each of its points the processes that took more than a third longer than the quickest
 * do not count, where two or more are left. */
void curve_slow_are_disturbed(struct table *curve);

/* The arguments of curve_add for a row; no samples where the value is not finite. */
struct measurement curve_row(const struct table *curve, size_t row);

/* Whether a row has these arguments; others are ignored. */
bool curve_row_has(const struct table *curve, size_t row, const struct arg *args, size_t arg_count);

/* One point: all processes combined. */
struct point {
	const char *series; /* points into the table */
	struct estimate seconds;
	double hz; /* median over the processes */
	size_t processes, discarded;
	bool busy; /* any process saw another user of the device, or most samples were discarded for
	              other reasons than interference on a core (disturbed) */
	size_t row; /* first row of this point in the table, for reading its arguments */
};

/* The points of one series in file order (NULL: of all series). Rows with the same series and
 * arguments are one point. Returns their number; the caller frees *points. */
size_t curve_points(const struct table *curve, const char *series, struct point **points);

/* The point of a series at the given arguments (others are ignored); samples 0 when absent. */
struct point curve_at(
        const struct table *curve, const char *series, const struct arg *args, size_t arg_count);

/* Whether two rows are of one point: the same text in every column before the process. The second
 * function compares rows of two tables with the same columns. */
bool curve_same_point(const struct table *curve, size_t a, size_t b);
bool curve_same_keys(const struct table *a, size_t row_a, const struct table *b, size_t row_b);

/* An argument of a point. */
double curve_arg(const struct table *curve, const struct point *point, const char *column);

/* The midrange over the processes of a point, after dropping processes 25 % above the median; its
 * interval spans the intervals of the kept processes. Kernel starts have two groups of values;
 * chance decides which one a process gets, so the median could be in either group. */
struct estimate curve_midrange(const struct table *curve, const struct point *point);
