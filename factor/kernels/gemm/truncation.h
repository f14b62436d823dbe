/* SPDX-License-Identifier: MIT */
/* What the tensor cores' truncation takes from a sum, and how products by split operands give it
 * back. The units cut each partial sum to single precision, half a unit in the last place on
 * average; a sum of products of one sign is then too small, the more so the more steps it takes.
 *
 * Two measures, both without cost: the inner dimension is processed from its end, because in
 * factors the first columns are the largest and add most of a sum in its last steps; and the
 * product is multiplied by 1 + about half of the mean loss of a sum that grows evenly. All
 * of that loss would be too much for sums that the first columns dominate.
 * docs/experiments/truncation.md has the figures. */
#pragma once

#include <stdint.h>

/* Inner dimension of one step, and the share of the loss that is returned. */
enum truncation { TRUNCATION_TF32, TRUNCATION_FP16 };

/* alpha, so that alpha times a sum of `depth` products is right on average. The mean of 1/x over
 * mantissas 1 <= x < 2 of even logarithm is 0.72: a step loses 0.36 x 2^-23 of the partial sum,
 * which is half of the sum on average. */
static inline double truncation_scale(double alpha, int64_t depth, enum truncation of)
{
	static const double step[] = {8, 16}, returned[] = {0.4, 0.56}, loss = 0.36 * 0x1p-23;

	return alpha * (1 + returned[of] * loss * ((double)depth / step[of] + 1) / 2);
}
