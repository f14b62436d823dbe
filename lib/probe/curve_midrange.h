/* SPDX-License-Identifier: MIT */
/* Points that take one of several values by process. */
#ifndef FATHOM_CURVE_MIDRANGE_H
#define FATHOM_CURVE_MIDRANGE_H

#include "curve.h"

/* The middle between the quickest and the slowest process of a point of `curve`, and an interval
 * that has both of theirs: how soon a kernel starts behind another one has two groups of values
 * (0.15 us apart on an H200), chance decides which one a process gets, and the median would be in
 * either. A process that takes over a quarter longer than the median one, as now and then one does
 * whose streams share a queue, takes no part. */
struct estimate curve_midrange(const struct table *curve, const struct point *point);

#endif
