/* SPDX-License-Identifier: MIT */
/* LU panels in registers: the loop over columns of the warps that hold rows, for any exchange of
 * candidates and pivot rows (factor/kernels/lu/panel_cluster.cu has the method). */
#pragma once

#include "panel_rows.cuh"

namespace
{

enum { NARROWEST = 32 };

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* mbarriers that can be waited for */

/* A warp's candidate for column j, the best of its rows `below` the pivots; its head is sent if the
 * column exists. Returns the lane that holds it, and in *row which of the lane's rows it is; any
 * lane if the warp has no row left. */
template <typename real, int ROWS, typename exchange, typename work>
DEVICE int propose(const exchange &x, uint32_t turn, bool exists, const real (&value)[ROWS],
        const real (&right)[ROWS], const real (&multiplier)[ROWS], const int (&position)[ROWS],
        const bool (&below)[ROWS], int *row, const work &meanwhile)
{
	head<real> mine = {below[0] ? value[0] : real(0),
	        below[0] ? (uint32_t)position[0] : NO_INDEX, right[0], multiplier[0]};
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
	const uint32_t largest = warp_largest(leading(weight));
	meanwhile();
	const unsigned lanes = leaders(largest, weight);
	int best = leader(lanes);
	head<real> offer = x.offer(mine, best);
	/* rare: checked after the offer is under way */
	if (several(lanes) && __any_sync(0xffffffffu, mine.position != NO_INDEX)) {
		best = best_leader(largest, weight, mine.position);
		offer = x.offer(mine, best);
	}
	x.send(turn, exists, offer, best);
	return best;
}

/* A thread's rows: column j, the columns right of it, still without the update by column j - 1, and
 * the rows' positions. */
template <typename real, int COLUMNS, int ROWS> struct held {
	real a[ROWS][COLUMNS], value[ROWS];
	int position[ROWS];
	int best, row; /* the lane with the warp's candidate, and which of its rows that is */
};

template <typename real, int COLUMNS, int ROWS>
DEVICE void load_rows(const panel<real> &g, const struct seat &t, held<real, COLUMNS, ROWS> &h,
        bool (&below)[ROWS])
{
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		const int from = (t.rank * ROWS + r) * t.threads + t.thread;
		below[r] = from < g.m;
		h.position[r] = below[r] ? from : ABSENT;
		h.value[r] = below[r] ? g.a[from] : real(0);
#pragma unroll
		for (int k = 0; k < COLUMNS; k++)
			h.a[r][k] = below[r] && k + 1 < COLUMNS && k + 1 < g.n
			                    ? g.a[from + (k + 1) * g.lda]
			                    : real(0);
	}
}

/* Processes column j, with `left` <= WIDTH columns left; kept: where its multipliers go. The update
 * by column j - 1 is independent of this column. A warp with its own scheduler does it AMONG the
 * waits, in four parts; otherwise it comes last. */
