/* SPDX-License-Identifier: MIT */
/* The calibrations' fits on known curves: every point becomes a row of its surface, with its
 * interval, and impossible times fail. Of gemm also the highest rate and times between the shapes
 * measured. Of gemv both states of matrices that L2 could hold, one time for both of larger ones.
 * Of panel kernels columns with two passes as a surface of their own. */
#include "factor/calibration/fits.h"
#include "tests/fit_test.h"

static const char *const columns[] = {"m", "n", "k", "overlapped", "swaps", "cold", "below", "p",
        "rows", "rounds", "blocks", "threads", "bytes"};

/* Series, parameter, arguments, seconds. */
struct surface_point {
	const char *series, *name, *args;
	double seconds;
};

static const struct surface_point kernels[] = {
        {"geqrf_s", "gpu.panel_geqrf.s", "m=8192,n=64,overlapped=0", 200e-6},
        {"geqrf_s", "gpu.panel_geqrf.s", "m=8192,n=64,overlapped=1", 250e-6},
        {"geqrf_columns_d", "gpu.panel_geqrf_columns.d", "m=4096,n=64", 700e-6},
        {"cluster_d", "gpu.panel_cluster.d", "m=4096,n=64", 90e-6},
        {"grid_s", "gpu.panel_grid.s", "m=4096,n=64", 80e-6},
        {"cluster_shared_s", "gpu.panel_cluster_shared.s", "m=4096,n=64", 100e-6},
        {"cluster_shared_d", "gpu.panel_cluster_shared.d", "m=4096,n=64", 120e-6},
        {"potrf_rows_shared_d", "gpu.potrf_rows_shared.d", "n=128,below=2048", 55e-6},
        {"potrf_rows_overlapped_s", "gpu.potrf_rows_overlapped.s", "n=128,below=2048", 45e-6},
        {"potrf_s", "gpu.potrf_block.s", "n=128", 30e-6},
        {"potrf_rows_s", "gpu.potrf_rows.s", "n=128,below=2048", 35e-6},
        {"potrf_d", "gpu.potrf_block.d", "n=128", 40e-6},
        {"trtri_d", "gpu.trtri.d", "n=128", 20e-6},
        {"larft_s", "gpu.larft.s", "n=128", 21e-6},
        {"half_pair_s", "gpu.half_pair.s", "n=4096,k=128", 6e-6},
        {"tf32_split_s", "gpu.tf32_split.s", "n=4096,k=128", 9e-6},
        {"apply_swaps_d", "gpu.apply_swaps.d", "n=128", 25e-6},
        {"guard_s", "gpu.trsm_guard.s", "n=128", 5e-6},
        {"laswp_d", "gpu.laswp.d", "swaps=64,n=1024,cold=0", 6e-6},
        {"laswp_d", "gpu.laswp.d", "swaps=64,n=1024,cold=1", 12e-6},
        {"lu_top_s", "gpu.lu_top.s", "swaps=64,n=1024,cold=1", 20e-6},
        {"lu_columns_s", "gpu.lu_columns.s", "m=4096,n=64", 5e-6},
        {"sweep_d", "gpu.band_sweep.d", "p=64,n=1024,rows=32", 300e-6},
        {"slide_d", "gpu.band_slide.d", "p=64,n=1024,rows=32", 350e-6},
        {"qr_columns_s", "gpu.qr_columns.s", "m=4096,n=64", 7e-6},
        {"rank_d", "gpu.rank.d", "rounds=4,k=128", 8e-6},
};

static const struct surface_point products[] = {
        {"gemm_s", "gpu.gemm.s", "m=2048,n=2048,k=2048", 2 * 0x1p33 / 49e12},
        {"gemm_tn_d", "gpu.gemm_tn.d", "m=64,n=512,k=4096", 13e-6},
        {"gemm_odd_d", "gpu.gemm_odd.d", "m=1023,n=1024,k=64", 30e-6},
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
        {"half_syrk_s", "gpu.half_syrk.s", "n=4096,k=128", 30e-6},
        {"half_gemm_shared_s", "gpu.half_gemm_shared.s", "n=4096,k=128", 70e-6},
        {"syrk_d", "gpu.syrk.d", "n=4096,k=128", 215e-6},
};

static const struct surface_point products_with_vectors[] = {
        {"gemv_n_s", "gpu.gemv.s.n", "m=512,n=512,cold=0", 3e-6},
        {"gemv_n_s", "gpu.gemv.s.n", "m=512,n=512,cold=1", 4e-6},
        {"own_gemv_t_s", "gpu.own_gemv.s.t", "m=512,n=512,cold=0", 2e-6},
        {"ger_d", "gpu.ger.d", "m=2048,n=512,cold=0", 6e-6},
};

static const struct surface_point panels[] = {
        {"step_s", "gpu.panel.step.s", "m=512,n=32", 3e-6},
        {"pivot_d", "gpu.panel.pivot.d", "m=512,n=32", 2e-6},
};

static void check_surfaces(fit_function *fit, const struct surface_point *points, size_t count)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	is_empty_fit(fit, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < count; i++)
		add_point(curve, points[i].seconds, "%s[%s]", points[i].series, points[i].args);
	struct profile *profile = profile_of(fit, curve);
	ok(profile->count >= count && profile_failed(profile) == 0, "a row for every point");
	for (size_t i = 0; i < count; i++) {
		char name[128];
		snprintf(name, sizeof name, "%s[%s]", points[i].name, points[i].args);
		is_within(profile, name, points[i].seconds, 1e-9);
		is_text(row_of(profile, name)->regime, "surface", name);
	}
	profile_free(profile);
}

