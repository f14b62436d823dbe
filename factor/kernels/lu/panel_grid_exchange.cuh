/* SPDX-License-Identifier: MIT */
/* The two warps of a block of the grid LU panel (factor/kernels/lu/panel_grid.cu) that hold no
 * rows: one brings the pivots, the other the pivot rows. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/early_launch.cuh"
#include "lib/device/exchange.cuh"
#include "panel_kernels.h"
#include "panel_rows.cuh"

namespace
{

enum {
	MOST_BLOCKS = PANEL_GRID_MOST,
	LANE_HEADS = MOST_BLOCKS / 32, /* that a lane waits for */
	OTHERS = 2,                    /* warps of a block without rows */
	THREADS = PANEL_CLUSTER_THREADS + 32 * OTHERS,
	COPIES = 8 /* of a slot: fewer blocks poll each */
};

/* Slots in global memory, in 8-byte words: per turn several copies of all blocks' heads and of the
 * pivot row. */
template <typename real> struct layout {
	static const int HEAD = sizeof(real) == 4 ? 4 : 8;
	static const int COPY = MOST_BLOCKS * HEAD + PANEL_ROW;
	static const int TURN = COPIES * COPY;
};

template <typename real> struct grid {
	panel<real> panel;
	uint64_t *slots;
	uint32_t tag; /* of column 0 */
};

/* A column's pivot, as the row warps of a block receive it. */
template <typename real> struct alignas(16) verdict {
	real reciprocal, pivot, right;
	int position;
	int warp; /* of this block, that holds the pivot row; or -1 */
};

template <typename real, int COLUMNS> struct shared {
	row_memory<real, COLUMNS> rows;
	head<real> heads[TURNS][MOST_WARPS];
	verdict<real> verdict[TURNS];
	/* mbarriers: all heads of the block are present; the pivot row of a column is */
	uint64_t proposed[TURNS], row[TURNS];
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* mbarriers that can be waited for */

template <typename real, int COLUMNS> struct exchange_of_grid {
	shared<real, COLUMNS> *s;
	struct seat t;

	/* block 0 has read its first rows, which others will write, before it sends a head */
	DEVICE void ready() const
	{
		fence_device();
	}

	DEVICE head<real> offer(const head<real> &mine, int) const
	{
		return mine;
	}

	DEVICE void send(uint32_t turn, bool exists, const head<real> &mine, int best) const
	{
		if (exists && t.lane == best) {
			s->heads[turn][t.warp] = mine;
			arrivals_arrive(shared_address(&s->proposed[turn]));
		}
	}

	template <typename work>
	DEVICE winner<real> pivot(uint32_t turn, real, const work &meanwhile) const
	{
		const verdict<real> v = s->verdict[turn];
		meanwhile();
		return {{v.reciprocal, v.pivot}, v.right, v.position};
	}
};

DEVICE void store_words(uint64_t *slot, uint32_t first, uint32_t second, uint32_t tag)
{
	const uint64_t upper = (uint64_t)tag << 32;
	asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(slot), "l"(upper | first),
	             "l"(upper | second)
	             : "memory");
}

DEVICE bool load_words(const uint64_t *slot, uint32_t *first, uint32_t *second, uint32_t tag)
{
	uint64_t x, y;
	asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
	             : "=l"(x), "=l"(y)
	             : "l"(slot)
	             : "memory");
	*first = (uint32_t)x;
	*second = (uint32_t)y;
	return exchange_tagged(x, tag) & exchange_tagged(y, tag);
}

DEVICE void store_head(uint64_t *slot, const head<float> &h, uint32_t tag)
{
	store_words(slot, __float_as_uint(h.value), h.position, tag);
	store_words(slot + 2, __float_as_uint(h.right), __float_as_uint(h.multiplier), tag);
}

DEVICE bool load_head(const uint64_t *slot, head<float> *h, uint32_t tag)
{
	uint32_t value, right, multiplier;
	const bool one = load_words(slot, &value, &h->position, tag);
	const bool two = load_words(slot + 2, &right, &multiplier, tag);
	h->value = __uint_as_float(value);
	h->right = __uint_as_float(right);
	h->multiplier = __uint_as_float(multiplier);
	return one & two;
}

DEVICE void store_double(uint64_t *slot, double x, uint32_t tag)
{
	store_words(slot, (uint32_t)__double2loint(x), (uint32_t)__double2hiint(x), tag);
}

