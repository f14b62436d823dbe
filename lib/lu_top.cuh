/* SPDX-License-Identifier: MIT */
/* The top of columns right of an LU panel: where its rows come from, and the solution with the
 * panel's unit lower triangle. A block of threads has COLUMNS columns, a warp one of them, and does
 * two rows of the triangle at a step. */
#ifndef FATHOM_LU_TOP_CUH
#define FATHOM_LU_TOP_CUH

#include "shared_update.cuh"

#include <cuda_pipeline_primitives.h>

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

template <typename T, int WIDTH> struct memory {
	T triangle[WIDTH][WIDTH]; /* by columns */
	T old[COLUMNS][WIDTH];    /* the top as it was */
	T top[WIDTH][COLUMNS];    /* as it becomes */
	int pivot[WIDTH], source[WIDTH];
};

/* Behind it: of each row below, the row of the top that comes there, or -1. */
template <typename T, int WIDTH>
__device__ __forceinline__ int *moved_of(struct memory<T, WIDTH> &s)
{
	return (int *)(&s + 1);
}

/* The last of the first `bound` exchanges that is with `row`, or -1. */
template <int WIDTH> __device__ __forceinline__ int latest(const int *pivot, int bound, int row)
{
	int found[4] = {-1, -1, -1, -1};
#pragma unroll
	for (int i = 0; i < WIDTH; i += 4) {
		const int4 p = *(const int4 *)(pivot + i);
		found[0] = p.x == row && i < bound ? i : found[0];
		found[1] = p.y == row && i + 1 < bound ? i + 1 : found[1];
		found[2] = p.z == row && i + 2 < bound ? i + 2 : found[2];
		found[3] = p.w == row && i + 3 < bound ? i + 3 : found[3];
	}
	return max(max(found[0], found[1]), max(found[2], found[3]));
}

/* Where the row comes from that the first `bound` exchanges bring to `row`, which none of them
 * exchanges as its own: exchange i is of row i with one at or below it. */
template <int WIDTH> __device__ __forceinline__ int origin(const int *pivot, int bound, int row)
{
	for (int i = latest<WIDTH>(pivot, bound, row); i >= 0; i = latest<WIDTH>(pivot, i, row))
		row = i;
	return row;
}

template <typename T, int WIDTH>
__device__ __forceinline__ void find_origins(
        const struct columns<T> &g, struct memory<T, WIDTH> &s, int first, int rows)
{
	const int i = (int)threadIdx.x % WIDTH, pivot = s.pivot[i];
	if (i >= g.k)
		return;
	if ((int)threadIdx.x < WIDTH)
		s.source[i] = origin<WIDTH>(s.pivot, i, pivot);
	else if ((int)threadIdx.x < 2 * WIDTH && pivot >= first && pivot < first + rows &&
	         latest<WIDTH>(s.pivot, g.k, pivot) == i)
		moved_of(s)[pivot - first] = origin<WIDTH>(s.pivot, i, i);
}

/* Starts what does not depend on pivots: triangle, top. */
template <typename T, int WIDTH>
__device__ __forceinline__ void fetch(
        const struct columns<T> &g, struct memory<T, WIDTH> &s, int column)
{
	const int i = (int)threadIdx.x % WIDTH;
#pragma unroll 8
	for (int j = (int)threadIdx.x / WIDTH; j < WIDTH; j += THREADS / WIDTH)
		__pipeline_memcpy_async(&s.triangle[j][i], g.a + i + j * g.lda, sizeof(T),
		        i < g.k && j < g.k ? 0 : sizeof(T));
#pragma unroll
	for (int j = (int)threadIdx.x / WIDTH; j < COLUMNS; j += THREADS / WIDTH)
		__pipeline_memcpy_async(&s.old[j][i], g.c + i + (column + j) * g.ldc, sizeof(T),
		        i < g.k && column + j < g.n ? 0 : sizeof(T));
	__pipeline_commit();
}

/* A warp solves for its column of the top. */
template <typename T, int WIDTH>
__device__ __forceinline__ void solve(
        const struct columns<T> &g, struct memory<T, WIDTH> &s, int column)
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
#pragma unroll(WIDTH == 64 ? 8 : 4)
		for (int row = 0; row < 32; row += 2) {
			const int j = 32 * part + row;
			const T *left = s.triangle[j], *right = s.triangle[j + 1];
			if (j >= g.k)
				break;
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
		s.top[32 * p + lane][warp] = 32 * p + lane < g.k ? x[p] : T(0);
}

template <typename T, int WIDTH>
__device__ __forceinline__ void store_top(
        const struct columns<T> &g, const struct memory<T, WIDTH> &s, int column)
{
	const int i = (int)threadIdx.x % WIDTH;
	for (int j = (int)threadIdx.x / WIDTH; j < COLUMNS; j += THREADS / WIDTH)
		if (i < g.k && column + j < g.n)
			g.c[i + (column + j) * g.ldc] = s.top[i][j];
}

} // namespace

#endif
