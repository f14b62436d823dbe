/* SPDX-License-Identifier: MIT */
#include "triangle_work.h"

#include <math.h>

enum { TILE = 32, WARPS = 8, QUAD = 4 /* elements of an access */, STEPS = TILE / QUAD };

void triangle_works(enum precision precision, int64_t n, struct kernel_work work[TRIANGLE_WORKS])
{
	const double tiles = ceil((double)n / TILE), word = (double)precision_bytes(precision) / 4,
	             held = fmin(tiles, WARPS), bytes = 4 * word * (double)(n * n),
	             products = tiles * (tiles + 1) / 2 - 1; /* of the first block */
	const enum work_link fma = precision == SINGLE ? LINK_FMA : LINK_FMA_DOUBLE;
	const enum work_pipe pipe = work_fma_pipe(precision);

	work[0] = (struct kernel_work){.launches = 1,
	        .blocks = tiles,
	        .threads = 32 * held,
	        .registers = 128,
	        .dram = {bytes / 2, bytes},
	        .working_set = 2 * bytes,
	        .chains = 8};
	work[0].link[LINK_DRAM] = 1;
	work[0].link[LINK_SHARED] = TILE;
	work[0].link[fma] = 2 * TILE;
	/* a step's difference and product, and the multiply-adds below */
	work[0].operations[pipe] = tiles * held * TILE * (TILE * (TILE - 1) + 4 * TILE);
	/* copies of a word a lane from four lines, a pass each; a step's shuffle and the quads
	 * below it, two passes each; the column in quads and by rows; the result; waits of the
	 * block */
	work[0].wavefronts = tiles * held *
	                             (4 * TILE + word * (TILE * (STEPS + 1) - 2 * STEPS +
	                                                        4 * STEPS + 2 * TILE)) +
	                     tiles * (word * tiles * TILE + 2 * WARPS);

	work[1] = (struct kernel_work){
	        .launches = 1, .phase = 1, .blocks = 1, .threads = 32 * WARPS, .registers = 128};
	work[1].link[LINK_BLOCK] = products + 2 * (tiles - 1) + 1;
	work[1].link[LINK_SHARED] = 2 * products + 1;
	work[1].link[fma] = TILE * products;
	work[1].operations[pipe] = products * 2 * TILE * TILE * TILE;
	/* two quads of either tile for four of k, two passes each; copies of the next tile */
	work[1].wavefronts = products * (WARPS * (STEPS * 2 * QUAD * word + 1) + 4 * TILE);
}
