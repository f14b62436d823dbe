/* SPDX-License-Identifier: MIT */
/* Of the block_kernel probe: Cholesky by a schedule of tiles, of whole matrices and of block
 * columns with rows below. */
#include "../lib/base.h"
#include "block_kernel.h"
#include "block_kernel_parts.h"

#include "../lib/block_kernels.h"

#include <stdlib.h>

enum {
	NARROWEST = 256,
	WIDEST = 8192,
	WIDEST_ABOVE = 2048,
	FEWEST_BELOW = 512,
	MOST_BELOW = 32768
};
static const double growth = 1e3; /* the executors' */

struct tiles {
	struct blas_rate *rate;
	struct matrix a;
	void *data, *work;
	int *info;
};

static void put_tiles(void *context)
{
	struct tiles *t = context;

	GPU(block_potrf_tiles(
	        LOWER, t->a, 0, t->info, growth, t->rate->gpu.sm_count, t->work, t->rate->stream));
}

/* Nearly the identity, as it then remains. */
static void measure(struct tiles *t, enum precision precision, int64_t n, int64_t below)
{
	const struct arg args[] = {{"n", (double)n}, {"below", (double)below}};
	char series[] = "tiles_s", rows[] = "tiles_rows_s";

	series[sizeof series - 2] = rows[sizeof rows - 2] = (char)precision;
	t->a = (struct matrix){t->data, 0, n + below, n, n + below, precision};
	GPU(block_fill(WHOLE, 1e-5, 1, t->a, t->rate->stream));
	blas_rate_measure(t->rate, put_tiles, t, 0, below ? rows : series, args, below ? 2 : 1);
}

static void *room(int64_t bytes)
{
	void *data;

	GPU(cudaMalloc(&data, (size_t)bytes));
	return data;
}

static void set_up(struct tiles *t, struct blas_rate *rate)
{
	const int64_t tall = WIDEST_ABOVE + MOST_BELOW;
	struct matrix whole = {NULL, 0, WIDEST, WIDEST, WIDEST, DOUBLE},
	              column = {NULL, 0, tall, WIDEST_ABOVE, tall, DOUBLE};
	int64_t square = block_potrf_tiles_work(LOWER, whole),
	        below = block_potrf_tiles_work(LOWER, column);

	*t = (struct tiles){.rate = rate};
	t->data = room(8 * (tall * WIDEST_ABOVE > WIDEST * WIDEST ? tall * WIDEST_ABOVE
	                                                          : WIDEST * WIDEST));
	t->work = room(square > below ? square : below);
	t->info = room(sizeof *t->info);
	GPU(cudaMemset(t->info, 0, sizeof *t->info));
}

static void clean_up(struct tiles *t)
{
	GPU(cudaFree(t->data));
	GPU(cudaFree(t->work));
	GPU(cudaFree(t->info));
}

static void sweep(struct tiles *t, enum precision precision, int64_t step)
{
	for (int64_t n = NARROWEST; n <= WIDEST; n *= step) {
		measure(t, precision, n, 0);
		for (int64_t below = FEWEST_BELOW; n <= WIDEST_ABOVE && below <= MOST_BELOW;
		        below *= 8)
			measure(t, precision, n, below);
	}
}

void tiles_measure(struct blas_rate *rate, bool quick)
{
	struct tiles t;
	int info;

	if (!block_potrf_tiles_has(rate->gpu.major, rate->gpu.shared_per_block))
		return;
	set_up(&t, rate);
	sweep(&t, SINGLE, quick ? 8 : 2);
	sweep(&t, DOUBLE, quick ? 8 : 2);
	GPU(cudaMemcpy(&info, t.info, sizeof info, cudaMemcpyDeviceToHost));
	if (info != 0)
		msg_die(EXIT_MEASURE_FAILED, "Cholesky by tiles failed, info %d", info);
	clean_up(&t);
}
