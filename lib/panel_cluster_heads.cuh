/* SPDX-License-Identifier: MIT */
/* Candidates of the LU panel of one cluster: what its blocks hold in shared memory, how a warp's
 * best row becomes known to all others and how all find the best of these. lib/panel_cluster.cu
 * says why. */
#ifndef FATHOM_PANEL_CLUSTER_HEADS_CUH
#define FATHOM_PANEL_CLUSTER_HEADS_CUH

#include "base.h"
#include "cluster.cuh"
#include "panel_geometry.h"
#include "pivot_divide.cuh"
#include "reduce.cuh"
#include "shared_update.cuh"

namespace
{

/* Four turns: heads of column j + 4 are sent, and its tails and pivot row stored, only by those who
 * have had all heads of column j + 3, which every warp sends when it is done with what column j + 1
 * brought. The warp that sends rows cannot fall behind: the others get the heads of column j + 1
 * only when it announces them, done with what column j brought. */
enum { TURNS = 4, MOST_WARPS = PANEL_CLUSTER_THREADS / 32, HEADS = MOST_WARPS * PANEL_CLUSTER };

/* What a warp proposes as pivot of column j. */
template <typename real> struct alignas(16) head {
	real value; /* zero when the warp has none */
	uint32_t position;
	real right;      /* of column j + 1, before the update by column j - 1 */
	real multiplier; /* by column j - 1 */
};

/* The rest of its row: columns j + 1 and up, before the update by column j - 1. */
template <typename real, int COLUMNS> struct alignas(16) tail {
	real row[COLUMNS], multiplier;
};

template <typename real, int COLUMNS> struct shared {
	/* warp by warp, in it block by block; none where no warp is */
	struct head<real> heads[TURNS][HEADS];
	struct tail<real, COLUMNS> own[TURNS][MOST_WARPS];
	alignas(16) real pivot_row[TURNS][COLUMNS + 4]; /* right of the pivot */
	/* mbarriers: all heads of a column and the pivot row before have arrived; own tails are
	 * written */
	uint64_t full[TURNS], own_full[TURNS];
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* Increasing in |value|, all NaNs alike. */
__device__ __forceinline__ uint32_t weight_of(float value)
{
	return min(__float_as_uint(value) & 0x7fffffffu, 0x7f800001u);
}

__device__ __forceinline__ uint64_t weight_of(double value)
{
	const uint64_t bits = (uint64_t)__double_as_longlong(value) & 0x7fffffffffffffffull;
	return min(bits, (uint64_t)0x7ff0000000000001ull);
}

__device__ __forceinline__ uint32_t leading(uint32_t weight)
{
	return weight;
}

__device__ __forceinline__ uint32_t leading(uint64_t weight)
{
	return (uint32_t)(weight >> 32);
}

/* The lane with the largest weight, whose leading word is `largest`; of several the one with the
 * lowest position. */
template <typename weight_type>
__device__ __forceinline__ int best_lane(uint32_t largest, weight_type weight, uint32_t position)
{
	bool mine = leading(weight) == largest;
	unsigned best = __ballot_sync(0xffffffffu, mine);
	if (__builtin_expect((best & (best - 1)) != 0, 0)) {
		const weight_type most = warp_largest(mine ? weight : 0);
		mine = mine && weight == most;
		const uint32_t lowest = ~warp_largest(mine ? ~position : 0);
		best = __ballot_sync(0xffffffffu, mine && position == lowest);
	}
	return __ffs((int)best) - 1;
}

template <typename type> __device__ __forceinline__ type from_lane(type value, int lane)
{
	return __shfl_sync(0xffffffffu, value, lane);
}

/* Who a thread is, and where its warp's heads go: piece by piece to one block each. */
struct seat {
	int thread, lane, warp, rank, blocks;
	int threads, heads; /* of a block that hold rows, of the cluster */
	bool sends;
	uint32_t head, full; /* addresses in that block, of the first turn */
};

template <typename real, int COLUMNS>
__device__ __forceinline__ struct seat take_seat(const struct shared<real, COLUMNS> &s)
{
	struct seat t;
	t.thread = (int)threadIdx.x;
	t.lane = t.thread % 32;
	t.warp = t.thread / 32;
	t.rank = (int)cluster_rank();
	t.blocks = (int)cluster_blocks();
	t.threads = (int)blockDim.x - 32;
	t.heads = t.threads / 32 * t.blocks;
	const int to = t.lane % PANEL_CLUSTER, piece = t.lane / PANEL_CLUSTER;
	t.sends = to < t.blocks && piece < (int)sizeof s.heads[0][0] / 16;
	const struct head<real> *head = &s.heads[0][t.warp * t.blocks + t.rank];
	t.head = cluster_address(shared_address(head) + 16 * (uint32_t)piece, (uint32_t)to);
	t.full = cluster_address(shared_address(s.full), (uint32_t)to);
	return t;
}

/* ---- heads ---- */

/* The best of the heads that a lane looks at. */
template <typename real> struct favourite {
	real value;
	decltype(weight_of(real())) weight;
	uint32_t position;
	int index;
};

template <int COUNT, typename real>
__device__ __forceinline__ struct favourite<real> favourite_of(
        const struct head<real> *heads, int lane) {
	real value[COUNT];
	uint32_t position[COUNT];
#pragma unroll
	for (int i = 0; i < COUNT; i++) {
		value[i] = heads[32 * i + lane].value;
		position[i] = heads[32 * i + lane].position;
	}
	struct favourite<real> f = {
		value[0], weight_of(value[0]), position[0], lane
	};
#pragma unroll
	for (int i = 1; i < COUNT; i++) {
		const auto weight = weight_of(value[i]);
		const bool better =
		        (weight > f.weight) | ((weight == f.weight) & (position[i] < f.position));
		f.value = better ? value[i] : f.value;
		f.weight = better ? weight : f.weight;
		f.position = better ? position[i] : f.position;
		f.index = better ? 32 * i + lane : f.index;
	}
	return f;
}

template <typename real>
__device__ __forceinline__ struct favourite<real> favourite_head(
        const struct head<real> *heads, const struct seat &t) {
	return t.heads <= 32   ? favourite_of<1>(heads, t.lane)
	       : t.heads <= 64 ? favourite_of<2>(heads, t.lane)
	                       : favourite_of<HEADS / 32>(heads, t.lane);
}

/* The pivot of a column and what is right of it, known to all lanes. */
template <typename real>
struct winner {
	struct pivot_divisor<real> divisor;
	real right;
	int position;
};

/* before: column j + 1 of the pivot row j - 1. */
template <typename real>
__device__ __forceinline__ struct winner<real> best_head(
        const struct head<real> *heads, const struct seat &t, real before) {
	const struct favourite<real> f = favourite_head(heads, t);
	const real right = minus_product(heads[f.index].right, heads[f.index].multiplier, before);
	const uint32_t largest = warp_largest(leading(f.weight));
	const struct pivot_divisor<real> d = pivot_divide_by(f.value);
	const int best = best_lane(largest, f.weight, f.position);
	return {{from_lane(d.reciprocal, best), from_lane(d.pivot, best)}, from_lane(right, best),
	        (int)from_lane(f.position, best)};
}

__device__ __forceinline__ uint4
head_piece(const struct head<float> &h, int)
{
	return {__float_as_uint(h.value), h.position, __float_as_uint(h.right),
	        __float_as_uint(h.multiplier)};
}

__device__ __forceinline__ uint4 head_piece(const struct head<double> &h, int piece)
{
	const double first = piece ? h.right : h.value;
	const uint32_t low = (uint32_t)__double2loint(h.multiplier);
	return {(uint32_t)__double2loint(first), (uint32_t)__double2hiint(first),
	        piece ? low : h.position, piece ? (uint32_t)__double2hiint(h.multiplier) : 0};
}

/* A warp's candidate for column j, the best of its rows that are `below` the pivots: its head goes
 * to all blocks if there is such a column. The number of the lane that holds it, and of the lane's
 * row in *row. */
template <typename real, int ROWS>
__device__ __forceinline__ int propose(const struct seat &t, uint32_t turn, bool exists,
        const real (&value)[ROWS], const real (&right)[ROWS], const real (&multiplier)[ROWS],
        const int (&position)[ROWS], const bool (&below)[ROWS], int *row)
{
	typedef struct head<real> heads[HEADS];
	struct head<real> mine = {
		below[0] ? value[0] : real(0), below[0] ? (uint32_t)position[0] : NO_INDEX,
		        right[0], multiplier[0]
	};
	auto weight = weight_of(mine.value);
	*row = 0;
#pragma unroll
	for (int r = 1; r < ROWS; r++) {
		const auto more = weight_of(value[r]);
		const uint32_t other = (uint32_t)position[r];
		const bool better =
		        below[r] & ((more > weight) | ((more == weight) & (other < mine.position)));
		weight = better ? more : weight;
		mine.value = better ? value[r] : mine.value;
		mine.position = better ? other : mine.position;
		mine.right = better ? right[r] : mine.right;
		mine.multiplier = better ? multiplier[r] : mine.multiplier;
		*row = better ? r : *row;
	}
	const int best = best_lane(warp_largest(leading(weight)), weight, mine.position);
	const struct head<real> h = {
		from_lane(mine.value, best), from_lane(mine.position, best),
		        from_lane(mine.right, best), from_lane(mine.multiplier, best)
	};
	if (t.sends && exists)
		send_piece(head_piece(h, t.lane / PANEL_CLUSTER),
		        t.head + turn * (uint32_t)sizeof(heads), t.full + turn * 8);
	return best;
}

#endif

} // namespace

#endif
