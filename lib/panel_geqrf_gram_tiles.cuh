/* SPDX-License-Identifier: MIT */
/* Eight rows of a panel of 64 columns at a time by a warp on the tensor cores, in double precision
 * (lib/panel_geqrf_gram.cu): F^T F, of which the tiles of 16 x 8 on and above the diagonal are
 * computed, and the product with an upper triangle. */
#ifndef FATHOM_PANEL_GEQRF_GRAM_TILES_CUH
#define FATHOM_PANEL_GEQRF_GRAM_TILES_CUH

#include "gemm_mma.cuh"
#include "panel_geqrf_gram.cuh"

namespace
{

enum {
	WARPS = 8,
	THREADS = 32 * WARPS,
	OCTETS = ORDER / 8, /* of columns */
	TILES = 20,
	TILE_WORDS = TILES * 4 * 32 /* [tile][4][lane] */
};

/* Number of the tile in rows 16 p of columns 8 q, q >= 2 p. */
__device__ __forceinline__ constexpr int tile_of(int p, int q)
{
	return p * (9 - p) + q - 2 * p;
}

/* Of the tile that multiplies rows 8 q of Y for columns 16 p of V2, q <= 2 p + 1. */
__device__ __forceinline__ constexpr int vector_tile(int p, int q)
{
	return p * (p + 1) + q;
}

typedef double tiles[TILES][4];

/* Of lane (g, t) v[o][e] is column 8 o + g of row 2 t + e of eight rows. */
typedef double vectors[OCTETS][2];

/* f^T f of eight rows: of lane (g, t) f[o][e] is column 8 o + g of row 2 t + e, or of any other
 * order of the rows. */
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

/* Row and column, at most, of a word of the sums. */
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

/* Row and column of the triangle that a word stands for which multiply_tiles reads. */
__device__ __forceinline__ void vector_place_of(int word, int *row, int *column)
{
	const int lane = word % 32, x = word / 32 % 4, tile = word / 128;
	const int p = (tile >= vector_tile(1, 0)) + (tile >= vector_tile(2, 0)) +
	              (tile >= vector_tile(3, 0));
	*row = 8 * (tile - vector_tile(p, 0)) + 4 * (x / 2) + lane % 4;
	*column = 16 * p + 8 * (x % 2) + lane / 4;
}

/* Columns 16 p .. of eight rows times the triangle, transposed: of lane (g, t) x[o][e] is column 8
 * o + 4 e + t of row g, c[i] column 16 p + 8 (i / 2) + g of row 2 t + i % 2. */
__device__ __forceinline__ void multiply_tiles(
        int p, const double *triangle, const double (&x)[OCTETS][2], double (&c)[4])
{
	const int lane = (int)threadIdx.x % 32;
#pragma unroll
	for (int i = 0; i < 4; i++)
		c[i] = 0;
#pragma unroll
	for (int q = 0; q <= 2 * p + 1; q++) {
		double left[4];
#pragma unroll
		for (int i = 0; i < 4; i++)
			left[i] = triangle[(vector_tile(p, q) * 4 + i) * 32 + lane];
		mma_double(c, left, x[q]);
	}
}

} // namespace

#endif
