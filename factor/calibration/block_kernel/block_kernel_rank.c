/* SPDX-License-Identifier: MIT */
/* Cholesky's update of small rank: trapezoids of 128 columns whose number of tiles fills whole
 * rounds on all multiprocessors. */
#include "block_kernel_internal.h"

enum { COLUMNS = 128, TILE = 32, ROUNDS_MOST = 16 };

struct rank_bench {
	struct blas_rate *rate;
	struct matrix x, c;
};

static void put(void *context)
{
	const struct rank_bench *b = context;
	GPU(block_rank(LOWER, -1, b->x, 1, b->c, NULL, b->rate->stream));
}

static void *numbers(struct blas_rate *rate, enum precision precision, int64_t count)
{
	void *data = blas_rate_room(count * precision_bytes(precision));

	blas_rate_fill(rate, precision, data, count, 0);
	return data;
}

/* The most rows with at most this many tiles. */
static int64_t rows_of(int64_t tiles)
{
	int64_t rows = COLUMNS;

	while (block_rank_tiles(rows + TILE, COLUMNS) <= tiles)
		rows += TILE;
	return rows;
}

void block_kernel_rank(struct blas_rate *rate, enum precision precision, int64_t step)
{
	const int64_t tallest = rows_of(ROUNDS_MOST * (int64_t)rate->gpu.sm_count);
	void *x = numbers(rate, precision, tallest * BLOCK_RANK_MAX),
	     *c = numbers(rate, precision, tallest * COLUMNS);
	for (int64_t rounds = 1; rounds <= ROUNDS_MOST;
	        rounds = rounds < 4 ? rounds + step / 2 : rounds * step)
		for (int64_t k = BLOCK_RANK_HELD / 2; k <= BLOCK_RANK_MAX; k *= 2) {
			const struct arg args[] = {{"rounds", (double)rounds}, {"k", (double)k}};
			const int64_t m = rows_of(rounds * rate->gpu.sm_count);
			struct rank_bench b = {
			        rate, {x, 0, m, k, m, precision}, {c, 0, m, COLUMNS, m, precision}};
			blas_rate_point(rate, put, &b, "rank", precision, args, ARRAY_LEN(args));
		}
	blas_rate_release(rate, (void *const[]){x, c}, 2);
}
