/* SPDX-License-Identifier: MIT */
/* Curves of the calibrations -> parameters: nearly every point becomes a row of a rate surface,
 * seconds of a call against its shape. _s and .s: in single precision; _d and .d: in double. */
#include "fits.h"

#include "factor/kernels/lu/panel_geometry.h"
#include "lib/base/base.h"
#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No kernel starts within this of the one before. */
#define SHORTEST 300e-9

/* ---- gemm_rate: also the highest rate of some; gemv_rate ---- */

/* Flops of a call, or bytes that it moves: scale times the product of its sides, and of `again`
 * once more. The probes take no call of 100 s. */
struct surface {
	struct curve_rows rows;
	double scale;
	const char *again, *peak; /* peak: the parameter of the highest rate, or NULL */
};

/* No device comes near 1.2 Pflop/s in these precisions, and no L2 delivers 30 TB/s. */
static const double most_flops = 1.2e15, most_bytes = 3e13;

#define STREAM(series, name, method, ...)                                                          \
	CURVE_SURFACE(series, name, method ", start to start", 0, 100, __VA_ARGS__)

#define PRODUCT(series, name, method) STREAM(series, name, method, "m", "n", "k"), 2, NULL, NULL
#define SOLVE(series, name, method) STREAM(series, name, method, "m", "n"), 1, "m", NULL
#define SYMMETRIC(series, name, method) STREAM(series, name, method, "n", "k"), 1, "n", NULL
#define SQUARE(series, name, method) STREAM(series, name, method, "n", "k"), 2, "n", NULL
static const struct surface products[] = {
        {STREAM("gemm_s", "gpu.gemm.s", "cuBLAS C -= A B", "m", "n", "k"), 2, NULL,
                "gpu.gemm.s.peak"},
        {STREAM("gemm_tf32", "gpu.gemm.tf32", "cuBLAS C -= A^T B in tf32 mode", "m", "n", "k"), 2,
                NULL, "gpu.gemm.tf32.peak"},
        {STREAM("gemm_d", "gpu.gemm.d", "C -= A B, as the cuda executor calls cuBLAS", "m", "n",
                 "k"),
                2, NULL, "gpu.gemm.d.peak"},
        {PRODUCT("gemm_odd_d", "gpu.gemm_odd.d", "cuBLAS C -= A B of an odd number of rows")},
        {PRODUCT("gemm_nt_d", "gpu.gemm_nt.d", "C -= A B^T, as the cuda executor calls cuBLAS")},
        {PRODUCT("gemm_tn_s", "gpu.gemm_tn.s", "cuBLAS A^T B")},
        {PRODUCT("gemm_shared_tf32", "gpu.gemm_shared.tf32",
                "cuBLAS A^T B on the multiprocessors that a panel leaves")},
        {PRODUCT("gemm_batched_tf32", "gpu.gemm_batched.tf32",
                "cuBLAS A^T B of squares along a diagonal in one call")},
        {PRODUCT("gemm_tn_d", "gpu.gemm_tn.d", "cuBLAS A^T B")},
        {SOLVE("trsm_s", "gpu.trsm.s", "cuBLAS trsm, left lower unit")},
        {SOLVE("trsm_d", "gpu.trsm.d", "cuBLAS trsm, left lower unit")},
        {SOLVE("trsm_right_s", "gpu.trsm_right.s", "cuBLAS trsm, right lower transposed")},
        {SOLVE("trsm_right_d", "gpu.trsm_right.d", "cuBLAS trsm, right lower transposed")},
        {SOLVE("trsm_few_s", "gpu.trsm_few.s", "cuBLAS trsm of few right-hand sides, left lower")},
        {SOLVE("trsm_few_d", "gpu.trsm_few.d", "cuBLAS trsm of few right-hand sides, left lower")},
        {SYMMETRIC("syrk_s", "gpu.syrk.s", "cuBLAS syrk, lower")},
        {PRODUCT("own_gemm_s", "gpu.own_gemm.s", "our C -= A B")},
        {PRODUCT("own_gemm_tn_s", "gpu.own_gemm_tn.s", "our A^T B with splits of k")},
        {SYMMETRIC("own_syrk_s", "gpu.own_syrk.s", "our C -= A A^T, lower")},
        {PRODUCT("own_gemm_shared_s", "gpu.own_gemm_shared.s", "our C -= A B, a block a tile")},
        {PRODUCT("own_gemm_edge_s", "gpu.own_gemm_edge.s", "our C -= A B with tiles cut off")},
        {PRODUCT("own_gemm_edge_shared_s", "gpu.own_gemm_edge_shared.s",
                "our C -= A B with tiles cut off, a block a tile")},
        {SYMMETRIC("own_syrk_shared_s", "gpu.own_syrk_shared.s",
                "our C -= A A^T, lower, a block a tile")},
        {STREAM("half_syrk_s", "gpu.half_syrk.s", "our C -= B^T B by 3xFP16, lower", "n", "k"), 1,
                "n", "gpu.half_syrk.s.peak"},
        {SYMMETRIC("half_syrk_shared_s", "gpu.half_syrk_shared.s",
                "our C -= B^T B by 3xFP16, lower, by blocks of few tiles")},
        {STREAM("half_gemm_s", "gpu.half_gemm.s", "our C -= B^T B by 3xFP16", "n", "k"), 2, "n",
                "gpu.half_gemm.s.peak"},
        {SQUARE("half_gemm_shared_s", "gpu.half_gemm_shared.s",
                "our C -= B^T B by 3xFP16, by blocks of few tiles")},
        {PRODUCT("tf32_tall_s", "gpu.tf32_tall.s", "our A^T B by 3xTF32")},
        {PRODUCT("tf32_tall_shared_s", "gpu.tf32_tall_shared.s",
                "our A^T B by 3xTF32 beside a panel's multiprocessors")},
        {SYMMETRIC("syrk_d", "gpu.syrk.d", "C -= A A^T, lower, as the cuda executor calls cuBLAS")},
        {PRODUCT("own_gemm_d", "gpu.own_gemm.d", "our C -= A B")},
        {SYMMETRIC("own_syrk_d", "gpu.own_syrk.d", "our C -= A A^T, lower")},
};

