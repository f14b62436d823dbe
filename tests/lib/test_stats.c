/* SPDX-License-Identifier: MIT */
/* Statistics on vectors checked by hand. The line fit must give back what synthetic curves were
 * made of. */
#include "lib/stats/fit.h"
#include "tests/fit_test.h"

#define SIZE(...) ARRAY_LEN(((const double[]){__VA_ARGS__}))
#define MEDIAN(...) stats_median((const double[]){__VA_ARGS__}, SIZE(__VA_ARGS__))

static void test_median(void)
{
	const double unsorted[] = {3, 1, 2};

	is_real(stats_median(unsorted, 0), NAN, 0, "median of nothing");
	is_real(MEDIAN(7), 7, 0, "median of one");
	is_real(MEDIAN(1, 4), 2.5, 0, "median of two");
	is_real(stats_median(unsorted, 3), 2, 0, "median of three, unsorted");
	ok(unsorted[0] == 3 && unsorted[1] == 1 && unsorted[2] == 2, "the input is left alone");
	is_real(MEDIAN(1, 2, 3, 0), 1.5, 0, "median of four whose last is the least");
	is_real(MEDIAN(10, 1, 3, 2), 2.5, 0, "even count: mean of the two in the middle");
	is_real(MEDIAN(5, 9, 1, 3, 2, 100), 4, 0, "median of six");
	is_real(MEDIAN(-1, -5, -3), -3, 0, "negative values");
	is_real(MEDIAN(1, NAN, 3), NAN, 0, "a NaN makes the median NaN");
	is_real(MEDIAN(1, INFINITY, 3), 3, 0, "infinities are values");
}

static void test_quantile(void)
{
	const double x[] = {4, 1, 3, 2};

	is_real(stats_quantile(x, 4, 0), 1, 0, "lowest");
	is_real(stats_quantile(x, 4, 1), 4, 0, "highest");
	is_real(stats_quantile(x, 4, 0.25), 1.75, 1e-15, "lower quartile, type 7");
	is_real(stats_quantile(x, 4, 0.5), 2.5, 1e-15, "middle");
	is_real(stats_quantile(x, 4, 0.9), 3.7, 1e-15, "ninth decile");
	is_real(stats_quantile(x, 1, 0.9), 4, 0, "quantile of one value");
	is_real(stats_quantile(x, 0, 0.9), NAN, 0, "quantile of nothing");
}

/* The interval of 1..n shows its ranks. */
static void is_ranks(size_t n, double low, double high)
{
	double x[1000];
	char what[64];

	for (size_t i = 0; i < n; i++)
		x[i] = (double)(n - i);
	struct estimate got = stats_median_interval(x, n);
	snprintf(what, sizeof what, "ranks %g and %g enclose the median of %zu", low, high, n);
	if (!ok(got.low == low && got.high == high && got.samples == n, "%s", what))
		diag("got %g and %g of %zu samples", got.low, got.high, got.samples);
	snprintf(what, sizeof what, "the median of %zu lies between", n);
	is_real(got.value, 0.5 * (double)(n + 1), 1e-15, what);
}

static void test_median_interval(void)
{
	/* tabulated ranks of the sign test, e.g. Conover, Practical Nonparametric Statistics */
	static const size_t ranks[][3] = {{1, 1, 1}, {2, 1, 2}, {5, 1, 5}, {6, 1, 6}, {8, 1, 8},
	        {9, 2, 8}, {10, 2, 9}, {11, 2, 10}, {12, 3, 10}, {15, 4, 12}, {20, 6, 15},
	        {25, 8, 18}, {50, 18, 33}, {100, 40, 61}, {1000, 469, 532}};
	const double broken[] = {1, NAN, 2};

	for (size_t i = 0; i < ARRAY_LEN(ranks); i++)
		is_ranks(ranks[i][0], (double)ranks[i][1], (double)ranks[i][2]);
	struct estimate nothing = stats_median_interval(broken, 3);
	ok(isnan(nothing.value) && nothing.samples == 0, "with a NaN nothing is estimated");
	nothing = stats_median_interval(broken, 0);
	ok(isnan(nothing.value) && nothing.samples == 0, "nor without samples");
}

static void test_moments(void)
{
	const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};

	is_real(stats_mean(x, 8), 5, 1e-15, "mean");
	is_real(stats_deviation(x, 8), sqrt(32.0 / 7), 1e-15, "sample standard deviation");
	is_real(stats_deviation(x, 1), 0, 0, "deviation of one value");
	is_real(stats_mean(x, 0), NAN, 0, "mean of nothing");
}