DEVICE bool load_double(const uint64_t *slot, double *x, uint32_t tag)
{
	uint32_t low, high;
	const bool there = load_words(slot, &low, &high, tag);
	*x = __hiloint2double((int)high, (int)low);
	return there;
}

DEVICE void store_head(uint64_t *slot, const head<double> &h, uint32_t tag)
{
	store_double(slot, h.value, tag);
	store_words(slot + 2, h.position, 0, tag);
	store_double(slot + 4, h.right, tag);
	store_double(slot + 6, h.multiplier, tag);
}

DEVICE bool load_head(const uint64_t *slot, head<double> *h, uint32_t tag)
{
	uint32_t none;
	const bool value = load_double(slot, &h->value, tag);
	const bool position = load_words(slot + 2, &h->position, &none, tag);
	const bool right = load_double(slot + 4, &h->right, tag);
	const bool multiplier = load_double(slot + 6, &h->multiplier, tag);
	return value & position & right & multiplier;
}

template <typename real> DEVICE bool better(const head<real> &x, const head<real> &y)
{
	const auto u = weight_of(x.value), v = weight_of(y.value);
	return (u > v) | ((u == v) & (x.position < y.position));
}

template <typename real> DEVICE int best_of_lanes(const head<real> &h)
{
	const auto weight = weight_of(h.value);
	return best_lane(weight, h.position);
}

/* The best of the blocks that a lane waits for: blocks 32 i + lane. All lanes poll until none
 * waits, which is faster than lanes that leave the loop early. False in all lanes after a
 * timeout. */
template <typename real>
DEVICE bool wait_for_heads(
        const uint64_t *slots, int lane, uint32_t tag, uint32_t *error, head<real> *best)
{
	head<real> h[LANE_HEADS];
	struct spin spin = {0, 0};
	bool ready, good = true;
	do {
		ready = true;
#pragma unroll
		for (int i = 0; i < LANE_HEADS; i++) {
			h[i] = {real(0), NO_INDEX, real(0), real(0)};
			const int block = 32 * i + lane;
			if (32 * i < (int)gridDim.x && block < (int)gridDim.x)
				ready &= load_head(slots + block * layout<real>::HEAD, &h[i], tag);
		}
		ready = __all_sync(0xffffffffu, ready);
		good = ready || __all_sync(0xffffffffu, spin_again(&spin, error));
	} while (!ready && good);
	*best = h[0];
#pragma unroll
	for (int i = 1; i < LANE_HEADS; i++)
		if (better(h[i], *best))
			*best = h[i];
	return good;
}

template <typename real, int COLUMNS>
DEVICE void bring_pivots(const grid<real> &g, shared<real, COLUMNS> &s, const struct seat &t)
{
	const int warps = t.threads / 32;
	for (int j = 0; j < g.panel.n; j++) {
		const uint32_t turn = (uint32_t)j % TURNS, parity = (uint32_t)j / TURNS % 2;
		const uint32_t before = (turn + TURNS - 1) % TURNS, tag = g.tag + (uint32_t)j;
		uint64_t *slots = g.slots + turn * layout<real>::TURN;
		const uint64_t *copy = slots + t.rank % COPIES * layout<real>::COPY;
		head<real> mine = {real(0), NO_INDEX, real(0), real(0)};

		if (!warp_waits(&s.proposed[turn], parity, g.panel.error))
			break;
		if (t.lane < warps)
			mine = s.heads[turn][t.lane];
		const int warp = best_of_lanes(mine);
		if (t.lane < COPIES)
			store_head(
			        slots + t.lane * layout<real>::COPY + t.rank * layout<real>::HEAD,
			        s.heads[turn][warp], tag);
		const uint32_t own = from_lane(mine.position, warp);

		head<real> h;
		if (!wait_for_heads<real>(copy, t.lane, tag, g.panel.error, &h))
			break;
		const pivot_divisor<real> d = pivot_divide_by(h.value);
		const int best = best_of_lanes(h);
		if (j > 0 &&
		        !warp_waits(&s.row[before], (uint32_t)(j - 1) / TURNS % 2, g.panel.error))
			break;
		if (t.lane == best) {
			const real right =
			        minus_product(h.right, h.multiplier, s.rows.pivot_row[before][1]);
			s.verdict[turn] = {d.reciprocal, d.pivot, right, (int)h.position,
			        h.position == own ? warp : -1};
			arrivals_arrive(shared_address(&s.rows.full[turn]));
		}
	}
}

