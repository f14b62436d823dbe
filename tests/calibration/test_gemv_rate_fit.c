/* SPDX-License-Identifier: MIT */
/* The gemv_rate probe's fit on known curves: both states of matrices that L2 could hold, one time
 * for both of larger ones, and times that the device cannot
 * reach. */
#include "factor/calibration/gemv_rate/gemv_rate.h"
#include "tests/fit_test.h"

static const char *const columns[] = {"m", "n", "cold"};

static void test_known(void)
{
	static const struct timed_point points[] = {{"gemv_n_s[m=512,n=512,cold=0]", 3e-6},
	        {"gemv_n_s[m=512,n=512,cold=1]", 4e-6}, {"gemv_n_s[m=32768,n=32768,cold=1]", 1e-3},
	        {"gemv_t_d[m=512,n=512,cold=1]", 5e-6}, {"ger_d[m=2048,n=512,cold=0]", 6e-6},
	        {"own_gemv_t_s[m=512,n=512,cold=0]", 2e-6}};
	static const struct expected_row rows[] = {{"gpu.gemv.s.n[m=512,n=512,cold=0]", 3e-6, NULL},
	        {"gpu.gemv.s.n[m=512,n=512,cold=1]", 4e-6, NULL},
	        {"gpu.gemv.s.n[m=32768,n=32768,cold=1]", 1e-3, NULL},
	        {"gpu.gemv.s.n[m=32768,n=32768,cold=0]", 1e-3, NULL},
	        {"gpu.gemv.d.t[m=512,n=512,cold=1]", 5e-6, NULL},
	        {"gpu.own_gemv.s.t[m=512,n=512,cold=0]", 2e-6, NULL},
	        {"gpu.ger.d[m=2048,n=512,cold=0]", 6e-6, NULL}};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	add_points(curve, points, ARRAY_LEN(points));
	struct profile *profile = profile_of(gemv_rate_fit, curve);
	is_rows(profile, rows, ARRAY_LEN(rows));
	is_text(row_of(profile, "gpu.gemv.s.n")->regime, "library", "gemv of the library");
	is_text(row_of(profile, "gpu.own_gemv.s.t")->regime, "calibrated", "our gemv");
	ok(profile_failed(profile) == 0, "all are plausible");
	profile_free(profile);
}

/* 86 TB/s at 2 GHz. */
static struct table *fast(int sms)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	add_point(curve, 1e-4, "gemv_n_d[m=32768,n=32768,cold=1]");
	table_meta_set(curve, "gpu_sms", "%d", sms);
	return curve;
}

int main(void)
{
	static const struct expected_row both_failed[] = {
	        {"gpu.gemv.d.n[m=32768,n=32768,cold=1]", 0, "failed"},
	        {"gpu.gemv.d.n[m=32768,n=32768,cold=0]", 0, "failed"}};
	static const struct expected_row possible[] = {
	        {"gpu.gemv.d.n[m=32768,n=32768,cold=1]", 1e-4, NULL}};
	static const struct timed_point no_warm[] = {
	        {"ger_s[m=512,n=512,cold=0]", NAN}, {"ger_s[m=512,n=512,cold=1]", 5e-6}};
	static const struct expected_row warm_failed[] = {
	        {"gpu.ger.s[m=512,n=512,cold=0]", 0, "failed"},
	        {"gpu.ger.s[m=512,n=512,cold=1]", 5e-6, NULL}};

	is_empty_fit(gemv_rate_fit, columns, ARRAY_LEN(columns));
	test_known();
	FITS_ROWS(gemv_rate_fit, fast(300), both_failed);
	FITS_ROWS(gemv_rate_fit, fast(400), possible);
	CHECK_FIT(gemv_rate_fit, columns, no_warm, warm_failed);
	return finish();
}
