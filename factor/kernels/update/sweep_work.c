/* SPDX-License-Identifier: MIT */
#include "sweep_work.h"

#include "sweep_kernel.h"

#include <math.h>

enum { WIDTH = SWEEP_KERNEL_COLUMNS, PITCH = WIDTH + 4, THREADS = 384 };

/* Words of struct window_memory. */
static double memory_words(double p)
{
	return 2 * (2 * WIDTH + p) * PITCH + (WIDTH + p) * PITCH + WIDTH * PITCH + WIDTH * WIDTH +
	       4 * WIDTH * PITCH + 3 * (p + 4) + 2 * WIDTH;
}

/* Block 0's chain. A column passes through shared memory and a barrier; four lanes add up its p / 4
 * rows, issue-bound; a root and a quotient follow, in single precision by two approximations and a
 * few multiply-adds, else correctly rounded. Then a window is published and applied to the next
 * one. */
static void add_lead(enum precision precision, double p, double windows, struct kernel_work *work)
{
	const bool single = precision == SINGLE;
	const double lane = p / 4, rows = WIDTH + p, columns = windows * WIDTH;

	work->link[single ? LINK_FMA : LINK_FMA_DOUBLE] =
	        columns * (lane + (single ? 24 : 12)) + windows * (4 * rows + WIDTH);
	work->link[LINK_SPECIAL] = columns * (single ? 2 : 13);
	work->link[LINK_SHUFFLE] = 3 * columns;
	work->link[LINK_SHARED] = 2 * columns + 12 * windows;
	work->link[LINK_BLOCK] = columns + 6 * windows;
	work->link[LINK_L2] = 3 * windows;
}

/* Passes of shared memory for a tile and a window: both products with V, in quads of which
 * neighbours have eight or one, T's product, the parts of V^T C, and the tile's copies. Rows of
 * quads in double precision, and the parts' columns, meet in the same banks. */
static double tile_passes(enum precision precision, double rows)
{
	return precision == SINGLE ? rows * (4 * (4 + 2) + 4) + 1280 + 512 + 160 + 32
	                           : rows * (4 * (16 + 4) + 12) + 4352 + 2048 + 640 + 128;
}

void sweep_work(
        enum precision precision, double p, double n, double q, int sms, struct kernel_work *work)
{
	const double word = (double)precision_bytes(precision), windows = ceil(n / WIDTH),
	             others = 1 + ceil(q / WIDTH), /* tiles of right-hand sides and Q */
	        blocks = fmin(sms, 1 + windows + others);
	const double held = (double)sweep_kernel_rows(precision, (int64_t)p), rows = WIDTH + held,
	             flops = 4 * WIDTH * WIDTH * rows + 2 * WIDTH * WIDTH * WIDTH;
	double tiles = 0, longest = 0; /* of all blocks; of the one with most of them */

	for (double i = 0; i < windows; i++) {
		const double left = fmax(0, windows - i - 2) + others;
		tiles += left;
		longest += ceil(left / (blocks - 1));
	}
	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = THREADS,
	        .registers = 168,
	        .shared = memory_words(held) * word,
	        .chains = 16};
	work->operations[work_fma_pipe(precision)] = blocks * longest * flops;
	/* neighbouring windows share columns, which L2 holds meanwhile */
	const double passed = tiles * rows * WIDTH * word,
	             once = fmin(passed, (q + n / 2) * n * word);
	work->dram = (struct work_bytes){once, once};
	work->working_set = once;
	work->l2 = (struct work_bytes){
	        passed - once + blocks * windows * (rows + WIDTH) * WIDTH * word, passed - once};
	work->wavefronts = blocks * longest * tile_passes(precision, rows);
	add_lead(precision, held, windows, work);
}