static void test_student(void)
{
	static const struct {
		size_t degrees;
		double quantile;
	} known[] = {{1, 12.70620}, {2, 4.302653}, {3, 3.182446}, {4, 2.776445}, {5, 2.570582},
	        {6, 2.446912}, {7, 2.364624}, {8, 2.306004}, {9, 2.262157}, {10, 2.228139},
	        {11, 2.200985}, {12, 2.178813}, {15, 2.131450}, {20, 2.085963}, {30, 2.042272},
	        {60, 2.000298}, {120, 1.979930}, {1000, 1.962339}, {1000000000, 1.959964}};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		char what[64];
		snprintf(what, sizeof what, "Student's t with %zu degrees", known[i].degrees);
		is_real(stats_student(known[i].degrees), known[i].quantile, 1e-5, what);
	}
}

static void test_combine(void)
{
	const struct estimate process[] = {
	        {10, 9, 12, 5}, {NAN, NAN, NAN, 0}, {12, 11, 13, 6}, {11, 10, 13, 7}};
	struct estimate one = stats_combine(process, 1);

	ok(one.value == 10 && one.low == 9 && one.high == 12 && one.samples == 5,
	        "one process: its own interval");
	struct estimate all = stats_combine(process, 4);
	/* values 10 12 11: deviation 1, t(2) = 4.302653; own half-widths 1 below, 2 above, of three
	 */
	double between = 4.302653 / sqrt(3);
	is_real(all.value, 11, 0, "median of the processes");
	is_real(all.low, 11 - sqrt(between * between + 1.0 / 3), 1e-6, "lower end");
	is_real(all.high, 11 + sqrt(between * between + 4.0 / 3), 1e-6, "upper end");
	ok(all.samples == 18, "samples add up, those not measured are skipped");
	struct estimate none = stats_combine(process + 1, 1);
	ok(isnan(none.value) && none.samples == 0, "no process measured anything");
	none = stats_combine(NULL, 0);
	ok(isnan(none.value) && none.samples == 0, "no process at all");
}

/* Of few processes one that was disturbed may be the right one; of twelve it is not. */
static void test_combine_many(void)
{
	struct estimate process[12];

	for (int i = 0; i < 12; i++) {
		const double value = i % 6 == 5 ? 25 : 10 + 0.1 * i;
		process[i] = (struct estimate){value, value - 0.3, value + 0.6, 1};
	}
	struct estimate few = stats_combine(process, 11), many = stats_combine(process, 12);
	ok(few.high - few.low > 5, "eleven: a disturbed one widens the interval");
	is_real(many.value, 10.65, 1e-12, "twelve: their median");
	is_real(many.low, 10.65 - sqrt(0.45 * 0.45 + 0.3 * 0.3 / 12), 1e-9,
	        "from the third of them, and their own");
	is_real(many.high, 10.65 + sqrt(0.35 * 0.35 + 0.6 * 0.6 / 12), 1e-9,
	        "to the third from above");
}

static void test_agreement(void)
{
	const double alike[] = {1, 2, 3, 4, 10, 20, 30, 40, 2, 3, 5, 8};
	const double opposite[] = {1, 2, 3, 4, 4, 3, 2, 1};
	const double some[] = {1, 2, 3, 4, 5, 2, 1, 4, 3, 5, 1, 3, 2, 5, 4};
	const double equal[] = {7, 7, 7, 7};

	is_real(stats_agreement(alike, 4, 3), 1, 1e-12, "three judges of one order");
	is_real(stats_agreement(opposite, 4, 2), -1, 1e-12, "two of opposite orders");
	/* rank correlations 0.8, 0.8 and 0.3 by their definition */
	is_real(stats_agreement(some, 5, 3), 1.9 / 3, 1e-12, "the mean of the correlations");
	is_real(stats_agreement(equal, 2, 2), 1, 0, "nothing to tell apart");
	is_real(stats_agreement(alike, 4, 1), 1, 0, "one judge");
}

/* ---- the line fit ---- */

enum { POINTS = 31 }; /* 1 B .. 1 GiB */
static const double alpha = 3e-6, beta = 50e9;

static double bytes[POINTS], seconds[POINTS];
static struct fit_line fit;

/* Nearly normal, standard deviation 1. */
static double next_normal(uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += random_unit(state);
	return sum;
}

static void make_curve(double noise, uint64_t seed)
{
	uint64_t state = seed;

	random_unit(&state);
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
	test_agreement();
	test_median();
	test_quantile();
	test_median_interval();
	test_moments();
	test_student();
	test_combine();
	test_combine_many();
	test_exact();
	test_noise();
	test_outliers();
	test_refusals();
	test_negative_alpha();
	return finish();
}
