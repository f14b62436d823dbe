/* SPDX-License-Identifier: MIT */
/* Midrange over processes, for points that take one of several values per process. */
#pragma once

#include "curve.h"

/* The midrange over the processes of a point, after dropping processes 25 % above the median; its
 * interval spans the intervals of the kept processes. Kernel starts have two groups of values;
 * chance decides which one a process gets, so the median could be in either group. */
struct estimate curve_midrange(const struct table *curve, const struct point *point);
