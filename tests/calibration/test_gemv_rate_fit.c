/* SPDX-License-Identifier: MIT */
/* The gemv_rate probe's fit on a synthetic library: both states of matrices that L2 could hold, one
 * time for both of those it could not, and what no memory can do fails. */
#include "tests/tap.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile.h"
#include "factor/calibration/gemv_rate/gemv_rate.h"

static const char *const columns[] = {"m", "n", "cold"};

/* Three processes that agree within a percent. */
static void add(
        struct table *curve, const char *series, double m, double n, double cold, double seconds)
{
	const struct arg args[] = {{"m", m}, {"n", n}, {"cold", cold}};
	for (int process = 0; process < 3; process++) {
		const double value = seconds * (1 + 0.002 * (process - 1));
		const struct measurement measurement = {
		        .seconds = {value, 0.998 * value, 1.002 * value, 9}, .hz = 1.9e9};
		curve_add(curve, series, args, 3, process, &measurement, false);
	}
}

static double at(const struct profile *profile, const char *name, double m, double n, double cold)
{
	const struct arg args[] = {{"m", m}, {"n", n}, {"cold", cold}};
	const struct lookup lookup = profile_get(profile, name, args, 3);
	return lookup.found && !lookup.extrapolated ? lookup.estimate.value : NAN;
}

static void test_known(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	add(curve, "gemv_n_s", 512, 512, 0, 3e-6);
	add(curve, "gemv_n_s", 512, 512, 1, 4e-6);
	add(curve, "gemv_n_s", 32768, 32768, 1, 1e-3);
	add(curve, "gemv_t_d", 512, 512, 1, 5e-6);
	add(curve, "ger_d", 2048, 512, 0, 6e-6);
	add(curve, "own_gemv_t_s", 512, 512, 0, 2e-6);
	gemv_rate_fit(curve, profile);
	is_real(at(profile, "gpu.gemv.s.n", 512, 512, 0), 3e-6, 1e-6, "warm");
	is_real(at(profile, "gpu.gemv.s.n", 512, 512, 1), 4e-6, 1e-6, "cold");
	is_real(at(profile, "gpu.gemv.s.n", 32768, 32768, 1), 1e-3, 1e-6, "larger than L2");
	is_real(at(profile, "gpu.gemv.s.n", 32768, 32768, 0), 1e-3, 1e-6,
	        "larger than L2: the same where warm is asked for");
	is_real(at(profile, "gpu.gemv.d.t", 512, 512, 1), 5e-6, 1e-6, "transposed, fp64");
	is_real(at(profile, "gpu.own_gemv.s.t", 512, 512, 0), 2e-6, 1e-6, "our own");
	is_real(at(profile, "gpu.ger.d", 2048, 512, 0), 6e-6, 1e-6, "ger");
	is_text(profile->row[0].regime, "surface", "they are rate surfaces");
	ok(profile_failed(profile) == 0, "all are plausible");
	profile_free(profile);
	table_free(curve);
}

static void test_implausible(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	add(curve, "gemv_n_d", 32768, 32768, 1, 1e-4);
	gemv_rate_fit(curve, profile);
	ok(profile->count == 2 && profile_failed(profile) == 2, "86 TB/s fail in either state");
	profile_free(profile);
	table_free(curve);

	curve = curve_new(columns, ARRAY_LEN(columns));
	profile = profile_new();
	add(curve, "ger_s", 512, 512, 0, NAN);
	add(curve, "ger_s", 512, 512, 1, 5e-6);
	gemv_rate_fit(curve, profile);
	ok(profile->count == 2 && profile_failed(profile) == 1,
	        "a warm time that could not be measured is not made up");
	profile_free(profile);
	table_free(curve);
}

int main(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	gemv_rate_fit(curve, profile);
	ok(profile->count == 0, "an empty curve gives no parameters");
	profile_free(profile);
	table_free(curve);
	test_known();
	test_implausible();
	return finish();
}
