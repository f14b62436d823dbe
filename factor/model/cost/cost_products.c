/* SPDX-License-Identifier: MIT */
/* What the costs of products share: tiles and how long they keep a multiprocessor, and the reading
 * of surfaces over m, n, k. */
#include "cost_products.h"

#include <math.h>

enum {
	FEW_COLUMNS = 512, /* of tall products */
	BESIDE_DEPTH = 64  /* of the products that the block_kernel probe puts beside panels */
};

static const struct tile_rate single_tiles = {"gpu.gemm.s.peak", 2},
                              double_tiles = {"gpu.gemm.d.peak", 1},
                              plain_double_tiles = {"gpu.gemm.d.peak", 2};

const struct tile_rate *tiles_of_product(enum precision precision, bool plain)
{
	return precision == SINGLE ? &single_tiles : plain ? &plain_double_tiles : &double_tiles;
}

/* The lifetime of blocks that compute tiles with an inner dimension of k. */
static double tiles_lifetime(struct cost_reader *r, int64_t k, const struct tile_rate *rate)
{
	double tile = 2.0 * TILE * TILE * (double)k;

	return rate->at_once * tile / (cost_scalar(r, rate->peak) / cost_scalar(r, "gpu.sm.count"));
}

double cost_tiles(int64_t m, int64_t n)
{
	return ceil((double)m / SMALL_TILE) * ceil((double)n / SMALL_TILE);
}

void cost_occupy(struct cost_reader *r, struct cost *cost, double count, int64_t k,
        const struct tile_rate *rate)
{
	cost->share = cost_share(r, count);
	cost->block_lifetime = tiles_lifetime(r, k, rate);
	cost->exclusive = rate->at_once == 1;
}

double cost_beside(struct cost_reader *r, const struct cost *alone, enum precision precision,
        const char *name, const char *const *axes, const double *at, double columns)
{
	if (!cost_known(r, name))
		return 0;
	const double seconds = cost_total(alone);
	double waits = tiles_lifetime(r, BESIDE_DEPTH, tiles_of_product(precision, true)) / 2;
	const double beside = columns > 0 ? cost_surface_width(r, name, axes, at, 2, columns)
	                                  : cost_surface(r, name, axes, at, 2);
	double shared = beside - waits;
	return shared > seconds ? seconds / shared : 1;
}

const char *const product_axes[] = {"m", "n", "k"};

double product_last_side(
        struct cost_reader *r, const char *name, const double *at, struct matrix c, size_t i)
{
	const double last = cost_surface_end(r, name, product_axes, at, 3, i);

	return i == 0 && c.n > FEW_COLUMNS
	               ? fmin(last, cost_surface_end(r, name, product_axes, at, 3, 1))
	               : last;
}

/* Products larger than measured have the efficiency of the largest. Where works are unknown they
 * run at its rate, after their start, and beyond the greatest depth time follows the line through
 * that depth and half of it: tiles begin and end once, whatever their depth. */
double product_time(struct cost_reader *r, const char *name, struct matrix c, double k)
{
	const double asked[] = {(double)c.m, (double)c.n, k};
	double at[ARRAY_LEN(asked)], times = 1;

	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		const double last = product_last_side(r, name, asked, c, i);
		r->model.extrapolated |= asked[i] > last;
		times *= i < 2 ? fmax(1, asked[i] / last) : 1;
		at[i] = fmin(asked[i], last);
	}
	if (cost_by_work(r, name, product_axes, asked, ARRAY_LEN(asked)))
		return cost_surface_near(
		        r, name, product_axes, at, asked, ARRAY_LEN(at), ARRAY_LEN(at));
	const double deepest = at[2], start = cost_scalar(r, "gpu.launch.dependent");
	double time = cost_surface(r, name, product_axes, at, 3);
	if (k > deepest) {
		at[2] = deepest / 2;
		const double half = cost_surface(r, name, product_axes, at, 3);
		time += (k / deepest - 1) * 2 * (time - half);
	}
	return time + (times - 1) * fmax(0, time - start);
}

/* Whether the columns of an operand or of C are not aligned to pairs of elements. */
static bool is_odd(const struct gemm_problem *p)
{
	return p->m % 2 || (p->ta && !p->tb && p->k % 2);
}

double product_enqueue(struct cost_reader *r, bool own, const struct gemm_problem *p)
{
	static const char *const calls[][2] = {{"gpu.cublas.gemm", "gpu.cublas.gemm_t"},
	        {"gpu.cublas.gemm.d", "gpu.cublas.gemm_t.d"},
	        {"gpu.cublas.gemm_odd.d", "gpu.cublas.gemm_t_odd.d"}};
	int kind = p->precision == SINGLE ? 0 : 1 + is_odd(p);

	while (kind > 0 && !cost_known(r, calls[kind][p->ta]))
		kind--;
	const char *call = calls[kind][p->ta];
	return cost_scalar(r, own                   ? "gpu.launch.enqueue"
	                      : cost_known(r, call) ? call
	                                            : "gpu.cublas.level2");
}
