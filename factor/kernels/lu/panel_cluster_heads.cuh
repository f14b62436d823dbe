/* SPDX-License-Identifier: MIT */
/* The exchange of the LU panel of one cluster: how a warp's best row becomes known to all others,
 * through distributed shared memory, and how all find the best of these. factor/kernels/lu/panel_cluster.cu says
 * why. */
#ifndef FATHOM_PANEL_CLUSTER_HEADS_CUH
#define FATHOM_PANEL_CLUSTER_HEADS_CUH

#include "panel_rows.cuh"

namespace
{

enum { HEADS = MOST_WARPS * PANEL_CLUSTER };

/* The warp that sends rows cannot fall behind: the others get the heads of column j + 1 only when
 * it announces them, done with what column j brought. */
template <typename real, int COLUMNS> struct shared {
	/* warp by warp, in it block by block; none where no warp is */
	struct head<real> heads[TURNS][HEADS];
	struct row_memory<real, COLUMNS> rows;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older ones */

/* Who takes part: warps that have rows, in blocks where there are such. The others, of the last
 * blocks, have nothing to offer, and what all lanes know alike they would be the last to send. */
struct part {
	int warps, blocks; /* of this block, of the cluster */
	int heads;         /* of a column */
};

/* rows: of a thread; m: of the panel. */
__device__ __forceinline__ struct part part_of(int rows, int m, const struct seat &t)
{
	const int each = rows * t.threads, warps = t.threads / 32;
	const int left = max(0, m - t.rank * each);
	return {min(warps, (left + 31) / 32), (m + each - 1) / each,
	        m / each * warps + min(warps, (m % each + 31) / 32)};
}

/* Where a warp's heads go: piece by piece to one block each. */
struct route {
	int blocks, heads; /* of the cluster, all */
	struct part part;
	bool sends;
	uint32_t head, full; /* addresses in that block, of the first turn */
};

template <typename real, int COLUMNS>
__device__ __forceinline__ struct route route_of(
        const struct shared<real, COLUMNS> &s, const struct seat &t, const struct part &part)
{
	struct route w;
	w.part = part;
	w.blocks = (int)cluster_blocks();
	w.heads = t.threads / 32 * w.blocks;
	const int to = t.lane % PANEL_CLUSTER, piece = t.lane / PANEL_CLUSTER;
	w.sends = to < part.blocks && piece < (int)sizeof s.heads[0][0] / 16;
	const struct head<real> *head = &s.heads[0][t.warp * w.blocks + t.rank];
	w.head = cluster_address(shared_address(head) + 16 * (uint32_t)piece, (uint32_t)to);
	w.full = cluster_address(shared_address(s.rows.full), (uint32_t)to);
	return w;
}

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

/* MOST: warps of a block that hold rows. */
template <int MOST, typename real>
__device__ __forceinline__ struct favourite<real> favourite_head(
        const struct head<real> *heads, int count, int lane) {
	const int ALL = (MOST * PANEL_CLUSTER + 31) / 32;
	return ALL == 1 || count <= 32   ? favourite_of<1>(heads, lane)
	       : ALL == 2 || count <= 64 ? favourite_of<2>(heads, lane)
	                                 : favourite_of<ALL>(heads, lane);
}

/* before: column j + 1 of the pivot row j - 1. */
template <int MOST, typename real, typename work>
__device__ __forceinline__ struct winner<real> best_head(
        const struct head<real> *heads, int count, int lane, real before, const work &meanwhile) {
	const struct favourite<real> f = favourite_head<MOST>(heads, count, lane);
	const real right = minus_product(heads[f.index].right, heads[f.index].multiplier, before);
	const uint32_t largest = warp_largest(leading(f.weight));
	const struct pivot_divisor<real> d = pivot_divide_by(f.value);
	meanwhile();
	const unsigned lanes = leaders(largest, f.weight);
	const auto of = [&](int best) -> struct winner<real> {
		return {{from_lane(d.reciprocal, best), from_lane(d.pivot, best)},
		        from_lane(right, best), (int)from_lane(f.position, best)};
	};
	struct winner<real> w = of(leader(lanes));
	if (several(lanes)) /* seldom: not asked before the answer is under way */
		w = of(best_leader(largest, f.weight, f.position));
	return w;
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

template <typename real, int COLUMNS, int MOST> struct cluster_exchange_of_heads {
	const struct shared<real, COLUMNS> *s;
	struct seat t;
	struct route w;

	/* nobody writes to the panel before all have read it, or sends before all can receive */
	__device__ __forceinline__ void ready() const
	{
		cluster_barrier();
	}

	__device__ __forceinline__ struct head<real> offer(
	        const struct head<real> &mine, int best) const {
		return {from_lane(mine.value, best), from_lane(mine.position, best),
		        from_lane(mine.right, best), from_lane(mine.multiplier, best)};
	}

	__device__ __forceinline__ void
	send(uint32_t turn, bool exists, const struct head<real> &offer, int) const
	{
		if (w.sends && exists)
			send_piece(head_piece(offer, t.lane / PANEL_CLUSTER),
			        w.head + turn * (uint32_t)sizeof s->heads[0], w.full + turn * 8);
	}

	template <typename work>
	__device__ __forceinline__ struct winner<real> pivot(
	        uint32_t turn, real before, const work &meanwhile) const {
		return best_head<MOST>(s->heads[turn], w.heads, t.lane, before, meanwhile);
	}
};

#endif

} // namespace

#endif
