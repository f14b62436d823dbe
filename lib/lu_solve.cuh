/* SPDX-License-Identifier: MIT */
/* The top of columns right of an LU panel: where its rows come from, and the solution with the
 * panel's unit lower triangle. A block of threads has COLUMNS columns, a warp one of them, and does
 * two rows of the triangle at a step. */
#ifndef FATHOM_LU_SOLVE_CUH
#define FATHOM_LU_SOLVE_CUH

#include "block_kernels.h"
#include "gemm_copy.cuh"
#include "shared_update.cuh"

namespace
{

const int COLUMNS = 8, WARPS = 8, THREADS = 32 * WARPS;

template <typename T> struct columns {
	const T *a;
	int64_t lda;
	T *c;
	int64_t ldc;
	int m, k, n, share; /* rows, columns of the panel, columns; rows below of a block */
	const int *pivots;
};

/* Of a block, in shared memory; the panel has WIDTH columns at most, 64 or 128. */
template <typename T, int WIDTH> struct top {
	T triangle[WIDTH][WIDTH]; /* by columns */
	T old[COLUMNS][WIDTH];    /* the top as it was, */
	T rows[WIDTH][COLUMNS];   /* and as it becomes */
	int pivot[WIDTH], source[WIDTH];
};

/* The last of the first `bound` exchanges that is with `row`, or -1. */
template <int WIDTH> __device__ __forceinline__ int latest(const int *pivot, int bound, int row)
{
	int found = -1;
#pragma unroll 8
	for (int i = 0; i < WIDTH; i += 4) {
		const int4 p = *(const int4 *)(pivot + i);
		const int last = p.w == row && i + 3 < bound   ? i + 3
		                 : p.z == row && i + 2 < bound ? i + 2
		                 : p.y == row && i + 1 < bound ? i + 1
		                 : p.x == row && i < bound     ? i
		                                               : -1;
		found = max(found, last);
	}
	return found;
}

template <typename T, int WIDTH>
__device__ __forceinline__ void read_pivots(const struct columns<T> &g, struct top<T, WIDTH> &s)
{
	const int i = (int)threadIdx.x;
	if (i >= WIDTH)
		return;
	const int p = i < g.k ? g.pivots[i] - 1 : -1;
	s.pivot[i] = i >= g.k ? -1 : p >= i && p < g.m ? p : i;
}

/* Exchange i is of row i with one at or below it. So the row that comes to place i is followed
 * backwards from the one that exchange i brought there; and the one that comes to a place below all
 * k from the last exchange that is with that place. The former are found by the first WIDTH threads
 * for solve_top; the latter by the next WIDTH: a row of the top that comes to place s.pivot[i], or
 * -1, as in all other threads. */
template <typename T, int WIDTH>
__device__ __forceinline__ int find_origins(const struct columns<T> &g, struct top<T, WIDTH> &s)
{
	const int i = (int)threadIdx.x % WIDTH, place = s.pivot[i];
	const bool above = (int)threadIdx.x < WIDTH;
	if (i >= g.k || (int)threadIdx.x >= 2 * WIDTH)
		return -1;
	int row = place, bound = above ? i : g.k, last = -1;
	for (;;) {
		const int found = latest<WIDTH>(s.pivot, bound, row);
		if (found < 0)
			break;
		last = last < 0 ? found : last;
		row = bound = found;
	}
	if (above)
		s.source[i] = row;
	return above || last != i || place < g.k ? -1 : row;
}

/* Starts the copy of g.k columns of `count` of ROWS rows, PIECE elements at a time; the other ones
 * of WIDTH columns become zero. */
template <int WIDTH, int ROWS, int PITCH, int PIECE, typename T>
__device__ __forceinline__ void fetch_pieces(
        const struct columns<T> &g, const T *from, int count, T *to)
{
	const int pieces = ROWS / PIECE;
#pragma unroll 4
	for (int turn = 0; turn < WIDTH * pieces / THREADS; turn++) {
		const int i = turn * THREADS + (int)threadIdx.x;
		const int k = i / pieces, row = i % pieces * PIECE, rest = count - row;
		const int valid = k < g.k ? min(PIECE, rest) * (int)sizeof(T) : 0;
		if (rest > 0)
			copy_start<PIECE *(int)sizeof(T)>(
			        to + k * PITCH + row, from + row + k * g.lda, valid);
	}
}

template <int WIDTH, int ROWS, int PITCH, typename T>
__device__ __forceinline__ void fetch_panel(
        const struct columns<T> &g, const T *from, int count, T *to)
{
	const int64_t address = (int64_t)(uintptr_t)from, apart = g.lda * (int64_t)sizeof(T);
	if ((address | apart) % 16 == 0)
		fetch_pieces<WIDTH, ROWS, PITCH, 16 / (int)sizeof(T)>(g, from, count, to);
	else
		fetch_pieces<WIDTH, ROWS, PITCH, 1>(g, from, count, to);
	copy_commit();
}

/* Starts the copy of what the solution needs. */
template <typename T, int WIDTH>
__device__ __forceinline__ void fetch_top(
        const struct columns<T> &g, struct top<T, WIDTH> &s, int column)
{
	const int i = (int)threadIdx.x % WIDTH;
#pragma unroll
	for (int j = (int)threadIdx.x / WIDTH; j < COLUMNS; j += THREADS / WIDTH)
		if (i < g.k && column + j < g.n)
			copy_start<sizeof(T)>(&s.old[j][i], g.c + i + (column + j) * g.ldc);
	fetch_panel<WIDTH, WIDTH, WIDTH>(g, g.a, g.k, s.triangle[0]);
}

/* A warp solves for its column. It goes through all of WIDTH, without branches, so that reads of
 * the triangle stay ahead of the chain of shuffles; rows from the k-th on are nobody's. */
template <typename T, int WIDTH>
__device__ __forceinline__ void solve_top(
        const struct columns<T> &g, struct top<T, WIDTH> &s, int column)
{
	const int PARTS = WIDTH / 32, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
	T x[PARTS];
#pragma unroll
	for (int p = 0; p < PARTS; p++) {
		const int i = 32 * p + lane, from = i < g.k ? s.source[i] : 0;
		x[p] = s.old[warp][from < g.k ? from : 0];
		if (from >= g.k && column + warp < g.n)
			x[p] = g.c[from + (column + warp) * g.ldc];
	}
#pragma unroll
	for (int part = 0; part < PARTS; part++)
#pragma unroll
		for (int row = 0; row < 32; row += 2) {
			const int j = 32 * part + row;
			const T *left = s.triangle[j], *right = s.triangle[j + 1];
			const T first = __shfl_sync(0xffffffffu, x[part], row);
			const T next = __shfl_sync(0xffffffffu, x[part], row + 1);
			const T second = minus_product(next, left[j + 1], first);
#pragma unroll
			for (int p = part; p < PARTS; p++) {
				const int i = 32 * p + lane;
				if (p > part || lane > row)
					x[p] = minus_product(x[p], left[i], first);
				if (p > part || lane > row + 1)
					x[p] = minus_product(x[p], right[i], second);
			}
		}
#pragma unroll
	for (int p = 0; p < PARTS; p++)
		s.rows[32 * p + lane][warp] = 32 * p + lane < g.k ? x[p] : T(0);
}

template <typename T, int WIDTH>
__device__ __forceinline__ void store_top(
        const struct columns<T> &g, const struct top<T, WIDTH> &s, int column)
{
	const int i = (int)threadIdx.x % WIDTH;
#pragma unroll
	for (int j = (int)threadIdx.x / WIDTH; j < COLUMNS; j += THREADS / WIDTH)
		if (i < g.k && column + j < g.n)
			g.c[i + (column + j) * g.ldc] = s.rows[i][j];
}

} // namespace

#endif
