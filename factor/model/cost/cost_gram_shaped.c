/* SPDX-License-Identifier: MIT */
/* Costs of the paper's Gram-Schmidt kernels by their blocks of NX x NY threads. The blocks of a
 * multiprocessor share the issue of instructions and the units for multiply-adds, the connection
 * with L2, and their part of memory: of L2 as far as it holds the columns, else of DRAM. A block
 * also waits alone, in turn: to take the place of the block before, for each access down its
 * columns, for q in shared memory, for its sums. Meanwhile the other blocks use the shared
 * resources. So do the other warps of the block: only the first warp of each scheduler waits alone.
 * Overlapping times are
 * combined by the norm of order ORDER: near the larger of two unlike times, a quarter above two
 * equal ones. A last, partly filled round takes as long as a round of few blocks; the more rounds
 * before it, the less so, as their blocks have come to begin at different times. */
#include "cost_blocks.h"

#include <math.h>

enum {
	REGISTERS = 32, /* of a thread; with accesses of WIDE bytes twice as many */
	WIDE = 16,
	ORDER = 3 /* of the norm */
};

/* Instructions of a thread in the kernels as compiled for 9.0: before and after its accesses, for a
 * round of SHAPED_UNROLL accesses (shared: of one), for such a round at the end of a column, and
 * for a level of the sums' tree. They are counts of the kernels, taken for every architecture. */
struct instructions {
	double begin, turn, edge, end, level;
};
static const struct instructions dots_of[] = {[GRAM_DIRECT] = {35, 57, 85, 45, 12},
        [GRAM_SHARED] = {25, 66, 66, 45, 12},
        [GRAM_WIDE] = {40, 60, 92, 45, 12}};
static const struct instructions update_of[] = {[GRAM_DIRECT] = {30, 92, 92, 0, 0},
        [GRAM_SHARED] = {35, 50, 50, 0, 0},
        [GRAM_WIDE] = {42, 110, 110, 0, 0}};

struct grid {
	bool reads, atomic;
	enum precision precision;
	double threads, columns; /* of a block */
	double blocks, resident; /* resident: of a multiprocessor */
	double set, column;      /* bytes of all columns, of one */
	double turns;            /* of accesses, after one another down a column */
	double issue;            /* seconds of a block for its instructions and multiply-adds */
	double partial;          /* factor of the seconds of changes: parts of sectors */
};

static struct grid grid_of(
        struct cost_reader *r, enum gram_step step, struct gram_shape shape, struct matrix a)
{
	const bool reads = step == GRAM_DOTS, wide = shape.access == GRAM_WIDE;
	const double threads = shape.nx * shape.ny, columns = (double)(reads ? a.n : a.n - 1);
	const int64_t word = wide ? WIDE : precision_bytes(a.precision);
	const double access = (double)word * (shape.access == GRAM_SHARED ? 1 : SHAPED_UNROLL);
	const struct instructions each = (reads ? dots_of : update_of)[shape.access];
	struct grid g = {.reads = reads,
	        .precision = a.precision,
	        .threads = threads,
	        .columns = shape.ny,
	        .blocks = ceil(columns / shape.ny),
	        .resident = cost_resident_blocks(r, threads, (wide ? 2 : 1) * REGISTERS),
	        .column = (double)a.m * word_bytes(a),
	        .partial = reads ? 1 : cost_gram_partial(r, a, word)};
	const double turns = g.column / (shape.nx * access), whole = floor(turns);

	g.set = columns * g.column;
	g.turns = ceil(turns);
	const double instructions = each.begin + whole * each.turn + (g.turns - whole) * each.edge +
	                            each.end + each.level * log2(shape.nx / (double)WARP);
	g.issue = fmax(instructions * threads / WARP / SCHEDULERS / cost_scalar(r, "gpu.clock.sm"),
	        cost_multiply_adds(r, a.precision, (double)a.m * shape.ny));
	return g;
}

/* Seconds that a round waits besides the column's latency: with q in shared memory, for q, the
 * other threads, and the reading of q. */
static double other_waits(struct cost_reader *r, struct gram_shape shape)
{
	if (shape.access != GRAM_SHARED)
		return 0;
	return cost_scalar(r, "gpu.l2.latency") + cost_scalar(r, "gpu.shared.latency") +
	       cost_surface1(r, "gpu.barrier.block", "threads", shape.nx * shape.ny);
}

/* An access of L2 within a kernel. */
static double one_access(struct cost_reader *r)
{
	return cost_accesses(r, 2) - cost_accesses(r, 1);
}

/* From the end of a block to the first access of the block in its place. */
static double turn_over(struct cost_reader *r, const struct grid *g)
{
	enum { TURNS = 16 }; /* of the launch probe's kernel, an access each */
	static const char name[] = "gpu.launch.turn";

	if (!cost_known(r, name))
		return 0;
	return fmax(0, (cost_surface1(r, name, "threads", g->threads) -
	                       cost_scalar(r, "gpu.launch.dependent")) /
	                               TURNS -
	                       one_access(r));
}

/* A block's seconds on shared resources, and the seconds that it waits alone. */
struct block {
	double issue, connection, memory, alone;
	double waited; /* the part of memory that is waited for: reads */
	double warps;  /* of a scheduler, at least 1: while one waits, the others issue */
};

