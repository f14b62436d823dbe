/* SPDX-License-Identifier: MIT */
/* Kernels of the barrier probe; barrier.c has the method. */
#include "barrier.h"
#include "lib/device/barrier.cuh"
#include "lib/device/exchange.cuh"
#include "lib/device/reduce.cuh"
#include "lib/device/resident.h"

namespace
{

enum { EXCHANGE_WORDS_MAX = 512 };

struct ladder {
	struct rung_plan plan;
	uint32_t *work;
	struct exchange exchange;
	struct rung_result *result;
};

union scratch {
	struct extreme_scratch<uint32_t> extreme;
	struct sum_scratch<float> sum;
	struct mailbox box;
	uint32_t record[EXCHANGE_WORDS_MAX];
};

/* The state of a thread between repetitions. */
struct climber {
	struct grid_barrier barrier;
	union scratch *scratch;
	struct extreme<uint32_t> extreme;
	float real;
	uint4 piece;
	uint32_t round, next; /* rank of the next block of the cluster */
};

__device__ void climber_start(
        struct climber *climber, const struct ladder *ladder, union scratch *scratch)
{
	const uint32_t me = blockIdx.x * blockDim.x + threadIdx.x;
	climber->barrier = barrier_start(ladder->work);
	climber->scratch = scratch;
	climber->extreme = {(me + 1) * 0x9e3779b1u >> 2, threadIdx.x};
	climber->real = (float)(climber->extreme.key % 1000) * 1e-3f;
	climber->piece = {me, 2 * me, 3 * me, 5 * me};
	climber->round = 0;
	climber->next = (cluster_rank() + 1) % cluster_blocks();
}

/* index < 2^31, so the key does not change; the compiler does not know it. */
__device__ bool step_reduce_max(struct climber *climber)
{
	struct extreme<uint32_t> best =
	        block_extreme(climber->extreme, &climber->scratch->extreme, climber->round++ % 2);
	climber->extreme.key += best.index >> 31;
	return true;
}

__device__ bool step_reduce_sum(struct climber *climber)
{
	const float sum = block_sum(climber->real, &climber->scratch->sum, climber->round++ % 2);
	climber->real = fmaf(sum, 1e-30f, climber->real);
	return true;
}

__device__ bool step_exchange_cluster(struct climber *climber)
{
	uint4(*record)[RECORD_PIECES] = cluster_exchange(
	        &climber->scratch->box, climber->round++, climber->piece, climber->barrier.error);
	if (record == NULL)
		return false;
	climber->piece = record[climber->next][threadIdx.x % RECORD_PIECES];
	climber->piece.x += 1;
	return true;
}

/* One warp a block, as in the panel kernel. The winner differs between rounds, and its record is
 * passed on. */
__device__ bool step_exchange_grid(struct climber *climber, const struct exchange &exchange)
{
	const uint32_t tag = exchange.tag + climber->round++;
	const uint32_t key = ((blockIdx.x + 1) * 0x9e3779b1u ^ tag * 0x85ebca6bu) >> 1 | 1;
	uint64_t *slot = exchange_record_slot(exchange, tag, blockIdx.x);
	if (threadIdx.x == 0)
		exchange_publish(exchange, tag, key);
	for (int i = (int)threadIdx.x; i < exchange.words; i += 32)
		exchange_store(slot + i, climber->scratch->record[i] + 1, tag);
	const int winner = exchange_wait<uint32_t>(exchange, tag);
	return winner >= 0 && exchange_read(exchange, tag, winner, climber->scratch->record, NULL);
}

static_assert(BARRIER_BLOCK + (int)RUNG_GRID == (int)BARRIER_GRID,
        "rungs begin with the kinds of barriers but the warp's");

template <int rung> DEVICE bool step(struct climber *climber, const struct ladder *ladder)
{
	if constexpr (rung <= RUNG_GRID)
		return barrier_any<BARRIER_BLOCK + rung>(&climber->barrier);
	if constexpr (rung == RUNG_REDUCE_MAX)
		return step_reduce_max(climber);
	if constexpr (rung == RUNG_REDUCE_SUM)
		return step_reduce_sum(climber);
	if constexpr (rung == RUNG_EXCHANGE_CLUSTER)
		return step_exchange_cluster(climber);
	if constexpr (rung == RUNG_EXCHANGE_GRID)
		return step_exchange_grid(climber, ladder->exchange);
	return true;
}

template <int rung>
__device__ bool repeat(struct climber *climber, const struct ladder *ladder, uint32_t count)
{
	constexpr int unroll = rung == RUNG_BLOCK ? RUNG_UNROLL : 1;
#pragma unroll 1
	for (uint32_t i = 0; i < count; i += unroll)
#pragma unroll
		for (int k = 0; k < unroll; ++k)
			if (!step<rung>(climber, ladder))
				return false;
	return true;
}

/* The first, untimed repetitions load all blocks and instructions. */
template <int rung>
__global__ void __launch_bounds__(1024) ladder_kernel(const struct ladder ladder)
{
	__shared__ union scratch scratch;
	struct climber climber;
	struct rung_result timed;
	const bool reports = blockIdx.x == 0 && threadIdx.x == 0;
	climber_start(&climber, &ladder, &scratch);
	for (uint32_t i = threadIdx.x; i < EXCHANGE_WORDS_MAX; i += blockDim.x)
		scratch.record[i] = i * 0x9e3779b1u;
	__syncthreads();
	if constexpr (rung == RUNG_EXCHANGE_CLUSTER)
		mailbox_start(&scratch.box);

	bool good = repeat<rung>(&climber, &ladder, RUNG_UNROLL);
	if (reports)
		span_start(&timed.few);
	good = good && repeat<rung>(&climber, &ladder, ladder.plan.few);
	if (reports) {
		span_stop(&timed.few);
		span_start(&timed.many);
	}
	good = good && repeat<rung>(&climber, &ladder, ladder.plan.many);
	if (reports) {
		span_stop(&timed.many);
		timed.ok = good;
		timed.sink = climber.extreme.key + __float_as_uint(climber.real) + climber.piece.x +
		             scratch.record[0];
		*ladder.result = timed;
	}

	if constexpr (rung == RUNG_EXCHANGE_CLUSTER)
		mailbox_stop();
}

/* Half a round trip: one word to the other SM. The word is the whole message, so no ordering is
 * needed. */
__device__ bool flag_pass(
        uint32_t *mine, const uint32_t *other, uint32_t *error, uint32_t round, bool first)
{
	struct spin spin = {0, 0};
	if (first)
		store_relaxed(mine, round);
	while (load_relaxed(other) != round)
		if (!spin_again(&spin, error))
			return false;
	if (!first)
		store_relaxed(mine, round);
	return true;
}

__device__ bool flag_repeat(const struct ladder *ladder, uint32_t *round, uint32_t signals)
{
	uint32_t *ping = ladder->work + (2 + 2 * ladder->plan.line) * BARRIER_LINE;
	uint32_t *pong = ping + BARRIER_LINE;
	const bool first = blockIdx.x == 0;
	for (uint32_t i = 0; i < signals; i += 2)
		if (!flag_pass(first ? ping : pong, first ? pong : ping, ladder->work, ++*round,
		            first))
			return false;
	return true;
}

__global__ void flag_kernel(const struct ladder ladder)
{
	struct rung_result timed;
	uint32_t round = 0;
	if (threadIdx.x != 0 || (blockIdx.x != 0 && blockIdx.x != ladder.plan.partner))
		return;
	bool good = flag_repeat(&ladder, &round, RUNG_UNROLL);
	span_start(&timed.few);
	good = good && flag_repeat(&ladder, &round, ladder.plan.few);
	span_stop(&timed.few);
	span_start(&timed.many);
	good = good && flag_repeat(&ladder, &round, ladder.plan.many);
	span_stop(&timed.many);
	timed.ok = good;
	timed.sink = round;
	if (blockIdx.x == 0)
		*ladder.result = timed;
}

const void *const kernels[RUNGS] = {
        (const void *)ladder_kernel<RUNG_BLOCK>,
        (const void *)ladder_kernel<RUNG_CLUSTER>,
        (const void *)ladder_kernel<RUNG_MASTER>,
        (const void *)ladder_kernel<RUNG_COUNTER>,
        (const void *)ladder_kernel<RUNG_GRID>,
        (const void *)ladder_kernel<RUNG_REDUCE_MAX>,
        (const void *)ladder_kernel<RUNG_REDUCE_SUM>,
        (const void *)ladder_kernel<RUNG_EXCHANGE_CLUSTER>,
        (const void *)ladder_kernel<RUNG_EXCHANGE_GRID>,
        (const void *)flag_kernel,
};

} // namespace

