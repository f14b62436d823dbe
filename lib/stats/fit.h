/* SPDX-License-Identifier: MIT */
/* Fits of measured curves: t = alpha + bytes/beta and plateaus. */
#pragma once

#include "lib/base/base.h"
#include "stats.h"

struct fit_line {
	struct estimate alpha; /* seconds */
	struct estimate beta;  /* bytes per second */
	double n_half;         /* alpha * beta, bytes: half of the asymptotic rate */
	double median_residual, worst_residual; /* |t/fit - 1| over the points */
};

/* Least squares of t = alpha + bytes/beta weighted by 1/t^2, so that every decade of sizes counts
 * alike (relative error), made robust by three rounds of reweighting by residual (Huber, 1.345
 * scaled MAD). Intervals are those of the linear model with n - 2 degrees of freedom. False when
 * there are fewer than 3 points or the slope is not positive. A negative alpha is returned as it
 * comes. */
bool fit_line(const double *bytes, const double *seconds, size_t n, struct fit_line *fit);
