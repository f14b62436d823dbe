/* SPDX-License-Identifier: MIT */
/* Curve of the gemm_rate probe -> seconds per call against shape (rate surfaces) of the library's
 * and our own products and solves, the highest rate of some of them, and how much longer updates
 * take under lasting load. */
#include "lib/base/base.h"
#include "gemm_rate.h"

#include "lib/probe/curve_fit.h"
#include "lib/stats/estimate.h"

#include <math.h>
#include <stdlib.h>

/* Operations a cycle of a multiprocessor: twice the most in these precisions, 4096 in TF32 by
 * compute capability 10.0. The probe takes no call of 100 s. */
static const double flops_a_cycle = 8192;

/* Flops of a call: scale times the product of its arguments, and of `again` once more. */
struct surface {
	struct curve_rows rows;
	double scale;
	const char *again, *peak; /* peak: the parameter of the highest rate, or NULL */
};

#define SURFACE(series, name, method, ...)                                                         \
	CURVE_SURFACE(series, name, method ", start to start", NULL, 0, 100, __VA_ARGS__)
#define PRODUCT(series, name, method)                                                              \
	{                                                                                          \
		SURFACE(series, name, method, "m", "n", "k"), 2, NULL, NULL                        \
	}
#define FASTEST_PRODUCT(series, name, method)                                                      \
	{                                                                                          \
		SURFACE(series, name, method, "m", "n", "k"), 2, NULL, name ".peak"                \
	}
#define SOLVE(series, name, method)                                                                \
	{                                                                                          \
		SURFACE(series, name, method, "m", "n"), 1, "m", NULL                              \
	}
#define BOTH_SOLVES(series, name, method)                                                          \
	SOLVE(series "_s", name ".s", method), SOLVE(series "_d", name ".d", method)
#define SYMMETRIC(series, name, method)                                                            \
	{                                                                                          \
		SURFACE(series, name, method, "n", "k"), 1, "n", NULL                              \
	}

static const struct surface library[] = {
        FASTEST_PRODUCT("gemm_s", "gpu.gemm.s", "cuBLAS C -= A B"),
        FASTEST_PRODUCT("gemm_tf32", "gpu.gemm.tf32", "cuBLAS C -= A^T B in tf32 mode"),
        FASTEST_PRODUCT("gemm_d", "gpu.gemm.d", "C -= A B, as the cuda executor calls cuBLAS"),
        PRODUCT("gemm_odd_d", "gpu.gemm_odd.d", "cuBLAS C -= A B of an odd number of rows"),
        PRODUCT("gemm_tn_odd_d", "gpu.gemm_tn_odd.d", "cuBLAS A^T B of an odd number of rows of A"),
        PRODUCT("gemm_unaligned_s", "gpu.gemm_unaligned.s",
                "cuBLAS C -= A B with odd leading dimensions of A and C"),
        PRODUCT("gemm_unaligned_d", "gpu.gemm_unaligned.d",
                "cuBLAS C -= A B with odd leading dimensions of A and C"),
        PRODUCT("gemm_nt_d", "gpu.gemm_nt.d", "C -= A B^T, as the cuda executor calls cuBLAS"),
        PRODUCT("gemm_tn_s", "gpu.gemm_tn.s", "cuBLAS A^T B"),
        PRODUCT("gemm_shared_tf32", "gpu.gemm_shared.tf32",
                "cuBLAS C -= A^T B on the multiprocessors that a panel leaves"),
        PRODUCT("gemm_batched_tf32", "gpu.gemm_batched.tf32",
                "cuBLAS C -= A^T B of squares along a diagonal in one call"),
        PRODUCT("gemm_tn_d", "gpu.gemm_tn.d", "cuBLAS A^T B"),
        BOTH_SOLVES("trsm", "gpu.trsm", "cuBLAS trsm, left lower unit"),
        BOTH_SOLVES("trsm_right", "gpu.trsm_right", "cuBLAS trsm, right lower transposed"),
        BOTH_SOLVES("trsm_few", "gpu.trsm_few", "cuBLAS trsm of few right-hand sides, left lower"),
        SYMMETRIC("syrk_s", "gpu.syrk.s", "cuBLAS syrk, lower"),
        SYMMETRIC("syrk_d", "gpu.syrk.d", "C -= A A^T, lower, as the cuda executor calls cuBLAS"),
};

