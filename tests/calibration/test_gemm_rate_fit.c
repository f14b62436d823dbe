/* SPDX-License-Identifier: MIT */
/* The gemm_rate probe's fit on a synthetic library: times come back at the shapes measured and
 * between them, the best rate is the peak, rates that the device cannot reach fail, and lasting
 * load gives ratios. */
#include "factor/calibration/gemm_rate/gemm_rate.h"
#include "tests/fit_test.h"

static const char *const columns[] = {"m", "n", "k", "elapsed"};

/* Series, parameter, arguments, seconds. */
static const struct product {
	const char *series, *name, *args;
	double seconds;
} products[] = {
        {"gemm_s", "gpu.gemm.s", "m=2048,n=2048,k=2048", 2 * 0x1p33 / 49e12},
        {"gemm_tn_d", "gpu.gemm_tn.d", "m=64,n=512,k=4096", 13e-6},
        {"gemm_odd_d", "gpu.gemm_odd.d", "m=1023,n=1024,k=64", 30e-6},
        {"gemm_tn_odd_d", "gpu.gemm_tn_odd.d", "m=64,n=512,k=511", 30e-6},
        {"gemm_nt_d", "gpu.gemm_nt.d", "m=2048,n=2048,k=768", 130e-6},
        {"tf32_tall_s", "gpu.tf32_tall.s", "m=64,n=4096,k=4096", 33e-6},
        {"tf32_tall_shared_s", "gpu.tf32_tall_shared.s", "m=64,n=4096,k=4096", 37e-6},
        {"gemm_shared_tf32", "gpu.gemm_shared.tf32", "m=4096,n=4096,k=384", 70e-6},
        {"gemm_batched_tf32", "gpu.gemm_batched.tf32", "m=512,n=8192,k=768", 40e-6},
        {"trsm_s", "gpu.trsm.s", "m=128,n=4096", 13e-6},
        {"trsm_few_s", "gpu.trsm_few.s", "m=4096,n=8", 900e-6},
        {"own_gemm_tn_s", "gpu.own_gemm_tn.s", "m=64,n=128,k=65536", 40e-6},
        {"own_gemm_shared_s", "gpu.own_gemm_shared.s", "m=1024,n=2048,k=64", 40e-6},
        {"own_syrk_shared_s", "gpu.own_syrk_shared.s", "n=4096,k=128", 50e-6},
        {"own_syrk_shared_d", "gpu.own_syrk_shared.d", "n=4096,k=64", 70e-6},
        {"own_syrk_unaligned_d", "gpu.own_syrk_unaligned.d", "n=4095,k=64", 90e-6},
        {"half_syrk_s", "gpu.half_syrk.s", "n=4096,k=128", 30e-6},
        {"half_gemm_shared_s", "gpu.half_gemm_shared.s", "n=4096,k=128", 70e-6},
        {"double_tall_d", "gpu.double_tall.d", "m=64,n=64,k=131072", 40e-6},
        {"double_tall_update_d", "gpu.double_tall_update.d", "m=131072,n=64,k=64", 55e-6},
        {"syrk_d", "gpu.syrk.d", "n=4096,k=128", 215e-6},
};

/* 50 Tflop/s once k is 512, half of it at k = 64; and the products above. */
static struct table *synthetic(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (double m = 1024; m <= 16384; m *= 4)
		for (double n = 1024; n <= 16384; n *= 4)
			for (double k = 64; k <= 512; k *= 8)
				add_point(curve, 2 * m * n * k / (k > 64 ? 50e12 : 25e12),
				        "gemm_s[m=%.0f,n=%.0f,k=%.0f]", m, n, k);
	for (size_t i = 0; i < ARRAY_LEN(products); i++)
		add_point(
		        curve, products[i].seconds, "%s[%s]", products[i].series, products[i].args);
	return curve;
}

static void is_time(const struct profile *profile, const char *name, double want)
{
	const struct lookup found = lookup_of(profile, name);

	ok(found.found && !found.extrapolated, "%s is there", name);
	is_real(found.estimate.value, want, 1e-6, name);
}

