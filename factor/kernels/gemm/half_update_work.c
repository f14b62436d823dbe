/* SPDX-License-Identifier: MIT */
#include "half_update_work.h"

#include "product_work.h"

enum {
	THREADS = 384,
	SLAB = 64, /* of the inner dimension in a stage */
	START = 4, /* maps of the copies, operands, C, and the end of its stores */
	TILE = HALF_TILE_ROWS * HALF_TILE_COLUMNS, /* words of C, read and written */
	FACTORS = TILE / 2, /* words: a thread reads its columns' factors for two rows */
	ENDING = 10         /* flops of an element: three multiply-adds, two products by factors */
};

/* Blocks that let others in, as half_update_tiles.cuh shares the tiles out. */
static double shared_blocks(int64_t tiles, int64_t sms)
{
	int64_t blocks = 0, rounds = (tiles + sms - 1) / sms;

	while (rounds > 0) {
		rounds -= half_update_share(rounds);
		blocks += sms;
	}
	return (double)(blocks < tiles ? blocks : tiles);
}

void half_update_work(enum uplo part, int64_t n, int64_t k, bool shared,
        const struct tuning *tuning, struct kernel_work *work)
{
	const int64_t tiles = half_update_tiles(part, n, n);
	const struct product_tiles t = {.pipe = PIPE_GROUP_BF16,
	        .times = 3,
	        .word = sizeof(float),
	        .operand = sizeof(float), /* two halves */
	        .m = (double)n,
	        .n = (double)n,
	        .k = (double)k,
	        .part = part == WHOLE ? 1 : ((double)n + 1) / (2 * (double)n),
	        .old = true,
	        .rows = HALF_TILE_ROWS,
	        .columns = HALF_TILE_COLUMNS,
	        .start = START,
	        .depth = SLAB,
	        .tiles = (double)tiles,
	        .splits = 1,
	        .threads = THREADS,
	        .resident = 1,
	        .sms = tuning->device.sm_count,
	        .blocks = shared ? shared_blocks(tiles, tuning->device.sm_count) : 0,
	        .passes = (2 * TILE + FACTORS) / 32};

	product_tiles_work(&t, work);
	work->operations[PIPE_FP32] = ENDING * TILE * (double)tiles;
}