#define VECTORS(series, name, method, bytes)                                                       \
	STREAM(series, name, method, "m", "n", "cold"), bytes, NULL, NULL
static const struct surface vectors[] = {
        {VECTORS("gemv_n_s", "gpu.gemv.s.n", "cuBLAS gemv", 4)},
        {VECTORS("gemv_t_s", "gpu.gemv.s.t", "cuBLAS gemv, transposed", 4)},
        {VECTORS("ger_s", "gpu.ger.s", "cuBLAS ger", 8)},
        {VECTORS("gemv_n_d", "gpu.gemv.d.n", "cuBLAS gemv", 8)},
        {VECTORS("gemv_t_d", "gpu.gemv.d.t", "cuBLAS gemv, transposed", 8)},
        {VECTORS("ger_d", "gpu.ger.d", "cuBLAS ger", 16)},
        {VECTORS("own_gemv_n_s", "gpu.own_gemv.s.n", "our gemv", 4)},
        {VECTORS("own_gemv_t_s", "gpu.own_gemv.s.t", "our gemv, transposed", 4)},
        {VECTORS("own_gemv_n_d", "gpu.own_gemv.d.n", "our gemv", 8)},
        {VECTORS("own_gemv_t_d", "gpu.own_gemv.d.t", "our gemv, transposed", 8)},
};

static double work_of(const struct table *curve, const struct point *point, const struct surface *s)
{
	double work = s->scale * (s->again ? curve_arg(curve, point, s->again) : 1);

	for (size_t i = 0; i < CURVE_ROWS_ARGS && s->rows.column[i]; i++)
		if (strcmp(s->rows.column[i], "cold") != 0)
			work *= curve_arg(curve, point, s->rows.column[i]);
	return work;
}

/* A matrix that was measured only cold is too large for L2. Its time holds for the warm state too,
 * which makes the grid complete. */
static void add_warm(const struct table *curve, struct profile *profile,
        const struct curve_rows *rows, const struct point *point)
{
	const struct arg warm[] = {{"m", curve_arg(curve, point, "m")},
	        {"n", curve_arg(curve, point, "n")}, {"cold", 0}};

	if (curve_at(curve, rows->series, warm, ARRAY_LEN(warm)).row == SIZE_MAX)
		profile_add(
		        profile, &rows->spec, warm, ARRAY_LEN(warm), point->seconds, point->busy);
}

