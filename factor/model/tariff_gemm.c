/* SPDX-License-Identifier: MIT */
/* Library calls on the device at level 2, each from the rate surface of its probe (start to start,
 * so that a kernel's start-up is in it): gemm by m, n, k, whatever is transposed, but products V^T
 * C of long columns, which the library splits along k, by a surface of their own; syrk by n, k, but
 * our own kernel for small ones (tariff_panels.c);
 * trsm by its side, the triangle's order and the right-hand sides; gemv by m, n, in L2 or not. The
 * host queues them as it does the library's level 2.
 *
 * What a call leaves of the machine to others: the library takes smaller tiles for smaller results,
 * down to 32 x 32, so that it fills the machine when it can. Large tiles are taken to be 128 x 128,
 * two at a time on a multiprocessor, so that one keeps its place for 2 * 2 * 128^2 k operations at
 * the multiprocessor's share of the surface's highest rate. */
#include "../../lib/gemm.h"
#include "../../lib/block_kernels.h"
#include "price_blocks.h"

#include <math.h>

enum { TILE = 128, SMALL_TILE = 32, TILES_AT_ONCE = 2, TALL = 4 };

double price_share(struct price_reader *r, double blocks)
{
	return fmin(1, blocks / price_scalar(r, "gpu.sm.count"));
}

/* A call that takes `total` from start to start. */
static struct price library(struct price_reader *r, double total, enum term term)
{
	double start = fmin(total, price_scalar(r, "gpu.launch.dependent"));
	struct price price = {.enqueue = price_scalar(r, "gpu.cublas.level2")};

	price.term[TERM_LAUNCH] = start;
	price.term[term] = total - start;
	return price;
}

static double tiles(int64_t m, int64_t n)
{
	return ceil((double)m / SMALL_TILE) * ceil((double)n / SMALL_TILE);
}

static const char *peak_name(enum precision precision)
{
	return precision == SINGLE ? "gpu.gemm.s.peak" : "gpu.gemm.d.peak";
}

/* So many tiles, each with an inner dimension of k, at a share of that peak. */
static void occupy(
        struct price_reader *r, struct price *price, double count, int64_t k, const char *peak_of)
{
	double peak = price_scalar(r, peak_of);
	double tile = 2.0 * TILE * TILE * (double)k;

	price->share = price_share(r, count);
	price->block = TILES_AT_ONCE * tile / (peak / price_scalar(r, "gpu.sm.count"));
}

struct price price_gemm(
        struct price_reader *r, enum trans ta, enum trans tb, struct matrix c, int64_t k)
{
	static const char *const axes[] = {"m", "n", "k"};
	const double at[] = {(double)c.m, (double)c.n, (double)k};
	bool single = c.precision == SINGLE;
	bool tall = ta == TRANSPOSED && tb == PLAIN && k >= TALL * c.m;
	bool own = !r->blas_only && single && gemm_is_ahead(c.m, c.n, k) &&
	           price_known(r, "gpu.own_gemm.s");
	const char *name = own    ? "gpu.own_gemm.s"
	                   : tall ? (single ? "gpu.gemm_tn.s" : "gpu.gemm_tn.d")
	                          : (single ? "gpu.gemm.s" : "gpu.gemm.d");
	struct price price = library(r, price_surface(r, name, axes, at, 3), TERM_ARITHMETIC);

	occupy(r, &price, tall ? INFINITY : tiles(c.m, c.n), tall ? TILE : k,
	        peak_name(c.precision));
	return price;
}

struct price price_gemm_tf32(struct price_reader *r, struct matrix c, int64_t k)
{
	static const char *const axes[] = {"m", "n", "k"};
	const double at[] = {(double)c.m, (double)c.n, (double)k};
	struct price price =
	        library(r, price_surface(r, "gpu.gemm.tf32", axes, at, 3), TERM_ARITHMETIC);

	occupy(r, &price, tiles(c.m, c.n), k, "gpu.gemm.tf32.peak");
	return price;
}

