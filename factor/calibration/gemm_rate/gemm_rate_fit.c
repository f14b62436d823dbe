/* SPDX-License-Identifier: MIT */
/* Curve of the gemm_rate probe -> gpu.gemm.s .tf32 .d, gpu.gemm_odd.d, gpu.gemm_tn.s .d, gpu.trsm.s
 * .d, gpu.trsm_right.s .d, gpu.trsm_few.s .d, gpu.syrk.s .d, gpu.own_gemm.s .d,
 * gpu.own_gemm_tn.s, gpu.own_gemm_edge.s, gpu.own_gemm_shared.s, gpu.own_gemm_edge_shared.s,
 * gpu.own_syrk.s .d, gpu.own_syrk_shared.s, gpu.gemm_shared.tf32, gpu.gemm_batched.tf32,
 * gpu.tf32_tall.s, gpu.tf32_tall_shared.s, gpu.half_syrk.s, gpu.half_syrk_shared.s,
 * gpu.half_gemm.s, gpu.half_gemm_shared.s (seconds per call against shape, rate surfaces) and the
 * best rate of each gemm. */
#include "lib/base/base.h"
#include "gemm_rate.h"

#include "lib/probe/curve.h"
#include "lib/profile/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No device comes near 1.2 Pflop/s in these precisions, none runs a call within 300 ns of the one
 * before, and the probe takes no call this long. */
static const double fastest = 1.2e15, shortest = 300e-9, longest = 100;

/* Arguments as they stand in the brackets; flops of a call are scale times the product of their
 * values, `first` once more. */
static const struct surface {
	const char *series, *name, *peak, *method;
	const char *arg[3];
	double scale;
	const char *again;
} surfaces[] = {
        {"gemm_s", "gpu.gemm.s", "gpu.gemm.s.peak", "cuBLAS C -= A B, start to start",
                {"m", "n", "k"}, 2, NULL},
        {"gemm_tf32", "gpu.gemm.tf32", "gpu.gemm.tf32.peak",
                "cuBLAS C -= A^T B in tf32 mode, start to start", {"m", "n", "k"}, 2, NULL},
        {"gemm_d", "gpu.gemm.d", "gpu.gemm.d.peak",
                "C -= A B, as the cuda executor calls cuBLAS, start to start", {"m", "n", "k"}, 2,
                NULL},
        {"gemm_odd_d", "gpu.gemm_odd.d", NULL,
                "cuBLAS C -= A B of an odd number of rows, start to start", {"m", "n", "k"}, 2,
                NULL},
        {"gemm_nt_d", "gpu.gemm_nt.d", NULL,
                "C -= A B^T, as the cuda executor calls cuBLAS, start to start", {"m", "n", "k"}, 2,
                NULL},
        {"gemm_tn_s", "gpu.gemm_tn.s", NULL, "cuBLAS A^T B, start to start", {"m", "n", "k"}, 2,
                NULL},
        {"gemm_shared_tf32", "gpu.gemm_shared.tf32", NULL,
                "cuBLAS A^T B on the multiprocessors that a panel leaves, start to start",
                {"m", "n", "k"}, 2, NULL},
        {"gemm_batched_tf32", "gpu.gemm_batched.tf32", NULL,
                "cuBLAS A^T B of squares along a diagonal in one call, start to start",
                {"m", "n", "k"}, 2, NULL},
        {"gemm_tn_d", "gpu.gemm_tn.d", NULL, "cuBLAS A^T B, start to start", {"m", "n", "k"}, 2,
                NULL},
        {"trsm_s", "gpu.trsm.s", NULL, "cuBLAS trsm, left lower unit, start to start", {"m", "n"},
                1, "m"},
        {"trsm_d", "gpu.trsm.d", NULL, "cuBLAS trsm, left lower unit, start to start", {"m", "n"},
                1, "m"},
        {"trsm_right_s", "gpu.trsm_right.s", NULL,
                "cuBLAS trsm, right lower transposed, start to start", {"m", "n"}, 1, "m"},
        {"trsm_right_d", "gpu.trsm_right.d", NULL,
                "cuBLAS trsm, right lower transposed, start to start", {"m", "n"}, 1, "m"},
        {"trsm_few_s", "gpu.trsm_few.s", NULL,
                "cuBLAS trsm of few right-hand sides, left lower, start to start", {"m", "n"}, 1,
                "m"},
        {"trsm_few_d", "gpu.trsm_few.d", NULL,
                "cuBLAS trsm of few right-hand sides, left lower, start to start", {"m", "n"}, 1,
                "m"},
        {"syrk_s", "gpu.syrk.s", NULL, "cuBLAS syrk, lower, start to start", {"n", "k"}, 1, "n"},
        {"own_gemm_s", "gpu.own_gemm.s", NULL, "our C -= A B, start to start", {"m", "n", "k"}, 2,
                NULL},
        {"own_gemm_tn_s", "gpu.own_gemm_tn.s", NULL, "our A^T B with splits of k, start to start",
                {"m", "n", "k"}, 2, NULL},
        {"own_syrk_s", "gpu.own_syrk.s", NULL, "our C -= A A^T, lower, start to start", {"n", "k"},
                1, "n"},
        {"own_gemm_shared_s", "gpu.own_gemm_shared.s", NULL,
                "our C -= A B, a block a tile, start to start", {"m", "n", "k"}, 2, NULL},
        {"own_gemm_edge_s", "gpu.own_gemm_edge.s", NULL,
                "our C -= A B with tiles cut off, start to start", {"m", "n", "k"}, 2, NULL},
        {"own_gemm_edge_shared_s", "gpu.own_gemm_edge_shared.s", NULL,
                "our C -= A B with tiles cut off, a block a tile, start to start", {"m", "n", "k"},
                2, NULL},
        {"own_syrk_shared_s", "gpu.own_syrk_shared.s", NULL,
                "our C -= A A^T, lower, a block a tile, start to start", {"n", "k"}, 1, "n"},
        {"half_syrk_s", "gpu.half_syrk.s", "gpu.half_syrk.s.peak",
                "our C -= B^T B by 3xFP16, lower, start to start", {"n", "k"}, 1, "n"},
        {"half_syrk_shared_s", "gpu.half_syrk_shared.s", NULL,
                "our C -= B^T B by 3xFP16, lower, by blocks of few tiles, start to start",
                {"n", "k"}, 1, "n"},
        {"half_gemm_s", "gpu.half_gemm.s", "gpu.half_gemm.s.peak",
                "our C -= B^T B by 3xFP16, start to start", {"n", "k"}, 2, "n"},
        {"half_gemm_shared_s", "gpu.half_gemm_shared.s", NULL,
                "our C -= B^T B by 3xFP16, by blocks of few tiles, start to start", {"n", "k"}, 2,
                "n"},
        {"tf32_tall_s", "gpu.tf32_tall.s", NULL, "our A^T B by 3xTF32, start to start",
                {"m", "n", "k"}, 2, NULL},
        {"tf32_tall_shared_s", "gpu.tf32_tall_shared.s", NULL,
                "our A^T B by 3xTF32 beside a panel's multiprocessors, start to start",
                {"m", "n", "k"}, 2, NULL},
        {"syrk_d", "gpu.syrk.d", NULL,
                "C -= A A^T, lower, as the cuda executor calls cuBLAS, start to start", {"n", "k"},
                1, "n"},
        {"own_gemm_d", "gpu.own_gemm.d", NULL, "our C -= A B, start to start", {"m", "n", "k"}, 2,
                NULL},
        {"own_syrk_d", "gpu.own_syrk.d", NULL, "our C -= A A^T, lower, start to start", {"n", "k"},
                1, "n"},
};

