/* SPDX-License-Identifier: MIT */
/* Whether a factored panel is right, computed in double whatever the panel's precision. Costs 2 m
 * n^2 operations and two copies of the panel in double. */
#pragma once

#include "factor/executors/executor.h"

#include <math.h>

/* The ratio below which LAPACK's own tests pass. */
enum { CHECK_THRESHOLD = 30 };

/* LAPACK's epsilon: half of the distance from 1 to the next number. */
static inline double check_eps(enum precision precision)
{
	return precision == SINGLE ? 0x1p-24 : 0x1p-53;
}

/* The larger of two ratios; NaN stays. */
static inline double check_worse(double worst, double ratio)
{
	return ratio > worst || isnan(ratio) ? ratio : worst;
}

struct panel_check {
	double ratio; /* sget01: norm1(L U - P A) / (n norm1(A) eps); NaN when a number is NaN */
	double max_l; /* largest magnitude in L below the diagonal: at most 1 with pivoting */
	bool pivots_valid; /* j < ipiv[j] <= m for every 0-based j; else the ratios are NaN */
	bool passed;       /* all three are right */
};

/* a0 is the panel before, lu after; both m x n, column-major, on the host. */
void check_panel(const void *a0, int64_t lda, const void *lu, int64_t ldlu, int64_t m, int64_t n,
        const int *ipiv, enum precision precision, struct panel_check *check);
