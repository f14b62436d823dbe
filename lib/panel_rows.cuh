/* SPDX-License-Identifier: MIT */
/* LU panels in registers: what the warps that hold rows do, column by column, however candidates
 * and pivot rows travel between them. lib/panel_cluster.cu says why it is done so. */
#ifndef FATHOM_PANEL_ROWS_CUH
#define FATHOM_PANEL_ROWS_CUH

#include "base.h"
#include "cluster.cuh"
#include "panel_geometry.h"
#include "pivot_divide.cuh"
#include "precision.h"
#include "reduce.cuh"
#include "shared_update.cuh"

namespace
{

/* Four turns: the head of column j + 4 is sent, and its tail and pivot row stored, only by those
 * who know the pivot of column j + 3, which comes after the head of every warp, sent when it is
 * done with what column j + 1 brought. */
enum { TURNS = 4, MOST_WARPS = PANEL_CLUSTER_THREADS / 32 };

/* With so many columns left the next kernel's blocks may come (early_launch.cuh). */
enum { RELEASE = 4 };

/* Columns that an update takes at least. */
enum { NARROWEST = 32 };

enum { ABSENT = -2 }; /* position of a row that does not exist; NO_INDEX is -1 */

template <typename real> struct panel {
	real *a;
	int64_t lda;
	int m, n;
	int *pivots;
	uint32_t *error;
};

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

/* Of a block's shared memory, what its rows and their exchange share. */
template <typename real, int COLUMNS> struct row_memory {
	struct tail<real, COLUMNS> own[TURNS][MOST_WARPS];
	alignas(16) real pivot_row[TURNS][COLUMNS + 4]; /* right of the pivot */
	/* mbarriers: the pivot of a column and the pivot row before are known; own tails are
	 * written */
	uint64_t full[TURNS], own_full[TURNS];
};

/* Who a thread is. */
struct seat {
	int thread, lane, warp;
	int rank;    /* of the block */
	int threads; /* of a block, that hold rows */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* mbarriers that can be waited for */

/* threads: of a block that hold rows, its first ones. */
__device__ __forceinline__ struct seat take_seat(int rank, int threads)
{
	return {(int)threadIdx.x, (int)threadIdx.x % 32, (int)threadIdx.x / 32, rank, threads};
}

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

/* The lanes with the largest weight by its leading word, which is `largest`. */
template <typename weight_type>
__device__ __forceinline__ unsigned leaders(uint32_t largest, weight_type weight)
{
	return __ballot_sync(0xffffffffu, leading(weight) == largest);
}

__device__ __forceinline__ bool several(unsigned lanes)
{
	return __builtin_expect((lanes & (lanes - 1)) != 0, 0);
}

/* If there is one. */
__device__ __forceinline__ int leader(unsigned lanes)
{
	return 31 - __clz((int)lanes); /* the number from below takes a step more */
}

/* Of several the one with the largest weight, of several of these the one with the lowest
 * position, the first when that is none. */
template <typename weight_type>
__device__ __forceinline__ int best_leader(uint32_t largest, weight_type weight, uint32_t position)
{
	bool mine = leading(weight) == largest;
	const weight_type most = warp_largest(mine ? weight : 0);
	mine = mine && weight == most;
	const uint32_t lowest = ~warp_largest(mine ? ~position : 0);
	return __ffs((int)__ballot_sync(0xffffffffu, mine && position == lowest)) - 1;
}

template <typename weight_type>
__device__ __forceinline__ int best_lane(weight_type weight, uint32_t position)
{
	const uint32_t largest = warp_largest(leading(weight));
	const unsigned lanes = leaders(largest, weight);
	return several(lanes) ? best_leader(largest, weight, position) : leader(lanes);
}

template <typename type> __device__ __forceinline__ type from_lane(type value, int lane)
{
	return __shfl_sync(0xffffffffu, value, lane);
}

/* The pivot of a column and what is right of it, known to all lanes. */
template <typename real> struct winner {
	struct pivot_divisor<real> divisor;
	real right;
	int position;
};

/* The first `count` of a row. */
template <typename real, int LENGTH>
__device__ __forceinline__ void store_row(real *to, const real (&row)[LENGTH], int count)
{
	const int WIDTH = 16 / (int)sizeof(real), CHUNK = 16;
#pragma unroll
	for (int chunk = 0; chunk < LENGTH; chunk += CHUNK) {
		if (chunk >= count)
			break;
#pragma unroll
		for (int c = chunk; c < chunk + CHUNK; c += WIDTH) {
			struct alignas(16) {
				real value[WIDTH];
			} some;
#pragma unroll
			for (int i = 0; i < WIDTH; i++)
				some.value[i] = row[c + i];
			*(decltype(some) *)(to + c) = some;
		}
	}
}

/* Words of a pivot row right of the pivot, which start at p. */
template <typename real, int COUNT> struct words {
	real value[COUNT];

	__device__ __forceinline__ explicit words(const real *p)
	{
		const int WIDTH = 16 / (int)sizeof(real);
#pragma unroll
		for (int i = 0; i < COUNT; i += WIDTH) {
			struct alignas(16) {
				real value[WIDTH];
			} some = *(const decltype(some) *)(p + i);
#pragma unroll
			for (int k = 0; k < WIDTH; k++)
				value[i + k] = some.value[k];
		}
	}
};

/* The columns of these words, number `from` and up, minus their multiples of them, each moved one
 * to the left; rows of a start at column 1, and column 0 is no concern of an update. */
template <typename real, int COLUMNS, int ROWS, int COUNT>
__device__ __forceinline__ void update(real (&a)[ROWS][COLUMNS], const real (&l)[ROWS],
        const struct words<real, COUNT> &p, int from)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++)
#pragma unroll
		for (int k = from; k < from + COUNT; k++)
			if (k > 1)
				a[r][k - 2] = minus_product(a[r][k - 1], l[r], p.value[k - from]);
}

