/* SPDX-License-Identifier: MIT */
/* Curve of the block_kernel probe -> seconds per call of our own kernels, rate surfaces. */
#include "lib/base/base.h"
#include "block_kernel.h"

#include "lib/probe/curve_fit.h"

/* One surface: series, parameter, method, and the arguments that stand in its brackets. None
 * takes 100 s. BOTH: in single and in double precision. */
#define ONE(series, name, method, ...)                                                             \
	CURVE_SURFACE(series, name, method, "calibrated", CURVE_SOONEST_KERNEL, 100, __VA_ARGS__)
#define BOTH(series, name, ...)                                                                    \
	ONE(series "_s", name ".s", __VA_ARGS__), ONE(series "_d", name ".d", __VA_ARGS__)
#define ALONE ", start to start"
#define SHARED " beside products, added to pauses"
#define LONELY " called alone, less one in a row; host clock"

static const struct curve_rows surfaces[] = {
        BOTH("geqrf", "gpu.panel_geqrf", "our Householder panel" ALONE, "m", "n", "overlapped"),
        BOTH("reflectors", "gpu.panel_reflectors", "our Householder panel with V and T" ALONE, "m",
                "n"),
        BOTH("sweep", "gpu.band_sweep", "our sweep of one kernel" ALONE, "p", "n", "rows"),
        BOTH("slide", "gpu.band_slide", "our sweep of one kernel over a band" ALONE, "p", "n",
                "rows"),
        BOTH("geqrf_columns", "gpu.panel_geqrf_columns", "our Householder panel in memory" ALONE,
                "m", "n"),
        ONE("geqrf_gram_d", "gpu.panel_geqrf_gram.d",
                "our Householder panel by the Gram matrix, with V and T" ALONE, "m", "n"),
        BOTH("cluster", "gpu.panel_cluster", "our LU panel of one cluster" ALONE, "m", "n"),
        BOTH("grid", "gpu.panel_grid", "our LU panel of many multiprocessors" ALONE, "m", "n"),
        BOTH("potrf", "gpu.potrf_block", "our Cholesky of a block" ALONE, "n"),
        BOTH("potrf_rows", "gpu.potrf_rows", "our Cholesky of a block and rows below" ALONE, "n",
                "below"),
        BOTH("cluster_shared", "gpu.panel_cluster_shared", "our LU panel of one cluster" SHARED,
                "m", "n"),
        BOTH("grid_shared", "gpu.panel_grid_shared", "our LU panel of many multiprocessors" SHARED,
                "m", "n"),
        BOTH("geqrf_shared", "gpu.panel_geqrf_shared", "our Householder panel" SHARED, "m", "n"),
        BOTH("potrf_rows_shared", "gpu.potrf_rows_shared",
                "our Cholesky of a block and rows below" SHARED, "n", "below"),
        BOTH("potrf_rows_overlapped", "gpu.potrf_rows_overlapped",
                "our Cholesky of a block and rows below on a third of the SMs" ALONE, "n", "below"),
        BOTH("rank", "gpu.rank", "our update of small rank, so many tiles an SM" ALONE, "rounds",
                "k"),
        BOTH("trtri", "gpu.trtri", "our inverse of a triangle" ALONE, "n"),
        BOTH("larft", "gpu.larft", "our T out of V^T V" ALONE, "n"),
        BOTH("guard", "gpu.trsm_guard", "our look at an inverse that is good" ALONE, "n"),
        BOTH("gram", "gpu.gram_panel", "our Gram-Schmidt panel" ALONE, "m", "n"),
        BOTH("gram_apply", "gpu.gram_apply",
                "our blocked update of Gram-Schmidt, a block an SM" ALONE, "m", "k", "columns"),
        ONE("laswp_s", "gpu.laswp.s", "our row swaps" ALONE, "swaps", "n", "cold"),
        BOTH("lu_rows", "gpu.lu_rows", "our row swaps and solve in a matrix by rows" ALONE, "swaps",
                "n", "cold"),
        BOTH("swap_rows", "gpu.swap_rows", "our row swaps in a matrix by rows" ALONE, "swaps", "n",
                "cold"),
        ONE("laswp_d", "gpu.laswp.d", "our row swaps" ALONE, "swaps", "n", "cold"),
        BOTH("lu_top", "gpu.lu_top", "our row swaps and solve right of an LU panel" ALONE, "swaps",
                "n", "cold"),
        ONE("lu_columns_s", "gpu.lu_columns.s",
                "our update of 64 columns right of an LU panel" ALONE, "m", "n"),
        ONE("qr_columns_s", "gpu.qr_columns.s",
                "our update of 64 columns right of a QR panel" ALONE, "m", "n"),
        ONE("lu_columns_d", "gpu.lu_columns.d",
                "our update of 64 columns right of an LU panel" ALONE, "m", "n"),
        ONE("tf32_split_s", "gpu.tf32_split.s", "our split of both operands for 3xTF32" ALONE, "n",
                "k"),
        ONE("half_pair_s", "gpu.half_pair.s", "our split of both operands for 3xFP16" ALONE, "n",
                "k"),
        BOTH("alone_potrf", "gpu.alone.potrf", "our Cholesky of a block" LONELY, "n"),
        BOTH("alone_reflectors", "gpu.alone.panel_reflectors",
                "our Householder panel with V and T" LONELY, "m", "n"),
        BOTH("alone_cluster", "gpu.alone.panel_cluster", "our LU panel of one cluster" LONELY, "m",
                "n"),
        BOTH("alone_grid", "gpu.alone.panel_grid", "our LU panel of many multiprocessors" LONELY,
                "m", "n"),
        BOTH("apply_swaps", "gpu.apply_swaps", "our exchanges of the rows of a square, late" ALONE,
                "n"),
};

void block_kernel_fit(const struct table *curve, struct profile *profile)
{
	curve_fit_rows(curve, profile, surfaces, ARRAY_LEN(surfaces), false);
}
