/* SPDX-License-Identifier: MIT */
#include "block_work.h"

#include "block_kernels.h"

#include <math.h>

enum { TILE = 32, TILE_THREADS = 256, WARPS = TILE_THREADS / 32 };

static enum work_link fma_of(enum precision precision)
{
	return precision == SINGLE ? LINK_FMA : LINK_FMA_DOUBLE;
}

void block_guard_work(enum precision precision, double n, double sides, struct kernel_work *work)
{
	enum { SIDES = 32, GUARD_THREADS = 512, MOST_BLOCKS = 64, AT_ONCE = 32 };
	const double word = (double)precision_bytes(precision),
	             blocks = fmin(MOST_BLOCKS, ceil(sides / SIDES));

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = GUARD_THREADS,
	        .registers = 64,
	        .shared = BLOCK_TRTRI_MAX * (SIDES + 1) * word,
	        .l2 = {.read = blocks * n * n * word}};
	work->operations[PIPE_INTEGER] = blocks * 2 * BLOCK_TRTRI_MAX * ceil(n / AT_ONCE) *
	                                 AT_ONCE * 12; /* addresses and magnitudes */
	work->link[LINK_L2] = ceil(n / AT_ONCE);
	work->link[LINK_SEARCH] = 2;
}

/* A warp reads four rows and four columns a thread for each of k. Neighbours with the same rows
 * read them in two passes, with other columns in four; the tensor cores' operands, four of k at a
 * time, take three and two. Then four pairs of warps store and add their sums. */
double block_rank_passes(enum precision precision, double tiles, double k)
{
	const double single = WARPS / 4.0 * (2 + 4), twice = WARPS / 16.0 * (4 * 3 + 2 * 2);

	return tiles * (precision == SINGLE ? single * k + WARPS * (32 + 16)
	                                    : twice * k + WARPS * (32 + 32));
}

/* Words are copied one by one, each by a dozen instructions. A thread's words of C are neighbours,
 * so that each store of one moves its sector. */
static void add_words(double word, double copied, double once, struct kernel_work *work)
{
	enum { VECTOR = 16, SECTOR = 32, INSTRUCTIONS = 12, QUAD = 4 };

	work->operations[PIPE_INTEGER] += INSTRUCTIONS * copied * (1 - word / VECTOR);
	work->l2.written += once * (fmin(SECTOR / word, QUAD) - 1);
}

/* A tile a block; four pairs of warps share the inner dimension and add up. */
void block_rank_work(enum precision precision, double m, double n, double k, bool aligned,
        struct kernel_work *work)
{
	enum { PARTS = 4, GROUPS = 4 };
	const bool single = precision == SINGLE;
	const double word = (double)precision_bytes(precision),
	             tiles = (double)block_rank_tiles((int64_t)m, (int64_t)n),
	             depth = k <= BLOCK_RANK_HELD / 2 ? BLOCK_RANK_HELD / 2
	                     : k <= BLOCK_RANK_HELD   ? BLOCK_RANK_HELD
	                                              : BLOCK_RANK_MAX,
	             held = fmin(depth, BLOCK_RANK_HELD), steps = depth / (held / PARTS),
	             pitch = TILE + (single ? 0 : 4), sums = TILE * (TILE + 16 / word),
	             operands = m * k * word, once = (m * n - n * n / 2) * word;

	*work = (struct kernel_work){.launches = 1,
	        .blocks = tiles,
	        .threads = TILE_THREADS,
	        .registers = 80,
	        .shared = fmax(2 * pitch * held, GROUPS * sums) * word,
	        .dram = {operands + once, once},
	        .l2 = {fmax(0, tiles * 2 * TILE * k * word - operands),
	                single ? 0 : once /* a store of 16 bytes a lane has half a sector */},
	        .working_set = operands + once,
	        .in_flight = 2 * TILE * held * word / TILE_THREADS};
	work->operations[single ? PIPE_FP32 : PIPE_TENSOR_FP64] = 2 * tiles * TILE * TILE * depth;
	/* copies of 16 bytes write the operands */
	work->wavefronts =
	        block_rank_passes(precision, tiles, depth) + tiles * 2 * TILE * depth * word / 128;
	work->chains = single ? 16 : 4;
	work->link[LINK_DRAM] = 1 + (steps > PARTS ? 1 : 0);
	work->link[LINK_BLOCK] = steps + 2;
	work->link[LINK_SHARED] = steps + 2;
	work->link[fma_of(precision)] = depth / GROUPS + GROUPS;
	if (!aligned)
		add_words(word, tiles * 2 * TILE * depth, once, work);
}