static void fit_surface(
        const struct table *curve, struct profile *profile, const struct surface *s, double fastest)
{
	const struct parameter_spec peak = {
	        s->peak, "flop/s", "highest rate of the surface", "surface", 1e8, fastest};
	struct curve_rows rows = s->rows;
	struct estimate best = estimate_none;
	bool busy = false;
	struct point *point;
	const size_t count = curve_points(curve, rows.series, &point);

	for (size_t i = 0; i < count; i++) {
		const double work = work_of(curve, &point[i], s);
		const struct estimate rate = estimate_inverse(work, point[i].seconds);
		rows.spec.low = fmax(SHORTEST, work / fastest);
		curve_fit_point(curve, profile, &rows, &point[i]);
		if (rows.column[2] && strcmp(rows.column[2], "cold") == 0)
			add_warm(curve, profile, &rows, &point[i]);
		if (point[i].seconds.samples == 0 || rate.value <= best.value)
			continue;
		best = rate;
		busy = point[i].busy;
	}
	if (s->peak && count > 0)
		profile_add(profile, &peak, NULL, 0, best, busy);
	free(point);
}

void gemm_rate_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(products); i++)
		fit_surface(curve, profile, &products[i], most_flops);
}

void gemv_rate_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++)
		fit_surface(curve, profile, &vectors[i], most_bytes);
}

/* ---- block_kernel ---- */

#define KERNEL(series, name, method, ...)                                                          \
	CURVE_SURFACE(series, name, method, SHORTEST, 1, __VA_ARGS__)
#define KERNELS(series, name, ...)                                                                 \
	KERNEL(series "_s", name ".s", __VA_ARGS__), KERNEL(series "_d", name ".d", __VA_ARGS__)
#define ALONE ", start to start"
#define SHARED " beside products, added to pauses"

static const struct curve_rows kernels[] = {
        KERNELS("geqrf", "gpu.panel_geqrf", "our Householder panel" ALONE, "m", "n", "overlapped"),
        KERNELS("reflectors", "gpu.panel_reflectors", "our Householder panel with V and T" ALONE,
                "m", "n"),
        KERNELS("sweep", "gpu.band_sweep", "our sweep of one kernel" ALONE, "p", "n", "rows"),
        KERNELS("slide", "gpu.band_slide", "our sweep of one kernel over a band" ALONE, "p", "n",
                "rows"),
        KERNELS("geqrf_columns", "gpu.panel_geqrf_columns", "our Householder panel in memory" ALONE,
                "m", "n"),
        KERNELS("cluster", "gpu.panel_cluster", "our LU panel of one cluster" ALONE, "m", "n"),
        KERNELS("grid", "gpu.panel_grid", "our LU panel of many multiprocessors" ALONE, "m", "n"),
        KERNELS("potrf", "gpu.potrf_block", "our Cholesky of a block" ALONE, "n"),
        KERNELS("potrf_rows", "gpu.potrf_rows", "our Cholesky of a block and rows below" ALONE, "n",
                "below"),
        KERNELS("cluster_shared", "gpu.panel_cluster_shared", "our LU panel of one cluster" SHARED,
                "m", "n"),
        KERNELS("grid_shared", "gpu.panel_grid_shared",
                "our LU panel of many multiprocessors" SHARED, "m", "n"),
        KERNELS("geqrf_shared", "gpu.panel_geqrf_shared", "our Householder panel" SHARED, "m", "n"),
        KERNELS("potrf_rows_shared", "gpu.potrf_rows_shared",
                "our Cholesky of a block and rows below" SHARED, "n", "below"),
        KERNELS("potrf_rows_overlapped", "gpu.potrf_rows_overlapped",
                "our Cholesky of a block and rows below on a third of the SMs" ALONE, "n", "below"),
        KERNELS("rank", "gpu.rank", "our update of small rank, so many tiles an SM" ALONE, "rounds",
                "k"),
        KERNELS("trtri", "gpu.trtri", "our inverse of a triangle" ALONE, "n"),
        KERNELS("larft", "gpu.larft", "our T out of V^T V" ALONE, "n"),
        KERNELS("guard", "gpu.trsm_guard", "our look at an inverse that is good" ALONE, "n"),
        KERNELS("gram", "gpu.gram_panel", "our Gram-Schmidt panel" ALONE, "m", "n"),
        KERNELS("gram_apply", "gpu.gram_apply",
                "our blocked update of Gram-Schmidt, a block an SM" ALONE, "m", "k", "columns"),
        KERNEL("laswp_s", "gpu.laswp.s", "our row swaps" ALONE, "swaps", "n", "cold"),
        KERNELS("lu_rows", "gpu.lu_rows", "our row swaps and solve in a matrix by rows" ALONE,
                "swaps", "n", "cold"),
        KERNELS("swap_rows", "gpu.swap_rows", "our row swaps in a matrix by rows" ALONE, "swaps",
                "n", "cold"),
        KERNEL("laswp_d", "gpu.laswp.d", "our row swaps" ALONE, "swaps", "n", "cold"),
        KERNELS("lu_top", "gpu.lu_top", "our row swaps and solve right of an LU panel" ALONE,
                "swaps", "n", "cold"),
        KERNEL("lu_columns_s", "gpu.lu_columns.s",
                "our update of 64 columns right of an LU panel" ALONE, "m", "n"),
        KERNEL("qr_columns_s", "gpu.qr_columns.s",
                "our update of 64 columns right of a QR panel" ALONE, "m", "n"),
        KERNEL("lu_columns_d", "gpu.lu_columns.d",
                "our update of 64 columns right of an LU panel" ALONE, "m", "n"),
        KERNEL("tf32_split_s", "gpu.tf32_split.s", "our split of both operands for 3xTF32" ALONE,
                "n", "k"),
        KERNEL("half_pair_s", "gpu.half_pair.s", "our split of both operands for 3xFP16" ALONE, "n",
                "k"),
        KERNELS("apply_swaps", "gpu.apply_swaps",
                "our exchanges of the rows of a square, late" ALONE, "n"),
};

