/* SPDX-License-Identifier: MIT */
/* Costs of the library's products and triangular solves on the device, from surfaces measured start
 * to start, kernel start-up included. gemm: by m, n, k, whatever is transposed. Surfaces of their
 * own: fp64 with an odd number of rows, and V^T C of an odd number of terms (cost_gemm_elements.c);
 * operands off boundaries of 16 bytes; V^T C of long columns, which the library splits along k.
 * Deep fp64 products A B^T run in whole rounds of 128 x 128 tiles
 * (factor/kernels/gemm/blas_double.h). Our own products: cost_gemm_own.c; symmetric updates:
 * cost_syrk.c. trsm: by side and diagonal, the triangle's order and the right-hand sides.
 *
 * The share of the machine: the library takes smaller tiles for smaller results, down to 32 x 32,
 * to fill the machine. Large tiles are taken to be 128 x 128, two at a time on a multiprocessor: a
 * tile's lifetime is 2 * 2 * 128^2 k operations at the multiprocessor's part of the highest rate.
 * Double precision has one at a time, but for A B of an even number of rows. Where k is split, and
 * where our blocks go through several tiles, the blocks live for the whole call. */
#include "factor/kernels/gemm/gemm.h"
#include "cost_products.h"

#include <math.h>

enum {
	TALL_COLUMNS = 256, /* of V in its surface */
	TRSM_MANY = 512     /* fewer right-hand sides are few */
};

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
		return product_time(r, OF_PRECISION("gpu.gemm", c.precision), c, k);

	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		at[i] = fmin(at[i], product_last_side(r, name, at, c, i));
	return product_time(r, name, c, k) *
	       cost_along(r, name, product_axes, at, ARRAY_LEN(at), even_time, &r);
}

/* Rounds of tiles, one tile at a time on each of so many multiprocessors. */
static double rounds_of_tiles(const double *at, const void *sms)
{
	return ceil(ceil(at[0] / TILE) * ceil(at[1] / TILE) / *(const double *)sms);
}

/* An odd number of rows in double precision whose last row is not computed separately. */
static bool stays_odd(const struct cost_reader *r, const struct gemm_problem *p)
{
	return p->precision == DOUBLE && p->m % 2 && gemm_edge(&r->tuning, p) != GEMM_ROW;
}

/* Whether the product runs on the kernel chosen for its tiles (factor/kernels/gemm/blas_double.h),
 * which has the same tiles for smaller products. A separate last row adds a hundredth and is
 * neglected. */
static bool has_chosen_tiles(struct cost_reader *r, const struct gemm_problem *p)
{
	return p->precision == DOUBLE && p->ta != p->tb && !stays_odd(r, p) &&
	       gemm_is_chosen(&r->tuning, p);
}

/* The mean share of the multiprocessors over all rounds. */
static double chosen_share(struct cost_reader *r, struct matrix c)
{
	const double at[] = {(double)c.m, (double)c.n}, sms = cost_scalar(r, "gpu.sm.count");

	return ceil(at[0] / TILE) * ceil(at[1] / TILE) / (rounds_of_tiles(at, &sms) * sms);
}

/* Whole rounds of tiles, each as long as the surface says. The surface's rows have nearly full
 * rounds, so the rounds are followed between the rows. A profile without the kernels' own surface
 * uses the surface of A B. */
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

/* V^T C by the library. Below the first depth of the surface, where one block goes through all of
 * k, time falls in proportion to k, but not below that of other products of that depth. */
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

/* A^T B of few rows of C and few terms, as QR's T^T (V^T C), where the surface of V^T C begins with
 * so few: the library has other kernels than for A B. */
static bool has_few_terms(struct cost_reader *r, const struct gemm_problem *p, struct matrix c)
{
	const char *name = OF_PRECISION("gpu.gemm_tn", c.precision);
	const double at[] = {(double)c.m, (double)c.n, (double)p->k};

	return p->ta && !p->tb && c.m <= TALL_COLUMNS && cost_known(r, name) &&
	       at[2] >= cost_surface_begin(r, name, product_axes, at, ARRAY_LEN(at), 2);
}

