/* SPDX-License-Identifier: MIT */
/* Prices of the paper's Gram-Schmidt kernels by their blocks of NX x NY threads: waves of as many
 * blocks as the multiprocessors hold, each wave as fast as the bytes that its threads keep on their
 * way let memory be (Little's law as measured: gpu.copy.inflight), then the rest of the blocks with
 * the few that they keep. What a wave goes through is in L2 when it holds all columns. */
#include "price_blocks.h"

#include <math.h>

enum {
	THREADS_PER_SM = 2048,
	BLOCKS_PER_SM = 32,
	WIDE_THREADS_PER_SM = 1024, /* whose accesses take all registers */
	WIDE = 16
};

struct grid {
	bool reads;
	double blocks, resident; /* of a multiprocessor */
	double bytes;            /* that a block moves */
	double flight;           /* that it has on their way */
	double width;            /* of an access */
};

static double word_of(struct matrix a)
{
	return (double)precision_bytes(a.precision);
}

/* Threads that wait for each other after every access have the column on its way while they wait
 * for it, not while they wait for q and for the others. */
static double duty(struct price_reader *r, struct gram_shape shape)
{
	double column = price_scalar(r, "gpu.dram.latency"), q = price_scalar(r, "gpu.l2.latency");
	double others = price_surface1(r, "gpu.barrier.block", "threads", shape.nx * shape.ny);

	return column / (column + q + price_scalar(r, "gpu.shared.latency") + others);
}

static struct grid grid_of(
        struct price_reader *r, enum gram_step step, struct gram_shape shape, struct matrix a)
{
	const bool reads = step == GRAM_DOTS, wide = shape.access == GRAM_WIDE;
	const double threads = shape.nx * shape.ny, column = (double)a.m * word_of(a);
	const double columns = (double)(reads ? a.n : a.n - 1);
	struct grid g = {.reads = reads,
	        .blocks = ceil(columns / shape.ny),
	        .resident = floor((wide ? WIDE_THREADS_PER_SM : THREADS_PER_SM) / threads),
	        .width = wide ? WIDE : word_of(a)};

	g.resident = fmin(g.resident, BLOCKS_PER_SM);
	g.bytes = columns * column * (reads ? 1 : 2) / g.blocks;
	g.flight = shape.access == GRAM_SHARED ? threads * g.width * duty(r, shape)
	                                       : threads * g.width * SHAPED_UNROLL;
	g.flight = fmin(g.flight, shape.ny * column);
	return g;
}

/* What so many bytes on their way, on each multiprocessor, leave of the rate. */
static double part_of(struct price_reader *r, double bytes)
{
	static const char name[] = "gpu.copy.inflight";
	double most = price_last(r, name, "bytes"), low, high;

	if (!profile_range(r->model.profile, name, "bytes", &low, &high))
		return 1;
	double at = price_surface1(r, name, "bytes", fmin(fmax(bytes, low), most));
	return fmin(1, at / price_surface1(r, name, "bytes", most)) * fmin(1, bytes / low);
}

/* Bytes a second of so many blocks at a time; held: the part of the columns that L2 has. */
static double rate(struct price_reader *r, const struct grid *g, double blocks, double held)
{
	const double sms = price_scalar(r, "gpu.sm.count"), flight = g->flight * blocks / sms;
	const double width = price_surface1(r, "gpu.copy.width", "width", g->width) /
	                     price_surface1(r, "gpu.copy.width", "width", WIDE);
	double dram = price_scalar(r, g->reads ? "gpu.dram.read" : "gpu.dram.copy");
	double l2 = price_scalar(r, g->reads ? "gpu.l2.read" : "gpu.l2.copy");
	double alone = fmin(blocks, sms) * price_scalar(r, "gpu.sm.read") * (g->reads ? 1 : 2);

	dram = fmin(dram * part_of(r, flight) * width, alone);
	l2 = fmin(l2, flight * sms / price_scalar(r, "gpu.l2.latency") * (g->reads ? 1 : 2));
	l2 = fmin(l2, alone);
	return 1 / (held / l2 + (1 - held) / dram);
}

/* The columns are always gone through in one direction: none of them is left in L2 for the next
 * time when it does not hold about all. */
static double held_part(struct price_reader *r, struct matrix a)
{
	const double most = price_scalar(r, "gpu.l2.stated"),
	             all = price_known(r, "gpu.l2.near.size") ? price_scalar(r, "gpu.l2.near.size")
	                                                      : most / 2;

	return fmin(1, fmax(0, (most - price_bytes(a)) / (most - all)));
}

static struct price scalings(struct price_reader *r, struct matrix a)
{
	struct price price = price_kernel(r);

	price.share = price_share(r, 1);
	price.term[TERM_BARRIER] = 2 * price_scalar(r, "gpu.l2.latency");
	price.term[TERM_MEMORY] =
	        price_surface_traffic(r, "gpu.copy.time", 2 * (double)a.m * word_of(a));
	return price;
}

struct price price_gram_shaped(
        struct price_reader *r, enum gram_step step, struct gram_shape shape, struct matrix a)
{
	struct price price = price_kernel(r);

	if (step == GRAM_SCALE)
		return scalings(r, a);
	const struct grid g = grid_of(r, step, shape, a);
	const double held = held_part(r, a), wave = g.resident * price_scalar(r, "gpu.sm.count");
	const double full = floor(g.blocks / wave), rest = g.blocks - full * wave;
	price.term[TERM_MEMORY] = full * wave * g.bytes / rate(r, &g, wave, held);
	if (rest > 0)
		price.term[TERM_MEMORY] += rest * g.bytes / rate(r, &g, rest, held);
	price.term[TERM_BARRIER] = price_scalar(r, "gpu.l2.latency");
	if (g.reads)
		price.term[TERM_BARRIER] +=
		        price_surface1(r, "gpu.reduce.sum", "threads", shape.nx);
	return price;
}
