/* SPDX-License-Identifier: MIT */
#include "sharing.h"

#include <math.h>

/* Relative error: readers that do not share the level still meet beyond it. */
static const double error = 0.04, chi_95 = 3.84;
/* A curve with a smaller change says nothing, nor does a fit with a larger misfit. */
static const double least_change = 1.25, worst_misfit = 0.12, widest = 1.6;

enum { SCREENED = 400 };

/* Seconds at a size, linear in the logs between points; constant beyond the ends. */
static double curve_seconds(const struct sharing_curve *curve, double size)
{
	size_t i = 0;

	if (size <= curve->size[0])
		return curve->seconds[0];
	while (i + 2 < curve->n && curve->size[i + 1] < size)
		i++;
	if (size >= curve->size[i + 1])
		return curve->seconds[i + 1];
	const double part = log(size / curve->size[i]) / log(curve->size[i + 1] / curve->size[i]);
	return exp((1 - part) * log(curve->seconds[i]) + part * log(curve->seconds[i + 1]));
}

static double loss(const struct sharing_curve *alone, const struct sharing_curve *all,
        double sharers, double *worst)
{
	double sum = 0;

	*worst = 0;
	for (size_t i = 0; i < all->n; i++) {
		if (all->size[i] > alone->size[alone->n - 1])
			continue;
		const double off =
		        log(all->seconds[i] / curve_seconds(alone, sharers * all->size[i]));
		sum += off * off / (error * error);
		*worst = fmax(*worst, fabs(off));
	}
	return sum;
}

static double change(const struct sharing_curve *curve)
{
	double low = INFINITY, high = 0;

	for (size_t i = 0; i < curve->n; i++) {
		low = fmin(low, curve->seconds[i]);
		high = fmax(high, curve->seconds[i]);
	}
	return high / low;
}

struct estimate sharing_fit(struct sharing_curve alone, struct sharing_curve all, double most)
{
	struct estimate sharers = {NAN, NAN, NAN, 0};
	double tried[SCREENED + 1], found[SCREENED + 1], best = INFINITY, worst = 0;

	if (alone.n < 2 || all.n < 3 || most < 1 || change(&all) < least_change)
		return sharers;
	for (int i = 0; i <= SCREENED; i++) {
		double off;
		tried[i] = 0.8 * pow(1.25 * 1.25 * most, (double)i / SCREENED);
		found[i] = loss(&alone, &all, tried[i], &off);
		if (found[i] < best) {
			best = found[i];
			worst = off;
			sharers.value = tried[i];
		}
	}
	for (int i = 0; i <= SCREENED; i++) {
		if (found[i] > best + chi_95 * fmax(1, best / (double)all.n))
			continue;
		sharers.low = isnan(sharers.low) ? tried[i] : sharers.low;
		sharers.high = tried[i];
	}
	sharers.low *= 0.95;
	sharers.high *= 1.05;
	if (worst <= worst_misfit && sharers.high <= widest * sharers.low)
		sharers.samples = all.n;
	else
		sharers.value = NAN;
	if (worst > worst_misfit)
		sharers.low = sharers.high = NAN;
	return sharers;
}
