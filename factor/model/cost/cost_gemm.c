/* SPDX-License-Identifier: MIT */
/* Library calls on the device at level 3, each from the rate surface of its probe (start to start,
 * so that a kernel's start-up is in it): gemm by m, n, k, whatever is transposed, but fp64 with an
 * odd number of rows and products V^T C of long columns, which the library splits along k, by
 * surfaces of their own; deep fp64 products A B^T are by other kernels than the surface's A B
 * (factor/kernels/gemm/blas_double.h), which power lets run as fast on end (H200: 55.7 Tflop/s) as the surface's do
 * in the probe's short calls (55 to 58), so that it stands for them, but in whole rounds of their
 * tiles, whereas the library has other tiles for other results (panels of Cholesky of 16384, 1024
 * columns at k = 1024: of 14336 rows 603 us, of 13312 and 12288 530, of 11264 and 10240 452); our
 * own products as cost_gemm_own.c has them, syrk as cost_syrk.c; trsm by its side and diagonal,
 * the triangle's order and the right-hand sides. The host queues our own as it does kernels, the
 * library's gemm as the launch probe found for products of changing size (H200: three times a
 * rank-one update), the other ones as the library's level 2.
 *
 * What a call leaves of the machine to others: the library takes smaller tiles for smaller results,
 * down to 32 x 32, so that it fills the machine when it can. Large tiles are taken to be 128 x 128,
 * two at a time on a multiprocessor, so that one keeps its place for 2 * 2 * 128^2 k operations at
 * the multiprocessor's share of the surface's highest rate; but one at a time in double precision,
 * whose sums take half of a multiprocessor's registers (H200: panels of Cholesky of 16384 waited
 * half of the 155 us that two would stay), except for A B of an even number of rows, for which the
 * library has other kernels, whose blocks stay as long as two (panels of LU that need 0.4 of the
 * machine waited 30 us beside products of depth 512; of an odd number that gemm_edge leaves so, as
 * QR of 10007 by blocks of 256 was, T was made in 45 us where it would be 69 beside two); and for
 * all of the call where k is split just so that the machine is full, and where blocks of ours stay
 * for several tiles. Nearer to what the kernels are it would be (H200): blocks of 128 x 64 of A B,
 * two at once, stay for their part of the call, 25 us at depths of 64 to 256, and V^T C, split by
 * rules of the library's own, has one to sixteen rounds of blocks; estimated so QR of 8192 columns in
 * fp64 is off by 3 % instead of 6, but of 16384 and 20000 by 4 and 5 instead of 0 and 2. */
#include "factor/kernels/gemm/gemm.h"
#include "cost_products.h"

#include <math.h>

enum {
	SMALL_TILE = 32,
	TALL_COLUMNS = 256, /* of V in its surface */
	FEW_COLUMNS = 512,  /* of tall products */
	TRSM_MANY = 512,    /* fewer right-hand sides are few */
	BESIDE_DEPTH = 64   /* of the products that the block_kernel probe puts beside panels */
};

double cost_share(struct cost_reader *r, double blocks)
{
	return fmin(1, blocks / cost_scalar(r, "gpu.sm.count"));
}

struct cost cost_library(struct cost_reader *r, double total, enum term term)
{
	double start = fmin(total, cost_scalar(r, "gpu.launch.dependent"));
	struct cost cost = {.enqueue = cost_scalar(r, "gpu.cublas.level2")};

	cost.term[TERM_LAUNCH] = start;
	cost.term[term] = total - start;
	return cost;
}

static const struct tile_rate single_tiles = {"gpu.gemm.s.peak", 2},
                              double_tiles = {"gpu.gemm.d.peak", 1},
                              plain_double_tiles = {"gpu.gemm.d.peak", 2};

const struct tile_rate *tiles_of_product(enum precision precision, bool plain)
{
	return precision == SINGLE ? &single_tiles : plain ? &plain_double_tiles : &double_tiles;
}

/* How long blocks stay that compute tiles with an inner dimension of k. */
static double tiles_stay(struct cost_reader *r, int64_t k, const struct tile_rate *rate)
{
	double tile = 2.0 * TILE * TILE * (double)k;

	return rate->at_once * tile /
	       (cost_scalar(r, rate->peak) / cost_scalar(r, "gpu.sm.count"));
}

double cost_tiles(int64_t m, int64_t n)
{
	return ceil((double)m / SMALL_TILE) * ceil((double)n / SMALL_TILE);
}

void cost_occupy(struct cost_reader *r, struct cost *cost, double count, int64_t k,
        const struct tile_rate *rate)
{
	cost->share = cost_share(r, count);
	cost->block = tiles_stay(r, k, rate);
	cost->whole = rate->at_once == 1;
}

