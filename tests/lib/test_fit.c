/* SPDX-License-Identifier: MIT */
/* The line fit must give back what synthetic curves were made of. */
#include "lib/stats/fit.h"
#include "tests/fit_test.h"

enum { POINTS = 31 }; /* 1 B .. 1 GiB */
static const double alpha = 3e-6, beta = 50e9;

static double bytes[POINTS], seconds[POINTS];
static struct fit_line fit;

/* Nearly normal, standard deviation 1. */
static double next_normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += fit_random(state);
	return sum;
}

static void make_curve(double noise, uint64_t seed)
{
	uint64_t state = seed;

	fit_random(&state);
	for (int i = 0; i < POINTS; i++) {
		bytes[i] = ldexp(1, i);
		seconds[i] = (alpha + bytes[i] / beta) * (1 + noise * next_normal(&state));
	}
}

static bool encloses(struct estimate estimate, double value)
{
	return estimate.low <= value && value <= estimate.high;
}

static void test_exact(void)
{
	make_curve(0, 1);
	ok(fit_line(bytes, seconds, POINTS, &fit), "a curve without noise is fitted");
	is_real(fit.alpha.value, alpha, 1e-9, "alpha exactly");
	is_real(fit.beta.value, beta, 1e-9, "beta exactly");
	is_real(fit.n_half, alpha * beta, 1e-9, "n_half exactly");
	ok(fit.worst_residual < 1e-9, "no residuals");
	ok(fit.alpha.samples == POINTS && fit.beta.samples == POINTS, "all points count");
}

static void test_noise(void)
{
	enum { CURVES = 400 };
	double worst = 0;
	int alpha_inside = 0, beta_inside = 0, fitted = 0;

	for (uint64_t seed = 1; seed <= CURVES; seed++) {
		make_curve(0.02, seed);
		fitted += fit_line(bytes, seconds, POINTS, &fit);
		alpha_inside += encloses(fit.alpha, alpha);
		beta_inside += encloses(fit.beta, beta);
		worst = fmax(worst,
		        fmax(fabs(fit.alpha.value / alpha - 1), fabs(fit.beta.value / beta - 1)));
	}
	ok(fitted == CURVES, "curves with 2 %% noise are fitted");
	if (!ok(worst < 0.03, "alpha and beta within 3 %%"))
		diag("worst error %g", worst);
	if (!ok(alpha_inside > 0.9 * CURVES && beta_inside > 0.9 * CURVES,
	            "the intervals enclose the truth in more than 9 of 10 curves"))
		diag("alpha %d, beta %d of %d", alpha_inside, beta_inside, CURVES);
	ok(fit.alpha.high - fit.alpha.low < 0.1 * alpha &&
	                fit.beta.high - fit.beta.low < 0.1 * beta,
	        "and are narrow");
	ok(fit.median_residual < 0.03 && fit.worst_residual < 0.1, "the residuals are the noise");
}

static void test_outliers(void)
{
	make_curve(0.01, 7);
	seconds[3] *= 4;
	seconds[15] *= 2;
	seconds[28] *= 3;
	ok(fit_line(bytes, seconds, POINTS, &fit), "a curve with three outliers is fitted");
	is_real(fit.alpha.value, alpha, 0.03, "alpha in spite of outliers");
	is_real(fit.beta.value, beta, 0.03, "beta in spite of outliers");
	ok(fit.worst_residual > 1 && fit.median_residual < 0.03, "the outliers show as residuals");
}

static void test_refusals(void)
{
	const double two[] = {1, 1024}, alike[] = {8, 8, 8}, sizes[] = {1, 1e6, 1e9};
	const double falling[] = {3e-6, 2e-6, 1e-6}, flat[] = {1e-6, 1e-6, 1e-6};
	const double rising[] = {1e-6, 2e-6, 1e-3};
	const double gaps[] = {1e-6, NAN, 1e-3}, zero[] = {0, 1e-6, 1e-3};

	ok(!fit_line(NULL, NULL, 0, &fit), "no points are refused");
	ok(!fit_line(two, rising, 2, &fit), "two points are refused");
	ok(!fit_line(alike, rising, 3, &fit), "one size thrice is refused");
	ok(!fit_line(sizes, falling, 3, &fit), "a falling curve is refused");
	ok(!fit_line(sizes, flat, 3, &fit) || fit.beta.high == INFINITY,
	        "a flat curve is refused or has no upper end");
	ok(!fit_line(sizes, gaps, 3, &fit), "points not measured do not count");
	ok(!fit_line(sizes, zero, 3, &fit), "times of zero do not count");
}

static void test_negative_alpha(void)
{
	for (int i = 0; i < POINTS; i++) {
		bytes[i] = 1000.0 * (i + 1);
		seconds[i] = bytes[i] / beta - 1e-8;
	}
	ok(fit_line(bytes, seconds, POINTS, &fit), "a curve with a negative intercept is fitted");
	is_real(fit.alpha.value, -1e-8, 1e-6, "alpha is returned as it comes");
	is_real(fit.beta.value, beta, 1e-6, "and beta with it");
}

int main(void)
{
	test_exact();
	test_noise();
	test_outliers();
	test_refusals();
	test_negative_alpha();
	return finish();
}