/* Where the candidate of this warp is stored for the warp that sends rows. */
template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void store_tail(struct row_memory<real, COLUMNS> &s, int warp,
        uint32_t turn, const real (&a)[ROWS][COLUMNS], const real (&multiplier)[ROWS], int row,
        int count)
{
	struct tail<real, COLUMNS> *own = &s.own[turn][warp];
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (ROWS == 1 || r == row) {
			own->multiplier = multiplier[r];
			store_row(own->row, a[r], count);
		}
	arrivals_arrive(shared_address(&s.own_full[turn]));
}

/* The multipliers of a thread's rows by one column. They are kept in shared memory and read from it
 * for the update, all at once: registers of a word read at once are in different banks, where an
 * update by two need not read them again for each column (60 loads of a register less of 120). */
template <typename real, int ROWS> struct alignas(sizeof(real) * ROWS) multipliers {
	real row[ROWS];
};

/* The rest of the panel once all columns are done: the multipliers of a row are in the columns left
 * of its diagonal. */
template <typename real, int ROWS>
__device__ __forceinline__ void store_multipliers(const struct panel<real> &g, const struct seat &t,
        const int (&position)[ROWS], const struct multipliers<real, ROWS> *kept)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < min(position[r], g.n); c++)
			g.a[position[r] + c * g.lda] = kept[(c + 1) * t.threads + t.thread].row[r];
}

/* A warp's candidate for column j, the best of its rows that are `below` the pivots: its head is
 * sent if there is such a column. The number of the lane that holds it, and of the lane's
 * row in *row. */
template <typename real, int ROWS, typename exchange, typename work>
__device__ __forceinline__ int propose(const exchange &x, uint32_t turn, bool exists,
        const real (&value)[ROWS], const real (&right)[ROWS], const real (&multiplier)[ROWS],
        const int (&position)[ROWS], const bool (&below)[ROWS], int *row, const work &meanwhile)
{
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
	const uint32_t largest = warp_largest(leading(weight));
	meanwhile();
	const unsigned lanes = leaders(largest, weight);
	int best = leader(lanes);
	struct head<real> offer = x.offer(mine, best);
	if (several(lanes)) { /* seldom: not asked before the offer is under way */
		best = best_leader(largest, weight, mine.position);
		offer = x.offer(mine, best);
	}
	x.send(turn, exists, offer, best);
	return best;
}

/* The rows of a thread: column j, the columns right of it, which lack the update by column j - 1,
 * and where the rows stand. */
template <typename real, int COLUMNS, int ROWS> struct held {
	real a[ROWS][COLUMNS], value[ROWS];
	int position[ROWS];
	int best, row; /* the lane that has the warp's candidate, and which of its rows that is */
};

template <typename real, int COLUMNS, int ROWS>
__device__ __forceinline__ void load_rows(const struct panel<real> &g, const struct seat &t,
        struct held<real, COLUMNS, ROWS> &h, bool (&below)[ROWS])
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