static void is_time(const struct profile *profile, const char *name, double want)
{
	is_at(profile, name, want, 1e-6, false, name);
}

/* 50 Tflop/s once k is 512, half of it at k = 64; and a single square. */
static void test_peak(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (double m = 1024; m <= 16384; m *= 4)
		for (double n = 1024; n <= 16384; n *= 4)
			for (double k = 64; k <= 512; k *= 8)
				add_point(curve, 2 * m * n * k / (k > 64 ? 50e12 : 25e12),
				        "gemm_s[m=%.0f,n=%.0f,k=%.0f]", m, n, k);
	add_point(curve, products[0].seconds, "%s[%s]", products[0].series, products[0].args);
	struct profile *profile = profile_of(gemm_rate_fit, curve);
	is_time(profile, "gpu.gemm.s[m=4096,n=4096,k=64]", 2. * 4096 * 4096 * 64 / 25e12);
	/* between the grid's sides, whatever single squares there are */
	is_time(profile, "gpu.gemm.s[m=2048,n=8192,k=512]", 2. * 2048 * 8192 * 512 / 50e12);
	is_within(profile, "gpu.gemm.s.peak", 50e12, 1e-6);
	is_text(row_of(profile, "gpu.gemm.s.peak")->unit, "flop/s", "the peak's unit");
	is_status(profile, "gpu.gemm.tf32.peak", "absent");
	ok(profile_failed(profile) == 0, "all are plausible");
	profile_free(profile);
}

/* Points of other kinds, and the rows that become of them. */
static void test_special(void)
{
	static const struct timed_point kernel[] = {
	        {"trtri_s[n=128]", 1e-8}, {"potrf_s[n=128]", NAN}, {"potrf_s[n=512]", 100e-6}};
	static const struct expected_row kernel_rows[] = {{"gpu.trtri.s[n=128]", 0, "failed"},
	        {"gpu.potrf_block.s[n=128]", 0, "failed"},
	        {"gpu.potrf_block.s[n=512]", 100e-6, NULL}};
	static const struct timed_point fast[] = {
	        {"gemm_d[m=8192,n=8192,k=8192]", 2 * 0x1p39 / 2e15}}; /* 2 Pflop/s */
	static const struct timed_point none[] = {{"gemm_d[m=64,n=64,k=64]", NAN}};
	static const struct expected_row failed[] = {
	        {"gpu.gemm.d", 0, "failed"}, {"gpu.gemm.d.peak", 0, "failed"}};
	static const struct timed_point vectors[] = {{"gemv_n_s[m=32768,n=32768,cold=1]", 1e-3},
	        {"gemv_t_d[m=512,n=512,cold=1]", 5e-6}, {"gemv_n_d[m=32768,n=32768,cold=1]", 1e-4},
	        {"ger_s[m=512,n=512,cold=0]", NAN}, {"ger_s[m=512,n=512,cold=1]", 5e-6}};
	static const struct expected_row vector_rows[] = {
	        {"gpu.gemv.s.n[m=32768,n=32768,cold=1]", 1e-3, NULL},
	        {"gpu.gemv.s.n[m=32768,n=32768,cold=0]", 1e-3, NULL},
	        {"gpu.gemv.d.t[m=512,n=512,cold=1]", 5e-6, NULL},
	        {"gpu.gemv.d.n[m=32768,n=32768,cold=1]", 0, "failed"},
	        {"gpu.gemv.d.n[m=32768,n=32768,cold=0]", 0, "failed"},
	        {"gpu.ger.s[m=512,n=512,cold=0]", 0, "failed"},
	        {"gpu.ger.s[m=512,n=512,cold=1]", 5e-6, NULL}};
	static const struct timed_point steps[] = {{"column_s[blocks=8,n=64,rows=128]", 2e-6},
	        {"column_s[blocks=8,n=64,rows=384]", 2.5e-6},
	        {"shared_update[threads=256,bytes=131072]", 1e-6}};
	static const struct expected_row step_rows[] = {
	        {"gpu.panel.column.s[blocks=8,n=64]", 2e-6, NULL},
	        {"gpu.panel.twice.s[n=64]", 2.5e-6, NULL},
	        {"gpu.shared.update[threads=256]", 131072e6, NULL},
	        {"gpu.panel.step.d", 0, "absent"}};

	CHECK_FIT(block_kernel_fit, columns, kernel, kernel_rows);
	CHECK_FIT(gemm_rate_fit, columns, fast, failed);
	CHECK_FIT(gemm_rate_fit, columns, none, failed);
	CHECK_FIT(gemv_rate_fit, columns, vectors, vector_rows);
	CHECK_FIT(panel_kernel_fit, columns, steps, step_rows);
}

int main(void)
{
	check_surfaces(block_kernel_fit, kernels, ARRAY_LEN(kernels));
	check_surfaces(gemm_rate_fit, products, ARRAY_LEN(products));
	check_surfaces(gemv_rate_fit, products_with_vectors, ARRAY_LEN(products_with_vectors));
	check_surfaces(panel_kernel_fit, panels, ARRAY_LEN(panels));
	test_peak();
	test_special();
	return finish();
}
