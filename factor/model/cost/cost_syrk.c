/* SPDX-License-Identifier: MIT */
/* Costs of symmetric updates: triangles, and trapezoids as products of as many operations; where
 * the executor calls the library by halves, in whole rounds of tiles (cost_gemm.c). */
#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/gemm/gemm.h"
#include "cost_products.h"

#include <math.h>

/* The slowdown of the library's products by unaligned operands, or in double precision by an odd
 * number of rows. */
static double slowdown(
        struct cost_reader *r, int64_t n, int64_t k, enum precision precision, bool aligned)
{
	const struct matrix c = {NULL, 0, n, n, n, precision};
	const double even = product_time(r, OF_PRECISION("gpu.gemm", precision), c, (double)k);

	return (aligned ? library_time(r, c, (double)k) : library_unaligned_time(r, c, k)) / even;
}

/* What slows the library's products down slows its symmetric updates, too. */
static double syrk_time(struct cost_reader *r, int64_t n, int64_t k, bool single, bool aligned)
{
	static const char *const axes[] = {"n", "k"};
	const double at[] = {(double)n, (double)k};
	const enum precision precision = single ? SINGLE : DOUBLE;
	const char *ours = OF_PRECISION("gpu.own_syrk", precision),
	           *shared = OF_PRECISION("gpu.own_syrk_shared", precision);
	const bool own = gemm_is_ahead_triangle(&r->tuning, precision, n, k) && cost_known(r, ours);
	const char *name = own ? ours : OF_PRECISION("gpu.syrk", precision);

	if (own && r->shares && cost_known(r, shared))
		name = shared;
	const double time = cost_surface(r, name, axes, at, 2);
	if (!own)
		return time * (single && aligned ? 1 : slowdown(r, n, k, precision, aligned));
	return aligned ? time
	               : cost_unaligned(r, time, OF_PRECISION("gpu.own_syrk_unaligned", precision),
	                         ours, axes, at, 2);
}

/* Our own tiles that all find places at once stay there to the end, and leave the other places. */
static void occupy_places(
        struct cost_reader *r, struct cost *cost, struct matrix c, int64_t k, bool aligned)
{
	const struct gemm_problem problem = {.precision = c.precision,
	        .tb = true,
	        .part = GEMM_LOWER,
	        .m = c.n,
	        .n = c.n,
	        .k = k};
	const int shape = gemm_plan_make(&problem, &r->tuning, 0).shape;
	const struct gemm_geometry *g =
	        &gemm_geometry[aligned ? shape : gemm_unaligned_shape(&problem, shape)];
	const double side = ceil((double)c.n / g->rows), tiles = side * (side + 1) / 2,
	             places = g->resident * cost_scalar(r, "gpu.sm.count");

	if (tiles > places)
		return;
	cost->share = tiles / places;
	cost->block_lifetime = INFINITY;
}

static struct cost halved_syrk(struct cost_reader *r, struct matrix c, int64_t k, bool aligned);

static struct cost square_syrk(struct cost_reader *r, struct matrix c, int64_t k, bool aligned)
{
	if (c.precision == DOUBLE && gemm_halves_triangle(&r->tuning, c.n, k))
		return halved_syrk(r, c, k, aligned);
	double time = syrk_time(r, c.n, k, c.precision == SINGLE, aligned);
	struct cost cost = cost_library(r, time, TERM_ARITHMETIC);

	cost_occupy(
	        r, &cost, cost_tiles(c.n, c.n) / 2 + 1, k, tiles_of_product(c.precision, false));
	if (gemm_is_ahead_triangle(&r->tuning, c.precision, c.n, k))
		occupy_places(r, &cost, c, k, aligned);
	return cost;
}

/* The share is the mean over time: others have all along what the last rounds leave free. */
static struct cost in_turn(struct cost first, struct cost second)
{
	const double a = cost_total(&first), b = cost_total(&second);
	const double share = (a * first.share + b * second.share) / (a + b);

	first = cost_both(first, second);
	first.share = share;
	return first;
}

/* The division of factor/kernels/gemm/blas_double_syrk.c. */
static struct cost halved_syrk(struct cost_reader *r, struct matrix c, int64_t k, bool aligned)
{
	const int64_t first = (c.n / 2 + TILE - 1) / TILE * TILE, rest = c.n - first;
	const struct matrix top = {NULL, 0, first, first, first, DOUBLE},
	                    bottom = {NULL, 0, rest, rest, rest, DOUBLE},
	                    between = {NULL, 0, rest, first, rest, DOUBLE};
	const struct cost product = cost_gemm(r, PLAIN, TRANSPOSED, between, k, aligned, aligned);

	return in_turn(square_syrk(r, top, k, aligned),
	        in_turn(product, square_syrk(r, bottom, k, aligned)));
}

/* One kernel for all of a trapezoid lasts as long as a product of as many operations. */
static struct cost own_trapezoid(struct cost_reader *r, struct matrix c, int64_t k, bool aligned)
{
	const double at[] = {(double)c.m, (double)c.n, (double)k};
	const bool single = c.precision == SINGLE;

	if (single && !cost_known(r, "gpu.own_gemm.s"))
		return cost_gemm(r, PLAIN, TRANSPOSED, c, k, aligned, aligned);
	const char *name = OF_PRECISION("gpu.own_gemm", c.precision);
	const double time = single ? own_time(r, c, k) : cost_surface(r, name, product_axes, at, 3);
	struct cost cost = cost_library(r,
	        aligned ? time
	                : cost_unaligned(r, time,
	                          OF_PRECISION("gpu.own_gemm_unaligned", c.precision), name,
	                          product_axes, at, 3),
	        TERM_ARITHMETIC);
	cost_occupy(r, &cost, cost_tiles(c.m, c.n), k, tiles_of_product(c.precision, false));
	if (single && !r->shares)
		cost.block_lifetime = INFINITY;
	return cost;
}

struct cost cost_syrk(struct cost_reader *r, struct matrix c, int64_t k, bool aligned)
{
	int64_t n = c.m < c.n ? c.m : c.n, rest = c.m + c.n - 2 * n;
	bool one =
	        c.precision == SINGLE || (gemm_is_ahead_triangle(&r->tuning, c.precision, n, k) &&
	                                         cost_known(r, "gpu.own_gemm.d"));
	struct matrix square = {NULL, 0, n, n, n, c.precision};
	struct matrix others = {NULL, 0, one ? rest + n / 2 : rest, n, rest + n, c.precision};

	if (block_rank_is_ahead(&r->tuning, c.precision, n + rest, n, k))
		return cost_rank(r, c, k, aligned);
	if (!rest)
		return square_syrk(r, c, k, aligned);
	if (one)
		return own_trapezoid(r, others, k, aligned);
	return cost_both(cost_syrk(r, square, k, aligned),
	        cost_gemm(r, PLAIN, TRANSPOSED, others, k, aligned, aligned));
}
