/* SPDX-License-Identifier: MIT */
#include "gemv.h"

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* Elements of the widest load that every column allows. */
static int vector_of(const struct gemv_call *call)
{
	const int64_t bytes = precision_bytes(call->precision);
	int vector = (int)(16 / bytes);
	while (call->lda * bytes % (vector * bytes) != 0)
		vector /= 2;
	return vector;
}

int gemv_shift(const struct gemv_call *call, int vector)
{
	const int64_t bytes = precision_bytes(call->precision);
	return call->alpha == 0 ? 0
	                        : (int)((uintptr_t)call->a / (uintptr_t)bytes % (uintptr_t)vector);
}

/* Blocks that are resident at a time: four a multiprocessor; a little less is as good. */
static int64_t wave_of(const struct gpu *gpu)
{
	return (int64_t)gpu->sm_count * 4 * 31 / 32;
}

static int64_t matrix_bytes(const struct gemv_call *call)
{
	return call->m * call->n * precision_bytes(call->precision);
}

/* Blocks a tile, so that about a wave of blocks is there and none has less than 64 KiB to read:
 * adding up through memory takes about as long as reading that. */
static int splits_of(const struct gemv_call *call, int64_t tiles, int64_t wave)
{
	int64_t splits = 16;
	if (splits > (wave + wave / 16) / tiles)
		splits = (wave + wave / 16) / tiles;
	if (splits > matrix_bytes(call) / (64 << 10) / tiles)
		splits = matrix_bytes(call) / (64 << 10) / tiles;
	return splits < 1 || tiles > GEMV_MAX_SPLIT_TILES ? 1 : (int)splits;
}

/* y = A x. `bytes` of each column to a block (its segment): long segments suit DRAM, short ones
 * give many blocks without splitting sums. */
static void plan_plain(const struct gemv_call *call, int64_t wave, struct gemv_plan *p)
{
	const int64_t size = precision_bytes(call->precision);
	const int64_t rows = call->m + gemv_shift(call, p->vector);
	const int load = (int)(p->vector * size), whole = 16;
	int segment = 256;
	bool split = false;
	p->unroll = 64 / load; /* 64 bytes a thread */
	if (ceil_div(rows * size, segment) < wave) {
		const int64_t tiles = ceil_div(rows * size, 128);
		segment = 128;
		if (tiles < wave && (tiles < wave / 2 || matrix_bytes(call) > 48 << 20)) {
			segment = 64;
			split = call->n > 2 * 8 * GEMV_THREADS / (64 / whole);
		}
	}
	if (split) {
		segment = 256;
		while (segment > 32 && ceil_div(rows * size, segment) * 16 < wave)
			segment /= 2;
	} else if (segment == 64 && load == whole) {
		p->unroll = 8;
	}
	p->lanes = segment / load < 32 ? segment / load : 32;
	p->width = p->lanes * p->vector;
	p->tiles = ceil_div(rows, p->width);
	if (split)
		p->splits = splits_of(call, p->tiles, wave);
}

/* y = A^T x. Up to a wave of blocks by the number of columns in each; large matrices have enough
 * for several and keep more loads of a thread in flight. */
static void plan_transposed(const struct gemv_call *call, int64_t wave, struct gemv_plan *p)
{
	const int64_t size = precision_bytes(call->precision), bytes = matrix_bytes(call);
	const int64_t loads = call->m / p->vector; /* of a column */
	int64_t width = 1, warps;
	while (call->n > width * wave * 33 / 32)
		width *= 2;
	if (p->vector * size < 16) {
		p->columns = 2;
		p->unroll = 32 / (int)(p->vector * size);
	} else if (loads > 4096 && bytes > 64 << 20) {
		p->columns = 2;
		p->unroll = 4;
		width = 2;
	} else if (bytes > 200 << 20) {
		p->columns = 4;
		p->unroll = 2;
		width = 8;
	} else {
		p->columns = width < 4 ? 1 : 4;
		p->unroll = width < 4 ? 4 : 1;
	}
	warps = 8 * p->columns / width;
	if (warps > 8)
		warps = 8;
	while (warps > 1 && warps * 32 * p->unroll > loads * (p->unroll > 1 ? 2 : 1))
		warps /= 2;
	p->lanes = warps < 1 ? 1 : (int)warps;
	p->width = 8 / p->lanes * p->columns;
	p->tiles = ceil_div(call->n, p->width);
	if (p->tiles < wave / 4)
		p->splits = splits_of(call, p->tiles, wave / 2);
}

struct gemv_plan gemv_plan(const struct gemv_call *call, const struct gpu *gpu)
{
	struct gemv_plan p = {.vector = vector_of(call), .splits = 1, .early = gpu->major >= 9};
	if (call->transposed)
		plan_transposed(call, wave_of(gpu), &p);
	else
		plan_plain(call, wave_of(gpu), &p);
	return p;
}

int64_t gemv_work(const struct gemv_plan *plan, enum precision precision)
{
	if (plan->splits == 1)
		return 0;
	return GEMV_COUNTERS +
	       plan->tiles * plan->splits * plan->width * precision_bytes(precision);
}
