/* SPDX-License-Identifier: MIT */
/* The transfer of a panel's rows between memory and the pairs of warps
 * (factor/kernels/qr/panel_geqrf_gram.cu). */
#pragma once

#include "factor/kernels/gemm/gemm_copy.cuh"
#include "panel_geqrf_gram.cuh"
#include "panel_geqrf_plan.h"

namespace
{

/* An m x n panel. */
template <typename T> struct panel_rows {
	T *a;
	int64_t lda, m;
	int n;
};

enum { AT_ONCE = GRAM_AT_ONCE }; /* rows that a pair processes at once */

/* A block's pairs of warps, limited by registers; rows of a slab, whole cache lines; lines of eight
 * columns; two elements. */
template <typename T> struct rows_in {
	enum { PAIRS = GRAM_PAIRS, THREADS = 64 * PAIRS, ROWS = 32, LINES = 8 };
	typedef float2 two;
};
template <> struct rows_in<double> {
	enum { PAIRS = GRAM_PAIRS_DOUBLE, THREADS = 64 * PAIRS, ROWS = 16, LINES = 9 };
	typedef double2 two;
};

/* A pair's rows in shared memory, of WIDTH columns; half of them. A column has a line. Slabs of
 * double precision have one more line for each eight columns. */
template <int WIDTH, typename T> using slab = T[WIDTH / 8 * rows_in<T>::LINES][rows_in<T>::ROWS];
template <typename T> using half_slab = T[ORDER][AT_ONCE];
template <int LINES> const int lines_of_eight = LINES % 9 ? 8 : 9;

/* Most slabs on their way beside the one that a pair works on. */
template <int WIDTH> const int slabs_ahead = 2 * ORDER / WIDTH;

/* Waits until at most `ahead` - 1 groups of copies are on their way. */
template <int MOST> __device__ __forceinline__ void wait_for_slab(int ahead)
{
	if constexpr (MOST > 1)
		if (ahead < MOST) {
			wait_for_slab<MOST - 1>(ahead);
			return;
		}
	copy_wait<MOST - 1>();
}

/* Columns have parts of their rows exchanged: a warp's access to a column of eight rows, or to two
 * rows of a column, has no bank conflicts. */
template <typename T, int LENGTH> __device__ __forceinline__ constexpr int turn_of(int column)
{
	return sizeof(T) == 8 ? ((column ^ column >> 1) & 1) * 8 + (column & 4)
	       : LENGTH == 32 ? (column & 3) * 8
	                      : (column & 2) * 4;
}

/* A row's element within a column. */
template <typename T, int LINES, int LENGTH>
__device__ __forceinline__ T *element_of(T (&rows)[LINES][LENGTH], int column, int row)
{
	const int more = lines_of_eight<LINES> - 8;
	return &rows[column + column / 8 * more][row ^ turn_of<T, LENGTH>(column)];
}

/* Copies to shared memory keep an address's place in 16 bytes. A column whose rows in the slab
 * begin at an odd multiple of 8 bytes therefore is one element further down: its first place has
 * the row above, and the place after its line is in the additional line. */
struct shifts {
	unsigned first, step;

	__device__ __forceinline__ int of(int column) const
	{
		return (int)((first + (unsigned)column * step) & 1);
	}

