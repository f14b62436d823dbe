/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_reals(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* An ascending copy that the caller frees; NULL when there is nothing to sort or a NaN among it. */
static double *sorted_copy(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (isnan(x[i]))
			return NULL;
	if (n == 0)
		return NULL;
	double *copy = xmalloc(n * sizeof *copy);
	memcpy(copy, x, n * sizeof *copy);
	qsort(copy, n, sizeof *copy, compare_reals);
	return copy;
}

static double middle(const double *sorted, size_t n)
{
	return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

bool stats_noisy(const struct estimate *estimate)
{
	static const double most = 0.2;

	return !((estimate->high - estimate->low) / 2 <= most * fabs(estimate->value));
}

double stats_median(const double *x, size_t n)
{
	double *sorted = sorted_copy(x, n);
	double median = sorted ? middle(sorted, n) : NAN;

	free(sorted);
	return median;
}

double stats_quantile(const double *x, size_t n, double q)
{
	double *sorted = sorted_copy(x, n);

	if (!sorted)
		return NAN;
	double place = q * (double)(n - 1);
	size_t below = (size_t)place;
	size_t above = below + 1 < n ? below + 1 : below;
	double value = sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
	free(sorted);
	return value;
}

/* The largest k for which the k-th smallest and k-th largest of n samples enclose the median with
 * at least 95 %: P(Binomial(n, 1/2) < k) <= 2.5 %. Zero for n < 6. The sum starts ten standard
 * deviations below n/2; what lies before is below 1e-22. */
static size_t median_rank(size_t n)
{
	double count = (double)n;
	double start = fmax(0, floor(count / 2 - 5 * sqrt(count)));
	size_t k = (size_t)start;
	double term = exp(
	        lgamma(count + 1) - lgamma(start + 1) - lgamma(count - start + 1) - count * log(2));

	for (double sum = term; sum <= 0.025; sum += term) {
		term *= (double)(n - k) / (double)(k + 1);
		k++;
	}
	return k;
}

struct estimate stats_median_interval(const double *x, size_t n)
{
	double *sorted = sorted_copy(x, n);

	if (!sorted)
		return (struct estimate){NAN, NAN, NAN, 0};
	size_t k = median_rank(n);
	size_t skip = k > 0 ? k - 1 : 0;
	struct estimate median = {middle(sorted, n), sorted[skip], sorted[n - 1 - skip], n};
	free(sorted);
	return median;
}

double stats_mean(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return n ? sum / (double)n : NAN;
}

double stats_deviation(const double *x, size_t n)
{
	double mean = stats_mean(x, n), sum = 0;

	if (n < 2)
		return 0;
	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

/* Beyond the table: Cornish-Fisher expansion about the normal quantile (Abramowitz and
 * Stegun 26.7.5). */
double stats_student(size_t degrees)
{
	static const double table[] = {INFINITY, 12.70620474, 4.30265273, 3.18244631, 2.77644511,
	        2.57058184, 2.44691185, 2.36462425, 2.30600414, 2.26215716, 2.22813885};

	if (degrees < ARRAY_LEN(table))
		return table[degrees];
	const double z = 1.95996398, z2 = z * z, v = (double)degrees;
	const double g1 = (z2 + 1) / 4;
	const double g2 = ((5 * z2 + 16) * z2 + 3) / 96;
	const double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
	const double g4 = ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;
	return z * (1 + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v);
}

/* One more than how many are less, and half of how many others are equal. */
static double rank_of(const double *value, size_t n, size_t i)
{
	double rank = 1;

	for (size_t k = 0; k < n; k++)
		rank += value[k] < value[i] ? 1 : k != i && value[k] == value[i] ? 0.5 : 0;
	return rank;
}

/* Every judge's ranks have the variance (n^2 - 1) / 12, ties apart, and mean ranks that of the
 * part in common: with m judges of correlation r, that times (1 + (m - 1) r) / m. */
double stats_agreement(const double *value, size_t n, size_t judges)
{
	double own = 0, common = 0;

	if (n < 2 || judges < 2)
		return 1;
	for (size_t i = 0; i < n; i++) {
		double mean = 0;
		for (size_t j = 0; j < judges; j++) {
			const double off = rank_of(value + j * n, n, i) - 0.5 * (double)(n + 1);
			own += off * off / (double)judges;
			mean += off / (double)judges;
		}
		common += mean * mean;
	}
	if (!(own > 0))
		return 1;
	return ((double)judges * common / own - 1) / (double)(judges - 1);
}

/* The median of the processes' values with its interval. */
static struct estimate interval_between(const double *value, size_t n)
{
	static const size_t many = 12;

	if (n >= many)
		return stats_median_interval(value, n);
	const double median = stats_median(value, n);
	const double half =
	        n > 1 ? stats_student(n - 1) * stats_deviation(value, n) / sqrt((double)n) : 0;
	return (struct estimate){median, median - half, median + half, n};
}

struct estimate stats_combine(const struct estimate *process, size_t n)
{
	double *value = xmalloc(3 * n * sizeof *value);
	double *below = value + n, *above = below + n;
	size_t kept = 0, samples = 0;

	for (size_t i = 0; i < n; i++) {
		if (process[i].samples == 0)
			continue;
		value[kept] = process[i].value;
		below[kept] = process[i].value - process[i].low;
		above[kept] = process[i].high - process[i].value;
		samples += process[i].samples;
		kept++;
	}
	const struct estimate between = interval_between(value, kept);
	const double each = sqrt((double)kept);
	struct estimate all = {between.value,
	        between.value -
	                hypot(between.value - between.low, stats_median(below, kept) / each),
	        between.value +
	                hypot(between.high - between.value, stats_median(above, kept) / each),
	        samples};
	free(value);
	return all;
}
