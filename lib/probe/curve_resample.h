/* SPDX-License-Identifier: MIT */
/* Visits of points by further processes, after all others: what disturbed one process as a whole,
 * and shows on no clock, has gone by then; and of what chance decides by process few have seen too
 * little. Which points need it, and what becomes of the curve. */
#ifndef FATHOM_CURVE_RESAMPLE_H
#define FATHOM_CURVE_RESAMPLE_H

#include "lib/base/base.h"
#include "curve.h"

/* Whether chance gives a point of this series, that takes so long, one of several values by
 * process. */
typedef bool (*curve_chance)(const char *series, double seconds);

/* The points to be visited again, each as one row of a new table like the curve: the noisy ones, if
 * these are asked for, the noisiest first and of very many 200, and those that are by_chance (NULL:
 * none) and have been visited by fewer than `processes`. NULL when there is none. */
struct table *curve_wanted(
        const struct table *curve, bool noisy, curve_chance by_chance, size_t processes);

/* Whether a table of points has the one of this series and arguments. */
bool curve_lists(
        const struct table *points, const char *series, const struct arg *args, size_t arg_count);

/* A second visit's rows: each is one more process of its point, quick or slow, as a few that differ
 * make a point known the better the more they are. A visit must not stand for the slowest process
 * instead: the interval would look smaller than it is. As visits end when an interval is small
 * enough it holds the truth 91 to 94 times of a hundred, not 95, with noise of 20 to 10 %. Visits
 * with another user of the device, and points that the curve does not have, are ignored. */
void curve_resample(struct table *curve, const struct table *again);

#endif
