/* SPDX-License-Identifier: MIT */
/* Prices of the paper's Gram-Schmidt kernels by their blocks of NX x NY threads. Traffic takes what
 * copies or reads of as many bytes take (gpu.copy.time, gpu.read.time; columns are read and written
 * in place, so that half as many bytes decide what L2 holds), longer by what blocks lose that walk
 * down their columns (gpu.copy.inflight, by the bytes on their way) or that are too few on a
 * multiprocessor for some to load while others wait: a queue of one server, the memory's share of a
 * multiprocessor, and a customer per resident block (mean value analysis). No kernel is shorter
 * than its longest chain of accesses. */
#include "price_blocks.h"

#include <math.h>

enum {
	THREADS_PER_SM = 2048,
	BLOCKS_PER_SM = 32,
	WIDE_THREADS_PER_SM = 1024, /* whose accesses take all registers */
	WIDE = 16
};

struct grid {
	bool reads, once; /* once: a block has all of its columns on their way at a time */
	double threads, blocks, resident; /* resident: blocks of a multiprocessor */
	double set, column;               /* bytes of all columns, of one */
	double access;                    /* bytes that a thread asks for at a time */
	double flight;                    /* bytes that a block has on their way */
	double turns;                     /* accesses after one another down a column */
};

static double word_of(struct matrix a)
{
	return (double)precision_bytes(a.precision);
}

static struct grid grid_of(enum gram_step step, struct gram_shape shape, struct matrix a)
{
	const bool reads = step == GRAM_DOTS, wide = shape.access == GRAM_WIDE;
	const double threads = shape.nx * shape.ny, columns = (double)(reads ? a.n : a.n - 1);
	const double access =
	        (wide ? WIDE : word_of(a)) * (shape.access == GRAM_SHARED ? 1 : SHAPED_UNROLL);
	struct grid g = {.reads = reads,
	        .threads = threads,
	        .blocks = ceil(columns / shape.ny),
	        .resident = floor((wide ? WIDE_THREADS_PER_SM : THREADS_PER_SM) / threads),
	        .column = (double)a.m * word_of(a),
	        .access = access};

	g.resident = fmin(g.resident, BLOCKS_PER_SM);
	g.set = columns * g.column;
	g.flight = fmin(threads * access, shape.ny * g.column);
	g.turns = ceil(g.column / (shape.nx * access));
	g.once = g.turns <= 1;
	return g;
}

/* Of L2, in a kernel. */
static double one_access(struct price_reader *r)
{
	return price_accesses(r, 2) - price_accesses(r, 1);
}

/* What an access waits for besides the column: nothing, or q, the threads it is shared with, and
 * their reading it. */
static double apart(struct price_reader *r, struct gram_shape shape)
{
	if (shape.access != GRAM_SHARED)
		return 0;
	return one_access(r) + price_scalar(r, "gpu.shared.latency") +
	       price_surface1(r, "gpu.barrier.block", "threads", shape.nx * shape.ny);
}

/* At the end of a block's dot products. */
static double sum(struct price_reader *r, const struct grid *g, struct gram_shape shape)
{
	return g->reads ? price_surface1(r, "gpu.reduce.sum", "threads", shape.nx) : 0;
}

/* The share of the memory's rate that so many blocks use of which each needs it for `service` and
 * does without for `away`. */
static double used(double blocks, double service, double away)
{
	double waiting = 0, cycle = service + away;

	for (double b = 1; b <= blocks; b++) {
		const double response = service * (1 + waiting);
		cycle = response + away;
		waiting = b * response / cycle;
	}
	return fmin(1, blocks * service / cycle);
}

/* As many bytes on their way on each multiprocessor let a copy be so fast. */
static double walking(struct price_reader *r, double bytes)
{
	static const char name[] = "gpu.copy.inflight";
	double low, high;

	if (!profile_range(r->model.profile, name, "bytes", &low, &high))
		return price_scalar(r, "gpu.dram.copy");
	return price_surface1(r, name, "bytes", fmin(fmax(bytes, low), high)) *
	       fmin(1, bytes / low);
}