double cost_beside(struct cost_reader *r, const struct cost *alone, enum precision precision,
        const struct beside_surface *surface, const double *at)
{
	const char *name = surface->name[precision == DOUBLE];
	double seconds = 0;

	if (!cost_known(r, name))
		return 0;
	for (int t = 0; t < TERM_COUNT; t++)
		seconds += alone->term[t];
	double waits = tiles_stay(r, BESIDE_DEPTH, tiles_of_product(precision, true)) / 2;
	double shared = cost_surface(r, name, surface->axes, at, 2) - waits;
	return shared > seconds ? seconds / shared : 1;
}

const char *const product_axes[] = {"m", "n", "k"};

/* The largest side that the surface has beside the others: rows beyond its columns only for the few
 * columns of tall products. */
static double last_side(
        struct cost_reader *r, const char *name, const double *at, struct matrix c, size_t i)
{
	const double last = cost_surface_end(r, name, product_axes, at, 3, i);

	return i == 0 && c.n > FEW_COLUMNS
	               ? fmin(last, cost_surface_end(r, name, product_axes, at, 3, 1))
	               : last;
}

/* Of products larger than measured the rate, once they have begun, is that of the largest. Deeper
 * ones take a straight line through the second half of the depth: what tiles begin and end with is
 * there once. */
double product_time(struct cost_reader *r, const char *name, struct matrix c, double k)
{
	double at[] = {(double)c.m, (double)c.n, k}, times = 1;

	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		const double last = last_side(r, name, at, c, i);
		r->model.extrapolated |= at[i] > last;
		times *= i < 2 ? fmax(1, at[i] / last) : 1;
		at[i] = fmin(at[i], last);
	}
	const double deepest = at[2], start = cost_scalar(r, "gpu.launch.dependent");
	double time = cost_surface(r, name, product_axes, at, 3);
	if (k > deepest) {
		at[2] = deepest / 2;
		const double half = cost_surface(r, name, product_axes, at, 3);
		time += (k / deepest - 1) * 2 * (time - half);
	}
	return time + (times - 1) * fmax(0, time - start);
}

static double even_time(const double *at, const void *reader)
{
	struct cost_reader *const *r = reader;

	return cost_surface(*r, "gpu.gemm.d", product_axes, at, 3);
}

double library_time(struct cost_reader *r, struct matrix c, double k)
{
	static const char name[] = "gpu.gemm_odd.d";
	double at[] = {(double)c.m, (double)c.n, k};

	if (c.precision == SINGLE || c.m % 2 == 0 || !cost_known(r, name))
		return product_time(r, c.precision == SINGLE ? "gpu.gemm.s" : "gpu.gemm.d", c, k);

	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		at[i] = fmin(at[i], last_side(r, name, at, c, i));
	return product_time(r, name, c, k) *
	       cost_along(r, name, product_axes, at, ARRAY_LEN(at), even_time, &r);
}

/* Of tiles, one at a time on each of that many multiprocessors. */
static double rounds_of_tiles(const double *at, const void *sms)
{
	return ceil(ceil(at[0] / TILE) * ceil(at[1] / TILE) / *(const double *)sms);
}

/* An odd number of rows in double precision, of which the last one does not go by itself. */
static bool stays_odd(const struct gemm_problem *p)
{
	return p->precision == DOUBLE && p->m % 2 && gemm_edge(p) != GEMM_ROW;
}

/* Whether the kernel is known: one chosen for its tiles, which are no others for smaller products
 * (factor/kernels/gemm/blas_double.h). What a last row by itself adds is one part in a hundred of those. */
static bool has_chosen_tiles(const struct gemm_problem *p)
{
	return p->precision == DOUBLE && p->ta != p->tb && !stays_odd(p) && gemm_is_chosen(p);
}

/* Of the multiprocessors, in all rounds together. */
static double chosen_share(struct cost_reader *r, struct matrix c)
{
	const double at[] = {(double)c.m, (double)c.n}, sms = cost_scalar(r, "gpu.sm.count");

	return ceil(at[0] / TILE) * ceil(at[1] / TILE) / (rounds_of_tiles(at, &sms) * sms);
}

/* Whole rounds of tiles, each as long as the surface says: between its rows, whose rounds are
 * nearly full, it says nothing of those that are not. A profile without the kernels' own surface
 * has that of A B stand for them. */
static double chosen_time(struct cost_reader *r, struct matrix c, int64_t k)
{
	const double at[] = {(double)c.m, (double)c.n, (double)k};
	const double sms = cost_scalar(r, "gpu.sm.count"),
	             start = cost_scalar(r, "gpu.launch.dependent");
	const char *const chosen = "gpu.gemm_nt.d", *const name = cost_known(r, chosen)
	                                                                  ? chosen
	                                                                  : "gpu.gemm.d";
	const double time = product_time(r, name, c, (double)k);

	return start + fmax(0, time - start) * cost_along(r, name, product_axes, at, ARRAY_LEN(at),
	                                               rounds_of_tiles, &sms);
}

