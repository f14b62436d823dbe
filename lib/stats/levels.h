/* SPDX-License-Identifier: MIT */
/* Levels of a memory hierarchy from a curve of latency against the size of the set that is walked
 * (lib/stats/pointer_chain): caches over bytes, TLBs over bytes of pages, entries over numbers of nodes. With i
 * over the levels, L(x) = base + sum_i step_i * miss(size_i / x): flat until a size, then rising
 * by a law that replacement policy and length of the chain bend only a little; several levels add
 * up. The number of levels is chosen by an information criterion over the points' errors and a
 * floor of systematic error. What the points do not determine is "not resolved" and has bounds
 * only. */
#ifndef FATHOM_LEVELS_H
#define FATHOM_LEVELS_H

#include "lib/base/base.h"
#include "stats.h"

enum { LEVELS_MAX = 6 };

struct level {
	/* What accesses served by this level take, seconds: the plateau up to this level's size. */
	struct estimate latency;
	bool latency_resolved; /* the plateau is seen, or follows from a kink on each side */
	/* Set size (in the unit of the sizes given) beyond which accesses miss this level. Not
	 * resolved: low and high bound it, NaN where nothing is known, and value is NaN. */
	struct estimate size;
	bool resolved;
	/* By how much what comes beyond is slower, seconds. Not resolved: NaN, or bounds only. */
	struct estimate step;
	bool step_resolved;
};

struct levels {
	/* level[0 .. count - 1] are left by the curve at their size; level[count] is the last
	 * plateau, whose size is not resolved and has as low bound the largest set measured (NaN
	 * when the curve still rises there). count 0: one plateau. */
	size_t count;
	struct level level[LEVELS_MAX + 1];
	double misfit; /* root mean square of (measured / law - 1), weighted as in the fit */
	bool lawful;   /* the points follow the law; false: nothing is resolved */
};

/* Fits n points (any order; equal sizes allowed). error[i] is the relative standard error of
 * seconds[i]. Points that are not finite and positive are left out. False, and no levels, when
 * fewer than 4 points are left. */
bool levels_fit(const double *size, const double *seconds, const double *error, size_t n,
        struct levels *levels);

/* a / b with its interval (both independent); samples 0 when either has none. A page is the reach
 * over the entries of a TLB. */
struct estimate levels_quotient(struct estimate a, struct estimate b);

/* The power of two in [low, high] if there is exactly one, else NaN. */
double levels_power_of_two(struct estimate estimate);

#endif
