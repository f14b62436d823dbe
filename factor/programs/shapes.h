/* SPDX-License-Identifier: MIT */
/* The shapes of a list of predictions, the order in which they are measured, and which cases are
 * measured again. */
#pragma once

#include "factor/validation/results.h"

/* Cases of one shape are measured in turns on the same data. */
struct shape {
	const struct result *row; /* the first prediction */
	double seconds;           /* predicted at level 2, of one run of each of its cases */
};

/* Whether two cases are of one shape. */
bool shapes_same(const struct result *a, const struct result *b);

/* Adds a prediction to the shapes; returns their number. */
size_t shapes_add(struct shape *shape, size_t count, const struct result *row);

/* Random order, but shapes with a predicted time above their share of the budget (seconds) come at
 * the end, the longest last: a budget that is too short then leaves out the fewest shapes. */
void shapes_order(struct shape *shape, size_t count, uint64_t seed, double budget);

/* ---- re-measurement: disturbed cases, then cases known too imprecisely, are measured again at the
 * end. On a shared host a disturbance may last longer than one measurement. ---- */

/* Whether the case was measured, but by disturbed runs, or with an interval whose relative
 * half-width exceeds target (INFINITY: only disturbed ones). Never for the first `kept` rows, of an
 * earlier call, nor for a single long run. */
bool remeasure_wanted(
        const struct results *done, size_t kept, const struct result *of, double target);

/* Merges both measurements of each case. If one of them is disturbed, the other counts; else
 * sample_merge (lib/host/sample.h) combines them: one that is slower than the other's interval is
 * dropped. Keeps the larger residuals. Returns how many cases were merged. */
size_t remeasured_merge(struct results *done, const struct results *second);