/* V^T C of few columns: the library also splits other long inner dimensions, so the time of the
 * tall product's transpose counts where it is shorter. */
static double transposed_time(struct cost_reader *r, struct matrix c, int64_t k)
{
	const struct matrix transposed = {NULL, 0, c.n, c.m, c.n, c.precision};
	const double time = library_time(r, c, (double)k);
	const char *tall = OF_PRECISION("gpu.gemm_tn", c.precision);

	return cost_known(r, tall) ? fmin(time, tall_time(r, transposed, k)) : time;
}

/* Operands off boundaries of 16 bytes are read by narrower accesses, which the library has kernels
 * for: never faster than those of aligned operands. In single precision C's alignment does not
 * matter: whole sectors are written either way. */
double library_unaligned_time(struct cost_reader *r, struct matrix c, int64_t k)
{
	const char *name = OF_PRECISION("gpu.gemm_unaligned", c.precision);
	const double aligned = library_time(r, c, (double)k);

	return cost_known(r, name) ? fmax(aligned, product_time(r, name, c, (double)k)) : aligned;
}

struct cost cost_gemm(struct cost_reader *r, enum trans ta, enum trans tb, struct matrix c,
        int64_t k, bool operands, bool result)
{
	const struct gemm_problem problem = gemm_product(ta, tb, c, k);
	const bool aligned = operands && (result || c.precision == SINGLE);
	if (is_double_tall(r, &problem, c, operands && result))
		return cost_double_tall(r, &problem, c);
	bool wide = c.m > c.n && c.m > TALL_COLUMNS; /* then the transposed product is read */
	bool tall = gemm_is_tall(&problem);
	bool own = !r->blas_only && operands && result &&
	           gemm_is_ahead(&r->tuning, c.precision, c.m, c.n, k) &&
	           cost_known(r, "gpu.own_gemm.s");
	const bool own_tall = !own && is_own_tall(r, &problem);
	struct matrix transposed = c;
	transposed.m = tall && wide ? c.n : c.m;
	transposed.n = tall && wide ? c.m : c.n;
	const bool few = problem.ta && !problem.tb && wide && c.n <= TALL_COLUMNS;
	const bool few_terms = !tall && aligned && has_few_terms(r, &problem, c);
	const bool chosen = !tall && aligned && has_chosen_tiles(r, &problem);
	const double seconds = own         ? own_time(r, c, k)
	                       : own_tall  ? own_tall_time(r, &problem, c, tall && wide)
	                       : tall      ? tall_time(r, transposed, k)
	                       : few_terms ? tall_time(r, c, k)
	                       : chosen    ? chosen_time(r, c, k)
	                       : few       ? transposed_time(r, c, k)
	                       : aligned   ? library_time(r, c, (double)k)
	                                   : library_unaligned_time(r, c, k);
	const bool elements = !own && !chosen && is_by_elements(r, &problem, operands);
	struct cost cost = cost_library(r,
	        elements ? elements_time(r, transposed, (double)k, seconds) : seconds,
	        TERM_ARITHMETIC);

	cost.enqueue = product_enqueue(r, own || own_tall, &problem);
	cost_occupy(r, &cost, tall ? INFINITY : cost_tiles(c.m, c.n), tall ? TILE : k,
	        tiles_of_product(c.precision, ta == tb && !stays_odd(r, &problem)));
	if (tall || (own && !r->shares))
		cost.block_lifetime = INFINITY;
	if (chosen)
		cost.share = chosen_share(r, c);
	return cost;
}

/* From the right, or with a diagonal from the left, the library takes about twice as long; from the
 * left that surface is for few right-hand sides. A profile without these uses LU's surface. */
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