DEVICE void store_element(uint64_t *slot, int c, float x, uint32_t tag)
{
	exchange_store(slot + c, __float_as_uint(x), tag);
}

DEVICE void store_element(uint64_t *slot, int c, double x, uint32_t tag)
{
	store_double(slot + 2 * c, x, tag);
}

DEVICE bool load_element(const uint64_t *slot, int c, float *x, uint32_t tag)
{
	const uint64_t word = exchange_load(slot + c);
	*x = __uint_as_float((uint32_t)word);
	return exchange_tagged(word, tag);
}

DEVICE bool load_element(const uint64_t *slot, int c, double *x, uint32_t tag)
{
	return load_double(slot + 2 * c, x, tag);
}

/* Sends the row of pivot j, right of the pivot, to all blocks, and writes it to the panel. */
template <typename real, int COLUMNS>
DEVICE void publish_row(const panel<real> &g, const row_memory<real, COLUMNS> &s, int lane, int j,
        int warp, uint64_t *slot, uint32_t tag)
{
	const uint32_t turn = (uint32_t)j % TURNS;
	const real *before = s.pivot_row[(turn + TURNS - 1) % TURNS] + 1;
	const tail<real, COLUMNS> &own = s.own[turn][warp];
	const int count = g.n - 1 - j;
#pragma unroll
	for (int i = 0; i < COLUMNS; i += 32) {
		const int c = i + lane;
		if (c >= count)
			continue;
		const real x = minus_product(own.row[c], own.multiplier, before[c]);
#pragma unroll
		for (int copy = 0; copy < COPIES; copy++)
			store_element(slot + copy * layout<real>::COPY, c, x, tag);
		g.a[j + (j + 1 + c) * g.lda] = x;
	}
}

/* Copies a lane's part of the row of pivot j to the block's memory. False in all lanes after a
 * timeout. */
template <typename real, int COLUMNS>
DEVICE bool receive_row(
        real *row, int lane, int count, const uint64_t *slot, uint32_t tag, uint32_t *error)
{
	real x[COLUMNS / 32];
	struct spin spin = {0, 0};
	bool ready, good = true;
	do {
		ready = true;
#pragma unroll
		for (int i = 0; i < COLUMNS / 32; i++) {
			x[i] = real(0);
			if (32 * i + lane < count)
				ready &= load_element(slot, 32 * i + lane, &x[i], tag);
		}
		ready = __all_sync(0xffffffffu, ready);
		good = ready || __all_sync(0xffffffffu, spin_again(&spin, error));
	} while (!ready && good);
#pragma unroll
	for (int i = 0; i < COLUMNS / 32; i++)
		row[32 * i + lane] = x[i];
	__syncwarp();
	return good;
}

template <typename real, int COLUMNS>
DEVICE void bring_rows(const grid<real> &g, shared<real, COLUMNS> &s, const struct seat &t)
{
	const panel<real> &p = g.panel;
	int info = 0;
	for (int j = 0; j < p.n; j++) {
		const uint32_t turn = (uint32_t)j % TURNS, parity = (uint32_t)j / TURNS % 2;
		const uint32_t tag = g.tag + (uint32_t)j;
		uint64_t *slot =
		        g.slots + turn * layout<real>::TURN + MOST_BLOCKS * layout<real>::HEAD;

		if (j == p.n - RELEASE)
			early_release();
		if (!warp_waits(&s.rows.full[turn], parity, p.error))
			break;
		const verdict<real> v = s.verdict[turn];
		if (v.warp >= 0) {
			if (!warp_waits(&s.rows.own_full[turn], parity, p.error))
				break;
			publish_row(p, s.rows, t.lane, j, v.warp, slot, tag);
			if (t.lane == 0) {
				p.a[j + j * p.lda] = v.pivot;
				p.pivots[j] = v.position + 1;
			}
		}
		if (info == 0 && v.pivot == real(0))
			info = j + 1;
		if (!receive_row<real, COLUMNS>(s.rows.pivot_row[turn], t.lane, p.n - 1 - j,
		            slot + t.rank % COPIES * layout<real>::COPY, tag, p.error))
			break;
		if (t.lane == 0)
			arrivals_arrive(shared_address(&s.row[turn]));
	}
	if (t.rank == 0 && t.lane == 0)
		p.pivots[p.n] = info;
}

#endif

} // namespace
