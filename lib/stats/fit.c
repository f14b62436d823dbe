/* SPDX-License-Identifier: MIT */
#include "fit.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 3 };                    /* of reweighting after the plain fit */
static const double huber = 1.345;      /* 95 % efficiency for normal errors */
static const double mad_scale = 1.4826; /* median absolute deviation to standard deviation */

struct line {
	double alpha, slope;             /* t = alpha + slope * bytes */
	double alpha_error, slope_error; /* standard errors */
};

/* Relative residual of one point. */
static double residual(const struct line *line, double bytes, double seconds)
{
	return 1 - (line->alpha + line->slope * bytes) / seconds;
}

/* Weighted least squares in coordinates centred on the weighted means. False when all bytes are
 * alike. */
static bool solve(const double *bytes, const double *seconds, const double *robust, size_t n,
        struct line *line)
{
	double sum = 0, x_mean = 0, t_mean = 0, xx = 0, xt = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		double weight = robust[i] / (seconds[i] * seconds[i]);
		sum += weight;
		x_mean += weight * bytes[i];
		t_mean += weight * seconds[i];
	}
	x_mean /= sum;
	t_mean /= sum;
	for (size_t i = 0; i < n; i++) {
		double weight = robust[i] / (seconds[i] * seconds[i]), x = bytes[i] - x_mean;
		xx += weight * x * x;
		xt += weight * x * (seconds[i] - t_mean);
	}
	if (!(xx > 0))
		return false;
	line->slope = xt / xx;
	line->alpha = t_mean - line->slope * x_mean;

	for (size_t i = 0; i < n; i++) {
		double r = residual(line, bytes[i], seconds[i]);
		squares += robust[i] * r * r;
	}
	double variance = squares / (double)(n - 2);
	line->slope_error = sqrt(variance / xx);
	line->alpha_error = sqrt(variance * (1 / sum + x_mean * x_mean / xx));
	return true;
}

/* Huber's weights: 1 within 1.345 robust standard deviations, falling as 1/|r| beyond. */
static void reweight(const struct line *line, const double *bytes, const double *seconds,
        double *robust, size_t n)
{
	for (size_t i = 0; i < n; i++)
		robust[i] = fabs(residual(line, bytes[i], seconds[i]));
	/* Rounding alone leaves residuals of 1e-16: a smaller scale would reject good points. */
	double limit = huber * fmax(mad_scale * stats_median(robust, n), 1e-12);
	for (size_t i = 0; i < n; i++)
		robust[i] = robust[i] > limit ? limit / robust[i] : 1;
}

static void judge(const struct line *line, const double *bytes, const double *seconds, size_t n,
        double *scratch, struct fit_line *fit)
{
	fit->worst_residual = 0;
	for (size_t i = 0; i < n; i++) {
		scratch[i] = fabs(seconds[i] / (line->alpha + line->slope * bytes[i]) - 1);
		fit->worst_residual = fmax(fit->worst_residual, scratch[i]);
	}
	fit->median_residual = stats_median(scratch, n);
}

static bool fit_usable(
        const double *bytes, const double *seconds, size_t n, double *robust, struct fit_line *fit)
{
	struct line line;

	for (size_t i = 0; i < n; i++)
		robust[i] = 1;
	if (n < 3 || !solve(bytes, seconds, robust, n, &line))
		return false;
	for (int round = 0; round < ROUNDS; round++) {
		reweight(&line, bytes, seconds, robust, n);
		if (!solve(bytes, seconds, robust, n, &line))
			return false;
	}
	if (!(line.slope > 0))
		return false;
	double t = stats_student(n - 2), least = line.slope - t * line.slope_error;
	fit->alpha = (struct estimate){line.alpha, line.alpha - t * line.alpha_error,
	        line.alpha + t * line.alpha_error, n};
	fit->beta = (struct estimate){1 / line.slope, 1 / (line.slope + t * line.slope_error),
	        least > 0 ? 1 / least : INFINITY, n};
	fit->n_half = line.alpha / line.slope;
	judge(&line, bytes, seconds, n, robust, fit);
	return true;
}

bool fit_line(const double *bytes, const double *seconds, size_t n, struct fit_line *fit)
{
	double *x = xmalloc(3 * n * sizeof *x), *t = x + n, *robust = t + n;
	size_t usable = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(bytes[i]) || !isfinite(seconds[i]) || !(seconds[i] > 0))
			continue;
		x[usable] = bytes[i];
		t[usable++] = seconds[i];
	}
	bool fitted = fit_usable(x, t, usable, robust, fit);
	free(x);
	return fitted;
}
