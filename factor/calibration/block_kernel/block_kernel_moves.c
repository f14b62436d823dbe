/* SPDX-License-Identifier: MIT */
/* Kernels that only move numbers. Split operands of a product: a left one that is transposed and a
 * right one that is not, as an update has them. Deferred row swaps of a square, of blocks of
 * DEFERRED_BLOCK columns whose rows come from anywhere below. */
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
	blas_rate_point(rate, put_splits, &o, half ? "half_pair" : "tf32_split", SINGLE, args,
	        ARRAY_LEN(args));
}

void block_kernel_splits(struct blas_rate *rate, int64_t step)
{
	const int64_t words = (int64_t)SPLIT_TO * TF32_PIECE;
	const int64_t stacks = 2 * stack_rows(false, TF32_PIECE) * SPLIT_TO;
	if (!has_room((words + stacks) * precision_bytes(SINGLE)))
		return;
	float *from = blas_rate_room(words * precision_bytes(SINGLE)),
	      *to = blas_rate_room(stacks * precision_bytes(SINGLE));
	blas_rate_fill(rate, SINGLE, from, words, 0);
	for (int half = 0; half < 2; half++)
		for (int64_t n = SPLIT_FROM; n <= SPLIT_TO; n *= step)
			for (int64_t k = DEPTH_FROM; k <= TF32_PIECE; k *= 2)
				measure_splits(rate, half, n, k, from, to);
	blas_rate_release(rate, (void *const[]){from, to}, 2);
}

/* ---- deferred row swaps ---- */

struct deferred {
	const struct blas_rate *rate;
	struct deferred_swaps swaps;
	struct matrix a;
};

static void put_swaps(void *context)
{
	const struct deferred *l = context;
	GPU(deferred_swaps_apply(l->swaps, l->a, l->rate->stream));
}

/* The swaps of every block, each with a row anywhere below its own. */
static void record_blocks(const struct deferred *l)
{
	const int64_t n = l->a.n;
	int *pivots = blas_rate_room(DEFERRED_BLOCK * (int64_t)sizeof(int)), host[DEFERRED_BLOCK];
	uint64_t state = (uint64_t)l->rate->run->common.seed;
	for (int64_t j = 0; j < n; j += DEFERRED_BLOCK) {
		for (int64_t i = 0; i < DEFERRED_BLOCK; i++)
			host[i] = block_kernel_pivot(&state, i, n - j);
		GPU(cudaMemcpy(pivots, host, sizeof host, cudaMemcpyHostToDevice));
		GPU(cudaDeviceSynchronize()); /* the copy returns once it is staged */
		GPU(deferred_swaps_record(l->swaps, (struct pivots){pivots, DEFERRED_BLOCK}, j,
		        j / DEFERRED_BLOCK, l->rate->stream));
		GPU(cudaStreamSynchronize(l->rate->stream));
	}
	GPU(cudaFree(pivots));
}

static void measure_deferred(
        struct blas_rate *rate, enum precision precision, int64_t n, void *data)
{
	const struct arg args[] = {{"n", (double)n}};
	struct deferred l = {rate, {NULL, n, n, n / DEFERRED_BLOCK}, {data, 0, n, n, n, precision}};
	l.swaps.data = blas_rate_room(deferred_swaps_integers(l.swaps) * (int64_t)sizeof(int));
	record_blocks(&l);
	blas_rate_point(rate, put_swaps, &l, "apply_swaps", precision, args, ARRAY_LEN(args));
	blas_rate_release(rate, (void *const[]){l.swaps.data}, 1);
}

void block_kernel_deferred(struct blas_rate *rate, enum precision precision, int64_t step)
{
	const int64_t most = deferred_swaps_most(precision, rate->gpu.shared_per_block);
	const int64_t bytes = (int64_t)DEFERRED_TO * DEFERRED_TO * precision_bytes(precision);
	if (!has_room(bytes))
		return;
	void *data = blas_rate_room(bytes);
	blas_rate_fill(rate, precision, data, DEFERRED_TO * DEFERRED_TO, 0);
	for (int64_t n = DEFERRED_FROM; n <= DEFERRED_TO && n <= most; n *= step)
		measure_deferred(rate, precision, n, data);
	GPU(cudaFree(data));
}
