/* SPDX-License-Identifier: MIT */
/* V^T C in double precision by the library's kernels for single elements. For few tiles of C the
 * library shares k out to one block a multiprocessor. The blocks of a tile add to it in turn
 * (docs/experiments/calibration.md). The time then goes by the blocks of a tile: C in the same
 * whole tiles takes as long, and more tiles take less. */
#include "factor/kernels/gemm/gemm.h"
#include "cost_products.h"

#include <math.h>

enum {
	SIDE = 64,  /* of a tile */
	NARROW = 16 /* columns of C, at most, with rows of their own: those that gemm_rate times */
};

static const char surface[] = "gpu.gemm_tn_odd.d";

bool is_by_elements(struct cost_reader *r, const struct gemm_problem *p, bool operands)
{
	return p->precision == DOUBLE && p->ta && !p->tb &&
	       (!operands || (p->k % 2 && gemm_edge(&r->tuning, p) == GEMM_EVEN)) &&
	       cost_known(r, surface);
}

static int64_t whole(int64_t side)
{
	return (side + SIDE - 1) / SIDE * SIDE;
}

/* Between the rows of the surface. Where the deeper row takes less time, it is another kernel's,
 * and the library changes to it somewhere between: the mean over all places. */
static double between_depths(struct cost_reader *r, struct matrix c, double k)
{
	const double at[] = {(double)c.m, (double)c.n, k};
	double depth[2];

	cost_surface_rows(r, surface, product_axes, at, ARRAY_LEN(at), 2, depth);
	if (k <= depth[0] || k >= depth[1])
		return product_time(r, surface, c, k);
	const double shorter = product_time(r, surface, c, depth[0]),
	             deeper = product_time(r, surface, c, depth[1]),
	             part = (k - depth[0]) / (depth[1] - depth[0]);
	return deeper < shorter ? shorter + part * (deeper - shorter)
	                        : product_time(r, surface, c, k);
}

/* A profile without rows of few columns: the time of an even depth is assumed for them. */
double elements_time(struct cost_reader *r, struct matrix c, double k, double even)
{
	const double at[] = {(double)c.m, (double)c.n, k},
	             last = product_last_side(r, surface, at, c, 2),
	             narrowest = cost_surface_begin(r, surface, product_axes, at, ARRAY_LEN(at), 1);

	if (c.n <= NARROW && narrowest > NARROW)
		return even;
	c.m = whole(c.m);
	c.n = c.n <= NARROW ? c.n : whole(c.n);
	const double time = between_depths(r, c, fmin(k, last));
	return k > last ? fmax(time, even) : time;
}
