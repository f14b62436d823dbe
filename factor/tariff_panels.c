/* SPDX-License-Identifier: MIT */
/* Kernels of our own that factorize or invert, at level 2, from hardware parameters. With w the
 * word in bytes and R the rate at which one multiprocessor updates a panel in shared memory
 * (gpu.shared.update, bytes read and written):
 *
 * potrf_block: one block of 256 threads. A column is a chain of a square root, a division, two
 * block-wide barriers and two reads of shared memory; the updates are n^3/6 elements read and
 * written. The block comes and goes at what one multiprocessor reads out of L2.
 *
 * trtri: the same without the root; n^3/6 elements.
 *
 * larft: the product V^T V, and one block in which a column of T is a barrier, a read and its share
 * of n^3/6 elements.
 *
 * panel_geqrf: resident on chip, a column is one exchange between the blocks that carries the norm
 * and the products with all columns right of it (FACTOR: one exchange a column, as LU), a root, a
 * division and two passes over the block's rows, one of which only reads. When the panel does not
 * fit, a column is two kernels and its two passes run at what L2 or DRAM copies. */
#include "price_blocks.h"

#include <math.h>

enum { THREADS = 256 };

static double word_of(struct matrix a)
{
	return (double)precision_bytes(a.precision);
}

static double root(struct price_reader *r, struct matrix a)
{
	return price_scalar(r, a.precision == SINGLE ? "gpu.sqrt.s.latency" : "gpu.sqrt.d.latency");
}

static double division(struct price_reader *r, struct matrix a)
{
	return price_scalar(
	        r, a.precision == SINGLE ? "gpu.divide.s.latency" : "gpu.divide.d.latency");
}

static double barrier(struct price_reader *r)
{
	return price_at(r, "gpu.barrier.block", "threads", THREADS);
}

static double shared_rate(struct price_reader *r)
{
	return price_at(r, "gpu.shared.update", "threads", THREADS);
}

/* A kernel of one block that works n columns of a triangle off in shared memory. */
static struct price one_block(struct price_reader *r, struct matrix a, double chain)
{
	struct price price = price_kernel(r);
	double n = (double)a.n, bytes = n * n * word_of(a);

	price.share = price_share(r, 1);
	price.term[TERM_BARRIER] = n * chain;
	price.term[TERM_ARITHMETIC] = n * n * n / 6 * 2 * word_of(a) / shared_rate(r);
	price.term[TERM_MEMORY] =
	        bytes / price_scalar(r, "gpu.sm.l2_read") + price_scalar(r, "gpu.l2.latency");
	return price;
}

struct price price_potrf_block(struct price_reader *r, struct matrix a)
{
	return one_block(r, a,
	        root(r, a) + division(r, a) + 2 * barrier(r) +
	                2 * price_scalar(r, "gpu.shared.latency"));
}

struct price price_trtri(struct price_reader *r, struct matrix a)
{
	return one_block(r, a, division(r, a) + barrier(r) + price_scalar(r, "gpu.shared.latency"));
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

struct price price_larft(struct price_reader *r, struct matrix v)
{
	struct matrix t = {NULL, 0, v.n, v.n, v.n, v.precision};
	struct price product = price_gemm(r, TRANSPOSED, PLAIN, t, v.m);

	return both(product, one_block(r, t, barrier(r) + price_scalar(r, "gpu.shared.latency")));
}

static struct price resident_geqrf(
        struct price_reader *r, struct matrix a, const struct panel_geometry *g)
{
	double rows = (double)(a.m < g->rows_per_block ? a.m : g->rows_per_block);
	double n = (double)a.n, rate = price_at(r, "gpu.shared.update", "threads", g->threads);
	struct price price = {.enqueue = price_scalar(r, "gpu.launch.enqueue_cooperative"),
	        .share = price_share(r, g->blocks),
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.launch.cooperative"),
	        .term[TERM_MEMORY] = price_traffic(r, "gpu.read.time", price_bytes(a)) +
	                             price_traffic(r, "gpu.write.time", price_bytes(a))};

	for (int64_t j = 0; j < a.n; j++) {
		double columns = n - (double)j;
		double words = fmax(1, columns * word_of(a) / 4);
		price.term[TERM_BARRIER] +=
		        price_at2(r, "gpu.exchange.grid", "blocks", g->blocks, "words", words) +
		        root(r, a) + division(r, a);
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
		price.term[TERM_MEMORY] += price_traffic(r, "gpu.read.time", bytes) +
		                           price_traffic(r, "gpu.copy.time", 2 * bytes);
	}
	return price;
}

struct price price_panel_geqrf(
        struct price_reader *r, struct matrix a, const struct panel_geometry *g)
{
	return g ? resident_geqrf(r, a, g) : streamed_geqrf(r, a);
}
