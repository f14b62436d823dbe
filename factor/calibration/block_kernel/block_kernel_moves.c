/* SPDX-License-Identifier: MIT */
/* What only moves and turns numbers, start to start: a product's operands split, a left one whose
 * inner dimension lies across and a right one down, as an update has them; and late exchanges of a
 * square made up for, of blocks of DEFERRED_BLOCK columns whose rows come from anywhere below. */
#include "block_kernel_internal.h"

#include "factor/kernels/gemm/half_pair.h"
#include "factor/kernels/lu/deferred_swaps.h"
#include "factor/kernels/gemm/tf32.h"

#include <stdlib.h>

enum {
	SPLIT_FROM = 1024, /* columns of each operand */
	SPLIT_TO = 16384,
	DEPTH_FROM = 64,
	DEFERRED_FROM = 2048,
	DEFERRED_TO = 8192,
	DEFERRED_BLOCK = 64
};

static void *room(int64_t bytes)
{
	void *data;
	GPU(cudaMalloc(&data, (size_t)bytes));
	return data;
}

static bool has_room(int64_t bytes)
{
	size_t left, all;
	GPU(cudaMemGetInfo(&left, &all));
	return (int64_t)(left / 2) >= bytes;
}

/* ---- operands ---- */

struct operands {
	const struct blas_rate *rate;
	struct splits splits;
	bool half;
};

static void put_splits(void *context)
{
	const struct operands *o = context;
	GPU(o->half ? half_pair(&o->splits, o->rate->stream)
	            : tf32_split(&o->splits, o->rate->stream));
}

static int64_t stack_rows(bool half, int64_t k)
{
	return half ? half_rows(k) : tf32_slots(TF32_LEFT) * k;
}

/* n columns of each, k deep; from: n k numbers. */
static void measure_splits(
        struct blas_rate *rate, bool half, int64_t n, int64_t k, float *from, float *to)
{
	const int64_t rows = stack_rows(half, k);
	const struct arg args[] = {{"n", (double)n}, {"k", (double)k}};
	struct operands o = {rate, {.count = 2}, half};
	o.splits.of[0] = (struct splitting){{from, 0, n, k, n, SINGLE}, TRANSPOSED,
	        half ? HALF_PAIR : TF32_LEFT, {to, 0, rows, n, rows, SINGLE}};
	o.splits.of[1] = (struct splitting){{from, 0, k, n, k, SINGLE}, PLAIN,
	        half ? HALF_PAIR : TF32_RIGHT, {to, rows * n, rows, n, rows, SINGLE}};
	blas_rate_measure(rate, put_splits, &o, 0, half ? "half_pair_s" : "tf32_split_s", args,
	        ARRAY_LEN(args));
}

void block_kernel_splits(struct blas_rate *rate, int64_t step)
{
	const int64_t words = (int64_t)SPLIT_TO * TF32_PIECE;
	const int64_t stacks = 2 * stack_rows(false, TF32_PIECE) * SPLIT_TO;
	if (!has_room((words + stacks) * precision_bytes(SINGLE)))
		return;
	float *from = room(words * precision_bytes(SINGLE)),
	      *to = room(stacks * precision_bytes(SINGLE));
	gpu_fill_float(from, words, (uint64_t)rate->run->common.seed, rate->stream);
	for (int half = 0; half < 2; half++)
		for (int64_t n = SPLIT_FROM; n <= SPLIT_TO; n *= step)
			for (int64_t k = DEPTH_FROM; k <= TF32_PIECE; k *= 2)
				measure_splits(rate, half, n, k, from, to);
	GPU(cudaStreamSynchronize(rate->stream));
	GPU(cudaFree(from));
	GPU(cudaFree(to));
}

/* ---- late exchanges ---- */

struct late {
	const struct blas_rate *rate;
	struct deferred_swaps swaps;
	struct matrix a;
};

static void put_settle(void *context)
{
	const struct late *l = context;
	GPU(deferred_swaps_apply(l->swaps, l->a, l->rate->stream));
}

/* Every block's exchanges, each with a row anywhere below its own. */
static void track_blocks(const struct late *l)
{
	const int64_t n = l->a.n;
	int *pivots = room(DEFERRED_BLOCK * (int64_t)sizeof(int)), host[DEFERRED_BLOCK];
	uint64_t state = (uint64_t)l->rate->run->common.seed;
	for (int64_t j = 0; j < n; j += DEFERRED_BLOCK) {
		for (int64_t i = 0; i < DEFERRED_BLOCK; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			host[i] = (int)(i + 1 + (int64_t)((state >> 33) % (uint64_t)(n - j - i)));
		}
		GPU(cudaMemcpy(pivots, host, sizeof host, cudaMemcpyHostToDevice));
		GPU(deferred_swaps_record(l->swaps, (struct pivots){pivots, DEFERRED_BLOCK}, j,
		        j / DEFERRED_BLOCK, l->rate->stream));
		GPU(cudaStreamSynchronize(l->rate->stream));
	}
	GPU(cudaFree(pivots));
}

static void measure_deferred(struct blas_rate *rate, enum precision precision, int64_t n, void *data)
{
	const char series[] = {'s', 'e', 't', 't', 'l', 'e', '_', (char)precision, '\0'};
	const struct arg args[] = {{"n", (double)n}};
	struct late l = {rate, {NULL, n, n, n / DEFERRED_BLOCK}, {data, 0, n, n, n, precision}};
	l.swaps.data = room(deferred_swaps_integers(l.swaps) * (int64_t)sizeof(int));
	track_blocks(&l);
	blas_rate_measure(rate, put_settle, &l, 0, series, args, ARRAY_LEN(args));
	GPU(cudaStreamSynchronize(rate->stream));
	GPU(cudaFree(l.swaps.data));
}

void block_kernel_deferred(struct blas_rate *rate, enum precision precision, int64_t step)
{
	const int64_t most = deferred_swaps_most(precision, rate->gpu.shared_per_block);
	const int64_t bytes = (int64_t)DEFERRED_TO * DEFERRED_TO * precision_bytes(precision);
	if (!has_room(bytes))
		return;
	void *data = room(bytes);
	if (precision == SINGLE)
		gpu_fill_float(
		        data, DEFERRED_TO * DEFERRED_TO, (uint64_t)rate->run->common.seed, rate->stream);
	else
		gpu_fill_double(
		        data, DEFERRED_TO * DEFERRED_TO, (uint64_t)rate->run->common.seed, rate->stream);
	for (int64_t n = DEFERRED_FROM; n <= DEFERRED_TO && n <= most; n *= step)
		measure_deferred(rate, precision, n, data);
	GPU(cudaFree(data));
}