static void test_known(void)
{
	struct profile *profile = profile_of(gemm_rate_fit, synthetic());

	for (size_t i = 0; i < ARRAY_LEN(products); i++) {
		char name[128];
		snprintf(name, sizeof name, "%s[%s]", products[i].name, products[i].args);
		is_time(profile, name, products[i].seconds);
	}
	is_time(profile, "gpu.gemm.s[m=4096,n=4096,k=64]", 2. * 4096 * 4096 * 64 / 25e12);
	/* between the grid's sides, whatever single squares there are */
	is_time(profile, "gpu.gemm.s[m=2048,n=8192,k=512]", 2. * 2048 * 8192 * 512 / 50e12);
	is_within(profile, "gpu.gemm.s.peak", 50e12, 1e-6);
	is_text(row_of(profile, "gpu.gemm.s.peak")->unit, "flop/s", "the peak's unit");
	is_text(row_of(profile, "gpu.gemm.s")->regime, "library", "products of the library");
	is_text(row_of(profile, "gpu.gemm.s.peak")->regime, "library", "and their highest rate");
	is_status(profile, "gpu.gemm.tf32.peak", "absent");
	ok(profile_failed(profile) == 0, "all are plausible");
	profile_free(profile);
}

/* A clock that falls after 0.05 s: all processes measure the begin, one goes on. The fit gives the
 * mean of a call over that of the first 0.02 s. */
static void test_lasting(void)
{
	static const struct timed_point begin[] = {{"lasting_d[elapsed=0.02]", 1.25e-3},
	        {"lasting_d[elapsed=0.05]", 1.25e-3}, {"lasting_d[elapsed=0.1]", 1.3e-3},
	        {"lasting_half[elapsed=0.02]", 2e-4}, {"lasting_half[elapsed=0.2]", 7e-4},
	        {"lasting_tf32[elapsed=0.1]", 3e-4}};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	add_points(curve, begin, ARRAY_LEN(begin));
	add_process(curve, "lasting_d[elapsed=2]", 0, 1.45e-3, 0.002, 1.6e9);
	struct profile *profile = profile_of(gemm_rate_fit, curve);
	is_within(profile, "gpu.lasting.d[seconds=0.02]", 1, 1e-6);
	is_within(profile, "gpu.lasting.d[seconds=0.05]", 1, 1e-6);
	is_within(profile, "gpu.lasting.d[seconds=0.1]", 1.04, 1e-6);
	is_within(profile, "gpu.lasting.d[seconds=2]", 1.16, 1e-6);
	const struct parameter *row = row_of(profile, "gpu.lasting.d[seconds=2]");
	ok(row->estimate.low < 1.155 && row->estimate.low > 1.14,
	        "the interval has the processes of the short run, too: %g", row->estimate.low);
	is_text(row->unit, "ratio", "a ratio");
	is_text(row->regime, "library", "of calls of the library");
	is_text(row_of(profile, "gpu.lasting.half")->regime, "calibrated", "or of our own kernel");
	is_status(profile, "gpu.lasting.half[seconds=0.2]", "failed");
	is_status(profile, "gpu.lasting.tf32[seconds=0.1]", "failed");
	is_status(profile, "gpu.lasting.s", "absent");
	profile_free(profile);
}

/* 2 Pflop/s at 2 GHz, by a device of so many multiprocessors (0: not known). */
static struct table *fast(int sms)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	add_point(curve, 2 * 0x1p39 / 2e15, "gemm_d[m=8192,n=8192,k=8192]");
	if (sms > 0)
		table_meta_set(curve, "gpu_sms", "%d", sms);
	return curve;
}

int main(void)
{
	static const struct timed_point none[] = {{"gemm_d[m=64,n=64,k=64]", NAN}};
	static const struct expected_row failed[] = {
	        {"gpu.gemm.d", 0, "failed"}, {"gpu.gemm.d.peak", 0, "failed"}};
	static const struct expected_row possible[] = {{"gpu.gemm.d.peak", 2e15, NULL}};

	is_empty_fit(gemm_rate_fit, columns, ARRAY_LEN(columns));
	test_known();
	test_lasting();
	FITS_ROWS(gemm_rate_fit, fast(100), failed);
	FITS_ROWS(gemm_rate_fit, fast(200), possible);
	FITS_ROWS(gemm_rate_fit, fast(0), possible);
	CHECK_FIT(gemm_rate_fit, columns, none, failed);
	return finish();
}