template <int WIDTH, bool AMONG, typename real, int COLUMNS, int ROWS, typename exchange>
DEVICE bool hold_column(const panel<real> &g, row_memory<real, COLUMNS> &s, const struct seat &t,
        const exchange &x, held<real, COLUMNS, ROWS> &h, int j, int left,
        multipliers<real, ROWS> *kept)
{
	const int PART = WIDTH / 4, CHUNK = 16;
	typedef words<real, PART> part;
	const uint32_t turn = (uint32_t)j % TURNS, next = (turn + 1) % TURNS;
	const real *p = s.pivot_row[(turn + TURNS - 1) % TURNS]; /* of the previous column */
	const multipliers<real, ROWS> l = kept[-t.threads];
	multipliers<real, ROWS> l_now;
	if (!warp_waits(&s.full[turn], (uint32_t)j / TURNS % 2, g.error))
		return false;
	const part first(p), another(p + PART);
	const real before = AMONG ? first.value[1] : p[1], second = AMONG ? first.value[2] : p[2];
	real value[ROWS], right[ROWS];
	bool below[ROWS];
	const auto lead = [&] {
#pragma unroll
		for (int r = 0; r < ROWS; r++) {
			value[r] = minus_product(h.a[r][0], l.row[r], before);
			right[r] = minus_product(h.a[r][1], l.row[r], second);
		}
	};
	const winner<real> w = x.pivot(turn, before, [&] {
		if (AMONG) {
			lead();
			update(h.a, l.row, first, 0);
		}
	});
	const part third(p + 2 * PART);
	if (AMONG)
		update(h.a, l.row, another, PART);
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		below[r] = h.position[r] >= j && h.position[r] != w.position;
		l_now.row[r] = below[r] ? h.value[r] * w.divisor.reciprocal : real(0);
	}
	if (__builtin_expect(w.divisor.reciprocal == real(0), 0))
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			l_now.row[r] = below[r] ? pivot_divide(h.value[r], w.divisor) : real(0);
	if (!AMONG)
		lead();
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		h.value[r] = minus_product(value[r], l_now.row[r], w.right);
		if (h.position[r] == j)
			h.position[r] = w.position;
		else if (h.position[r] == w.position)
			h.position[r] = j;
	}
	const part fourth(p + 3 * PART);
	h.best = propose(
	        x, next, left > 1, h.value, right, l_now.row, h.position, below, &h.row, [&] {
		        if (AMONG)
			        update(h.a, l.row, third, 2 * PART);
	        });
	if (AMONG)
		update(h.a, l.row, fourth, 3 * PART);
	*kept = l_now;
	if (!AMONG)
#pragma unroll
		for (int from = 0; from < COLUMNS; from += CHUNK) {
			if (from >= left)
				break;
			update(h.a, l.row, words<real, CHUNK>(p + from), from);
		}
	if (t.lane == h.best)
		store_tail(s, t.warp, next, h.a, l_now.row, h.row, left - 2);
	return true;
}

/* The same for any number of columns left: an update AMONG the waits takes all of WIDTH. */
template <int WIDTH, bool AMONG, typename real, int COLUMNS, int ROWS, typename exchange>
DEVICE bool hold_column_of(const panel<real> &g, row_memory<real, COLUMNS> &s, const struct seat &t,
        const exchange &x, held<real, COLUMNS, ROWS> &h, int j, int left,
        multipliers<real, ROWS> *kept)
{
	if constexpr (AMONG && WIDTH > NARROWEST)
		if (left <= WIDTH / 2)
			return hold_column_of<WIDTH / 2, AMONG>(g, s, t, x, h, j, left, kept);
	return hold_column<WIDTH, AMONG>(g, s, t, x, h, j, left, kept);
}

/* A warp that holds rows; kept: their multipliers, [n + 1][threads], the first of them none. Whole
 * warps call an exchange: ready(), before the first send; offer(head, lane), that lane's head;
 * send(turn, exists, offer, lane); pivot(turn, before, meanwhile), after s.full[turn] has
 * completed, where `before` is column j + 1 of pivot row j - 1 and meanwhile() is called while the
 * result is pending. */
template <bool AMONG, typename real, int COLUMNS, int ROWS, typename exchange>
DEVICE void hold_rows(const panel<real> &g, row_memory<real, COLUMNS> &s, const struct seat &t,
        const exchange &x, multipliers<real, ROWS> *kept)
{
	held<real, COLUMNS, ROWS> h;
	multipliers<real, ROWS> none;
	real right[ROWS];
	bool below[ROWS];

	load_rows(g, t, h, below);
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		right[r] = h.a[r][0];
		none.row[r] = real(0);
	}
	kept[t.thread] = none;
	/* no block writes to the panel before all have read it, or sends before all can receive */
	x.ready();
	h.best = propose(x, 0, true, h.value, right, none.row, h.position, below, &h.row, [] {});
	if (t.lane == h.best)
		store_tail(s, t.warp, 0, h.a, none.row, h.row, g.n - 1);
	multipliers<real, ROWS> *next = kept + t.threads + t.thread;
	for (int j = 0, left = g.n; left > 0; j++, left--, next += t.threads)
		if (!hold_column_of<COLUMNS, AMONG>(g, s, t, x, h, j, left, next))
			break;
	store_multipliers(g, t, h.position, kept);
}

#endif

} // namespace