void block_kernel_fit(const struct table *curve, struct profile *profile)
{
	curve_fit_rows(curve, profile, kernels, ARRAY_LEN(kernels), false);
}

/* ---- panel_kernel ---- */

#define STEP(series, name, method, ...) CURVE_SURFACE(series, name, method, 1e-7, 1e-2, __VA_ARGS__)
#define STEPS(series, name, ...)                                                                   \
	STEP(series "_s", name ".s", __VA_ARGS__), STEP(series "_d", name ".d", __VA_ARGS__)
#define COLUMN "a column of the resident kernel "

static const struct curve_rows steps[] = {
        STEPS("pivot", "gpu.panel.pivot", "fused pivot kernel, start to start", "m", "n"),
        STEPS("step", "gpu.panel.step", "fused pivot and update kernel in turns, start to start",
                "m", "n"),
        STEPS("column", "gpu.panel.column", COLUMN "without update", "blocks", "n"),
};
/* A block's warps pass twice over their rows, on all multiprocessors. */
static const struct curve_rows twice[] = {STEPS("column", "gpu.panel.twice",
        COLUMN "with two passes over a block's rows, one block an SM", "n")};
static const struct curve_rows update = {"shared_update",
        {"gpu.shared.update", "B/s",
                "panel update in shared memory, bytes read and written, one SM", NULL, 1e8, 1e13},
        .column = {"threads"}, .value = curve_rate};

/* The points of a series whose blocks need two passes over their rows, or the others. */
static void fit_passes(const struct table *curve, struct profile *profile,
        const struct curve_rows *rows, bool two_passes)
{
	struct point *points;
	const size_t count = curve_points(curve, rows->series, &points);

	for (size_t i = 0; i < count; i++)
		if ((curve_arg(curve, &points[i], "rows") > PANEL_FEWEST_ROWS) == two_passes)
			curve_fit_point(curve, profile, rows, &points[i]);
	free(points);
}

void panel_kernel_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		fit_passes(curve, profile, &steps[i], false);
	for (size_t i = 0; i < ARRAY_LEN(twice); i++)
		fit_passes(curve, profile, &twice[i], true);
	curve_fit_rows(curve, profile, &update, 1, false);
}

/* ---- host_rate: also the clock ---- */

#define PANEL "lda > m and no multiple of a page, panel in cache as far as it fits"
#define CALL " of an m x n panel, one thread, " PANEL
#define FACTORIZATION ", one thread below 4 MiB, all from there, " PANEL
#define EVERYWHERE ", n x n, all threads"

/* No call takes less than a nanosecond, none minutes. */
#define TIMED(series, parameter, method, ...)                                                      \
	CURVE_SURFACE(series, "host." parameter, method, 1e-9, 1000, __VA_ARGS__)
