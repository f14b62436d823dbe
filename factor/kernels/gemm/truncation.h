/* SPDX-License-Identifier: MIT */
/* What the tensor cores' truncation takes from a sum, and how products by split operands give it
 * back. The units cut each partial sum to single precision, half a unit in the last place on
 * average; a sum of products of one sign is then too small, the more so the more steps it takes.
 *
 * Two measures, both without cost: the inner dimension is processed from its end, because in
 * factors the first columns are the largest and add most of a sum in its last steps; and the
 * product is multiplied by 1 + four tenths of the mean loss of a sum that grows evenly. All
 * of that loss would be too much for sums that the first columns dominate.
 * docs/experiments/truncation.md has the figures. */
#pragma once

#include <stdint.h>

/* Inner dimension of one step: of TF32 and FP16. */
enum { TRUNCATION_STEP_TF32 = 8, TRUNCATION_STEP_FP16 = 16 };

/* alpha, so that alpha times a sum of `depth` products in such steps is right on average. The mean
 * of 1/x over mantissas 1 <= x < 2 of even logarithm is 0.72: a step loses 0.36 x 2^-23 of the
 * partial sum, which is half of the sum on average. */
static inline double truncation_scale(double alpha, int64_t depth, int step)
{
	const double returned = 0.4, loss = 0.36 * 0x1p-23;
	const double steps = (double)depth / step;

	return alpha * (1 + returned * loss * (steps + 1) / 2);
}
