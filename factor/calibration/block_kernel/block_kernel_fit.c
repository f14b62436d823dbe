/* SPDX-License-Identifier: MIT */
/* Curve of the block_kernel probe -> gpu.panel_geqrf.s .d [m,n,beside], gpu.panel_geqrf_columns.s
 * .d [m,n], gpu.panel_reflectors.s .d [m,n], gpu.panel_cluster.s .d gpu.panel_grid.s .d [m,n],
 * gpu.band_sweep.s .d, gpu.band_slide.s .d [p,n,rows], gpu.potrf_block.s .d [n], gpu.potrf_rows.s
 * .d gpu.potrf_rows_overlapped.s .d [n,below], gpu.panel_cluster_shared.s .d gpu.panel_grid_shared.s .d
 * gpu.panel_geqrf_shared.s .d [m,n], gpu.potrf_rows_shared.s .d [n,below], gpu.rank.s .d
 * [rounds,k], gpu.gram_panel.s .d [m,n], gpu.gram_apply.s .d [m,k,columns], gpu.trtri.s .d,
 * gpu.larft.s .d, gpu.trsm_guard.s .d [n], gpu.laswp.s .d gpu.lu_rows.s .d gpu.swap_rows.s .d
 * gpu.lu_top.s .d [swaps,n,cold], gpu.lu_columns.s .d gpu.qr_columns.s [m,n], gpu.tf32_split.s
 * gpu.half_pair.s [n,k], gpu.apply_swaps.s .d [n]: seconds per call, rate surfaces. */
#include "lib/base/base.h"
#include "block_kernel.h"

#include "lib/probe/curve.h"
#include "lib/profile/profile.h"

#include <stdlib.h>

/* No kernel starts within 300 ns of the one before, none of these takes a second. */
static const double shortest = 300e-9, longest = 1;

