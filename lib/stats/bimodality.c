/* SPDX-License-Identifier: MIT */
#include "bimodality.h"

#include <math.h>

static const double least_part = 0.15;

/* Separations: below the first one group, from the second on two. */
static const double one_mode = 3.2, two_modes = 4.5;

double bimodality_find(const double *x, size_t n, int *side)
{
	double least = INFINITY, separation = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += x[i] * x[i];
	for (size_t cut = 0; cut < n; cut++) {
		double sum[2] = {0}, square[2] = {0}, count[2] = {0};
		for (size_t i = 0; i < n; i++) {
			const int above = x[i] > x[cut];
			sum[above] += x[i];
			square[above] += x[i] * x[i];
			count[above]++;
		}
		if (fmin(count[0], count[1]) < fmax(2, least_part * (double)n))
			continue;
		const double within = square[0] - sum[0] * sum[0] / count[0] + square[1] -
		                      sum[1] * sum[1] / count[1];
		if (within >= least)
			continue;
		least = within;
		separation = (sum[1] / count[1] - sum[0] / count[0]) /
		             sqrt(fmax(within, 1e-12 * squares) / (double)(n - 2));
		for (size_t i = 0; i < n; i++)
			side[i] = x[i] > x[cut];
	}
	return separation;
}

int bimodality_count(double separation)
{
	if (separation < one_mode)
		return 1;
	return separation >= two_modes ? 2 : 0;
}
