/* SPDX-License-Identifier: MIT */
/* The block_kernel probe's analysis on synthetic curves: every point becomes a row of its surface,
 * with its interval, and what no kernel can do fails. */
#include "lib/probe/curve.h"
#include "lib/profile/profile.h"
#include "factor/calibration/block_kernel/block_kernel.h"
#include "tests/tap.h"

static const char *const columns[] = {
        "m", "n", "overlapped", "swaps", "cold", "below", "p", "rows", "rounds", "k"};

/* Three processes that agree within a percent. */
static void put(struct table *curve, const char *series, const struct arg *args, size_t count,
        double seconds)
{
	for (int process = 0; process < 3; process++) {
		const double off = seconds * (1 + 0.01 * (process - 1));
		const struct measurement m = {
		        .seconds = {off, 0.99 * off, 1.01 * off, 3}, .hz = 1e9};
		curve_add(curve, series, args, count, process, &m, false);
	}
}

static void is_value(const struct profile *profile, const char *name, const struct arg *args,
        size_t count, double want)
{
	const struct lookup found = profile_get(profile, name, args, count);
	ok(found.found && !found.extrapolated, "%s is there", name);
	is_real(found.estimate.value, want, 1e-9, name);
	ok(found.estimate.low < want && want < found.estimate.high, "%s has an interval", name);
	is_text(found.regime, "surface", name);
}

static void test_known(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	const struct arg alone[] = {{"m", 8192}, {"n", 64}, {"overlapped", 0}};
	const struct arg beside[] = {{"m", 8192}, {"n", 64}, {"overlapped", 1}};
	const struct arg warm[] = {{"swaps", 64}, {"n", 1024}, {"cold", 0}};
	const struct arg cold[] = {{"swaps", 64}, {"n", 1024}, {"cold", 1}};
	const struct arg shape[] = {{"m", 4096}, {"n", 64}}, n = {"n", 128};
	const struct arg rows[] = {{"n", 128}, {"below", 2048}};
	const struct arg depth[] = {{"n", 4096}, {"k", 128}};
	const struct arg rank[] = {{"rounds", 4}, {"k", 128}};
	const struct arg sweep[] = {{"p", 64}, {"n", 1024}, {"rows", 32}};

	put(curve, "geqrf_s", alone, 3, 200e-6);
	put(curve, "geqrf_s", beside, 3, 250e-6);
	put(curve, "geqrf_columns_d", shape, 2, 700e-6);
	put(curve, "cluster_d", shape, 2, 90e-6);
	put(curve, "grid_s", shape, 2, 80e-6);
	put(curve, "cluster_shared_s", shape, 2, 100e-6);
	put(curve, "cluster_shared_d", shape, 2, 120e-6);
	put(curve, "potrf_rows_shared_d", rows, 2, 55e-6);
	put(curve, "potrf_rows_overlapped_s", rows, 2, 45e-6);
	put(curve, "potrf_s", &n, 1, 30e-6);
	put(curve, "potrf_rows_s", rows, 2, 35e-6);
	put(curve, "potrf_d", &n, 1, 40e-6);
	put(curve, "trtri_d", &n, 1, 20e-6);
	put(curve, "larft_s", &n, 1, 21e-6);
	put(curve, "half_pair_s", depth, 2, 6e-6);
	put(curve, "tf32_split_s", depth, 2, 9e-6);
	put(curve, "apply_swaps_d", &n, 1, 25e-6);
	put(curve, "guard_s", &n, 1, 5e-6);
	put(curve, "laswp_d", warm, 3, 6e-6);
	put(curve, "laswp_d", cold, 3, 12e-6);
	put(curve, "lu_top_s", cold, 3, 20e-6);
	put(curve, "lu_columns_s", shape, 2, 5e-6);
	put(curve, "sweep_d", sweep, 3, 300e-6);
	put(curve, "slide_d", sweep, 3, 350e-6);
	put(curve, "qr_columns_s", shape, 2, 7e-6);
	put(curve, "rank_d", rank, 2, 8e-6);
	block_kernel_fit(curve, profile);

	ok(profile->count == 26 && profile_failed(profile) == 0, "a row for every point");
	is_value(profile, "gpu.potrf_rows_overlapped.s", rows, 2, 45e-6);
	is_value(profile, "gpu.panel_geqrf.s", alone, 3, 200e-6);
	is_value(profile, "gpu.panel_geqrf.s", beside, 3, 250e-6);
	is_value(profile, "gpu.panel_geqrf_columns.d", shape, 2, 700e-6);
	is_value(profile, "gpu.panel_cluster.d", shape, 2, 90e-6);
	is_value(profile, "gpu.panel_grid.s", shape, 2, 80e-6);
	is_value(profile, "gpu.panel_cluster_shared.s", shape, 2, 100e-6);
	is_value(profile, "gpu.panel_cluster_shared.d", shape, 2, 120e-6);
	is_value(profile, "gpu.potrf_rows_shared.d", rows, 2, 55e-6);
	is_value(profile, "gpu.potrf_block.s", &n, 1, 30e-6);
	is_value(profile, "gpu.potrf_rows.s", rows, 2, 35e-6);
	is_value(profile, "gpu.potrf_block.d", &n, 1, 40e-6);
	is_value(profile, "gpu.rank.d", rank, 2, 8e-6);
	is_value(profile, "gpu.trtri.d", &n, 1, 20e-6);
	is_value(profile, "gpu.larft.s", &n, 1, 21e-6);
	is_value(profile, "gpu.half_pair.s", depth, 2, 6e-6);
	is_value(profile, "gpu.tf32_split.s", depth, 2, 9e-6);
	is_value(profile, "gpu.apply_swaps.d", &n, 1, 25e-6);
	is_value(profile, "gpu.trsm_guard.s", &n, 1, 5e-6);
	is_value(profile, "gpu.laswp.d", warm, 3, 6e-6);
	is_value(profile, "gpu.laswp.d", cold, 3, 12e-6);
	is_value(profile, "gpu.lu_top.s", cold, 3, 20e-6);
	is_value(profile, "gpu.lu_columns.s", shape, 2, 5e-6);
	is_value(profile, "gpu.band_sweep.d", sweep, 3, 300e-6);
	is_value(profile, "gpu.band_slide.d", sweep, 3, 350e-6);
	is_value(profile, "gpu.qr_columns.s", shape, 2, 7e-6);
	profile_free(profile);
	table_free(curve);
}

static void test_implausible(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	const struct arg n = {"n", 128}, wide = {"n", 512};

	put(curve, "trtri_s", &n, 1, 1e-8);
	put(curve, "potrf_s", &n, 1, NAN);
	put(curve, "potrf_s", &wide, 1, 100e-6);
	block_kernel_fit(curve, profile);
	ok(profile->count == 3 && profile_failed(profile) == 2,
	        "a kernel of 10 ns fails, and one that could not be timed");
	profile_free(profile);
	table_free(curve);
}

int main(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();

	block_kernel_fit(curve, profile);
	ok(profile->count == 0, "an empty curve gives no parameters");
	profile_free(profile);
	table_free(curve);
	test_known();
	test_implausible();
	return finish();
}
