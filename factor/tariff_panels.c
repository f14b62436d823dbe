/* SPDX-License-Identifier: MIT */
/* Kernels of our own that factorize or invert, at level 2, from hardware parameters. Tiles are 32 x
 * 32; one multiprocessor multiplies two of them in 2 * 32^3 operations at its share of the rate of
 * FMA whose operands come from shared memory (gpu.fma.fed), and solves with a triangular one in 32
 * steps of an FMA that waits for a read of shared memory.
 *
 * trtri: for the first 32 columns n/32 (n/32 - 1) / 2 products and n/32 solves in turn; the other
 * columns have blocks of their own.
 *
 * larft: the product V^T V, and the same inversion (Joffrain et al. 2006).
 *
 * potrf_block: two kernels for 128 columns, one for the last. A column is a chain of a reciprocal
 * root, three FMA and a shuffle; the tiles right of 32 columns are multiplied on one
 * multiprocessor, (n/32)^3 / 6 products; what is right of 128 columns is read and written.
 *
 * trsm_guard: every block reads both triangles and reduces them to their largest magnitudes.
 *
 * panel_geqrf: resident on chip, a column is one exchange between the blocks that carries the norm
 * and the products with all columns right of it (as many exchanges as LU), a root, a division and
 * two passes over the block's rows in shared memory, one of which only reads. When the panel does
 * not fit, a column is two kernels and its passes run at what L2 or DRAM give. */
#include "price_blocks.h"

#include <math.h>

enum { TILE = 32, STEP = 128, GUARD_THREADS = 256, GUARD_SIDES = 32, GUARD_BLOCKS = 64 };

/* One of two names. */
static double of(struct price_reader *r, struct matrix a, const char *single, const char *twice)
{
	return price_scalar(r, a.precision == SINGLE ? single : twice);
}

static double word_of(struct matrix a)
{
	return (double)precision_bytes(a.precision);
}

static double product(struct price_reader *r, struct matrix a)
{
	double rate =
	        of(r, a, "gpu.fma.s.rate", "gpu.fma.d.rate") / price_scalar(r, "gpu.sm.count");

	return 2.0 * TILE * TILE * TILE /
	       (rate * price_surface1(r, "gpu.fma.fed.lane", "width", 16));
}

static double solve(struct price_reader *r, struct matrix a)
{
	return TILE * (of(r, a, "gpu.fma.s.latency", "gpu.fma.d.latency") +
	                      price_scalar(r, "gpu.shared.latency"));
}

/* What comes and goes between L2 and one multiprocessor. */
static double through(struct price_reader *r, double bytes)
{
	return bytes / price_scalar(r, "gpu.sm.l2_read") + price_scalar(r, "gpu.l2.latency");
}

/* Two kernels in turn. */
static struct price both(struct price first, struct price second)
{
	first.enqueue += second.enqueue;
	for (int t = 0; t < TERM_COUNT; t++)
		first.term[t] += second.term[t];
	first.share = fmax(first.share, second.share);
	return first;
}

struct price price_trtri(struct price_reader *r, struct matrix a)
{
	struct price price = price_kernel(r);
	double tiles = ceil((double)a.n / TILE);

	price.share = price_share(r, tiles);
	price.term[TERM_BARRIER] = tiles * solve(r, a);
	price.term[TERM_ARITHMETIC] = tiles * (tiles - 1) / 2 * product(r, a);
	price.term[TERM_MEMORY] = through(r, price_bytes(a));
	return price;
}

struct price price_larft(struct price_reader *r, struct matrix v)
{
	struct matrix t = {NULL, 0, v.n, v.n, v.n, v.precision};

	return both(price_gemm(r, TRANSPOSED, PLAIN, t, v.m), price_trtri(r, t));
}

struct price price_potrf_block(struct price_reader *r, struct matrix a)
{
	struct price price = price_kernel(r);
	double n = (double)a.n, tiles = ceil(n / TILE);
	double column = price_scalar(r, "gpu.special.rsqrt.latency") +
	                3 * of(r, a, "gpu.fma.s.latency", "gpu.fma.d.latency") +
	                price_scalar(r, "gpu.warp.shuffle.latency");

	for (int64_t left = a.n - STEP; left > 0; left -= STEP) {
		struct price trail = price_kernel(r);
		trail.term[TERM_MEMORY] = price_surface_traffic(
		        r, "gpu.copy.time", 2 * word_of(a) * (double)left * (double)left);
		price = both(both(price, trail), price_kernel(r));
	}
	price.share = price_share(r, tiles);
	price.term[TERM_BARRIER] = n * column;
	price.term[TERM_ARITHMETIC] = tiles * tiles * tiles / 6 * product(r, a);
	price.term[TERM_MEMORY] += through(r, 2 * price_bytes(a));
	return price;
}

struct price price_trsm_guard(struct price_reader *r, struct matrix triangle, int64_t columns)
{
	struct price price = price_kernel(r);

	price.share = price_share(r, fmin(GUARD_BLOCKS, ceil((double)columns / GUARD_SIDES)));
	price.term[TERM_MEMORY] = through(r, price_bytes(triangle));
	price.term[TERM_BARRIER] =
	        2 * price_surface1(r, "gpu.reduce.max", "threads", GUARD_THREADS);
	return price;
}

static struct price resident_geqrf(
        struct price_reader *r, struct matrix a, const struct panel_geometry *g)
{
	double rows = (double)(a.m < g->rows_per_block ? a.m : g->rows_per_block);
	double n = (double)a.n,
	       rate = price_surface1(r, "gpu.shared.update", "threads", g->threads);
	struct price price = {.enqueue = price_scalar(r, "gpu.launch.enqueue_cooperative"),
	        .share = price_share(r, g->blocks),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.launch.cooperative"),
	        .term[TERM_MEMORY] = price_surface_traffic(r, "gpu.read.time", price_bytes(a)) +
	                             price_surface_traffic(r, "gpu.write.time", price_bytes(a))};

	for (int64_t j = 0; j < a.n; j++) {
		double columns = n - (double)j;
		double words = fmax(1, columns * word_of(a) / 4);
		price.term[TERM_BARRIER] +=
		        price_surface2(
		                r, "gpu.exchange.grid", "blocks", g->blocks, "words", words) +
		        of(r, a, "gpu.sqrt.s.latency", "gpu.sqrt.d.latency") +
		        of(r, a, "gpu.divide.s.latency", "gpu.divide.d.latency");
		price.term[TERM_ARITHMETIC] += 3 * rows * columns * word_of(a) / rate;
	}
	return price;
}

/* Sums over the columns; a pass over the columns right of it reads, the other reads and writes. */
static struct price streamed_geqrf(struct price_reader *r, struct matrix a)
{
	struct price price = {.share = 1};
	struct price kernel = price_kernel(r);

	for (int64_t j = 0; j < a.n; j++) {
		double bytes = (double)(a.m - j) * (double)(a.n - j) * word_of(a);
		price = both(both(price, kernel), kernel);
		price.term[TERM_MEMORY] += price_surface_traffic(r, "gpu.read.time", bytes) +
		                           price_surface_traffic(r, "gpu.copy.time", 2 * bytes);
	}
	return price;
}

struct price price_panel_geqrf(
        struct price_reader *r, struct matrix a, const struct panel_geometry *g)
{
	return g ? resident_geqrf(r, a, g) : streamed_geqrf(r, a);
}
