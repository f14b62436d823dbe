/* SPDX-License-Identifier: MIT */
/* LU panels in registers: rows of a thread and of a warp, their candidates, updates and multipliers
 * (factor/kernels/lu/panel_cluster.cu has the method). */
#pragma once

#include "lib/base/base.h"
#include "lib/device/cluster.cuh"
#include "panel_geometry.h"
#include "pivot_divide.cuh"
#include "lib/base/precision.h"
#include "lib/device/reduce.cuh"
#include "factor/kernels/blocks/shared_update.cuh"

namespace
{

/* Four turns suffice: only a warp that knows the pivot of column j + 3 sends the head of column j +
 * 4 and stores its tail and pivot row. That pivot is known after every warp's head, which a warp
 * sends when it is done with column j + 1. */
enum { TURNS = 4, MOST_WARPS = PANEL_CLUSTER_THREADS / 32 };

/* With this many columns left the next kernel's blocks may start (early_launch.cuh). */
enum { RELEASE = 4 };

enum { ABSENT = -2 }; /* position of a row that does not exist; NO_INDEX is -1 */

template <typename real> struct panel {
	real *a;
	int64_t lda;
	int m, n;
	int *pivots;
	uint32_t *error;
};

/* A warp's proposal for the pivot of column j. */
template <typename real> struct alignas(16) head {
	real value; /* zero when the warp has none */
	uint32_t position;
	real right;      /* in column j + 1, before the update by column j - 1 */
	real multiplier; /* of the update by column j - 1 */
};

/* The rest of its row: columns j + 1 and up, before the update by column j - 1. */
template <typename real, int COLUMNS> struct alignas(16) tail {
	real row[COLUMNS], multiplier;
};

/* The part of a block's shared memory that rows and exchange share. */
template <typename real, int COLUMNS> struct row_memory {
	tail<real, COLUMNS> own[TURNS][MOST_WARPS];
	alignas(16) real pivot_row[TURNS][COLUMNS + 4]; /* right of the pivot */
	/* mbarriers: the pivot of a column and the previous pivot row are known; own tails are
	 * written */
	uint64_t full[TURNS], own_full[TURNS];
};

struct seat {
	int thread, lane, warp;
	int rank;    /* of the block */
	int threads; /* of a block, that hold rows */
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 /* mbarriers that can be waited for */

/* threads: the first threads of a block, which hold rows. */
DEVICE struct seat take_seat(int rank, int threads)
{
	return {(int)threadIdx.x, (int)threadIdx.x % 32, (int)threadIdx.x / 32, rank, threads};
}

/* Increasing in |value|; all NaNs are equal. */
DEVICE uint32_t weight_of(float value)
{
	return min(__float_as_uint(value) & 0x7fffffffu, 0x7f800001u);
}

DEVICE uint64_t weight_of(double value)
{
	const uint64_t bits = (uint64_t)__double_as_longlong(value) & 0x7fffffffffffffffull;
	return min(bits, (uint64_t)0x7ff0000000000001ull);
}

DEVICE uint32_t leading(uint32_t weight)
{
	return weight;
}

DEVICE uint32_t leading(uint64_t weight)
{
	return (uint32_t)(weight >> 32);
}

/* The lanes whose weight has the leading word `largest`. */
template <typename weight_type> DEVICE unsigned leaders(uint32_t largest, weight_type weight)
{
	return __ballot_sync(0xffffffffu, leading(weight) == largest);
}

DEVICE bool several(unsigned lanes)
{
	return __builtin_expect((lanes & (lanes - 1)) != 0, 0);
}

/* The lane, if there is exactly one. */
DEVICE int leader(unsigned lanes)
{
	return 31 - __clz((int)lanes); /* the lowest set bit would take one more step */
}

/* Among several: the largest weight, then the lowest position; the first lane if it has none. */
template <typename weight_type>
DEVICE int best_leader(uint32_t largest, weight_type weight, uint32_t position)
{
	bool mine = leading(weight) == largest;
	const weight_type most = warp_largest(mine ? weight : 0);
	mine = mine && weight == most;
	const uint32_t lowest = ~warp_largest(mine ? ~position : 0);
	return __ffs((int)__ballot_sync(0xffffffffu, mine && position == lowest)) - 1;
}

template <typename weight_type> DEVICE int best_lane(weight_type weight, uint32_t position)
{
	const uint32_t largest = warp_largest(leading(weight));
	const unsigned lanes = leaders(largest, weight);
	return several(lanes) ? best_leader(largest, weight, position) : leader(lanes);
}

template <typename type> DEVICE type from_lane(type value, int lane)
{
	return __shfl_sync(0xffffffffu, value, lane);
}

/* The pivot of a column and the value right of it, known to all lanes. */
template <typename real> struct winner {
	pivot_divisor<real> divisor;
	real right;
	int position;
};

/* The first `count` values of a row. */
template <typename real, int LENGTH>
DEVICE void store_row(real *to, const real (&row)[LENGTH], int count)
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

/* Words of a pivot row right of the pivot, from p on. */
template <typename real, int COUNT> struct words {
	real value[COUNT];

	DEVICE explicit words(const real *p)
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

/* Subtracts multiples of these words from columns `from` and up and moves each column one to the
 * left. Rows of a start at column 1; an update does not concern column 0. */
template <typename real, int COLUMNS, int ROWS, int COUNT>
DEVICE void update(
        real (&a)[ROWS][COLUMNS], const real (&l)[ROWS], const words<real, COUNT> &p, int from)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++)
#pragma unroll
		for (int k = from; k < from + COUNT; k++)
			if (k > 1)
				a[r][k - 2] = minus_product(a[r][k - 1], l[r], p.value[k - from]);
}

/* Where this warp's candidate is stored for the sending warp. */
template <typename real, int COLUMNS, int ROWS>
DEVICE void store_tail(row_memory<real, COLUMNS> &s, int warp, uint32_t turn,
        const real (&a)[ROWS][COLUMNS], const real (&multiplier)[ROWS], int row, int count)
{
	tail<real, COLUMNS> *own = &s.own[turn][warp];
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		if (ROWS == 1 || r == row) {
			own->multiplier = multiplier[r];
			store_row(own->row, a[r], count);
		}
	arrivals_arrive(shared_address(&s.own_full[turn]));
}

/* The multipliers of a thread's rows for one column. The update reads them from shared memory, all
 * at once: registers read together are in different banks, so an update by two rows need not reload
 * them for each column. */
template <typename real, int ROWS> struct alignas(sizeof(real) * ROWS) multipliers {
	real row[ROWS];
};

/* Writes the multipliers after the last column, to the columns left of each row's diagonal. */
template <typename real, int ROWS>
DEVICE void store_multipliers(const panel<real> &g, const struct seat &t,
        const int (&position)[ROWS], const multipliers<real, ROWS> *kept)
{
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < min(position[r], g.n); c++)
			g.a[position[r] + c * g.lda] = kept[(c + 1) * t.threads + t.thread].row[r];
}

#endif

struct variant {
	enum precision precision;
	int columns, rows; /* rows: per thread */
	int64_t fixed_bytes,
	        multiplier_bytes; /* of shared memory; multipliers: per thread and column */
	const void *kernel;
};

template <typename real, int COLUMNS, int ROWS>
constexpr struct variant rows_variant(size_t fixed_bytes, const void *kernel)
{
	return {sizeof(real) == 4 ? SINGLE : DOUBLE, COLUMNS, ROWS, (int64_t)fixed_bytes,
	        (int64_t)sizeof(real) * ROWS, kernel};
}

} // namespace
