/* SPDX-License-Identifier: MIT */
/* Updates by 3xFP16 (lib/half_update.h), from the surfaces of squares and their triangles: alone in
 * whole rounds of tiles, one on each multiprocessor (H200, 256 deep, Cholesky's triangles of 2336
 * to 2848 columns 44 to 46 us, of 3104 and 3360 47, of 3616 68). */
#include "../../lib/half_update.h"
#include "price_products.h"

#include <math.h>

struct rounds {
	enum uplo part;
	double multiprocessors;
};

/* Of a place in the surface, whose triangles are lower ones. */
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

/* How much longer than at a place in the surface, in a square, or its triangle, of as many elements
 * or the largest one measured: by rounds, or beside other kernels, which have multiprocessors for a
 * time, by tiles. */
static double longer(struct price_reader *r, const char *name, const char *const *axes,
        const double *at, const struct rounds *rounds, struct matrix c)
{
	const double tiles = (double)half_update_tiles(rounds->part, c.m, c.n);

	if (r->shares)
		return tiles / tiles_of_square(rounds, at);
	return price_along(r, name, axes, at, 2, rounds_of_square, rounds) *
	       ceil(tiles / rounds->multiprocessors) / rounds_of_square(at, rounds);
}

/* Beside others. */
static double block_stays(const struct price *price, const struct rounds *rounds, struct matrix c)
{
	const double all =
	        (double)half_update_tiles(rounds->part, c.m, c.n) / rounds->multiprocessors;

	return price->term[TERM_ARITHMETIC] / fmax(1, all) *
	       (double)half_update_share((int64_t)ceil(all));
}

struct price price_half_update(struct price_reader *r, enum uplo part, struct matrix c, int64_t k)
{
	static const char *const axes[] = {"n", "k"};
	static const char *const names[2][2] = {{"gpu.half_syrk.s", "gpu.half_syrk_shared.s"},
	        {"gpu.half_gemm.s", "gpu.half_gemm_shared.s"}};
	const double m = (double)c.m, n = (double)c.n, least = fmin(m, n);
	const double elements = part == WHOLE ? m * n : least * (2 * fmax(m, n) - least);
	const char *name = names[part == WHOLE][r->shares];
	const struct rounds rounds = {part, price_scalar(r, "gpu.sm.count")};
	double at[] = {sqrt(elements), (double)k};
	const double beyond = fmax(1, at[0] / price_surface_end(r, name, axes, at, 2, 0));

	r->model.extrapolated |= beyond > 1;
	at[0] /= beyond;
	const double start = price_scalar(r, "gpu.launch.dependent"),
	             time = price_surface(r, name, axes, at, 2);
	struct price price = price_library(r,
	        start + fmax(0, time - start) * longer(r, name, axes, at, &rounds, c),
	        TERM_ARITHMETIC);
	price.share = price_share(r, price_tiles(c.m, c.n) / (part == WHOLE ? 1 : 2) + 1);
	price.block = r->shares ? block_stays(&price, &rounds, c) : INFINITY;
	return price;
}
