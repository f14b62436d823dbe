/* SPDX-License-Identifier: MIT */
/* Prices of symmetric updates: triangles, and trapezoids as products of as many operations; of the
 * library by halves where the executor calls it so, in whole rounds of tiles (tariff_gemm.c). */
#include "../../lib/block_kernels.h"
#include "../../lib/gemm.h"
#include "price_products.h"

#include <math.h>

/* How much longer a product of an odd number of rows in double precision takes. */
static double odd_rows(struct price_reader *r, int64_t n, int64_t k)
{
	const struct matrix c = {NULL, 0, n, n, n, DOUBLE};

	return library_time(r, c, (double)k) / product_time(r, "gpu.gemm.d", c, (double)k);
}

/* The library's symmetric updates of odd order as much slower as its products. */
static double syrk_time(struct price_reader *r, int64_t n, int64_t k, bool single)
{
	const double at[] = {(double)n, (double)k};
	const char *ours = single ? "gpu.own_syrk.s" : "gpu.own_syrk.d";
	bool own = gemm_is_ahead_triangle(single ? SINGLE : DOUBLE, n, k) && price_known(r, ours);
	const char *name = own ? ours : single ? "gpu.syrk.s" : "gpu.syrk.d";

	const char *shared = single ? "gpu.own_syrk_shared.s" : "gpu.own_syrk_shared.d";

	if (r->shares && price_known(r, shared))
		name = shared;
	return price_surface(r, name, (const char *const[]){"n", "k"}, at, 2) *
	       (own || single ? 1 : odd_rows(r, n, k));
}

static struct price halved_syrk(struct price_reader *r, struct matrix c, int64_t k);

static struct price square_syrk(struct price_reader *r, struct matrix c, int64_t k)
{
	if (c.precision == DOUBLE && gemm_halves_triangle(c.n, k))
		return halved_syrk(r, c, k);
	double time = syrk_time(r, c.n, k, c.precision == SINGLE);
	struct price price = price_library(r, time, TERM_ARITHMETIC);

	price_occupy(
	        r, &price, price_tiles(c.n, c.n) / 2 + 1, k, tiles_of_product(c.precision, false));
	return price;
}

static double total(const struct price *price)
{
	double sum = 0;

	for (int t = 0; t < TERM_COUNT; t++)
		sum += price->term[t];
	return sum;
}

/* What the last rounds of each leave free, others have all along. */
static struct price in_turn(struct price first, struct price second)
{
	const double a = total(&first), b = total(&second);
	const double share = (a * first.share + b * second.share) / (a + b);

	first = price_both(first, second);
	first.share = share;
	return first;
}

/* As lib/blas_double_syrk.c divides it. */
static struct price halved_syrk(struct price_reader *r, struct matrix c, int64_t k)
{
	const int64_t first = (c.n / 2 + TILE - 1) / TILE * TILE, rest = c.n - first;
	const struct matrix top = {NULL, 0, first, first, first, DOUBLE},
	                    bottom = {NULL, 0, rest, rest, rest, DOUBLE},
	                    between = {NULL, 0, rest, first, rest, DOUBLE};
	const struct price product = price_gemm(r, PLAIN, TRANSPOSED, between, k);

	return in_turn(square_syrk(r, top, k), in_turn(product, square_syrk(r, bottom, k)));
}

/* One kernel for all of a trapezoid lasts as long as a product of as many operations. */
static struct price own_trapezoid(struct price_reader *r, struct matrix c, int64_t k)
{
	const double at[] = {(double)c.m, (double)c.n, (double)k};
	const bool single = c.precision == SINGLE;

	if (single && !price_known(r, "gpu.own_gemm.s"))
		return price_gemm(r, PLAIN, TRANSPOSED, c, k);
	struct price price = price_library(r,
	        single ? own_time(r, c, k)
	               : price_surface(r, "gpu.own_gemm.d", product_axes, at, 3),
	        TERM_ARITHMETIC);
	price_occupy(r, &price, price_tiles(c.m, c.n), k, tiles_of_product(c.precision, false));
	if (single && !r->shares)
		price.block = INFINITY;
	return price;
}

struct price price_syrk(struct price_reader *r, struct matrix c, int64_t k)
{
	int64_t n = c.m < c.n ? c.m : c.n, rest = c.m + c.n - 2 * n;
	bool one = c.precision == SINGLE ||
	           (gemm_is_ahead_triangle(c.precision, n, k) && price_known(r, "gpu.own_gemm.d"));
	struct matrix square = {NULL, 0, n, n, n, c.precision};
	struct matrix others = {NULL, 0, one ? rest + n / 2 : rest, n, rest + n, c.precision};

	if (block_rank_is_ahead(c.precision, n + rest, n, k))
		return price_rank(r, c, k);
	if (!rest)
		return square_syrk(r, c, k);
	if (one)
		return own_trapezoid(r, others, k);
	return price_both(price_syrk(r, square, k), price_gemm(r, PLAIN, TRANSPOSED, others, k));
}