static double syrk_time(struct price_reader *r, int64_t n, int64_t k, bool single)
{
	const double at[] = {(double)n, (double)k};
	const char *name = !single                            ? "gpu.syrk.d"
	                   : price_known(r, "gpu.own_syrk.s") ? "gpu.own_syrk.s"
	                                                      : "gpu.syrk.s";

	return price_surface(r, name, (const char *const[]){"n", "k"}, at, 2);
}

/* Below the surface's smallest triangle, where it is flat, no more than the whole product. */
static struct price square_syrk(struct price_reader *r, struct matrix c, int64_t k)
{
	static const char *const axes[] = {"m", "n", "k"};
	const double at[] = {(double)c.n, (double)c.n, (double)k};
	bool single = c.precision == SINGLE;
	double time = syrk_time(r, c.n, k, single);

	if (time == syrk_time(r, 0, k, single))
		time = fmin(
		        time, price_surface(r, single ? "gpu.gemm.s" : "gpu.gemm.d", axes, at, 3));
	struct price price = library(r, time, TERM_ARITHMETIC);
	occupy(r, &price, tiles(c.n, c.n) / 2 + 1, k, peak_name(c.precision));
	return price;
}

struct price price_syrk(struct price_reader *r, struct matrix c, int64_t k)
{
	int64_t n = c.m < c.n ? c.m : c.n, rest = c.m + c.n - 2 * n;
	bool single = c.precision == SINGLE;
	struct matrix square = {NULL, 0, n, n, n, c.precision};
	/* in single precision one kernel for all, as long as a product of as many operations */
	struct matrix others = {NULL, 0, single ? rest + n / 2 : rest, n, rest + n, c.precision};

	if (block_rank_is_ahead(n + rest, n, k))
		return price_rank(r, c, k);
	if (!rest)
		return square_syrk(r, c, k);
	struct price behind = price_gemm(r, PLAIN, TRANSPOSED, others, k);
	return single ? behind : price_both(price_syrk(r, square, k), behind);
}

/* A profile without solves from the right has those from the left stand for them. */
struct price price_trsm(struct price_reader *r, enum side side, int64_t order, int64_t columns,
        enum precision precision)
{
	static const char *const axes[] = {"m", "n"};
	const double at[] = {(double)order, (double)columns};
	bool single = precision == SINGLE;
	const char *right = single ? "gpu.trsm_right.s" : "gpu.trsm_right.d";
	const char *left = single ? "gpu.trsm.s" : "gpu.trsm.d";
	const char *name = side == RIGHT && price_known(r, right) ? right : left;
	struct price price = library(r, price_surface(r, name, axes, at, 2), TERM_ARITHMETIC);

	occupy(r, &price, tiles(SMALL_TILE, columns), order, peak_name(precision));
	return price;
}

/* Of our own kernel where the profile has it, which is queued as kernels are. */
struct price price_gemv(struct price_reader *r, enum trans trans, struct matrix a)
{
	static const char *const axes[] = {"m", "n", "cold"};
	static const char *const names[2][2][2] = {
	        {{"gpu.gemv.d.n", "gpu.gemv.d.t"}, {"gpu.gemv.s.n", "gpu.gemv.s.t"}},
	        {{"gpu.own_gemv.d.n", "gpu.own_gemv.d.t"},
	                {"gpu.own_gemv.s.n", "gpu.own_gemv.s.t"}}};
	bool in_l2 = price_bytes(a) <= price_scalar(r, "gpu.l2.stated"),
	     single = a.precision == SINGLE;
	const double at[] = {(double)a.m, (double)a.n, in_l2 ? 0 : 1};
	bool own = !r->blas_only && price_known(r, names[1][single][trans == TRANSPOSED]);
	const char *name = names[own][single][trans == TRANSPOSED];
	const char *call = trans == TRANSPOSED ? "gpu.cublas.gemv_t" : "gpu.cublas.gemv";
	struct price price = library(r, price_surface(r, name, axes, at, 3), TERM_MEMORY);

	if (own)
		price.enqueue = price_scalar(r, "gpu.launch.enqueue");
	else if (price_known(r, call))
		price.enqueue = price_scalar(r, call);
	return price;
}