	__device__ __forceinline__ bool any(void) const
	{
		return (first | step) & 1;
	}
};

/* Of the slabs from a row on, which begin whole slabs apart. */
template <typename T>
__device__ __forceinline__ struct shifts shifts_of(const struct panel_rows<T> &g, int64_t row)
{
	if (sizeof(T) < sizeof(double))
		return {0, 0};
	return {(unsigned)((uint64_t)g.a / sizeof(T)) + (unsigned)row, (unsigned)g.lda};
}

/* A row's element in a column of a slab with that shift. Odd columns, which are the shifted ones of
 * a matrix that begins at 16 bytes, have the better banks in the additional line. */
template <typename T, int LINES, int LENGTH>
__device__ __forceinline__ T *shifted_element_of(
        T (&rows)[LINES][LENGTH], int column, int row, int shift)
{
	if (lines_of_eight<LINES> == 8)
		return element_of(rows, column, row);
	return row + shift < LENGTH
	               ? element_of(rows, column, row + shift)
	               : &rows[column / 8 * 9 + 8][turn_of<T, LENGTH>(column) ^ (~column & 1) * 2];
}

/* A thread's place: its pair of warps, the thread in the pair, and the warp in the pair. */
struct seat_of_pair {
	int pair, thread, half, lane;
};

__device__ __forceinline__ struct seat_of_pair take_seat_of_pair(void)
{
	const int t = (int)threadIdx.x;
	return {t / 64, t % 64, t / 32 % 2, t % 32};
}

/* A barrier of both warps of the pair. */
__device__ __forceinline__ void meet(const struct seat_of_pair &t)
{
	asm volatile("bar.sync %0, 64;" ::"r"(1 + t.pair) : "memory");
}

/* Rows of a pair at one time, and the most rows of any pair; 0: none. */
struct part {
	int64_t first;
	int rows, most;
};

/* A pair's k-th rows from `begin` on: a slab, or half a slab near the end. */
template <typename T>
__device__ __forceinline__ struct part part_of(
        const struct panel_rows<T> &g, const struct seat_of_pair &t, int64_t begin, int k)
{
	const int PAIRS = rows_in<T>::PAIRS, ROWS = rows_in<T>::ROWS;
	const int64_t pairs = (int64_t)PAIRS * gridDim.x, at = begin + k * ROWS * pairs;
	const int most = g.m <= at ? 0 : g.m - at <= AT_ONCE * pairs ? AT_ONCE : ROWS;
	const int64_t first = at + most * ((int64_t)blockIdx.x * PAIRS + t.pair);
	return {first, (int)max((int64_t)0, min((int64_t)most, g.m - first)), most};
}

/* Copies rows of a and zeros behind them, by a pair, in WIDTH columns, but for places after their
 * lines; whole: a full slab. */
template <int WIDTH, int BYTES, bool whole, typename T>
__device__ __forceinline__ void copy_slab(const struct panel_rows<T> &g,
        const struct seat_of_pair &t, const struct part &p, const struct shifts &by,
        slab<WIDTH, T> &to)
{
	const int words = BYTES / (int)sizeof(T), along = rows_in<T>::ROWS / words,
	          across = 64 / along;
	const int place = t.thread % along * words, column = t.thread / along;
	const int row = place - by.of(column); /* of all its columns */
	const int there = min(max(p.rows - row, 0), words) * (int)sizeof(T);
	const T *none = (const T *)((uint64_t)g.a / BYTES * BYTES);
	const T *from = whole || there ? g.a + p.first + row + column * g.lda : g.a;
	T *first = element_of(to, column, place);
	static_assert(sizeof(T) < sizeof(double) || across == 8, "the same shift");
#pragma unroll 8
	for (int i = 0; i < WIDTH; i += across, from += across * g.lda) {
		const int valid = column + i < g.n ? there : 0;
		T *at = across == 8 ? first + i / 8 * rows_in<T>::LINES * rows_in<T>::ROWS
		                    : element_of(to, column + i, place);
		if (whole)
			copy_start<BYTES>(at, from);
		else
			copy_start<BYTES>(at, valid ? from : none, valid);
	}
}

/* Copies the last row of shifted columns. */
template <int WIDTH, typename T>
__device__ __forceinline__ void copy_last(const struct panel_rows<T> &g,
        const struct seat_of_pair &t, const struct part &p, const struct shifts &by,
        slab<WIDTH, T> &to)
{
	const int row = rows_in<T>::ROWS - 1, column = t.thread;
	const bool there = p.rows > row && column < g.n;
	const T *none = (const T *)((uint64_t)g.a / 16 * 16);

	static_assert(WIDTH <= 64, "a column a thread");
	if (column < WIDTH && by.of(column))
		copy_start<16>(shifted_element_of(to, column, row, 1),
		        there ? g.a + p.first + row + column * g.lda : none,
		        there ? (int)sizeof(T) : 0);
}

/* As a group of asynchronous copies. In double precision all have 16 bytes. */
template <int WIDTH, typename T>
__device__ __forceinline__ void start_slab(const struct panel_rows<T> &g,
        const struct seat_of_pair &t, const struct part &p, const struct shifts &by,
        slab<WIDTH, T> &to)
{
	const int vector = 16 / (int)sizeof(T);
	const bool aligned = sizeof(T) == sizeof(double) ||
	                     (g.lda % vector == 0 && (uint64_t)(g.a + p.first) % 16 == 0);

	if (aligned && p.rows == rows_in<T>::ROWS && g.n == WIDTH)
		copy_slab<WIDTH, 16, true>(g, t, p, by, to);
	else if (aligned && p.rows > 0)
		copy_slab<WIDTH, 16, false>(g, t, p, by, to);
	else if constexpr (sizeof(T) < sizeof(double))
		if (p.rows > 0)
			copy_slab<WIDTH, (int)sizeof(T), false>(g, t, p, by, to);
	if (sizeof(T) == sizeof(double) && p.rows > 0)
		copy_last<WIDTH>(g, t, p, by, to);
	copy_commit();
}

/* Stores half a slab in the panel's rows from `first` on, by a pair: two elements at once where
 * they may be, otherwise such that elements side by side, which share a sector of memory, are
 * stored together. */
template <int WIDTH, typename T>
__device__ __forceinline__ void store_half(const struct panel_rows<T> &g,
        const struct seat_of_pair &t, const half_slab<T> &rows, int64_t first)
{
	typedef typename rows_in<T>::two two;
	T *a = g.a + first;
	const bool whole = g.m - first >= AT_ONCE && g.n == WIDTH;
	const bool twos = g.lda % 2 == 0 && (uint64_t)a % sizeof(two) == 0 && whole;
	const int each = twos ? 2 : 1, along = AT_ONCE / each, across = 64 / along;
	const int row = t.thread % along * each, column = t.thread / along;
	const T *from = element_of(rows, column, row);
	T *at = a + row + column * g.lda;

	if (twos) {
#pragma unroll 4
		for (int i = 0; i < WIDTH; i += across, at += across * g.lda)
			*(two *)at = *(const two *)(from + i * AT_ONCE);
		return;
	}
	if (row >= g.m - first)
		return;
	if (sizeof(T) == sizeof(double) && whole) {
		const T *other = element_of(rows, column + 4, row) - 4 * AT_ONCE;
#pragma unroll
		for (int i = 0; i < WIDTH; i += 4, at += 4 * g.lda)
			*at = (i / 4 % 2 ? other : from)[i * AT_ONCE];
		return;
	}
#pragma unroll 4
	for (int i = 0; column + i < g.n; i += across, at += across * g.lda)
		*at = sizeof(T) == sizeof(double) ? *element_of(rows, column + i, row)
		                                  : from[i * AT_ONCE];
}

} // namespace
