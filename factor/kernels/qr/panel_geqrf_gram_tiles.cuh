/* SPDX-License-Identifier: MIT */
/* F^T F of a 64-column panel in double precision on the tensor cores, for the 16 x 8 tiles on
 * and above the diagonal, and the product with an upper triangle. This file numbers the tiles
 * (also for factor/kernels/qr/panel_geqrf_gram_halves.cuh) and has both products by warps that take
 * eight rows at a time (factor/kernels/qr/panel_geqrf_gram_cluster_body.cuh). */
#pragma once

#include "factor/kernels/gemm/gemm_mma.cuh"
#include "panel_geqrf_gram.cuh"
#include "panel_geqrf_plan.h"

namespace
{

enum {
	WARPS = GRAM_WARPS,
	THREADS = 32 * WARPS,
	OCTETS = ORDER / 8, /* of columns */
	TILES = 20,
	TILE_WORDS = TILES * 4 * 32 /* [tile][4][lane] */
};

/* Number of the tile at rows 16 p and columns 8 q, q >= 2 p. */
__device__ __forceinline__ constexpr int tile_of(int p, int q)
{
	return p * (9 - p) + q - 2 * p;
}

/* Number of the tile that multiplies rows 8 q of Y for columns 16 p of V2, q <= 2 p + 1. */
__device__ __forceinline__ constexpr int vector_tile(int p, int q)
{
	return p * (p + 1) + q;
}

typedef double tiles[TILES][4];

/* In lane (g, t), v[o][e] is column 8 o + g of row 2 t + e of eight rows. */
typedef double vectors[OCTETS][2];

/* f^T f of eight rows: in lane (g, t), f[o][e] is column 8 o + g of row 2 t + e, in any order of
 * the rows. */
__device__ __forceinline__ void accumulate(tiles &sum, const vectors &f)
{
#pragma unroll
	for (int p = 0; p < OCTETS / 2; p++)
#pragma unroll
		for (int q = 2 * p; q < OCTETS; q++) {
			const double left[4] = {
			        f[2 * p][0], f[2 * p + 1][0], f[2 * p][1], f[2 * p + 1][1]};
			mma_double(sum[tile_of(p, q)], left, f[q]);
		}
}

/* Largest row and column of a word of the sums. */
__device__ __forceinline__ void place_of(int word, int *i, int *j)
{
	const int lane = word % 32, x = word / 32 % 4, tile = word / 128;
	const int p = (tile >= tile_of(1, 2)) + (tile >= tile_of(2, 4)) + (tile >= tile_of(3, 6));
	*i = 16 * p + 8 * (x / 2) + lane / 4;
	*j = 8 * (tile - tile_of(p, 0)) + 2 * (lane % 4) + x % 2;
}

/* The word of row i and column j >= i. */
__device__ __forceinline__ int word_of(int i, int j)
{
	return (tile_of(i / 16, j / 8) * 4 + i / 8 % 2 * 2 + j % 2) * 32 + i % 8 * 4 + j % 8 / 2;
}

/* Row and column of the triangle for a word that multiply_triangle reads. */
__device__ __forceinline__ void vector_place_of(int word, int *row, int *column)
{
	const int lane = word % 32, x = word / 32 % 4, tile = word / 128;
	const int p = (tile >= vector_tile(1, 0)) + (tile >= vector_tile(2, 0)) +
	              (tile >= vector_tile(3, 0));
	*row = 8 * (tile - vector_tile(p, 0)) + 4 * (x / 2) + lane % 4;
	*column = 16 * p + 8 * (x % 2) + lane / 4;
}

/* The triangle, transposed, times eight rows, transposed: in lane (g, t), rows(o, e) is column 8
 * o + 4 e + t of row g, and c[p][i] column 16 p + 8 (i / 2) + g of row 2 t + i % 2. Sums of
 * different columns alternate, because each product waits for the one before in the same sum. */
template <typename function>
__device__ __forceinline__ void multiply_triangle(
        const double *triangle, const function &rows, double (&c)[OCTETS / 2][4])
{
	const int lane = (int)threadIdx.x % 32;
#pragma unroll
	for (int q = 0; q < OCTETS; q++) {
		const double x[2] = {rows(q, 0), rows(q, 1)};
#pragma unroll
		for (int p = q / 2; p < OCTETS / 2; p++) {
			double left[4];
#pragma unroll
			for (int i = 0; i < 4; i++) {
				left[i] = triangle[(vector_tile(p, q) * 4 + i) * 32 + lane];
				c[p][i] = q == 0 ? 0 : c[p][i];
			}
			mma_double(c[p], left, x);
		}
	}
}

/* The vectors of eight rows from their sums, rounded: in lane (g, t), pair o is column 8 o + g
 * of rows 2 t and 2 t + 1. */
__device__ __forceinline__ void round_vectors(
        const double (&c)[OCTETS / 2][4], float2 (&pair)[OCTETS], vectors &v)
{
#pragma unroll
	for (int o = 0; o < OCTETS; o++) {
		const double *x = &c[o / 2][o % 2 * 2];
		pair[o] = make_float2((float)x[0], (float)x[1]);
		v[o][0] = pair[o].x;
		v[o][1] = pair[o].y;
	}
}

/* The sum over a block's warps, in the first warp; part_of(w) is memory for TILE_WORDS, w <
 * WARPS / 2. Begins with a barrier. */
template <typename function>
__device__ __forceinline__ void add_warps(const function &part_of, tiles &sum)
{
	const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll
	for (int half = WARPS / 2; half >= 1; half /= 2) {
		__syncthreads();
		if (warp >= half && warp < 2 * half)
#pragma unroll
			for (int i = 0; i < TILES * 4; i++)
				part_of(warp - half)[i * 32 + lane] = sum[i / 4][i % 4];
		__syncthreads();
		if (warp < half)
#pragma unroll
			for (int i = 0; i < TILES * 4; i++)
				sum[i / 4][i % 4] += part_of(warp)[i * 32 + lane];
	}
}

} // namespace