extern "C" int rung_resident(const struct rung_case *which)
{
	const void *kernel = kernels[which->rung];
	if (rung_clustered(which->rung))
		return cluster_resident(kernel, which->blocks, which->threads, 0);
	const int resident = grid_resident(kernel, which->threads, 0);
	const int polled = 32 * EXCHANGE_LANE_SLOTS; /* most blocks of an exchange */
	return which->rung == RUNG_EXCHANGE_GRID && resident > polled ? polled : resident;
}

extern "C" size_t rung_bytes(const struct rung_case *which)
{
	switch (which->rung) {
	case RUNG_EXCHANGE_GRID:
		return (size_t)exchange_bytes(which->blocks, which->words);
	case RUNG_FLAG:
		return (2 + 2 * RUNG_LINES) * BARRIER_LINE * sizeof(uint32_t);
	default:
		return barrier_bytes(which->blocks);
	}
}

extern "C" int rung_launch(const struct rung_case *which, const struct rung_plan *plan, void *work,
        struct rung_result *result)
{
	struct ladder ladder = {*plan, (uint32_t *)work,
	        exchange_layout(work, which->blocks, which->words, 1), result};
	return resident_launch(kernels[which->rung], which->blocks,
	        rung_clustered(which->rung) ? which->blocks : 0, which->threads, 0, &ladder, NULL);
}
