/* SPDX-License-Identifier: MIT */
/* Costs of updates by 3xFP16 (factor/kernels/gemm/half_update.h), from the surfaces of squares and
 * of their triangles. Alone they run in whole rounds of tiles, one tile on each multiprocessor. */
#include "factor/kernels/gemm/half_update.h"
#include "cost_products.h"

#include <math.h>

struct rounds {
	enum uplo part;
	double tiles; /* of C */
	double multiprocessors;
};

/* Tiles at a place of the surface, whose triangles are lower ones. */
static double tiles_of_square(const struct rounds *s, const double *at)
{
	const int64_t n = (int64_t)at[0];

	return (double)half_update_tiles(s->part == WHOLE ? WHOLE : LOWER, n, n);
}

static double rounds_of_square(const double *at, const void *self)
{
	const struct rounds *s = self;

	return ceil(tiles_of_square(s, at) / s->multiprocessors);
}

/* The factor over the time at a place of the surface: the square, or its triangle, with as many
 * elements, or the largest one measured. The time follows the rounds; beside other kernels, which
 * have multiprocessors for part of the time, it follows the tiles. */
static double longer(struct cost_reader *r, const char *name, const char *const *axes,
        const double *at, const struct rounds *rounds)
{
	if (r->shares)
		return rounds->tiles / tiles_of_square(rounds, at);
	return cost_along(r, name, axes, at, 2, rounds_of_square, rounds) *
	       ceil(rounds->tiles / rounds->multiprocessors) / rounds_of_square(at, rounds);
}

/* The lifetime of a block beside other kernels. */
static double block_lifetime_of(const struct cost *cost, const struct rounds *rounds)
{
	const double all = rounds->tiles / rounds->multiprocessors;

	return cost->term[TERM_ARITHMETIC] / fmax(1, all) *
	       (double)half_update_share((int64_t)ceil(all));
}

/* elements: of C's updated part, where they count one and on the diagonal half. */
static struct cost cost_of(struct cost_reader *r, enum uplo part, double elements, double tiles,
        struct matrix c, int64_t k)
{
	static const char *const axes[] = {"n", "k"};
	static const char *const names[2][2] = {{"gpu.half_syrk.s", "gpu.half_syrk_shared.s"},
	        {"gpu.half_gemm.s", "gpu.half_gemm_shared.s"}};
	const char *name = names[part == WHOLE][r->shares];
	const struct rounds rounds = {part, tiles, cost_scalar(r, "gpu.sm.count")};
	double at[] = {sqrt(part == WHOLE ? elements : 2 * elements), (double)k};
	const double beyond = fmax(1, at[0] / cost_surface_end(r, name, axes, at, 2, 0));

	r->model.extrapolated |= beyond > 1;
	at[0] /= beyond;
	const double start = cost_scalar(r, "gpu.launch.dependent"),
	             time = cost_surface(r, name, axes, at, 2);
	struct cost cost =
	        cost_library(r, start + fmax(0, time - start) * longer(r, name, axes, at, &rounds),
	                TERM_ARITHMETIC);
	cost.share = cost_share(r, cost_tiles(c.m, c.n) / (part == WHOLE ? 1 : 2) + 1);
	cost.block_lifetime = r->shares ? block_lifetime_of(&cost, &rounds) : INFINITY;
	return cost;
}

struct cost cost_half_update(struct cost_reader *r, enum uplo part, struct matrix c, int64_t k)
{
	const double m = (double)c.m, n = (double)c.n, least = fmin(m, n);

	return cost_of(r, part, part == WHOLE ? m * n : least * (2 * fmax(m, n) - least) / 2,
	        (double)half_update_tiles(part, c.m, c.n), c, k);
}

struct cost cost_half_stairs(
        struct cost_reader *r, struct stairs stairs, struct matrix c, int64_t k)
{
	return cost_of(r, LOWER, stairs_elements(stairs, c.m, c.n),
	        (double)half_stairs_tiles(stairs, c.m, c.n), c, k);
}