/* Seconds that memory needs for all columns. */
static double traffic(struct cost_reader *r, const struct grid *g)
{
	return g->partial * cost_gram_sweep(r, g->reads, g->set, g->turns > 1);
}

/* The threads of a column add to one word, warp after warp. Additions of fp64 are taken as loops of
 * compare-and-swap. */
static double atomic_sum(struct cost_reader *r, struct gram_shape shape, enum precision precision)
{
	const double all = WARP;

	return shape.nx / all *
	       (precision == SINGLE ? cost_at(r, "gpu.atomic.shared.alone.f32", "ways", all)
	                            : cost_at(r, "gpu.atomic.shared.alone.cas", "ways", all));
}

static struct block block_of(struct cost_reader *r, const struct grid *g, struct gram_shape shape)
{
	const double held = cost_l2_hits(r, g->set);
	const double latency = held * cost_scalar(r, "gpu.l2.latency") +
	                       (1 - held) * cost_scalar(r, "gpu.dram.latency");
	const double moved = g->columns * g->column * (g->reads ? 2 : 3); /* with q */
	struct block b = {.issue = g->issue,
	        .connection = moved / cost_scalar(r, "gpu.sm.l2_read"),
	        .memory = traffic(r, g) / g->blocks * cost_scalar(r, "gpu.sm.count"),
	        .alone = turn_over(r, g) + g->turns * (latency + other_waits(r, shape)),
	        .waited = g->reads ? 1 : 0.5,
	        .warps = fmax(1, g->threads / WARP / SCHEDULERS)};

	b.alone += !g->reads   ? cost_scalar(r, "gpu.l2.latency") /* its factor */
	           : g->atomic ? atomic_sum(r, shape, g->precision)
	                       : cost_surface1(r, "gpu.reduce.sum", "threads", shape.nx);
	return b;
}

static double overlapped(double a, double b)
{
	return pow(pow(a, ORDER) + pow(b, ORDER), 1.0 / ORDER);
}

/* A block's use of shared resources, with that part of its memory's time. */
static double used(const struct block *b, double part)
{
	return overlapped(overlapped(b->issue, b->connection), b->memory * part);
}

/* Seconds of a round with `most` blocks on a multiprocessor, `mean` on average over them all. */
static double turn_time(const struct block *b, double most, double mean)
{
	const struct block one = {.issue = b->issue / b->warps,
	        .connection = b->connection / b->warps,
	        .memory = b->memory};
	const double first = used(&one, b->waited * mean / most),
	             others = most * used(b, mean / most) - first;

	return first + overlapped(others, b->alone);
}

/* Seconds of all blocks. */
static double turns_time(struct cost_reader *r, const struct grid *g, const struct block *b)
{
	const double each = g->blocks / cost_scalar(r, "gpu.sm.count"); /* multiprocessor's */
	const double full = floor(each / g->resident), rest = each - full * g->resident;
	const double turn = turn_time(b, g->resident, g->resident),
	             last = rest > 0 ? turn_time(b, ceil(rest), rest) : 0;
	const double alike = full > 1 ? 1 / full : 1;

	return full * turn + alike * last + (1 - alike) * rest / g->resident * turn;
}

static struct cost scalings(struct cost_reader *r, struct matrix a)
{
	struct cost cost = cost_kernel(r);

	cost.share = cost_share(r, 1);
	cost.term[TERM_BARRIER] = 2 * cost_scalar(r, "gpu.l2.latency");
	cost.term[TERM_MEMORY] = cost_traffic(r, "gpu.copy.time", 2 * (double)a.m * word_bytes(a));
	return cost;
}

/* Seconds until all blocks of the first round have begun. */
static double starting(struct cost_reader *r, const struct grid *g)
{
	static const char name[] = "gpu.launch.grid";
	const double places = g->resident * cost_scalar(r, "gpu.sm.count");

	if (!cost_known(r, name))
		return 0;
	return fmax(0, cost_surface1(r, name, "blocks", fmin(g->blocks, places)) -
	                       cost_scalar(r, "gpu.launch.dependent"));
}

struct cost cost_gram_shaped(
        struct cost_reader *r, enum gram_step step, struct gram_shape shape, struct matrix a)
{
	struct cost cost = cost_kernel(r);

	if (step == GRAM_SCALE)
		return scalings(r, a);
	if (shape.access == GRAM_WIDE && cost_gram_access(a) < WIDE)
		shape.access = GRAM_DIRECT; /* as the kernels' launch */
	const bool atomic = shape.access == GRAM_ATOMIC;
	if (atomic)
		shape.access = GRAM_DIRECT; /* but for the sums */
	struct grid g = grid_of(r, step, shape, a);
	g.atomic = atomic;
	if (g.blocks == 0)
		return cost;
	const struct block b = block_of(r, &g, shape);
	const double memory = traffic(r, &g);

	cost.term[TERM_LAUNCH] += starting(r, &g);
	cost.term[TERM_MEMORY] = memory;
	cost.term[TERM_BARRIER] = cost_accesses(r, 1) + fmax(0, turns_time(r, &g, &b) - memory);
	return cost;
}
