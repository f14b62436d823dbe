/* SPDX-License-Identifier: MIT */
/* The shapes of a list of predictions, and the order in which they are measured. */
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
