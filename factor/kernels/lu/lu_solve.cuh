/* SPDX-License-Identifier: MIT */
/* The top of the columns right of an LU panel: the sources of its rows, and the solve with the
 * panel's unit lower triangle. A block of threads has COLUMNS columns, one per warp, and takes two
 * rows of the triangle per step. */
#pragma once

#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/gemm/gemm_copy.cuh"
#include "factor/kernels/blocks/shared_update.cuh"

namespace
{

const int COLUMNS = 8, WARPS = 8, THREADS = 32 * WARPS;

template <typename T> struct columns {
	const T *a;
	int64_t lda;
	T *c;
	int64_t ldc;
	int m, k, n, share; /* rows, columns of the panel, columns; rows below per block */
	const int *pivots;
};

/* A block's shared memory; the panel has at most WIDTH columns, 64 or 128. */
template <typename T, int WIDTH> struct top {
	T triangle[WIDTH][WIDTH]; /* column-major */
	T old[COLUMNS][WIDTH];    /* the top before */
	T rows[WIDTH][COLUMNS];   /* and after */
	int pivot[WIDTH], source[WIDTH], before[WIDTH];
};

template <typename T, int WIDTH> DEVICE void read_pivots(const columns<T> &g, top<T, WIDTH> &s)
{
	const int i = (int)threadIdx.x;
	if (i >= WIDTH)
		return;
	const int p = i < g.k ? g.pivots[i] - 1 : -1;
	s.pivot[i] = i >= g.k ? -1 : p >= i && p < g.m ? p : i;
}

/* Swap i exchanges place i with place s.pivot[i] at or below it. Before it, place i holds the row
 * that the last swap j < i with s.pivot[j] == i brought there; place j held that row before.
 * s.before[i] is that j, or -1 if place i still holds its own row. */
template <typename T, int WIDTH> DEVICE int row_before(const top<T, WIDTH> &s, int i)
{
	while (s.before[i] >= 0)
		i = s.before[i];
	return i;
}

/* So place i ends with row s.source[i], which place s.pivot[i] held before swap i: the row that the
 * last earlier swap with the same place brought, or its own. A place below the k top rows ends with
 * the row that place i held before the last swap i with it. below(i, row) is called for each swap,
 * with that row of the top, or -1 if the place is in the top or a later swap has it. By all
 * threads; PARTS threads search the swaps for one swap. */
template <typename T, int WIDTH, typename work>
DEVICE void find_origins(const columns<T> &g, top<T, WIDTH> &s, const work &below)
{
	const int PARTS = THREADS / WIDTH, LENGTH = WIDTH / PARTS;
	const int i = (int)threadIdx.x / PARTS, part = (int)threadIdx.x % PARTS;
	const int place = s.pivot[i];
	/* last swap before this one with place i, and with its own place; last of all with that
	 * place */
	int before = -1, same = -1, last = -1;
#pragma unroll
	for (int from = 0; from < LENGTH; from += 4) {
		const int4 four = *(const int4 *)(s.pivot + part * LENGTH + from);
		const int p[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
		for (int e = 0; e < 4; e++) {
			const int j = part * LENGTH + from + e;
			before = p[e] == i && j < i ? j : before;
			same = p[e] == place && j < i ? j : same;
			last = p[e] == place ? j : last;
		}
	}
#pragma unroll
	for (int apart = 1; apart < PARTS; apart *= 2) {
		before = max(before, __shfl_xor_sync(0xffffffffu, before, apart));
		same = max(same, __shfl_xor_sync(0xffffffffu, same, apart));
		last = max(last, __shfl_xor_sync(0xffffffffu, last, apart));
	}
	if (part == 0)
		s.before[i] = before;
	__syncthreads();
	if (part == 0)
		s.source[i] = same < 0 ? place : row_before(s, same);
	if (part == 1)
		below(i, last == i && place >= g.k ? row_before(s, i) : -1);
}

/* Starts the copy of g.k columns of `count` of ROWS rows, PIECE elements at a time; the rest
 * becomes zero. Without branches: a copy after a branch waits until the copy before it has been
 * issued. */
template <int WIDTH, int ROWS, int PITCH, int PIECE, typename T>
DEVICE void fetch_pieces(const columns<T> &g, const T *from, int count, T *to)
{
	const int pieces = ROWS / PIECE;
#pragma unroll 4
	for (int turn = 0; turn < WIDTH * pieces / THREADS; turn++) {
		const int i = turn * THREADS + (int)threadIdx.x;
		const int k = i / pieces, row = i % pieces * PIECE;
		const int valid = k < g.k ? max(0, min(PIECE, count - row)) : 0;
		copy_start<PIECE *(int)sizeof(T)>(
		        to + k * PITCH + row, from + row + k * g.lda, valid * (int)sizeof(T));
	}
}

template <int WIDTH, int ROWS, int PITCH, typename T>
DEVICE void fetch_panel(const columns<T> &g, const T *from, int count, T *to)
{
	const int64_t address = (int64_t)(uintptr_t)from, apart = g.lda * (int64_t)sizeof(T);
	if ((address | apart) % 16 == 0)
		fetch_pieces<WIDTH, ROWS, PITCH, 16 / (int)sizeof(T)>(g, from, count, to);
	else
		fetch_pieces<WIDTH, ROWS, PITCH, 1>(g, from, count, to);
	copy_commit();
}

template <typename T, int WIDTH>
DEVICE void fetch_old(const columns<T> &g, top<T, WIDTH> &s, int column)
{
	const int i = (int)threadIdx.x % WIDTH;
#pragma unroll
	for (int j = (int)threadIdx.x / WIDTH; j < COLUMNS; j += THREADS / WIDTH)
		copy_or_set(&s.old[j][i], g.c + i + (column + j) * g.ldc,
		        i < g.k && column + j < g.n, true, T(0));
}

template <typename T, int WIDTH> DEVICE void fetch_triangle(const columns<T> &g, top<T, WIDTH> &s)
{
	fetch_panel<WIDTH, WIDTH, WIDTH>(g, g.a, g.k, s.triangle[0]);
}

/* A warp solves for its column, over all of WIDTH without branches, so that reads of the triangle
 * stay ahead of the chain of shuffles; rows from the k-th on are not used. ready() is called after
 * rows have been requested and before the triangle is read. */
template <typename T, int WIDTH, typename work>
DEVICE void solve_top(const columns<T> &g, top<T, WIDTH> &s, int column, const work &ready)
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
	ready();
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
DEVICE void store_top(const columns<T> &g, const top<T, WIDTH> &s, int column)
{
	const int i = (int)threadIdx.x % WIDTH;
#pragma unroll
	for (int j = (int)threadIdx.x / WIDTH; j < COLUMNS; j += THREADS / WIDTH)
		if (i < g.k && column + j < g.n)
			g.c[i + (column + j) * g.ldc] = s.rows[i][j];
}

} // namespace
