/* SPDX-License-Identifier: MIT */
/* Our own products (factor/kernels/gemm/gemm.h) from their surfaces: alone, and beside another
 * queue's work, where a block has one tile; with tiles that C cuts off; A^T B with splits of k.
 * These work on whole tiles, of the size that the plan takes for the product. And products of tall
 * matrices in double precision. */
#include "factor/kernels/gemm/double_tall.h"
#include "factor/kernels/gemm/gemm.h"
#include "lib/base/architecture.h"
#include "cost_products.h"

#include <math.h>

/* The tiles of our own product. */
static const struct gemm_geometry *tiles_of(struct cost_reader *r, struct matrix c, int64_t k)
{
	const struct gemm_problem problem = gemm_product(PLAIN, PLAIN, c, k);
	const struct gemm_plan plan = gemm_plan_make(&problem, &r->tuning, 0);

	return &gemm_geometry[plan.shape];
}

/* C enlarged to whole tiles. */
static struct matrix whole_tiles(struct matrix c, const struct gemm_geometry *g)
{
	c.m = (c.m + g->rows - 1) / g->rows * g->rows;
	c.n = (c.n + g->columns - 1) / g->columns * g->columns;
	return c;
}

/* The inner dimension in whole steps. */
static double whole_depth(struct cost_reader *r, struct matrix c, int64_t k)
{
	const int depth = tiles_of(r, c, k)->depth;

	return (double)((k + depth - 1) / depth * depth);
}

/* The surface of our own product, or of one that cuts tiles: the closest that the profile has. */
static const char *own_gemm(struct cost_reader *r, enum precision precision, bool edge)
{
	static const char *const names[2][2][2] = {
	        {{"gpu.own_gemm.d", "gpu.own_gemm_edge.d"},
	                {"gpu.own_gemm_shared.d", "gpu.own_gemm_edge_shared.d"}},
	        {{"gpu.own_gemm.s", "gpu.own_gemm_edge.s"},
	                {"gpu.own_gemm_shared.s", "gpu.own_gemm_edge_shared.s"}}};
	const bool single = precision == SINGLE;

	for (int shares = r->shares; shares >= 0; shares--)
		for (int cut = edge; cut >= 0; cut--)
			if (cost_known(r, names[single][shares][cut]))
				return names[single][shares][cut];
	return names[single][0][0];
}

/* A side within the rows of a surface, which begin below a tile. */
static int64_t within(struct cost_reader *r, const char *name, int64_t side, size_t which)
{
	const double none[] = {0, 0, 0};

	return (int64_t)fmin(fmax((double)side, TILE),
	        cost_surface_end(r, name, product_axes, none, ARRAY_LEN(none), which));
}

static double first_depth(struct cost_reader *r, const char *name)
{
	const double none[] = {0, 0, 0};

	return cost_surface_begin(r, name, product_axes, none, ARRAY_LEN(none), 2);
}

/* Where tiles are cut, the time is longer than that of whole tiles by the measured difference.
 * Beyond the measured sizes it is the difference at their end, because the tiles at C's ends are
 * the ones that the others wait for; below them it is the same fraction. */
static double tiles_time(struct cost_reader *r, struct matrix c, int64_t k)
{
	const struct gemm_geometry *g = tiles_of(r, c, k);
	const struct matrix tiles = whole_tiles(c, g);
	const bool edge = tiles.m != c.m || tiles.n != c.n;
	const char *whole = own_gemm(r, c.precision, false),
	           *name = edge ? own_gemm(r, c.precision, true) : whole;
	double depth = whole_depth(r, c, k);
	const double time = product_time(r, whole, tiles, depth);

	if (name == whole)
		return time;
	c.m = within(r, name, c.m, 0);
	c.n = within(r, name, c.n, 1);
	depth = fmax(depth, first_depth(r, name));
	const double uncut = product_time(r, whole, whole_tiles(c, g), depth);
	return time + (product_time(r, name, c, depth) - uncut) * fmin(1, time / uncut);
}

/* Beside another queue's work, for C longer or narrower than measured there: the same factor over
 * the time alone as at the nearest measured C. */
double own_time(struct cost_reader *r, struct matrix c, int64_t k)
{
	const char *name = own_gemm(r, c.precision, false);
	struct matrix near = c;

	near.m = within(r, name, c.m, 0);
	near.n = within(r, name, c.n, 1);
	const double time = tiles_time(r, near, k);
	if (near.m == c.m && near.n == c.n)
		return time;
	if (!r->shares)
		return tiles_time(r, c, k);
	r->shares = false;
	const double alone = tiles_time(r, c, k), near_alone = tiles_time(r, near, k);
	r->shares = true;
	return time * alone / near_alone;
}

/* Whether A^T B runs on our own kernels with splits of k. */
bool is_own_tall(struct cost_reader *r, const struct gemm_problem *p)
{
	return !r->blas_only && gemm_is_ahead_tall(&r->tuning, p) &&
	       cost_known(r, "gpu.own_gemm_tn.s");
}

/* These products, too, work on whole tiles. */
double own_tall_time(
        struct cost_reader *r, const struct gemm_problem *p, struct matrix c, bool transposed)
{
	const struct gemm_plan plan = gemm_plan_make(p, &r->tuning, GEMM_WORK_BYTES);
	const struct matrix tiles = whole_tiles(c, &gemm_geometry[plan.shape]);

	c.m = transposed ? tiles.n : tiles.m;
	c.n = transposed ? tiles.m : tiles.n;
	return product_time(r, "gpu.own_gemm_tn.s", c, (double)p->k);
}

/* Of a profile without the surface, by the hardware law. */
static double double_tall_time(struct cost_reader *r, bool transposed, struct matrix c, double k)
{
	const char *name = transposed ? "gpu.double_tall.d" : "gpu.double_tall_update.d";
	const double at[] = {(double)c.m, (double)c.n, k};

	return cost_known(r, name) ? product_time(r, name, c, k)
	                           : cost_scalar(r, "gpu.launch.dependent") +
	                                     cost_of_work(r, name, product_axes, at, 3);
}

bool is_double_tall(
        struct cost_reader *r, const struct gemm_problem *p, struct matrix c, bool aligned)
{
	const struct tuning_device *device = &r->tuning.device;

	return !r->blas_only && !r->shares &&
	       double_tall_has(device->code, ARCHITECTURE_SHARED(device->capability)) &&
	       double_tall_is_ahead(&r->tuning, p, aligned) &&
	       isfinite(double_tall_time(r, p->ta, c, (double)p->k));
}

/* The update of a deep V takes a kernel for each DOUBLE_TALL_SIDE of its columns, V^T C one and the
 * sum over the teams. */
struct cost cost_double_tall(struct cost_reader *r, const struct gemm_problem *p, struct matrix c)
{
	const double side = DOUBLE_TALL_SIDE, whole = p->ta ? 0 : floor((double)p->k / side),
	             rest = (double)p->k - whole * side;
	double seconds = 0;
	struct cost cost = cost_kernel(r);

	if (whole > 0)
		seconds += whole * double_tall_time(r, false, c, side);
	if (rest > 0)
		seconds += double_tall_time(r, p->ta, c, rest);
	cost.further = p->ta ? 1 : (int)whole + (rest > 0) - 1;
	cost.first = cost.further > 0 ? cost.enqueue : 0;
	cost.enqueue *= 1 + cost.further;
	cost.term[TERM_ARITHMETIC] = fmax(0, seconds - cost.term[TERM_LAUNCH]);
	cost.share = 1;
	cost.block_lifetime = INFINITY;
	return cost;
}
