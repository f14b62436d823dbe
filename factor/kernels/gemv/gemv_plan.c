/* SPDX-License-Identifier: MIT */
#include "gemv.h"

#include <math.h>

static int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* The widest load, in elements, that every column's alignment permits. */
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

enum { MAX_SPLITS = 64 };

static int64_t matrix_bytes(const struct gemv_call *call)
{
	return call->m * call->n * precision_bytes(call->precision);
}

/* y = A x uses the fastest of a few plans by an estimate, y = A^T x a plan by rules. */

/* What the estimates of a call have in common. */
struct estimate {
	double bandwidth; /* bytes per microsecond, for a plan's segments */
	double batch_us;
	int64_t resident; /* blocks at once */
};

/* Estimated microseconds, without the launch. Every wave of blocks waits for its batches of loads
 * and moves its bytes, which overlap in part. */
static double wave_time(const struct estimate *e, int64_t blocks, double bytes, double waiting)
{
	const double moving = (double)blocks * bytes / e->bandwidth;
	return sqrt(waiting * waiting + moving * moving);
}

/* In whole numbers where it can be: a short call should not take longer to plan than to launch. */
static double plain_time(const struct gemv_call *call, const struct gemv_tuning *t,
        const struct gemv_plan *p, const struct estimate *e)
{
	const int64_t size = precision_bytes(call->precision);
	const int64_t columns = ceil_div(call->n, p->splits);
	const int64_t batches = ceil_div(columns * p->lanes, (int64_t)GEMV_THREADS * p->unroll);
	const double waiting = (double)batches * e->batch_us;
	const double bytes = (double)(min_int64(p->width, call->m) * size * columns);
	const int64_t blocks = p->tiles * p->splits, waves = blocks / e->resident;
	const int64_t rest = blocks - waves * e->resident;
	double time = 0;
	if (waves > 0)
		time = (double)waves * (wave_time(e, e->resident, bytes, waiting) + t->wave_us);
	if (rest > 0)
		time += wave_time(e, rest, bytes, waiting);
	return p->splits > 1 ? time + t->combine_us[0] + t->combine_us[1] * p->splits : time;
}

/* Long segments (bytes of a column that one block reads) suit DRAM; short segments give many blocks
 * without splitting sums. */
static void plan_plain(
        const struct gemv_call *call, const struct tuning *tuning, struct gemv_plan *best)
{
	const struct gemv_tuning *t = &tuning->gemv;
	const int size = (int)precision_bytes(call->precision), load = best->vector * size;
	const int64_t rows = call->m + gemv_shift(call, best->vector);
	const int sms = tuning->device.sm_count;
	double least = INFINITY;
	for (int segment = 64; segment <= 32 * load; segment *= 2) {
		struct gemv_plan p = *best;
		p.unroll = (segment == 64 && load == 16 ? 128 : 64) / load;
		p.lanes = segment / load;
		p.width = p.lanes * p.vector;
		p.tiles = ceil_div(rows, p.width);
		const struct estimate e = {sms * t->bytes_per_us / (1 + t->short_segment / segment),
		        t->batch_us,
		        (int64_t)sms * (p.unroll * load > 64 ? GEMV_RESIDENT - 1 : GEMV_RESIDENT)};
		for (p.splits = 1; p.splits <= MAX_SPLITS && p.splits <= call->n; p.splits *= 2) {
			if (p.splits > 1 && p.tiles > GEMV_MAX_SPLIT_TILES)
				break;
			const double time = plain_time(call, t, &p, &e);
			if (time < least) {
				least = time;
				*best = p;
			}
		}
	}
}

/* Blocks that share long columns when there are few: half a wave of blocks, each with at least 8
 * KiB of every column. */
static int transposed_splits(const struct gemv_call *call, int64_t wave, const struct gemv_plan *p)
{
	const int64_t column = call->m * precision_bytes(call->precision);
	int64_t splits = 1;
	if (p->tiles >= wave / 3 || column < 64 << 10)
		return 1;
	while (splits < 16 && splits * 2 * p->tiles <= wave + wave / 16 &&
	        column / (splits * 2) >= 8 << 10)
		splits *= 2;
	return (int)splits;
}

/* Up to a wave of blocks by the number of columns per block. Matrices for several waves keep more
 * loads per thread in flight instead. */
static void plan_transposed(
        const struct gemv_call *call, const struct tuning *tuning, struct gemv_plan *p)
{
	const struct gemv_tuning *t = &tuning->gemv;
	const int load = (int)(p->vector * precision_bytes(call->precision));
	const int64_t bytes = matrix_bytes(call), wave = tuning->device.sm_count * GEMV_RESIDENT;
	const int64_t loads = call->m / p->vector; /* per column */
	int64_t width = 1;
	while (call->n > width * wave)
		width *= 2;
	const bool large =
	        bytes > t->large_bytes ||
	        (bytes > t->large_uneven_bytes && ceil_div(call->n, width) < wave * 4 / 5);
	p->unroll = 4;
	if (load < 16) {
		p->columns = 2;
		p->unroll = 32 / load;
		if (width > 8)
			width = 4;
	} else if (loads > 4096 && bytes > t->large_long_bytes) {
		p->columns = 2;
		width = 2;
	} else if (large) {
		p->columns = 4;
		p->unroll = 2;
		width = 8;
	} else if (width < 4) {
		p->columns = call->precision == SINGLE ? 1 : 2;
		width *= p->columns;
	} else {
		p->columns = 4;
		p->unroll = 1;
	}
	int64_t warps = 8 * p->columns / width;
	warps = warps > 8 ? 8 : warps < 1 ? 1 : warps;
	while (warps > 1 && warps * 32 * p->unroll > loads * (p->unroll > 2 ? 2 : 1))
		warps /= 2;
	p->lanes = (int)warps;
	p->width = 8 / p->lanes * p->columns;
	p->tiles = ceil_div(call->n, p->width);
	p->splits = transposed_splits(call, wave, p);
}

struct gemv_plan gemv_plan(const struct gemv_call *call, const struct tuning *tuning)
{
	struct gemv_plan p = {
	        .vector = vector_of(call), .splits = 1, .early = tuning->device.code >= 90};
	if (call->m == 0 || call->n == 0)
		return p;
	if (call->transposed)
		plan_transposed(call, tuning, &p);
	else
		plan_plain(call, tuning, &p);
	return p;
}

int64_t gemv_work(const struct gemv_plan *plan, enum precision precision)
{
	if (plan->splits == 1)
		return 0;
	return GEMV_COUNTERS +
	       plan->tiles * plan->splits * plan->width * precision_bytes(precision);
}
