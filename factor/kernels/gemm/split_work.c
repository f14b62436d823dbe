/* SPDX-License-Identifier: MIT */
#include "split_work.h"

#include "half_pair.h"
#include "tf32.h"

#include <math.h>

enum { SPLIT_THREADS = 256, WORD = 4 };

/* LOADS: of a thread, in the mean of both operands. EACH: a thread's instructions for an element,
 * most of them on integers: rounding twice, the checks for infinities, and the address of each
 * slot. */
void tf32_split_work(double n, double k, struct kernel_work *work)
{
	enum { TILE = 32, ROWS = 128, COLUMNS = 16, LOADS = 6, EACH = 48 };
	const double elements = n * k, slots = tf32_slots(TF32_LEFT);

	*work = (struct kernel_work){.launches = 1,
	        .blocks = ceil(n / TILE) * ceil(k / TILE) + ceil(k / ROWS) * ceil(n / COLUMNS),
	        .threads = SPLIT_THREADS,
	        .registers = 40,
	        .dram = {2 * elements * WORD, 2 * slots * elements * WORD},
	        .working_set = (1 + 2 * slots) * elements * WORD,
	        .in_flight = LOADS * WORD};
	work->operations[PIPE_INTEGER] = 2 * elements * EACH;
	work->operations[PIPE_SPECIAL] = work->blocks * SPLIT_THREADS * 6; /* two quotients */
	work->link[LINK_DRAM] = 1;
	work->link[LINK_BLOCK] = 1;
	work->link[LINK_SHARED] = 1;
	work->link[LINK_FMA] = LOADS * EACH;
}

/* Half of the instructions for an element are on integers. Blocks of the left operand have four
 * vectors a warp; four of the right one's count as one here. */
void half_pair_work(double n, double k, struct kernel_work *work)
{
	enum { VECTORS = 32, WARPS = SPLIT_THREADS / 32, EACH = 32 };
	const double elements = n * k,
	             mine = k <= 64    ? 2
	                    : k <= 128 ? 4
	                               : TF32_PIECE / 32,
	             written = 2 * n * (double)half_rows((int64_t)k) * WORD;

	*work = (struct kernel_work){.launches = 1,
	        .blocks = 2 * ceil(n / VECTORS),
	        .threads = SPLIT_THREADS,
	        .registers = 48,
	        .shared = 32 * mine * (VECTORS + 1) * WORD,
	        .dram = {2 * elements * WORD, written},
	        .working_set = elements * WORD + written,
	        .in_flight = mine * WORD};
	work->operations[PIPE_INTEGER] = 2 * elements * EACH / 2;
	/* The largest of a vector. Rows pass a tile, read two words of a bank at a time. */
	const double rows = ceil(n / VECTORS), each = VECTORS / WARPS;
	work->wavefronts =
	        5 * ceil(n / WARPS) * WARPS + rows * WARPS * ((1 + 2) * each * mine + 5 * each + 1);
	work->link[LINK_DRAM] = 1;
	work->link[LINK_BLOCK] = 1;
	work->link[LINK_SHARED] = 1;
	work->link[LINK_SHUFFLE] = 5; /* the largest of a vector */
	work->link[LINK_FMA] = VECTORS / WARPS * mine * EACH;
}