#define SHORT(series, parameter, method)                                                           \
	{                                                                                          \
		series, .spec = { "host.blas." parameter, "s", method, "hardware", 1e-9, 1000 }    \
	}
#define CALLS(name, before, after, ...)                                                            \
	TIMED(name "_s", name ".s", before "s" name after, __VA_ARGS__),                           \
	        TIMED(name "_d", name ".d", before "d" name after, __VA_ARGS__)

static const struct curve_rows functions[] = {
        TIMED("iamax_s", "iamax.s", "cblas_isamax of a column" CALL, "m", "n"),
        TIMED("iamax_d", "iamax.d", "cblas_idamax of a column" CALL, "m", "n"),
        CALLS("scal", "cblas_", " of a column" CALL, "m", "n"),
        CALLS("swap", "cblas_", " of two rows" CALL, "m", "n"),
        CALLS("ger", "cblas_", CALL, "m", "n"),
        CALLS("getrf", "LAPACKE_", "_work" FACTORIZATION, "m", "n"),
        CALLS("geqrf", "LAPACKE_", "_work" FACTORIZATION, "m", "n"),
        CALLS("potrf", "LAPACKE_", "_work, n x n" FACTORIZATION, "n"),
        CALLS("gemm", "cblas_", EVERYWHERE, "n"),
        TIMED("gemm_threads_s", "gemm.threads.s", "cblas_sgemm, n x n", "n", "threads"),
        TIMED("getrf_threads_s", "getrf.threads.s", "LAPACKE_sgetrf_work, " PANEL, "m", "n",
                "threads"),
        SHORT("level1", "level1", "cblas_sscal, n = 32"),
        SHORT("level2", "level2", "cblas_sger, 32 x 32"),
};

/* Processes that a point must have: three, or as many as there are. */
static size_t least_processes(const struct table *curve)
{
	double last = -1;

	for (size_t row = 0; row < curve->row_count; row++)
		last = fmax(last, table_real(curve, row, "process"));
	return (size_t)fmin(last + 1, 3);
}

/* A slow machine leaves out points in some processes, and whole series. Those with a choice of
 * threads may be missing. */
static void add_function(const struct table *curve, struct profile *profile,
        const struct curve_rows *rows, size_t least)
{
	struct point *points;
	const size_t n = curve_points(curve, rows->series, &points);

	for (size_t i = 0; i < n; i++)
		if (points[i].processes >= least)
			curve_fit_point(curve, profile, rows, &points[i]);
	if (n == 0 && !strstr(rows->series, "threads"))
		profile_add(profile, &rows->spec, NULL, 0, estimate_none, false);
	free(points);
}

void host_rate_fit(const struct table *curve, struct profile *profile)
{
	static const struct parameter_spec clock = {
	        "host.clock", "Hz", "dependent integer adds", NULL, 0.2e9, 10e9};
	const size_t least = least_processes(curve);
	const struct point add = curve_at(curve, "clock", NULL, 0);
	struct estimate hz = estimate_none, seconds = add.seconds;

	for (size_t f = 0; f < ARRAY_LEN(functions); f++)
		add_function(curve, profile, &functions[f], least);
	/* processes that differ widely may have an interval that reaches zero */
	seconds.low = fmax(seconds.low, seconds.value / 2);
	if (seconds.samples)
		hz = estimate_inverse(1, seconds);
	profile_add(profile, &clock, NULL, 0, hz, add.busy);
}

/* ---- host_gram: a process has several rows of a point, one for each quarter of its time ---- */

#define PASS(series, method, ...)                                                                  \
	CURVE_SURFACE(series, "host.gram." series, method, 1e-10, 0.1, __VA_ARGS__)
#define LEVELS(series, method) PASS(series, method, "threads", "bytes", "level")

static const struct curve_rows passes[] = {
        LEVELS("dots", "dot products of a column"),
        LEVELS("update", "a column out of others"),
        LEVELS("fused", "both in one pass"),
        LEVELS("few", "8 columns out of others"),
        LEVELS("many", "48 columns out of others"),
};
static const struct curve_rows handed =
        PASS("handed", "a column that another core has changed", "bytes");

void host_gram_fit(const struct table *curve, struct profile *profile)
{
	curve_fit_rows(curve, profile, passes, ARRAY_LEN(passes), true);
	/* one thread fetches nothing */
	curve_fit_rows(curve, profile, &handed, 1, false);
}