/* From the end of a block to what the one in its place has asked for first, and at its end. */
static double turn_over(struct price_reader *r, const struct grid *g)
{
	enum { TURNS = 16 }; /* of the launch probe's kernel, an access each */
	static const char name[] = "gpu.launch.turn";

	if (!price_known(r, name))
		return 0;
	return fmax(0, (price_surface1(r, name, "threads", g->threads) -
	                       price_scalar(r, "gpu.launch.dependent")) /
	                               TURNS -
	                       one_access(r));
}

static const char walks[] = "gpu.read.walk";

/* Bytes a second of columns that so many threads each walk down with `bytes` of each under way. */
static double walk_rate(struct price_reader *r, double threads, double bytes)
{
	static const char *const axes[] = {"threads", "bytes"};
	const double at[] = {threads, bytes};

	return price_surface(r, walks, axes, at, 2);
}

/* Of DRAM, for those of a column when all multiprocessors are full of them, with an access each. */
static double walk_latency(struct price_reader *r, struct gram_shape shape)
{
	enum { ACCESS = 4 };

	if (!price_known(r, walks))
		return price_scalar(r, "gpu.dram.latency");
	return (double)THREADS_PER_SM * ACCESS * price_scalar(r, "gpu.sm.count") /
	       walk_rate(r, shape.nx, ACCESS);
}

/* How many times as long as a read dot products take: as long as the walk, and what blocks do
 * without memory, of which the others make up for nothing when as much as they can is under way. */
static double walked(struct price_reader *r, const struct grid *g, struct gram_shape shape)
{
	const double rate = walk_rate(r, shape.nx, g->access);
	const double multiprocessor = rate / price_scalar(r, "gpu.sm.count"); /* its share */
	const double turn = g->resident * g->flight / multiprocessor,
	             block = g->resident * g->column * shape.ny / multiprocessor;

	return price_scalar(r, "gpu.dram.read") / rate *
	       (1 + apart(r, shape) / turn + sum(r, g, shape) / block);
}

/* How many times as long as a copy or a read the traffic takes when it is DRAM's. What is written
 * nobody waits for, so that blocks that update always have some access under way, unless they wait
 * for each other. */
static double loss(struct price_reader *r, const struct grid *g, struct gram_shape shape)
{
	const double sms = price_scalar(r, "gpu.sm.count");
	const double read = price_scalar(r, "gpu.dram.read"),
	             copy = price_scalar(r, "gpu.dram.copy");
	const double service = g->flight * sms * (g->reads ? 1 / read : 2 / copy);

	if (g->reads && price_known(r, walks))
		return walked(r, g, shape);
	const double away = walk_latency(r, shape) + apart(r, shape) +
	                    (sum(r, g, shape) + turn_over(r, g)) / g->turns;
	const double queue = 1 / used(g->resident, service, away);

	if (g->reads || shape.access == GRAM_SHARED || g->once)
		return queue;
	return fmax(queue, copy / walking(r, g->flight * g->resident));
}

/* Of the blocks of a multiprocessor, one behind the other: what they wait for, and what passes
 * through its connection with L2: columns, q, and what is written. */
static double chain(struct price_reader *r, const struct grid *g, struct gram_shape shape)
{
	const double sms = price_scalar(r, "gpu.sm.count"), rounds = ceil(g->blocks / sms);
	const double turn = one_access(r);
	const double through = g->flight * (g->reads ? 2 : 3) / price_scalar(r, "gpu.sm.l2_read");
	const double life =
	        turn + g->turns * (turn + apart(r, shape)) + sum(r, g, shape) + turn_over(r, g);

	return fmax(1, rounds / g->resident) * life + rounds * g->turns * through;
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
	const struct grid g = grid_of(step, shape, a);
	const double held = price_gram_held(r, g.set);
	const double once = g.reads ? price_surface_traffic(r, "gpu.read.time", g.set)
	                            : price_gram_change(r, g.set);
	price.term[TERM_MEMORY] = once * (held + (1 - held) * loss(r, &g, shape));
	price.term[TERM_BARRIER] = price_accesses(r, 2) + sum(r, &g, shape) +
	                           fmax(0, chain(r, &g, shape) - price.term[TERM_MEMORY]);
	return price;
}
