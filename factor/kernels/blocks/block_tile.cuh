/* SPDX-License-Identifier: MIT */
/* Triangles in tiles of 32 x 32 in shared memory. Matrices are row-major there, each row padded by
 * 16 bytes. So a warp that reads 16 bytes of 8 rows, or one value of 8 rows x 4 columns, has no
 * bank conflicts. Upper triangles are processed as the lower triangles of their transposes; only
 * global memory accesses differ. */
#pragma once

#include "factor/kernels/gemm/gemm_copy.cuh"
#include "shared_update.cuh"

#include <cuda_pipeline_primitives.h>

const int TILE = 32;

/* Elements between rows of a matrix with n columns (a multiple of TILE). */
template <typename T> static __host__ __device__ constexpr int tile_pitch(int n)
{
	return n + 16 / (int)sizeof(T);
}

static __host__ DEVICE int tiles_of(int64_t n)
{
	return (int)((n + TILE - 1) / TILE);
}

/* A triangle in global memory, seen as a lower one. */
template <typename T, bool upper> struct triangle {
	T *a;
	int64_t lda;
	__device__ T *at(int64_t i, int64_t j) const
	{
		return upper ? a + j + i * lda : a + i + j * lda;
	}
};

/* How `warps` warps (a multiple of four) from `first_warp` on copy a matrix between global memory
 * (a triangle) and shared memory: a thread has rows i, i + row_step, ... and columns j, j +
 * column_step, ... A warp accesses whole sectors of global memory and different banks of shared
 * memory. */
const int TILE_WARPS = 8;

template <bool upper, int warps = TILE_WARPS> struct share {
	static const int row_step = upper ? warps : TILE, column_step = upper ? TILE : warps;
	int i, j;
};

template <bool upper, int warps = TILE_WARPS>
static DEVICE share<upper, warps> share_of(int first_warp = 0)
{
	const int warp = threadIdx.x / 32 - first_warp, lane = threadIdx.x & 31;
	if (upper)
		return {warp, lane};
	return {warp % 4 * 8 + lane % 8, warp / 4 * 4 + lane / 8};
}

/* Starts the copy of a TILE x TILE tile of a into shared memory; rows from `rows` on become
 * zero. */
template <typename T, bool upper>
static DEVICE void fetch_tile(
        const triangle<const T, upper> &a, int64_t i0, int64_t j0, int64_t rows, T *tile)
{
	const int pitch = tile_pitch<T>(TILE);
	const share<upper> mine = share_of<upper>();
#pragma unroll
	for (int i = mine.i; i < TILE; i += mine.row_step)
#pragma unroll
		for (int j = mine.j; j < TILE; j += mine.column_step)
			copy_start<sizeof(T)>(tile + i * pitch + j, a.at(i0 + i, j0 + j),
			        i0 + i < rows ? (int)sizeof(T) : 0);
}

template <typename T> static DEVICE void load_row(const T *row, T (&value)[TILE])
{
#pragma unroll
	for (int k = 0; k < TILE; k += 4) {
		const auto quad = load_quad(row + k);
#pragma unroll
		for (int e = 0; e < 4; e++)
			value[k + e] = quad.x[e];
	}
}

static DEVICE void store_quad(float *p, const float *x)
{
	*(float4 *)p = make_float4(x[0], x[1], x[2], x[3]);
}

static DEVICE void store_quad(double *p, const double *x)
{
	*(double2 *)p = make_double2(x[0], x[1]);
	*(double2 *)(p + 2) = make_double2(x[2], x[3]);
}

template <typename T> static DEVICE void store_row(T *row, const T (&value)[TILE])
{
#pragma unroll
	for (int k = 0; k < TILE; k += 4)
		store_quad(row + k, value + k);
}

/* sum[r][c] += row r of a . row c of b, k elements each (k a multiple of 4). Lane (i,j) of 8 x 4
 * lanes passes its first row of each; its next rows are 8 further in a and 4 further in b. */
template <typename T, int R, int C>
static DEVICE void tile_product(
        const T *a, int pitch_a, const T *b, int pitch_b, int k, T (&sum)[R][C])
{
#pragma unroll 4
	for (int q = 0; q < k; q += 4) {
		decltype(load_quad(a)) x[R], y[C];
#pragma unroll
		for (int r = 0; r < R; r++)
			x[r] = load_quad(a + 8 * r * pitch_a + q);
#pragma unroll
		for (int c = 0; c < C; c++)
			y[c] = load_quad(b + 4 * c * pitch_b + q);
#pragma unroll
		for (int e = 0; e < 4; e++)
#pragma unroll
			for (int r = 0; r < R; r++)
#pragma unroll
				for (int c = 0; c < C; c++)
					sum[r][c] += x[r].x[e] * y[c].x[e];
	}
}

struct tile_at {
	int i, j;
};

/* Tile number `task` of a matrix whose first `square` tile rows end at the diagonal; later tile
 * rows are as long as the last of these. */
static DEVICE struct tile_at trapezoid_tile(int task, int square)
{
	for (int i = 0; i < square; i++) {
		if (task <= i)
			return {i, task};
		task -= i + 1;
	}
	return {square + task / square, task % square};
}
