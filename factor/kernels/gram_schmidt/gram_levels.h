/* SPDX-License-Identifier: MIT */
/* Columns a thread in the measurements of the host_gram probe, for the probe and for the readers
 * of its results. */
#pragma once

#include "gram_loops.h"

#include <math.h>

/* Passes: two columns a thread; half of its first cache; a quarter of its second cache, which
 * cores may share; four times the second cache. Applying: one group of GRAM_TOGETHER columns;
 * four groups; four times the second cache. */
enum gram_level { GRAM_LEAST = 1, GRAM_NEAR, GRAM_QUARTER, GRAM_FAR };
enum gram_apply_level { GRAM_ONE = 1, GRAM_FOUR, GRAM_APPLY_FAR };

/* Steps of a measured pass, at most; of many columns. */
enum { GRAM_STEPS = 4, GRAM_FAR_STEPS = 2 };

/* Columns that are projected out: few, many. */
enum { GRAM_FEW = 8, GRAM_MANY = 48 };

/* Columns a thread, each of that many bytes. */
static inline double gram_columns_at(enum gram_level level, double bytes, double l1, double l2)
{
	return level == GRAM_LEAST     ? 2
	       : level == GRAM_NEAR    ? fmax(4, floor(l1 / 2 / bytes))
	       : level == GRAM_QUARTER ? fmax(6, floor(l2 / 4 / bytes))
	                               : fmax(16, floor(4 * l2 / bytes));
}

/* Groups of columns a thread. */
static inline double gram_groups_at(enum gram_apply_level level, double bytes, double l2)
{
	return level == GRAM_ONE    ? 1
	       : level == GRAM_FOUR ? 4
	                            : fmax(8, floor(4 * l2 / (GRAM_TOGETHER * bytes)));
}
