/* SPDX-License-Identifier: MIT */
/* The block_kernel probe's fit on known curves: every point becomes a row of its surface, with its
 * interval; an impossible time fails. */
#include "factor/calibration/block_kernel/block_kernel.h"
#include "tests/fit_test.h"

static const char *const columns[] = {
        "m", "n", "overlapped", "swaps", "cold", "below", "p", "rows", "rounds", "k"};

/* Series, parameter, arguments, seconds. */
static const struct surface_point {
	const char *series, *name, *args;
	double seconds;
} points[] = {
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
        {"alone_potrf_s", "gpu.alone.potrf.s", "n=128", 9e-6},
        {"alone_reflectors_d", "gpu.alone.panel_reflectors.d", "m=2048,n=64", 11e-6},
        {"alone_cluster_s", "gpu.alone.panel_cluster.s", "m=2048,n=64", 10e-6},
        {"alone_grid_d", "gpu.alone.panel_grid.d", "m=8192,n=64", 9e-6},
        {"rank_d", "gpu.rank.d", "rounds=4,k=128", 8e-6},
};

static void test_known(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < ARRAY_LEN(points); i++)
		add_point(curve, points[i].seconds, "%s[%s]", points[i].series, points[i].args);
	struct profile *profile = profile_of(block_kernel_fit, curve);
	ok(profile->count == ARRAY_LEN(points) && profile_failed(profile) == 0,
	        "a row for every point");
	for (size_t i = 0; i < ARRAY_LEN(points); i++) {
		char name[128];
		snprintf(name, sizeof name, "%s[%s]", points[i].name, points[i].args);
		is_within(profile, name, points[i].seconds, 1e-9);
		is_text(row_of(profile, name)->regime, "calibrated", name);
	}
	profile_free(profile);
}

int main(void)
{
	static const struct timed_point impossible[] = {
	        {"trtri_s[n=128]", 1e-8}, {"potrf_s[n=128]", NAN}, {"potrf_s[n=512]", 100e-6}};
	static const struct expected_row rows[] = {{"gpu.trtri.s[n=128]", 0, "failed"},
	        {"gpu.potrf_block.s[n=128]", 0, "failed"},
	        {"gpu.potrf_block.s[n=512]", 100e-6, NULL}};

	is_empty_fit(block_kernel_fit, columns, ARRAY_LEN(columns));
	test_known();
	CHECK_FIT(block_kernel_fit, columns, impossible, rows);
	return finish();
}
