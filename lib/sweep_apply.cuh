/* SPDX-License-Identifier: MIT */
/* WIDTH columns (or rows of Q) that a window's reflectors are applied to: to and from shared
 * memory, and C := C - V T^T (V^T C) there.
 *
 * Cost: reading and writing of the columns, and 4 WIDTH (P + WIDTH) fused multiply-adds a column in
 * tiles of 4 x 4 a thread, operands in words of 16 bytes. */
#ifndef FATHOM_SWEEP_APPLY_CUH
#define FATHOM_SWEEP_APPLY_CUH

#include "sweep_window.cuh"

/* A matrix whose elements are so many words apart. */
template <typename real> struct strided {
	real *data;
	int64_t row, column;
};

/* Threads that share some work: which one this is. */
struct crew {
	int thread, threads;
};

static __device__ __forceinline__ struct crew crew_of(int first, int threads)
{
	return {(int)threadIdx.x - first, threads};
}

/* Element i of N x WIDTH in an order in which neighbours are neighbours in memory. */
template <int N, typename real>
static __device__ __forceinline__ void locate(
        const struct strided<real> &a, int i, int *row, int *column)
{
	const bool down = a.row == 1;
	*row = down ? i % N : i / WIDTH;
	*column = down ? i / N : i % WIDTH;
}

/* N rows of a, of which so many rows and columns exist; zeros in place of the others. */
template <int N, typename real>
static __device__ __forceinline__ void load_rows(real (*to)[PITCH], const struct strided<real> &a,
        int rows, int columns, const struct crew &crew)
{
	const int AT_ONCE = 4;
	for (int first = crew.thread; first < N * WIDTH; first += AT_ONCE * crew.threads) {
		real value[AT_ONCE];
		int row[AT_ONCE], column[AT_ONCE];
#pragma unroll
		for (int k = 0; k < AT_ONCE; k++) {
			const int i = first + k * crew.threads;
			locate<N>(a, i, &row[k], &column[k]);
			value[k] = i < N * WIDTH && row[k] < rows && column[k] < columns
			                   ? a.data[row[k] * a.row + column[k] * a.column]
			                   : real(0);
		}
#pragma unroll
		for (int k = 0; k < AT_ONCE; k++)
			if (first + k * crew.threads < N * WIDTH)
				to[row[k]][column[k]] = value[k];
	}
}

template <int N, typename real>
static __device__ __forceinline__ void store_rows(const real (*from)[PITCH],
        const struct strided<real> &a, int rows, int columns, const struct crew &crew)
{
	for (int i = crew.thread; i < N * WIDTH; i += crew.threads) {
		int row, column;
		locate<N>(a, i, &row, &column);
		if (row < rows && column < columns)
			a.data[row * a.row + column * a.column] = from[row][column];
	}
}

/* Four rows of part of V^T C: rows that the group of 64 threads has of V and C. */
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

/* part[0] := the sum of all four; after a barrier part[1] := T^T part[0]. */
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
	        base += MAKERS / 32 * 16) {
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

/* By all threads: c := c - v t^T v^T c. What was written before must be visible; what it writes is,
 * behind a barrier. */
template <typename real, int P>
static __device__ __forceinline__ void apply_window(
        struct window_memory<real, P> &s, real (*c)[PITCH])
{
	const int thread = (int)threadIdx.x;
	const bool works = thread < MAKERS;
	if (works)
		multiply_down(s, c, thread);
	__syncthreads();
	if (works)
		add_parts(s, thread);
	__syncthreads();
	if (works)
		multiply_t(s, thread);
	__syncthreads();
	if (works)
		subtract(s, c, thread);
}

#endif
