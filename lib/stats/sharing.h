/* SPDX-License-Identifier: MIT */
/* How many readers share a level: by how much the set of each has to be multiplied for the curve of
 * one reader alone to become that of all of them at once, each with a private set of that size. */
#ifndef FATHOM_SHARING_H
#define FATHOM_SHARING_H

#include "lib/base/base.h"
#include "stats.h"

struct sharing_curve {
	const double *size, *seconds; /* ascending sizes */
	size_t n;
};

/* Points of `all` that lie beyond `alone` in size even when not multiplied are left out. A value,
 * or one whose samples are 0 with low and high the possible range (NaN: unknown): not resolved. */
struct estimate sharing_fit(struct sharing_curve alone, struct sharing_curve all, double most);

#endif
