/* SPDX-License-Identifier: MIT */
/* Re-measurement of points by further processes at the end of the run: noisy points, as
 * interference may have ended, and points whose value chance decides per process. Selects the
 * points and adds the new rows to the curve. */
#pragma once

#include "lib/base/base.h"
#include "curve.h"

/* Whether chance gives each process one of several values for a point of this series that takes so
 * long. */
typedef bool (*curve_chance)(const char *series, double seconds);

/* The points to measure again, one row each of a new table like the curve. These are the noisy
 * points, if asked for, the noisiest first and at most 200; and the points by_chance (NULL: none)
 * that fewer than `processes` processes measured. NULL when there is none. */
struct table *curve_wanted(
        const struct table *curve, bool noisy, curve_chance by_chance, size_t processes);

/* Whether a table of points has a point of this series and arguments. */
bool curve_lists(
        const struct table *points, const char *series, const struct arg *args, size_t arg_count);

/* Adds the rows of a re-measurement: each is one more process of its point, quick or slow. It must
 * not replace the slowest process, or the interval would be too small. Rows with another user of
 * the device, and points that the curve does not have, are ignored. */
void curve_resample(struct table *curve, const struct table *again);