static const struct surface own[] = {
        PRODUCT("own_gemm_s", "gpu.own_gemm.s", "our C -= A B"),
        PRODUCT("own_gemm_tn_s", "gpu.own_gemm_tn.s", "our A^T B with splits of k"),
        SYMMETRIC("own_syrk_s", "gpu.own_syrk.s", "our C -= A A^T, lower"),
        SYMMETRIC("own_syrk_unaligned_s", "gpu.own_syrk_unaligned.s",
                "our C -= A A^T, lower, with odd leading dimensions"),
        PRODUCT("own_gemm_shared_s", "gpu.own_gemm_shared.s", "our C -= A B, a block a tile"),
        PRODUCT("own_gemm_edge_s", "gpu.own_gemm_edge.s", "our C -= A B with tiles cut off"),
        PRODUCT("own_gemm_edge_shared_s", "gpu.own_gemm_edge_shared.s",
                "our C -= A B with tiles cut off, a block a tile"),
        SYMMETRIC("own_syrk_shared_s", "gpu.own_syrk_shared.s",
                "our C -= A A^T, lower, a block a tile"),
        {SURFACE("half_syrk_s", "gpu.half_syrk.s", "our C -= B^T B by 3xFP16, lower", "n", "k"), 1,
                "n", "gpu.half_syrk.s.peak"},
        SYMMETRIC("half_syrk_shared_s", "gpu.half_syrk_shared.s",
                "our C -= B^T B by 3xFP16, lower, by blocks of few tiles"),
        {SURFACE("half_gemm_s", "gpu.half_gemm.s", "our C -= B^T B by 3xFP16", "n", "k"), 2, "n",
                "gpu.half_gemm.s.peak"},
        {SURFACE("half_gemm_shared_s", "gpu.half_gemm_shared.s",
                 "our C -= B^T B by 3xFP16, by blocks of few tiles", "n", "k"),
                2, "n", NULL},
        PRODUCT("tf32_tall_s", "gpu.tf32_tall.s", "our A^T B by 3xTF32"),
        PRODUCT("tf32_tall_shared_s", "gpu.tf32_tall_shared.s",
                "our A^T B by 3xTF32 beside a panel's multiprocessors"),
        PRODUCT("double_tall_d", "gpu.double_tall.d", "our A^T B of tall matrices"),
        PRODUCT("double_tall_update_d", "gpu.double_tall_update.d",
                "our C -= A B of tall matrices"),
        PRODUCT("own_gemm_d", "gpu.own_gemm.d", "our C -= A B"),
        SYMMETRIC("own_syrk_d", "gpu.own_syrk.d", "our C -= A A^T, lower"),
        SYMMETRIC("own_syrk_unaligned_d", "gpu.own_syrk_unaligned.d",
                "our C -= A A^T, lower, with odd leading dimensions"),
        SYMMETRIC("own_syrk_shared_d", "gpu.own_syrk_shared.d",
                "our C -= A A^T, lower, a block a tile"),
};

/* ---- lasting load ---- */

/* The mean time of a call up to a point over that of a short run. */
static struct estimate lengthening(const struct table *curve, const struct point *point)
{
	static const struct arg shortest = {"elapsed", 0.02};
	const struct estimate up_to = point->seconds,
	                      first = curve_at(curve, point->series, &shortest, 1).seconds;

	if (up_to.samples == 0 || first.samples == 0)
		return estimate_none;
	return (struct estimate){up_to.value / first.value, up_to.low / first.high,
	        up_to.high / first.low, up_to.samples};
}

#define LASTING(kind, what, regime)                                                                \
	{                                                                                          \
		"lasting_" kind,                                                                   \
		        {"gpu.lasting." kind, "ratio",                                             \
		                what ", one after the other: mean call up to then over that of "   \
		                     "the first 0.02 s",                                           \
		                regime, 0.9, 3},                                                   \
		        .column = {"elapsed"}, .value = lengthening, .called = "seconds"           \
	}

static const struct curve_rows lasting[] = {
        LASTING("s", "cuBLAS C -= A B", "library"),
        LASTING("d", "C -= A B, as the cuda executor calls cuBLAS", "library"),
        LASTING("tf32", "cuBLAS C -= A^T B in tf32 mode", "library"),
        LASTING("half", "our C -= B^T B by 3xFP16", "calibrated"),
};

/* ---- surfaces ---- */

static double flops(const struct table *curve, const struct point *point, const struct surface *s)
{
	double count = s->scale * (s->again ? curve_arg(curve, point, s->again) : 1);

	for (size_t i = 0; i < CURVE_ROWS_ARGS && s->rows.column[i]; i++)
		count *= curve_arg(curve, point, s->rows.column[i]);
	return count;
}

static void fit_surface(const struct table *curve, struct profile *profile, const struct surface *s,
        const char *regime, double fastest)
{
	const struct parameter_spec peak = {
	        s->peak, "flop/s", "highest rate of the surface", regime, 1e8, fastest};
	struct curve_rows rows = s->rows;
	struct estimate best = estimate_none;
	bool busy = false;
	struct point *point;
	const size_t count = curve_points(curve, rows.series, &point);

	rows.spec.regime = regime;
	for (size_t i = 0; i < count; i++) {
		const double work = flops(curve, &point[i], s);
		const struct estimate rate = estimate_inverse(work, point[i].seconds);
		rows.spec.low = fmax(CURVE_SOONEST_KERNEL, work / fastest);
		curve_fit_point(curve, profile, &rows, &point[i]);
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
	const double fastest = curve_most(curve, flops_a_cycle);

	for (size_t i = 0; i < ARRAY_LEN(library); i++)
		fit_surface(curve, profile, &library[i], "library", fastest);
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		fit_surface(curve, profile, &own[i], "calibrated", fastest);
	curve_fit_rows(curve, profile, lasting, ARRAY_LEN(lasting), false);
}
