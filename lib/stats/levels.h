/* SPDX-License-Identifier: MIT */
/* Levels of a memory hierarchy from latency against the size of the set that a random pointer chain
 * visits (lib/stats/pointer_chain): caches over bytes, TLBs over bytes of pages, entries over
 * numbers of nodes. With i over the levels, L(x) = base + sum_i step_i * miss(size_i / x). A level
 * is flat until its size, then its misses rise by a law that replacement policy and chain length
 * change only a little. An information criterion chooses the number of levels, from the errors of
 * the points and a floor of systematic error. A quantity that the points do not determine is "not
 * resolved" and has only bounds. */
#pragma once

#include "lib/base/base.h"
#include "stats.h"

enum { LEVELS_MAX = 6 };

struct level {
	/* Seconds of an access that this level serves: the plateau up to this level's size. */
	struct estimate latency;
	bool latency_resolved; /* the plateau is seen, or follows from a kink on each side */
	/* Set size (in the unit of the sizes given) beyond which accesses miss this level. Not
	 * resolved: low and high bound it, NaN where nothing is known, and value is NaN. */
	struct estimate size;
	bool resolved;
	/* Seconds that an access beyond this level takes longer. Not resolved: NaN, or bounds only.
	 */
	struct estimate step;
	bool step_resolved;
};

struct levels {
	/* The curve leaves level[0 .. count - 1] at their sizes. level[count] is the last plateau:
	 * its size is not resolved, its low bound is the largest set measured (NaN when the curve
	 * still rises there). count 0: one plateau. */
	size_t count;
	struct level level[LEVELS_MAX + 1];
	double misfit; /* root mean square of (measured / law - 1), weighted as in the fit */
	bool lawful;   /* the points follow the law; false: nothing is resolved */
};

/* Fits n points in any order; equal sizes are allowed. error[i] is the relative standard error of
 * seconds[i]. Points that are not finite and positive are left out. False, and no levels, when
 * fewer than 4 points are left. */
bool levels_fit(const double *size, const double *seconds, const double *error, size_t n,
        struct levels *levels);

/* a / b with its interval, for independent a and b; samples 0 when either has none. For a page
 * size: the reach of a TLB over its entries. */
struct estimate levels_quotient(struct estimate a, struct estimate b);

/* The power of two in [low, high] if there is exactly one, else NaN. */
double levels_power_of_two(struct estimate estimate);
