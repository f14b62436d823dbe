/* SPDX-License-Identifier: MIT */
#include "double_tall_work.h"

#include "product_work.h"

#include <math.h>

enum {
	SLAB = DOUBLE_TALL_SLAB,
	WORD = 8,
	LINE = 128 / WORD, /* elements of an access of a warp to shared memory */
	START = 2          /* accesses to memory before the first slab is there */
};

/* What both kernels share: blocks, slabs of the busiest team, and copies of operands. Each of a
 * team's blocks copies `side` and `width` columns; two slabs are under way while one is used. */
static double common(const struct double_tall_plan *plan, int64_t rows, struct kernel_work *work)
{
	const double blocks = (double)plan->teams * plan->groups * plan->across,
	             turns = ceil(ceil((double)rows / SLAB) / plan->teams),
	             slab = (double)(plan->side + plan->width) * SLAB;

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = DOUBLE_TALL_THREADS,
	        .registers = 255,
	        .in_flight = 2 * slab * WORD / DOUBLE_TALL_THREADS,
	        .chains = 8,
	        .wavefronts = blocks * turns * slab / LINE,
	        .ahead = true};
	work->operations[PIPE_TENSOR_FP64_LARGE] =
	        2 * blocks * turns * SLAB * plan->side * plan->width;
	work->link[LINK_L2] = START;
	work->link[LINK_BLOCK] = turns;
	return blocks * turns;
}

/* A warp has 32 columns of C and 32 of V, or 64 in the largest tile. It reads a row of them once.
 */
size_t double_tall_work(const struct double_tall_plan *plan, int64_t k, int64_t n, int64_t rows,
        struct kernel_work *work)
{
	const bool several = plan->teams > 1;
	const double slabs = common(plan, rows, &work[0]), side = plan->side, width = plan->width,
	             own = side + width == DOUBLE_TALL_SIDE + DOUBLE_TALL_ACROSS ? 64 : 32,
	             warps = side / own * width / 32, c = (double)(k * n) * WORD,
	             once = (double)((k + n) * rows) * WORD,
	             all = ((double)k * plan->across + (double)n * plan->groups) * (double)rows *
	                   WORD;
	const struct product_tiles t = {.pipe = PIPE_TENSOR_FP64_LARGE,
	        .word = WORD,
	        .m = (double)k,
	        .n = (double)n,
	        .splits = plan->teams};

	work[0].wavefronts += slabs * warps * (own + 32) * SLAB / LINE;
	work[0].dram = (struct work_bytes){once, several ? 0 : c};
	work[0].l2 = (struct work_bytes){all - once, several ? plan->teams * c : 0};
	work[0].working_set = once + c;
	if (!several)
		return 1;
	product_sum_work(
	        &t, fmin((double)k, DOUBLE_TALL_SUM_ROWS), DOUBLE_TALL_SUM_THREADS, &work[1]);
	work[1].early = 1;
	return 2;
}

/* A warp has 16 columns of C and reads all of V for its rows. C passes shared memory three times
 * more. W comes from L2 before the first slab. */
void double_tall_update_work(const struct double_tall_plan *plan, int64_t k, int64_t n,
        int64_t rows, struct kernel_work *work)
{
	enum { OWN = 16 };
	const double slabs = common(plan, rows, work), side = plan->side, width = plan->width,
	             v = (double)(k * rows) * WORD, c = (double)(n * rows) * WORD;

	work->wavefronts += slabs * SLAB * width * (side / OWN + 3) / LINE;
	work->dram = (struct work_bytes){v + c, c};
	work->l2.read = v * (plan->across - 1) + work->blocks * side * width * WORD;
	work->working_set = v + c;
	work->link[LINK_L2] += 1;
}

/* Eight warps read five or six of the 64 columns' octets each for their tiles. */
void double_tall_update_gram_work(const struct double_tall_plan *plan, int64_t k, int64_t n,
        int64_t rows, struct kernel_work *work)
{
	enum { TILES = 20, TILE = 16 * 8, OCTETS = 5 + 5 + 5 + 6, OCTET = 8 };

	double_tall_update_work(plan, k, n, rows, work);
	const double turns = work->link[LINK_BLOCK], padded = work->blocks * turns * SLAB;
	work->operations[PIPE_TENSOR_FP64_LARGE] += 2 * padded * TILES * TILE;
	work->wavefronts += padded * OCTETS * OCTET / LINE;
	work->link[LINK_BLOCK] += turns;
	work->l2.written += work->blocks * TILES * TILE * WORD;
}
