/* SPDX-License-Identifier: MIT */
/* Applies a window's reflectors to WIDTH columns (or rows of Q): copies to and from shared
 * memory, and C := C - V T^T (V^T C) there.
 *
 * Cost: reading and writing the columns, and 4 WIDTH (P + WIDTH) fused multiply-adds a column in
 * tiles of 4 x 4 a thread, with 16-byte operands. */
#pragma once

#include "sweep_window.cuh"

enum { APPLIERS = MAKERS_AND_T };

/* A matrix with strides in words along rows and columns. */
template <typename real> struct strided {
	real *data;
	int64_t row, column;
};

/* Threads that share work: this thread's number and their count. */
struct crew {
	int thread, threads;
};

static __device__ __forceinline__ struct crew crew_of(int first, int threads)
{
	return {(int)threadIdx.x - first, threads};
}

/* WIDTH columns as one window sees them. First come its WIDTH rows of the triangle, the first of
 * which may be outside the sweep. Then come the P rows of all its columns, and WIDTH rows of the
 * next window. If the band slides, all rows are contiguous; otherwise the P rows are elsewhere.
 * `rows` and `columns` exist. */
template <typename real> struct tile {
	struct strided<real> top, tail;
	int first, rows, tail_rows, columns;
};

/* The element (row, column); NULL when it does not exist. */
template <typename real, int P, bool SLIDES>
static __device__ __forceinline__ real *element(const struct tile<real> &t, int row, int column)
{
	const bool in_tail = !SLIDES && row >= WIDTH && row < WIDTH + P;
	const int from_top = !SLIDES && row >= WIDTH ? row - P : row, from_tail = row - WIDTH;
	const bool exists =
	        in_tail ? from_tail < t.tail_rows : from_top >= t.first && from_top < t.rows;
	/* by value: a reference would keep the tile in local memory */
	real *data = in_tail ? t.tail.data : t.top.data;
	const int64_t at = in_tail ? from_tail : from_top, down = in_tail ? t.tail.row : t.top.row,
	              across = in_tail ? t.tail.column : t.top.column;
	return exists && column < t.columns ? data + at * down + column * across : NULL;
}

/* Element i of N rows, in an order with neighbours in memory next to each other. */
template <int N, typename real>
static __device__ __forceinline__ void locate(
        const struct tile<real> &t, int i, int *row, int *column)
{
	const bool down = t.top.row == 1;
	*row = down ? i % N : i / WIDTH;
	*column = down ? i / N : i % WIDTH;
}

/* The first N rows, with zeros for missing elements. */
template <int N, int P, bool SLIDES, typename real>
static __device__ __forceinline__ void load_tile(
        real (*to)[PITCH], const struct tile<real> &t, const struct crew &crew)
{
	const int AT_ONCE = 8;
	for (int first = crew.thread; first < N * WIDTH; first += AT_ONCE * crew.threads) {
		real value[AT_ONCE];
#pragma unroll
		for (int k = 0; k < AT_ONCE; k++) {
			const int i = first + k * crew.threads;
			int row, column;
			locate<N>(t, i, &row, &column);
			const real *x =
			        i < N * WIDTH ? element<real, P, SLIDES>(t, row, column) : NULL;
			value[k] = x ? *x : real(0);
		}
#pragma unroll
		for (int k = 0; k < AT_ONCE; k++) {
			const int i = first + k * crew.threads;
			int row, column;
			locate<N>(t, i, &row, &column);
			if (i < N * WIDTH)
				to[row][column] = value[k];
		}
	}
}

template <int N, int P, bool SLIDES, typename real>
static __device__ __forceinline__ void store_tile(
        const real (*from)[PITCH], const struct tile<real> &t, const struct crew &crew)
{
#pragma unroll 4
	for (int i = crew.thread; i < N * WIDTH; i += crew.threads) {
		int row, column;
		locate<N>(t, i, &row, &column);
		real *x = element<real, P, SLIDES>(t, row, column);
		if (x)
			*x = from[row][column];
	}
}