/* Column j, where `left` are left, up to WIDTH; kept: where its multipliers go, behind those of the
 * column before. The update by column j - 1, which nothing of this column needs, is for a warp that
 * has a scheduler to itself AMONG what it would otherwise wait for, in four parts; where warps
 * share one, behind it all. */
template <int WIDTH, bool AMONG, typename real, int COLUMNS, int ROWS, typename exchange>
__device__ __forceinline__ bool hold_column(const struct panel<real> &g,
        struct row_memory<real, COLUMNS> &s, const struct seat &t, const exchange &x,
        struct held<real, COLUMNS, ROWS> &h, int j, int left, struct multipliers<real, ROWS> *kept)
{
	const int PART = WIDTH / 4, CHUNK = 16;
	typedef struct words<real, PART> part;
	const uint32_t turn = (uint32_t)j % TURNS, next = (turn + 1) % TURNS;
	const real *p = s.pivot_row[(turn + TURNS - 1) % TURNS]; /* of the column before */
	const struct multipliers<real, ROWS> l = kept[-t.threads];
	struct multipliers<real, ROWS> l_now;
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
	const struct winner<real> w = x.pivot(turn, before, [&] {
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

/* The same of any that are left: an update AMONG the rest takes all of WIDTH. */
template <int WIDTH, bool AMONG, typename real, int COLUMNS, int ROWS, typename exchange>
__device__ __forceinline__ bool hold_column_of(const struct panel<real> &g,
        struct row_memory<real, COLUMNS> &s, const struct seat &t, const exchange &x,
        struct held<real, COLUMNS, ROWS> &h, int j, int left, struct multipliers<real, ROWS> *kept)
{
	if constexpr (AMONG && WIDTH > NARROWEST)
		if (left <= WIDTH / 2)
			return hold_column_of<WIDTH / 2, AMONG>(g, s, t, x, h, j, left, kept);
	return hold_column<WIDTH, AMONG>(g, s, t, x, h, j, left, kept);
}

/* A warp that holds rows; kept: their multipliers, [n + 1][threads], the first ones none. An
 * exchange has three calls,
 * by whole warps: ready(), before the first send; send(turn, exists, head, lane), of the head that
 * this lane has; pivot(turn, before, meanwhile), once s.full[turn] has come round, where `before`
 * is column j + 1 of pivot row j - 1 and meanwhile() is called where there is time. */
template <bool AMONG, typename real, int COLUMNS, int ROWS, typename exchange>
__device__ __forceinline__ void hold_rows(const struct panel<real> &g,
        struct row_memory<real, COLUMNS> &s, const struct seat &t, const exchange &x,
        struct multipliers<real, ROWS> *kept)
{
	struct held<real, COLUMNS, ROWS> h;
	struct multipliers<real, ROWS> none;
	real right[ROWS];
	bool below[ROWS];

	load_rows(g, t, h, below);
#pragma unroll
	for (int r = 0; r < ROWS; r++) {
		right[r] = h.a[r][0];
		none.row[r] = real(0);
	}
	kept[t.thread] = none;
	/* nobody writes to the panel before all have read it, or sends before all can receive */
	x.ready();
	h.best = propose(x, 0, true, h.value, right, none.row, h.position, below, &h.row, [] {});
	if (t.lane == h.best)
		store_tail(s, t.warp, 0, h.a, none.row, h.row, g.n - 1);
	struct multipliers<real, ROWS> *next = kept + t.threads + t.thread;
	for (int j = 0, left = g.n; left > 0; j++, left--, next += t.threads)
		if (!hold_column_of<COLUMNS, AMONG>(g, s, t, x, h, j, left, next))
			break;
	store_multipliers(g, t, h.position, kept);
}

#endif

/* ---- kernels to choose from ---- */

struct variant {
	enum precision precision;
	int columns, rows;                     /* rows: of a thread */
	int64_t fixed_bytes, multiplier_bytes; /* shared memory; of a thread and column */
	const void *kernel;
};

template <typename real, int COLUMNS, int ROWS>
constexpr struct variant rows_variant(size_t fixed_bytes, const void *kernel)
{
	return {sizeof(real) == 4 ? SINGLE : DOUBLE, COLUMNS, ROWS, (int64_t)fixed_bytes,
	        (int64_t)sizeof(real) * ROWS, kernel};
}

} // namespace

#endif
