/* SPDX-License-Identifier: MIT */
/* The gemm_rate probe's fit on a synthetic library: times come back at the shapes measured and
 * between them, the best rate is the peak, and what no device can do fails. */
#include "tests/tap.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile.h"
#include "factor/calibration/gemm_rate/gemm_rate.h"

static const char *const columns[] = {"m", "n", "k"};

/* Three processes that agree within a percent. */
static void add(struct table *curve, const char *series, const struct arg *args, size_t count,
        double seconds)
{
	for (int process = 0; process < 3; process++) {
		const double value = seconds * (1 + 0.002 * (process - 1));
		const struct measurement measurement = {
		        .seconds = {value, 0.998 * value, 1.002 * value, 5}, .hz = 1.9e9};
		curve_add(curve, series, args, count, process, &measurement, false);
	}
}

static void add_product(
        struct table *curve, const char *series, double m, double n, double k, double seconds)
{
	const struct arg args[] = {{"m", m}, {"n", n}, {"k", k}};
	add(curve, series, args, 3, seconds);
}

static double at(const struct profile *profile, const char *name, double m, double n, double k)
{
	const struct arg args[] = {{"m", m}, {"n", n}, {"k", k}};
	const struct lookup lookup = profile_get(profile, name, args, 3);
	return lookup.found && !lookup.extrapolated ? lookup.estimate.value : NAN;
}

static double at_two(const struct profile *profile, const char *name, const char *first, double a,
        const char *second, double b)
{
	const struct arg args[] = {{first, a}, {second, b}};
	const struct lookup lookup = profile_get(profile, name, args, 2);
	return lookup.found ? lookup.estimate.value : NAN;
}

static const struct parameter *row_of(const struct profile *profile, const char *name)
{
	static const struct parameter none = {.status = "absent", .regime = "none"};
	for (size_t i = 0; i < profile->count; i++)
		if (strcmp(profile->row[i].name, name) == 0)
			return &profile->row[i];
	return &none;
}

/* 50 Tflop/s once k is 512, half of it at k = 64; solves and symmetric updates at 10 Tflop/s. */
static struct table *synthetic(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	for (double m = 1024; m <= 16384; m *= 4)
		for (double n = 1024; n <= 16384; n *= 4)
			for (double k = 64; k <= 512; k *= 8)
				add_product(curve, "gemm_s", m, n, k,
				        2 * m * n * k / (k > 64 ? 50e12 : 25e12));
	add_product(curve, "gemm_s", 2048, 2048, 2048, 2 * pow(2048, 3) / 49e12);
	add_product(curve, "gemm_tn_d", 64, 512, 4096, 2. * 64 * 512 * 4096 / 20e12);
	add_product(curve, "gemm_odd_d", 1023, 1024, 64, 30e-6);
	add_product(curve, "gemm_nt_d", 2048, 2048, 768, 130e-6);
	add_product(curve, "tf32_tall_s", 64, 4096, 4096, 33e-6);
	add_product(curve, "tf32_tall_shared_s", 64, 4096, 4096, 37e-6);
	add_product(curve, "gemm_shared_tf32", 4096, 4096, 384, 70e-6);
	add_product(curve, "gemm_batched_tf32", 512, 8192, 768, 40e-6);
	const struct arg solve[] = {{"m", 128}, {"n", 4096}};
	add(curve, "trsm_s", solve, 2, 128. * 128 * 4096 / 10e12);
	const struct arg few[] = {{"m", 4096}, {"n", 8}};
	add(curve, "trsm_few_s", few, 2, 900e-6);
	const struct arg update[] = {{"n", 4096}, {"k", 128}};
	add_product(curve, "own_gemm_tn_s", 64, 128, 65536, 40e-6);
	add_product(curve, "own_gemm_shared_s", 1024, 2048, 64, 40e-6);
	add(curve, "own_syrk_shared_s", update, 2, 50e-6);
	add(curve, "half_syrk_s", update, 2, 30e-6);
	add(curve, "half_gemm_shared_s", update, 2, 70e-6);
	add(curve, "syrk_d", update, 2, 128. * 4096 * 4096 / 10e12);
	return curve;
}

