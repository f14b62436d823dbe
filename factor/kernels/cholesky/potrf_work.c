/* SPDX-License-Identifier: MIT */
#include "potrf_work.h"

#include "factor/kernels/blocks/block_work.h"

#include <math.h>

enum {
	TILE = 32,
	WARPS = 12,
	QUARTERS = 3,  /* warps that update the next diagonal tile */
	GROUP = 8,     /* columns that solving warps lag behind */
	PRODUCT = 128, /* dependent multiply-adds that take as long as the 512 instructions of a
	                  warp's 32 x 16 x 32 */
	WIDEST = 128,
	RANK_THREADS = 256,
	FMA_CYCLES = 4,
	TILE_FLOPS = 2 * TILE * TILE * TILE,
	COPIED = 8 /* passes of a warp's copies of 4 bytes to shared memory */
};

/* From a column's pivot to the next one: a reciprocal root, its correction, both multipliers. In
 * single precision a subnormal pivot is scaled first. The warp issues the column's update in order,
 * half a tile's columns on average, each a multiply-add and an instruction to feed it. */
static void column_chain(enum precision precision, double columns, struct kernel_work *work)
{
	const double issued = precision == SINGLE ? TILE : 1.5 * TILE; /* cycles */

	work->link[LINK_SPECIAL] += columns;
	work->link[precision == SINGLE ? LINK_FMA : LINK_FMA_DOUBLE] +=
	        (precision == SINGLE ? 9 : 6) * columns;
	work->link[LINK_FMA] += issued / FMA_CYCLES * columns;
}

/* A tile column: its diagonal tile, the rest of the rows' solve, the update of the next one, for
 * `below` tiles below the diagonal tile. */
static void tile_chain(enum precision precision, double below, bool last, struct kernel_work *work)
{
	const double rounds = ceil(fmax(0, 2 * below - 2) / (WARPS - 2));

	column_chain(precision, TILE, work);
	work->link[LINK_SHARED] += 2;
	work->link[LINK_BLOCK] += 1;
	if (below > 0) {
		work->link[LINK_SHARED] += GROUP;
		work->link[precision == SINGLE ? LINK_FMA : LINK_FMA_DOUBLE] += 2 * GROUP;
	}
	if (last)
		return;
	work->link[LINK_BLOCK] += 2;
	work->link[LINK_SHARED] += 2;
	work->link[LINK_FMA] += PRODUCT * fmax(0.5, rounds);
}

/* Passes of a block through shared memory beside its copies: the next diagonal tiles' updates, the
 * other updates by half tiles (a warp's rows in two or four passes a quad, columns in four, then C
 * twice), and the factor and the solves, in which all lanes read the same quads. */
static double step_passes(enum precision precision, double columns, double down, double updated)
{
	static const struct {
		double factor, solve, half, diagonal;
	} passes[] = {[SINGLE] = {432, 368, 224, 528}, [DOUBLE] = {832, 704, 160, 288}};
	const double steps = columns - 1, solves = columns * (down - (columns + 1) / 2);

	return columns * passes[precision].factor + solves * passes[precision].solve +
	       steps * passes[precision].diagonal + 2 * (updated - steps) * passes[precision].half +
	       8 * WARPS;
}

/* Every block factorizes the diagonal block and solves for its strip. */
static void step_work(enum precision precision, int64_t width, int64_t below,
        const struct block_room *room, struct kernel_work *work)
{
	const int word = (int)precision_bytes(precision),
	          strip = below > 0 ? block_potrf_strip((int)width, below, word, room->blocks,
	                                      room->shared_bytes)
	                            : 0;
	const double square = (double)(width * width) / 2, rows = (double)(below * width),
	             blocks = below > 0 ? ceil((double)below / strip) : 1,
	             columns = ceil((double)width / TILE), down = columns + (double)strip / TILE,
	             copied = blocks * (square + (double)strip * (double)width);
	double solved = 0, updated = 0; /* tiles, of 32 x 32 x 32 multiply-adds */

	*work = (struct kernel_work){.launches = 1,
	        .early = 1,
	        .blocks = blocks,
	        .threads = TILE * WARPS,
	        .registers = precision == SINGLE ? 144 : 168,
	        .shared = (double)block_potrf_bytes((int)width, strip, word),
	        .l2 = {word * (blocks * square + rows), word * (square + rows)},
	        .working_set = word * (square + rows),
	        .chains = 16};
	for (int p = 0; p < (int)columns; p++) {
		tile_chain(precision, down - p - 1, p + 1 == (int)columns, work);
		solved += (down - p) / 2;
		for (int j = p + 1; j < (int)columns; j++)
			updated += down - j;
	}
	work->link[LINK_L2] += 1;
	if (columns == 1) { /* longer than the rest: two fences and the count of readers */
		work->link[LINK_L2] += 2;
		work->link[LINK_ATOMIC] += 1;
	}
	work->operations[work_fma_pipe(precision)] = blocks * solved * TILE_FLOPS;
	work->operations[precision == SINGLE ? PIPE_FP32 : PIPE_TENSOR_FP64_LARGE] +=
	        blocks * updated * TILE_FLOPS;
	work->wavefronts = blocks * step_passes(precision, columns, down, updated) +
	                   copied / TILE * (COPIED + 1) * word / 4;
}

/* block_rank of the columns right of a step. */
static void rank_work(
        enum precision precision, int64_t m, int64_t n, int64_t k, struct kernel_work *work)
{
	const double word = (double)precision_bytes(precision), depth = (double)k,
	             tiles = (double)block_rank_tiles(m, n),
	             once = word * ((double)(m * n) - (double)(n * n) / 2);

	*work = (struct kernel_work){.launches = 1,
	        .early = 1,
	        .blocks = tiles,
	        .threads = RANK_THREADS,
	        .registers = 80,
	        .l2 = {once + word * 2 * TILE * depth * tiles, once},
	        .working_set = once,
	        .wavefronts = block_rank_passes(precision, tiles, depth),
	        .chains = 16};
	work->operations[precision == SINGLE ? PIPE_FP32 : PIPE_TENSOR_FP64_LARGE] =
	        2.0 * TILE * TILE * depth * tiles;
	work->link[LINK_L2] = 1;
	work->link[LINK_BLOCK] = 6;
	work->link[LINK_SHARED] = 8;
}

size_t block_potrf_works(enum precision precision, int64_t n, int64_t below,
        const struct block_room *room, struct kernel_work *work)
{
	const int64_t widest = block_potrf_bytes(WIDEST, TILE, (int)precision_bytes(precision)) <=
	                                       room->shared_bytes
	                               ? WIDEST
	                               : WIDEST / 2;
	size_t count = 0;

	for (int64_t left = n; left > 0;) {
		const int64_t width = left < widest ? left : widest;
		left -= width;
		step_work(precision, width, left + below, room, &work[count++]);
		if (left > 0)
			rank_work(precision, left + below, left, width, &work[count++]);
	}
	return count;
}