/* V^T C by the library, V turned or not. Shorter than the surface's columns begin they take less in
 * proportion where one block goes through all of k (H200: fp64 32 x 32 x 1024 58 us, as many
 * columns of 4096 10), but no less than other products of that depth. */
static double tall_time(struct cost_reader *r, struct matrix c, int64_t k)
{
	const bool single = c.precision == SINGLE;
	const char *name = single ? "gpu.gemm_tn.s" : "gpu.gemm_tn.d";
	const double at[] = {(double)c.m, (double)c.n, (double)k},
	             first = cost_surface_begin(r, name, product_axes, at, ARRAY_LEN(at), 2),
	             time = product_time(r, name, c, (double)k),
	             start = cost_scalar(r, "gpu.launch.dependent");

	if ((double)k >= first)
		return time;
	const double plain = library_time(r, c, (double)k);
	return fmin(time, fmax(plain, start + (time - start) * (double)k / first));
}

/* V^T C of few columns, as tall's transpose where that is sooner: of a long inner dimension the
 * library splits others, too (H200, Gram-Schmidt of 10007 columns by blocks of 64, twice: 162 ms,
 * 208 by the surface of A B). */
static double transposed_time(struct cost_reader *r, struct matrix c, int64_t k)
{
	const struct matrix transposed = {NULL, 0, c.n, c.m, c.n, c.precision};
	const double time = library_time(r, c, (double)k);
	const char *tall = c.precision == SINGLE ? "gpu.gemm_tn.s" : "gpu.gemm_tn.d";

	return cost_known(r, tall) ? fmin(time, tall_time(r, transposed, k)) : time;
}

double product_enqueue(struct cost_reader *r, bool own, enum trans ta)
{
	const char *call = ta == TRANSPOSED ? "gpu.cublas.gemm_t" : "gpu.cublas.gemm";

	return cost_scalar(r, own                    ? "gpu.launch.enqueue"
	                       : cost_known(r, call) ? call
	                                              : "gpu.cublas.level2");
}

struct cost cost_gemm(
        struct cost_reader *r, enum trans ta, enum trans tb, struct matrix c, int64_t k)
{
	const struct gemm_problem problem = gemm_product(ta, tb, c, k);
	bool wide = c.m > c.n &&
	            c.m > TALL_COLUMNS; /* then the surface is taken for the product's transpose */
	bool tall = gemm_is_tall(&problem);
	bool own = !r->blas_only && gemm_is_ahead(c.precision, c.m, c.n, k) &&
	           cost_known(r, "gpu.own_gemm.s");
	const bool own_tall = !own && is_own_tall(r, &problem);
	struct matrix transposed = c;
	transposed.m = tall && wide ? c.n : c.m;
	transposed.n = tall && wide ? c.m : c.n;
	const bool few = problem.ta && !problem.tb && wide && c.n <= TALL_COLUMNS;
	const bool chosen = !tall && has_chosen_tiles(&problem);
	const double seconds = own        ? own_time(r, c, k)
	                       : own_tall ? own_tall_time(r, &problem, c, tall && wide)
	                       : tall     ? tall_time(r, transposed, k)
	                       : chosen   ? chosen_time(r, c, k)
	                       : few      ? transposed_time(r, c, k)
	                                  : library_time(r, c, (double)k);
	struct cost cost = cost_library(r, seconds, TERM_ARITHMETIC);

	cost.enqueue = product_enqueue(r, own || own_tall, ta);
	cost_occupy(r, &cost, tall ? INFINITY : cost_tiles(c.m, c.n), tall ? TILE : k,
	        tiles_of_product(c.precision, ta == tb && !stays_odd(&problem)));
	if (tall || (own && !r->shares))
		cost.block = INFINITY;
	if (chosen)
		cost.share = chosen_share(r, c);
	return cost;
}

/* From the right, or with a diagonal from the left, the library takes about twice as long: from the
 * left the surface is of few right-hand sides. A profile without these has LU's stand for them. */
struct cost cost_trsm(struct cost_reader *r, enum side side, enum diag diag, int64_t order,
        int64_t columns, enum precision precision)
{
	static const char *const axes[] = {"m", "n"};
	static const char *const names[2][3] = {
	        {"gpu.trsm.d", "gpu.trsm_right.d", "gpu.trsm_few.d"},
	        {"gpu.trsm.s", "gpu.trsm_right.s", "gpu.trsm_few.s"}};
	const double at[] = {(double)order, (double)columns};
	const int kind = side == RIGHT ? 1 : diag == NON_UNIT && columns < TRSM_MANY ? 2 : 0;
	const char *const *name = names[precision == SINGLE];
	struct cost cost = cost_library(r,
	        cost_surface(r, cost_known(r, name[kind]) ? name[kind] : name[0], axes, at, 2),
	        TERM_ARITHMETIC);

	cost_occupy(r, &cost, cost_tiles(SMALL_TILE, columns), order,
	        tiles_of_product(precision, false));
	return cost;
}