static void test_known(void)
{
	struct table *curve = synthetic();
	struct profile *profile = profile_new();
	gemm_rate_fit(curve, profile);
	is_real(at(profile, "gpu.gemm.s", 4096, 4096, 64), 2. * 4096 * 4096 * 64 / 25e12, 1e-6,
	        "a shape that was measured");
	is_real(at(profile, "gpu.gemm.s", 2048, 8192, 512), 2. * 2048 * 8192 * 512 / 50e12, 1e-6,
	        "between the grid's sides, whatever lone squares there are");
	is_real(at(profile, "gpu.gemm.s", 2048, 2048, 2048), 2 * pow(2048, 3) / 49e12, 1e-6,
	        "a lone square");
	const struct parameter *peak = row_of(profile, "gpu.gemm.s.peak");
	is_real(peak->estimate.value, 50e12, 1e-6, "the best rate is the peak");
	ok(peak->estimate.low < peak->estimate.value && peak->estimate.value < peak->estimate.high,
	        "its interval is the right way round");
	is_text(peak->unit, "flop/s", "its unit");
	is_real(at(profile, "gpu.gemm_tn.d", 64, 512, 4096), 2. * 64 * 512 * 4096 / 20e12, 1e-6,
	        "tall products");
	is_real(at(profile, "gpu.tf32_tall.s", 64, 4096, 4096), 33e-6, 0.01, "our tall products");
	is_real(at(profile, "gpu.tf32_tall_shared.s", 64, 4096, 4096), 37e-6, 0.01,
	        "and beside a panel");
	is_real(at(profile, "gpu.gemm_shared.tf32", 4096, 4096, 384), 70e-6, 0.01,
	        "the library's in tf32 beside a panel");
	is_real(at(profile, "gpu.gemm_batched.tf32", 512, 8192, 768), 40e-6, 0.01,
	        "squares on a diagonal");
	is_real(at(profile, "gpu.gemm_odd.d", 1023, 1024, 64), 30e-6, 1e-12,
	        "products of an odd number of rows");
	is_real(at(profile, "gpu.gemm_nt.d", 2048, 2048, 768), 130e-6, 1e-12, "products A B^T");
	is_real(at_two(profile, "gpu.trsm.s", "m", 128, "n", 4096), 128. * 128 * 4096 / 10e12, 1e-6,
	        "solves");
	is_real(at_two(profile, "gpu.trsm_few.s", "m", 4096, "n", 8), 900e-6, 1e-12,
	        "solves of few right-hand sides");
	is_real(at_two(profile, "gpu.syrk.d", "n", 4096, "k", 128), 128. * 4096 * 4096 / 10e12,
	        1e-6, "symmetric updates");
	is_real(at(profile, "gpu.own_gemm_tn.s", 64, 128, 65536), 40e-6, 1e-12,
	        "our tall products with splits");
	is_real(at(profile, "gpu.own_gemm_shared.s", 1024, 2048, 64), 40e-6, 1e-12,
	        "our products with a block a tile");
	is_real(at_two(profile, "gpu.own_syrk_shared.s", "n", 4096, "k", 128), 50e-6, 1e-12,
	        "our symmetric ones");
	is_real(at_two(profile, "gpu.half_syrk.s", "n", 4096, "k", 128), 30e-6, 1e-12,
	        "those by 3xFP16");
	is_real(at_two(profile, "gpu.half_gemm_shared.s", "n", 4096, "k", 128), 70e-6, 1e-12,
	        "and of whole squares beside a panel");
	is_text(row_of(profile, "gpu.gemm.s")->regime, "surface", "they are rate surfaces");
	is_text(row_of(profile, "gpu.gemm.tf32.peak")->status, "absent",
	        "no peak of what the device lacks");
	ok(profile_failed(profile) == 0, "all are plausible");
	profile_free(profile);
	table_free(curve);
}

static void test_implausible(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	add_product(curve, "gemm_d", 8192, 8192, 8192, 2 * pow(8192, 3) / 2e15);
	gemm_rate_fit(curve, profile);
	is_text(row_of(profile, "gpu.gemm.d")->status, "failed", "2 Pflop/s fail");
	is_text(row_of(profile, "gpu.gemm.d.peak")->status, "failed", "and so does their peak");
	profile_free(profile);
	table_free(curve);

	curve = curve_new(columns, ARRAY_LEN(columns));
	profile = profile_new();
	const struct arg args[] = {{"m", 64}, {"n", 64}, {"k", 64}};
	const struct measurement none = {.seconds = {NAN, NAN, NAN, 0}, .hz = NAN};
	curve_add(curve, "gemm_d", args, 3, 0, &none, false);
	gemm_rate_fit(curve, profile);
	is_text(row_of(profile, "gpu.gemm.d.peak")->status, "failed", "no sample, no peak");
	profile_free(profile);
	table_free(curve);
}

int main(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	gemm_rate_fit(curve, profile);
	ok(profile->count == 0, "an empty curve gives no parameters");
	profile_free(profile);
	table_free(curve);
	test_known();
	test_implausible();
	return finish();
}