/* Arguments as they stand in the brackets. */
static const struct surface {
	const char *series, *name, *method;
	const char *arg[3];
} surfaces[] = {
        {"geqrf_s", "gpu.panel_geqrf.s", "our Householder panel, start to start",
                {"m", "n", "overlapped"}},
        {"geqrf_d", "gpu.panel_geqrf.d", "our Householder panel, start to start",
                {"m", "n", "overlapped"}},
        {"reflectors_s", "gpu.panel_reflectors.s",
                "our Householder panel with V and T, start to start", {"m", "n"}},
        {"reflectors_d", "gpu.panel_reflectors.d",
                "our Householder panel with V and T, start to start", {"m", "n"}},
        {"sweep_s", "gpu.band_sweep.s", "our sweep of one kernel, start to start",
                {"p", "n", "rows"}},
        {"sweep_d", "gpu.band_sweep.d", "our sweep of one kernel, start to start",
                {"p", "n", "rows"}},
        {"slide_s", "gpu.band_slide.s", "our sweep of one kernel over a band, start to start",
                {"p", "n", "rows"}},
        {"slide_d", "gpu.band_slide.d", "our sweep of one kernel over a band, start to start",
                {"p", "n", "rows"}},
        {"geqrf_columns_s", "gpu.panel_geqrf_columns.s",
                "our Householder panel in memory, start to start", {"m", "n"}},
        {"geqrf_columns_d", "gpu.panel_geqrf_columns.d",
                "our Householder panel in memory, start to start", {"m", "n"}},
        {"cluster_s", "gpu.panel_cluster.s", "our LU panel of one cluster, start to start",
                {"m", "n"}},
        {"cluster_d", "gpu.panel_cluster.d", "our LU panel of one cluster, start to start",
                {"m", "n"}},
        {"grid_s", "gpu.panel_grid.s", "our LU panel of many multiprocessors, start to start",
                {"m", "n"}},
        {"grid_d", "gpu.panel_grid.d", "our LU panel of many multiprocessors, start to start",
                {"m", "n"}},
        {"potrf_s", "gpu.potrf_block.s", "our Cholesky of a block, start to start", {"n"}},
        {"potrf_d", "gpu.potrf_block.d", "our Cholesky of a block, start to start", {"n"}},
        {"potrf_rows_s", "gpu.potrf_rows.s",
                "our Cholesky of a block and rows below, start to start", {"n", "below"}},
        {"potrf_rows_d", "gpu.potrf_rows.d",
                "our Cholesky of a block and rows below, start to start", {"n", "below"}},
        {"cluster_shared_s", "gpu.panel_cluster_shared.s",
                "our LU panel of one cluster beside products, added to pauses", {"m", "n"}},
        {"cluster_shared_d", "gpu.panel_cluster_shared.d",
                "our LU panel of one cluster beside products, added to pauses", {"m", "n"}},
        {"grid_shared_s", "gpu.panel_grid_shared.s",
                "our LU panel of many multiprocessors beside products, added to pauses",
                {"m", "n"}},
        {"grid_shared_d", "gpu.panel_grid_shared.d",
                "our LU panel of many multiprocessors beside products, added to pauses",
                {"m", "n"}},
        {"geqrf_shared_s", "gpu.panel_geqrf_shared.s",
                "our Householder panel beside products, added to pauses", {"m", "n"}},
        {"geqrf_shared_d", "gpu.panel_geqrf_shared.d",
                "our Householder panel beside products, added to pauses", {"m", "n"}},
        {"potrf_rows_shared_s", "gpu.potrf_rows_shared.s",
                "our Cholesky of a block and rows below beside products, added to pauses",
                {"n", "below"}},
        {"potrf_rows_shared_d", "gpu.potrf_rows_shared.d",
                "our Cholesky of a block and rows below beside products, added to pauses",
                {"n", "below"}},
        {"potrf_rows_overlapped_s", "gpu.potrf_rows_overlapped.s",
                "our Cholesky of a block and rows below on a third of the SMs, start to start",
                {"n", "below"}},
        {"potrf_rows_overlapped_d", "gpu.potrf_rows_overlapped.d",
                "our Cholesky of a block and rows below on a third of the SMs, start to start",
                {"n", "below"}},
        {"rank_s", "gpu.rank.s", "our update of small rank, so many tiles an SM, start to start",
                {"rounds", "k"}},
        {"rank_d", "gpu.rank.d", "our update of small rank, so many tiles an SM, start to start",
                {"rounds", "k"}},
        {"trtri_s", "gpu.trtri.s", "our inverse of a triangle, start to start", {"n"}},
        {"trtri_d", "gpu.trtri.d", "our inverse of a triangle, start to start", {"n"}},
        {"larft_s", "gpu.larft.s", "our T out of V^T V, start to start", {"n"}},
        {"larft_d", "gpu.larft.d", "our T out of V^T V, start to start", {"n"}},
        {"guard_s", "gpu.trsm_guard.s", "our look at an inverse that is good, start to start",
                {"n"}},
        {"guard_d", "gpu.trsm_guard.d", "our look at an inverse that is good, start to start",
                {"n"}},
        {"gram_s", "gpu.gram_panel.s", "our Gram-Schmidt panel, start to start", {"m", "n"}},
        {"gram_d", "gpu.gram_panel.d", "our Gram-Schmidt panel, start to start", {"m", "n"}},
        {"gram_apply_s", "gpu.gram_apply.s",
                "our blocked update of Gram-Schmidt, a block an SM, start to start",
                {"m", "k", "columns"}},
        {"gram_apply_d", "gpu.gram_apply.d",
                "our blocked update of Gram-Schmidt, a block an SM, start to start",
                {"m", "k", "columns"}},
        {"laswp_s", "gpu.laswp.s", "our row swaps, start to start", {"swaps", "n", "cold"}},
        {"lu_rows_s", "gpu.lu_rows.s",
                "our row swaps and solve in a matrix by rows, start to start",
                {"swaps", "n", "cold"}},
        {"lu_rows_d", "gpu.lu_rows.d",
                "our row swaps and solve in a matrix by rows, start to start",
                {"swaps", "n", "cold"}},
        {"swap_rows_s", "gpu.swap_rows.s", "our row swaps in a matrix by rows, start to start",
                {"swaps", "n", "cold"}},
        {"swap_rows_d", "gpu.swap_rows.d", "our row swaps in a matrix by rows, start to start",
                {"swaps", "n", "cold"}},
        {"laswp_d", "gpu.laswp.d", "our row swaps, start to start", {"swaps", "n", "cold"}},
        {"lu_top_s", "gpu.lu_top.s", "our row swaps and solve right of an LU panel, start to start",
                {"swaps", "n", "cold"}},
        {"lu_top_d", "gpu.lu_top.d", "our row swaps and solve right of an LU panel, start to start",
                {"swaps", "n", "cold"}},
        {"lu_columns_s", "gpu.lu_columns.s",
                "our update of 64 columns right of an LU panel, start to start", {"m", "n"}},
        {"qr_columns_s", "gpu.qr_columns.s",
                "our update of 64 columns right of a QR panel, start to start", {"m", "n"}},
        {"lu_columns_d", "gpu.lu_columns.d",
                "our update of 64 columns right of an LU panel, start to start", {"m", "n"}},
        {"tf32_split_s", "gpu.tf32_split.s",
                "our split of both operands for 3xTF32, start to start", {"n", "k"}},
        {"half_pair_s", "gpu.half_pair.s", "our split of both operands for 3xFP16, start to start",
                {"n", "k"}},
        {"apply_swaps_s", "gpu.apply_swaps.s",
                "our exchanges of the rows of a square, late, start to start", {"n"}},
        {"apply_swaps_d", "gpu.apply_swaps.d",
                "our exchanges of the rows of a square, late, start to start", {"n"}},
};

static void add_surface(const struct table *curve, struct profile *profile, const struct surface *s)
{
	const struct parameter_spec spec = {.name = s->name,
	        .unit = "s",
	        .method = s->method,
	        .regime = "surface",
	        .low = shortest,
	        .high = longest};
	struct point *point;
	const size_t points = curve_points(curve, s->series, &point);
	for (size_t p = 0; p < points; p++) {
		struct arg args[ARRAY_LEN(s->arg)];
		size_t count = 0;
		for (; count < ARRAY_LEN(s->arg) && s->arg[count]; count++)
			args[count] = (struct arg){
			        s->arg[count], curve_arg(curve, &point[p], s->arg[count])};
		profile_add(profile, &spec, args, count, point[p].seconds, point[p].busy);
	}
	free(point);
}

void block_kernel_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(surfaces); i++)
		add_surface(curve, profile, &surfaces[i]);
}
