/* SPDX-License-Identifier: MIT */
/* How many readers share a level: the factor by which each reader's private set must be multiplied
 * to turn the latency curve of one reader alone into the curve of all readers at once. */
#pragma once

#include "lib/base/base.h"
#include "stats.h"

struct sharing_curve {
	const double *size, *seconds; /* ascending sizes */
	size_t n;
};

/* Points of `all` beyond the largest size of `alone` are left out. Not resolved: samples 0, and low
 * and high are the possible range (NaN: unknown). */
struct estimate sharing_fit(struct sharing_curve alone, struct sharing_curve all, double most);
