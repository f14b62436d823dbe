/* SPDX-License-Identifier: MIT */
#include "gemm_work.h"

#include "product_work.h"

#include <math.h>

enum {
	THREADS = 128,
	START = 2, /* operands, and C */
	WARPS = THREADS / 32,
	LINE = 128,      /* bytes of an access of a warp to shared memory */
	MANY_PARTS = 32, /* of k, from which several threads add up an element */
	FEW_ROWS = 128,
	MANY_ROWS = 32,
	SUM_THREADS = 512
};

/* Warp-wide accesses to shared memory for each of k: a warp reads quads of its rows and columns,
 * half a warp at a time; 16 bytes of a lane in double precision are four accesses, once for four
 * of k. Copies write the operands: where these run along k, a warp's 32 elements come from four
 * lines, each with a pass, and double precision has two passes more. All warps wait for a step. */
static double wavefronts(const struct gemm_problem *p, const struct gemm_geometry *g)
{
	const bool single = p->precision == SINGLE;
	const double elements = (double)g->rows * g->columns / WARPS, quad = 4,
	             across = elements >= 4096 ? 64 : 32, down = elements / across,
	             along_k = single ? 4 : 3,
	             lines = g->rows * (p->ta ? along_k : 1) + g->columns * (p->tb ? 1 : along_k),
	             copied = lines * (double)precision_bytes(p->precision) / LINE;
	const double reads = single ? 2 * (down / 8 + across / 4) / quad : (down + across) / 16;

	return WARPS * (reads + 1. / g->depth) + copied;
}

/* Blocks of a launch that lets others in, as gemm_launch.cuh deals the tiles out. */
static double shared_blocks(double units, double places, int64_t k)
{
	enum { DEPTH = 256, ROUNDS = 2 };
	const double turns = k < DEPTH ? (double)(DEPTH / k) : 1, several = units - ROUNDS * places,
	             many = turns > 1 && several > 0 ? floor(several / turns) : 0;

	return many + units - many * turns;
}

/* Tiles that C's ends cut copy operands before each step's products, element by element where their
 * layout is not the kernel's, and these and the diagonal's their part of C: a few dependent
 * instructions and an access each. Blocks share them out evenly. */
static void add_cut_tiles(const struct gemm_problem *p, const struct gemm_geometry *g,
        const struct product_tiles *t, struct kernel_work *work)
{
	enum { QUAD = 4, INSTRUCTIONS = 6 };
	const double along = 16 / t->word, a = g->rows * g->depth / (p->ta ? 1 : along),
	             b = g->columns * g->depth / (p->tb ? along : 1),
	             c = 2 * t->rows * t->columns / QUAD,
	             all = ceil(t->m / t->rows) * ceil(t->n / t->columns),
	             whole = floor(t->m / t->rows) * floor(t->n / t->columns),
	             diagonal = p->part == GEMM_WHOLE ? 0 : ceil(fmin(t->m, t->n) / t->rows),
	             ends = t->splits * (p->part == GEMM_WHOLE ? all - whole : (all - whole) / 2),
	             places = t->resident * t->sms, blocks = fmin(work->blocks, places),
	             waves = ceil(work->blocks / places),
	             steps = ceil(ceil(t->k / t->depth) / t->splits),
	             copies = (ceil(ends / blocks) * steps * (a + b) +
	                              ceil((ends + diagonal) / blocks) * c) /
	                      (THREADS * waves);

	work->link[LINK_L1] += copies;
	work->link[LINK_FMA] += INSTRUCTIONS * copies;
}

/* Words of operands and C are copied one by one. In double precision a thread's rows of C are four
 * neighbours, so a warp's words are in as many sectors, and each store of one moves its sector. */
static void add_words(const struct gemm_geometry *g, enum precision precision,
        const struct product_tiles *t, struct kernel_work *work)
{
	enum { VECTOR = 16, SECTOR = 32, INSTRUCTIONS = 2 };
	const double depth = ceil(t->k / g->depth) * g->depth, tile = g->rows * g->columns,
	             words = t->tiles * (depth * (g->rows + g->columns) + 2 * tile),
	             c = t->part * t->m * t->n * t->word;

	work->operations[PIPE_INTEGER] += INSTRUCTIONS * words * (1 - t->word / VECTOR);
	if (precision == DOUBLE)
		work->l2.written += c * (SECTOR / t->word - 1);
}

size_t gemm_work(const struct gemm_problem *p, const struct gemm_plan *plan,
        const struct tuning *tuning, bool old, bool aligned, struct kernel_work *work)
{
	const int shape = aligned ? plan->shape : gemm_unaligned_shape(p, plan->shape);
	const struct gemm_geometry *g = &gemm_geometry[shape];
	const double word = (double)precision_bytes(p->precision), m = (double)p->m,
	             n = (double)p->n, rows = ceil(m / g->rows), columns = ceil(n / g->columns),
	             square = fmin(rows, columns), side = fmin(m, n);
	const bool whole = p->part == GEMM_WHOLE;
	struct product_tiles t = {
	        .pipe = p->precision == SINGLE ? PIPE_FP32 : PIPE_TENSOR_FP64_LARGE,
	        .times = 1,
	        .word = word,
	        .operand = word,
	        .m = m,
	        .n = n,
	        .k = (double)p->k,
	        .part = whole ? 1 : 1 - (side - 1) / (2 * fmax(m, n)),
	        .old = old,
	        .rows = g->rows,
	        .columns = g->columns,
	        .start = START,
	        .depth = g->depth,
	        .tiles = rows * columns - (whole ? 0 : square * (square - 1) / 2),
	        .splits = plan->splits,
	        .threads = THREADS,
	        .resident = g->resident,
	        .sms = tuning->device.sm_count,
	        .wavefronts = wavefronts(p, g),
	        .passes = g->rows * g->columns * word / LINE};

	if (plan->shared)
		t.blocks = shared_blocks(t.tiles * t.splits, t.resident * t.sms, p->k);
	product_tiles_work(&t, &work[0]);
	add_cut_tiles(p, g, &t, &work[0]);
	if (!aligned)
		add_words(g, p->precision, &t, &work[0]);
	if (plan->splits == 1)
		return 1;
	if (plan->splits < MANY_PARTS)
		product_sum_work(&t, fmin(m, FEW_ROWS), FEW_ROWS, &work[1]);
	else
		product_sum_work(&t, fmin(m, MANY_ROWS), SUM_THREADS, &work[1]);
	return 2;
}
