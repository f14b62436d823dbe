/* SPDX-License-Identifier: MIT */
#include "gram_apply_work.h"

#include <math.h>

void gram_apply_work(enum precision precision, double m, double k, double n, double held,
        struct kernel_work *work)
{
	enum { APPLY_THREADS = 512, APPLY_WARPS = APPLY_THREADS / 32 };
	const double word = (double)precision_bytes(precision), rows = 64 / word, /* of a thread */
	        blocks = ceil(n / held), columns = m * n * word;

	*work = (struct kernel_work){.launches = 1,
	        .blocks = blocks,
	        .threads = APPLY_THREADS,
	        .registers = 128,
	        .dram = {columns + m * k * word, columns + k * n * word},
	        .l2 = {.read = (blocks - 1) * m * k * word},
	        .working_set = columns + (m + n) * k * word,
	        .in_flight = rows * word,
	        .chains = held * 2 * rows / (rows + 1)};
	/* dot and update over all rows that a block can hold; sums over a warp and of all warps.
	 * A column's dot is a chain as long as the rows, and its updates do not wait for each
	 * other: so many instructions over so many steps. */
	work->operations[work_fma_pipe(precision)] =
	        blocks * k * held * APPLY_THREADS * (4 * rows + 2 * (5 + APPLY_WARPS));
	/* a column: shuffles, the warps' sums written and read 16 bytes at a time; a wait */
	work->wavefronts = blocks * k * APPLY_WARPS *
	                   (held * (word / 4 * (5 + 2 * APPLY_WARPS / 4.0) + 1) + 1);
	work->link[LINK_DRAM] = 1;
	work->link[LINK_L2] = 1;
	work->ahead = true; /* the next column of q */
	work->link[LINK_REDUCE] = k;
	/* four warps a scheduler: address, load, dot and update of a row, a cycle each */
	work->link[LINK_FMA] = 4 * k * rows;
}
