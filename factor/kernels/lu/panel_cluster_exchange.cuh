/* SPDX-License-Identifier: MIT */
/* The exchange of the LU panel of one cluster: each warp's best row reaches all other warps through
 * distributed shared memory, and all find the best of them (factor/kernels/lu/panel_cluster.cu). */
#pragma once

#include "panel_rows.cuh"

namespace
{

enum { HEADS = MOST_WARPS * PANEL_CLUSTER };

/* The sending warp cannot fall behind: the others get the heads of column j + 1 only after it
 * announces them, when it is done with column j. */
template <typename real, int COLUMNS> struct shared {
	/* ordered by warp, then by block; without absent warps */
	head<real> heads[TURNS][HEADS];
	row_memory<real, COLUMNS> rows;
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* no cluster is launched on older devices */

/* The warps that have rows. Other warps, in the last blocks, have no candidate and take no part,
 * because they would send last. */
struct part {
	int warps, blocks; /* row warps of this block; blocks of the cluster */
	int heads;         /* per column */
};

/* rows: per thread; m: of the panel. */
DEVICE struct part part_of(int rows, int m, const struct seat &t)
{
	const int each = rows * t.threads, warps = t.threads / 32;
	const int left = max(0, m - t.rank * each);
	return {min(warps, (left + 31) / 32), (m + each - 1) / each,
	        m / each * warps + min(warps, (m % each + 31) / 32)};
}

/* Targets of a warp's heads: one piece per block. */
struct route {
	int blocks, heads; /* in the whole cluster */
	struct part part;
	bool sends;
	uint32_t head, full; /* addresses in the target block, for the first turn */
};

template <typename real, int COLUMNS>
DEVICE struct route route_of(
        const shared<real, COLUMNS> &s, const struct seat &t, const struct part &part)
{
	struct route w;
	w.part = part;
	w.blocks = (int)cluster_blocks();
	w.heads = t.threads / 32 * w.blocks;
	const int to = t.lane % PANEL_CLUSTER, piece = t.lane / PANEL_CLUSTER;
	w.sends = to < part.blocks && piece < (int)sizeof s.heads[0][0] / 16;
	const head<real> *head = &s.heads[0][t.warp * w.blocks + t.rank];
	w.head = cluster_address(shared_address(head) + 16 * (uint32_t)piece, (uint32_t)to);
	w.full = cluster_address(shared_address(s.rows.full), (uint32_t)to);
	return w;
}

/* The best of the heads that a lane examines. */
template <typename real> struct favourite {
	real value;
	decltype(weight_of(real())) weight;
	uint32_t position;
	int index;
};

template <int COUNT, typename real>
DEVICE favourite<real> favourite_of(const head<real> *heads, int lane)
{
	real value[COUNT];
	uint32_t position[COUNT];
#pragma unroll
	for (int i = 0; i < COUNT; i++) {
		value[i] = heads[32 * i + lane].value;
		position[i] = heads[32 * i + lane].position;
	}
	favourite<real> f = {value[0], weight_of(value[0]), position[0], lane};
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

/* MOST: most row warps of a block. */
template <int MOST, typename real>
DEVICE favourite<real> favourite_head(const head<real> *heads, int count, int lane)
{
	const int ALL = (MOST * PANEL_CLUSTER + 31) / 32;
	return ALL == 1 || count <= 32   ? favourite_of<1>(heads, lane)
	       : ALL == 2 || count <= 64 ? favourite_of<2>(heads, lane)
	                                 : favourite_of<ALL>(heads, lane);
}

/* before: column j + 1 of pivot row j - 1. */
template <int MOST, typename real, typename work>
DEVICE winner<real> best_head(
        const head<real> *heads, int count, int lane, real before, const work &meanwhile)
{
	const favourite<real> f = favourite_head<MOST>(heads, count, lane);
	const real right = minus_product(heads[f.index].right, heads[f.index].multiplier, before);
	const uint32_t largest = warp_largest(leading(f.weight));
	const pivot_divisor<real> d = pivot_divide_by(f.value);
	meanwhile();
	const unsigned lanes = leaders(largest, f.weight);
	const auto of = [&](int best) -> winner<real> {
		return {{from_lane(d.reciprocal, best), from_lane(d.pivot, best)},
		        from_lane(right, best), (int)from_lane(f.position, best)};
	};
	winner<real> w = of(leader(lanes));
	if (several(lanes)) /* rare: checked after the answer is under way */
		w = of(best_leader(largest, f.weight, f.position));
	return w;
}

DEVICE uint4 head_piece(const head<float> &h, int)
{
	return {__float_as_uint(h.value), h.position, __float_as_uint(h.right),
	        __float_as_uint(h.multiplier)};
}

DEVICE uint4 head_piece(const head<double> &h, int piece)
{
	const double first = piece ? h.right : h.value;
	const uint32_t low = (uint32_t)__double2loint(h.multiplier);
	return {(uint32_t)__double2loint(first), (uint32_t)__double2hiint(first),
	        piece ? low : h.position, piece ? (uint32_t)__double2hiint(h.multiplier) : 0};
}

template <typename real, int COLUMNS, int MOST> struct cluster_exchange_of_heads {
	const shared<real, COLUMNS> *s;
	struct seat t;
	struct route w;

	/* no block writes to the panel before all have read it, or sends before all can receive */
	DEVICE void ready() const
	{
		cluster_barrier();
	}

	DEVICE head<real> offer(const head<real> &mine, int best) const
	{
		return {from_lane(mine.value, best), from_lane(mine.position, best),
		        from_lane(mine.right, best), from_lane(mine.multiplier, best)};
	}

	DEVICE void send(uint32_t turn, bool exists, const head<real> &offer, int) const
	{
		if (w.sends && exists)
			send_piece(head_piece(offer, t.lane / PANEL_CLUSTER),
			        w.head + turn * (uint32_t)sizeof s->heads[0], w.full + turn * 8);
	}

	template <typename work>
	DEVICE winner<real> pivot(uint32_t turn, real before, const work &meanwhile) const
	{
		return best_head<MOST>(s->heads[turn], w.heads, t.lane, before, meanwhile);
	}
};

#endif

} // namespace
