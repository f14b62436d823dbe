/* SPDX-License-Identifier: MIT */
/* Second visits of points by further processes, after all others: what disturbed one process as a
 * whole, and shows on no clock, has gone by then. Which points need it, and what becomes of the
 * curve. */
#ifndef FATHOM_CURVE_AGAIN_H
#define FATHOM_CURVE_AGAIN_H

#include "base.h"
#include "curve.h"

/* The noisy points, each as one row of a new table like the curve; NULL when there is none, or so
 * many that more than one process's bad luck is behind it (somebody else uses the device). */
struct table *curve_noisy(const struct table *curve);

/* Whether a table of points has the one of this series and arguments. */
bool curve_lists(
        const struct table *points, const char *series, const struct arg *args, size_t arg_count);

/* A second visit's rows: each is one more process of its point, which a few that differ make known
 * the better the more they are. What disturbs makes slower, though: where the slowest process was
 * so by more than noise may be, the visit stands in its place (sample_merge), and a visit that is
 * as much slower than all processes is only counted. Of single samples nothing tells which one was
 * disturbed. Visits with another user of the device, and points that the curve does not have, are
 * ignored. */
void curve_visit_again(struct table *curve, const struct table *again);

#endif
