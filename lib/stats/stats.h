/* SPDX-License-Identifier: MIT */
/* Order statistics and intervals. All functions leave their input unchanged. A NaN among the input
 * gives NaN: it is never sorted away. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

/* A value with its 95 % interval. samples counts everything behind it; 0 samples means not measured
 * (value NaN). */
struct estimate {
	double value, low, high;
	size_t samples;
};

/* Whether nobody knows the value well: a half-width over 20 % of it, or NaN. */
bool stats_noisy(const struct estimate *estimate);

/* Median; the mean of the two middle elements for even n. NaN for n = 0. */
double stats_median(const double *x, size_t n);

/* Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996),
 * 0<=q<=1. */
double stats_quantile(const double *x, size_t n, double q);

/* Median with its distribution-free 95 % interval from order statistics (binomial ranks); the whole
 * range when n < 6. */
struct estimate stats_median_interval(const double *x, size_t n);

/* Arithmetic mean and sample standard deviation (n - 1); the latter is 0 for n < 2. */
double stats_mean(const double *x, size_t n);
double stats_deviation(const double *x, size_t n);

/* 97.5 % quantile of Student's t with the given degrees of freedom (>= 1). */
double stats_student(size_t degrees);

/* How far judges agree on the order of n subjects: the mean rank correlation of two judges, by
 * Kendall's coefficient of concordance (ties share their ranks). value[j * n + i] is judge j's of
 * subject i. 1 when all agree, near 0 when the orders are chance; 1 when there is nothing to
 * disagree about: fewer than two judges or subjects. */
double stats_agreement(const double *value, size_t n, size_t judges);

/* Combines the estimates of several fresh processes into one: value = median of their values;
 * half-widths = root of the squared sum of (a) Student's t interval of the process values, from
 * twelve on that of their median by order statistics, which a few disturbed ones do not widen, and
 * (b) the median of the processes' own half-widths over the root of their number, which (a)
 * contains but, of a few that agree by chance, understates. With one process only (b) is there.
 * Estimates without samples are skipped. */
struct estimate stats_combine(const struct estimate *process, size_t n);

C_END