static double flops(const struct table *curve, const struct point *point, const struct surface *s)
{
	double count = s->scale * (s->again ? curve_arg(curve, point, s->again) : 1);
	for (size_t i = 0; i < ARRAY_LEN(s->arg) && s->arg[i]; i++)
		count *= curve_arg(curve, point, s->arg[i]);
	return count;
}

static void add_time(const struct table *curve, struct profile *profile, const struct point *point,
        const struct surface *s)
{
	const struct parameter_spec spec = {.name = s->name,
	        .unit = "s",
	        .method = s->method,
	        .regime = "surface",
	        .low = fmax(shortest, flops(curve, point, s) / fastest),
	        .high = longest};
	struct arg args[ARRAY_LEN(s->arg)];
	size_t count = 0;
	for (; count < ARRAY_LEN(s->arg) && s->arg[count]; count++)
		args[count] = (struct arg){s->arg[count], curve_arg(curve, point, s->arg[count])};
	profile_add(profile, &spec, args, count, point->seconds, point->busy);
}

/* Flops over seconds; the shorter time is the higher rate. */
static struct estimate rate_of(double count, struct estimate t)
{
	return (struct estimate){count / t.value, count / t.high, count / t.low, t.samples};
}

void gemm_rate_fit(const struct table *curve, struct profile *profile)
{
	for (size_t i = 0; i < ARRAY_LEN(surfaces); i++) {
		const struct surface *s = &surfaces[i];
		const struct parameter_spec peak = {.name = s->peak,
		        .unit = "flop/s",
		        .method = "highest rate of the surface",
		        .regime = "surface",
		        .low = 1e8,
		        .high = fastest};
		struct estimate best = {NAN, NAN, NAN, 0};
		bool busy = false;
		struct point *point;
		const size_t count = curve_points(curve, s->series, &point);
		for (size_t p = 0; p < count; p++) {
			const struct estimate rate =
			        rate_of(flops(curve, &point[p], s), point[p].seconds);
			add_time(curve, profile, &point[p], s);
			if (point[p].seconds.samples == 0 || rate.value <= best.value)
				continue;
			best = rate;
			busy = point[p].busy;
		}
		if (s->peak && count > 0)
			profile_add(profile, &peak, NULL, 0, best, busy);
		free(point);
	}
}
