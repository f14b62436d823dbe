/* SPDX-License-Identifier: MIT */
/* LU panels in registers: rows of a thread and of a warp, their candidates, updates and
 * multipliers. factor/kernels/lu/panel_cluster.cu says why it is done so. */
#ifndef FATHOM_PANEL_ROWS_CUH
#define FATHOM_PANEL_ROWS_CUH

#include "lib/base/base.h"
#include "lib/device/cluster.cuh"
#include "panel_geometry.h"
#include "pivot_divide.cuh"
#include "lib/base/precision.h"
#include "lib/device/reduce.cuh"
#include "factor/kernels/blocks/shared_update.cuh"

namespace
{

/* Four turns: the head of column j + 4 is sent, and its tail and pivot row stored, only by those
 * who know the pivot of column j + 3, which comes after the head of every warp, sent when it is
 * done with what column j + 1 brought. */
enum { TURNS = 4, MOST_WARPS = PANEL_CLUSTER_THREADS / 32 };

/* With so many columns left the next kernel's blocks may come (early_launch.cuh). */
enum { RELEASE = 4 };

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

/* The best of them, one or several. */
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