/* Four rows of a partial V^T C, over the group's rows of V and C (64 threads). */
template <typename real, int P>
static __device__ __forceinline__ void multiply_down(
        struct window_memory<real, P> &s, const real (*c)[PITCH], int thread)
{
	constexpr int share = window_memory<real, P>::rows / 4;
	const int group = thread / 64, j = thread % 8 * 4, column = thread % 64 / 8 * 4;
	real sum[4][4] = {};
#pragma unroll 4
	for (int row = group * share; row < (group + 1) * share; row++) {
		const auto v = load_quad(&s.v[row][j]), x = load_quad(&c[row][column]);
#pragma unroll
		for (int i = 0; i < 4; i++)
#pragma unroll
			for (int k = 0; k < 4; k++)
				sum[i][k] += v.x[i] * x.x[k];
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
#pragma unroll
		for (int k = 0; k < 4; k++)
			s.part[group][j + i][column + k] = sum[i][k];
}

/* part[0] := the sum of all four parts; after a barrier part[1] := T^T part[0]. */
template <typename real, int P>
static __device__ __forceinline__ void add_parts(struct window_memory<real, P> &s, int thread)
{
	const int j = thread / 8, column = thread % 8 * 4;
#pragma unroll
	for (int k = 0; k < 4; k++)
		s.part[0][j][column + k] = (s.part[0][j][column + k] + s.part[1][j][column + k]) +
		                           (s.part[2][j][column + k] + s.part[3][j][column + k]);
}

template <typename real, int P>
static __device__ __forceinline__ void multiply_t(struct window_memory<real, P> &s, int thread)
{
	const int j = thread / 8, column = thread % 8 * 4;
	real sum[4] = {};
#pragma unroll 8
	for (int k = 0; k < WIDTH; k++) {
		const auto x = load_quad(&s.part[0][k][column]);
		const real t = s.t[k][j];
#pragma unroll
		for (int i = 0; i < 4; i++)
			sum[i] += t * x.x[i];
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
		s.part[1][j][column + i] = sum[i];
}

/* C -= V part[1], 16 rows a warp at a time. */
template <typename real, int P>
static __device__ __forceinline__ void subtract(
        struct window_memory<real, P> &s, real (*c)[PITCH], int thread)
{
	const int lane = thread % 32, column = lane % 8 * 4;
	for (int base = thread / 32 * 16 + lane / 8; base < window_memory<real, P>::rows;
	        base += APPLIERS / 32 * 16) {
		real sum[4][4];
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const auto some = load_quad(&c[base + 4 * i][column]);
#pragma unroll
			for (int k = 0; k < 4; k++)
				sum[i][k] = some.x[k];
		}
#pragma unroll 2
		for (int j = 0; j < WIDTH; j += 4) {
			real v[4][4];
#pragma unroll
			for (int i = 0; i < 4; i++) {
				const auto some = load_quad(&s.v[base + 4 * i][j]);
#pragma unroll
				for (int k = 0; k < 4; k++)
					v[i][k] = some.x[k];
			}
#pragma unroll
			for (int m = 0; m < 4; m++) {
				const auto w = load_quad(&s.part[1][j + m][column]);
#pragma unroll
				for (int i = 0; i < 4; i++)
#pragma unroll
					for (int k = 0; k < 4; k++)
						sum[i][k] =
						        minus_product(sum[i][k], v[i][m], w.x[k]);
			}
		}
#pragma unroll
		for (int i = 0; i < 4; i++)
#pragma unroll
			for (int k = 0; k < 4; k++)
				c[base + 4 * i][column + k] = sum[i][k];
	}
}

/* Called by the first APPLIERS threads: c := c - v t^T v^T c. Earlier writes must be visible;
 * results are visible after a barrier. */
template <typename real, int P>
static __device__ __forceinline__ void apply_window(
        struct window_memory<real, P> &s, real (*c)[PITCH])
{
	const int thread = (int)threadIdx.x;
	multiply_down(s, c, thread);
	some_barrier<BARRIER_APPLY, APPLIERS>();
	add_parts(s, thread);
	some_barrier<BARRIER_APPLY, APPLIERS>();
	multiply_t(s, thread);
	some_barrier<BARRIER_APPLY, APPLIERS>();
	subtract(s, c, thread);
}
