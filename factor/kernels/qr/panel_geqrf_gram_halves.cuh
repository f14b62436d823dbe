/* SPDX-License-Identifier: MIT */
/* Sixteen rows of a 64-column panel at a time by a pair of warps on the tensor cores, in double
 * precision (factor/kernels/qr/panel_geqrf_gram.cu). The first warp has the tiles of rows 0 .. 15
 * and 48 .. 63 of F^T F and these columns of the product with an upper triangle. The second warp
 * has the rest, which is half of both. */
#pragma once

#include "panel_geqrf_gram_slab.cuh"
#include "panel_geqrf_gram_tiles.cuh"

namespace
{

enum { HALF_TILES = TILES / 2 };

/* No such panel is on devices below 8.0 (panel_geqrf_gram_fits), whose code for these products is
 * long; double precision has none there. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <typename T> const bool has_code = sizeof(T) == sizeof(float);
#else
template <typename T> const bool has_code = true;
#endif

/* The tiles of a warp, in order. */
typedef double half_tiles[HALF_TILES][4];

static_assert(tile_of(0, 0) == 0 && tile_of(1, 2) == OCTETS && tile_of(3, 7) == TILES - 1 &&
                      tile_of(3, 6) - tile_of(1, 2) == HALF_TILES,
        "the second warp's tiles are one after another");

/* The word among all tiles' words of a warp's word i. */
__device__ __forceinline__ int word_of_half(const struct seat_of_pair &t, int i)
{
	const int own = i / 4, tile = t.half ? OCTETS + own : own < OCTETS ? own : HALF_TILES + own;
	return (tile * 4 + i % 4) * 32 + t.lane;
}

/* The warp's strips of 16 columns, i = 0 and 1. */
__device__ __forceinline__ constexpr int strip_of(int half, int i)
{
	return half ? 2 - i : 3 - 3 * i;
}

/* F^T F of WIDTH columns for that many rows, eight at a time; zeros follow them. */
template <int HALF, int WIDTH, typename T, int COLUMNS, int LENGTH>
__device__ __forceinline__ void accumulate_half(
        half_tiles &sum, const T (&rows)[COLUMNS][LENGTH], int count, int lane)
{
	typedef typename rows_in<T>::two two;
#pragma unroll 1
	for (int first = 0; first < count && has_code<T>; first += 8) {
		const T *from = element_of(rows, lane / 4, first + lane % 4 * 2);
#pragma unroll
		for (int s = 0; s < 2; s++) {
			const int p = strip_of(HALF, s);
			if (16 * p >= WIDTH)
				continue;
			const two low = *(const two *)(from + 2 * p * 8 * LENGTH),
			          high = *(const two *)(from + (2 * p + 1) * 8 * LENGTH);
			const double left[4] = {low.x, high.x, low.y, high.y};
#pragma unroll
			for (int q = 2 * p; q < WIDTH / 8; q++) {
				const two f = *(const two *)(from + q * 8 * LENGTH);
				const double right[2] = {f.x, f.y};
				const int tile = tile_of(p, q);
				mma_double(sum[HALF         ? tile - OCTETS
				                   : p == 0 ? tile
				                            : tile - HALF_TILES],
				        left, right);
			}
		}
	}
}

/* What becomes of a product: it replaces the elements, is added, or is subtracted. */
enum product_use { REPLACES, ADDS, SUBTRACTS };

/* AT_ONCE rows from `first` on times WIDTH columns of the triangle, rounded. */
template <int HALF, int WIDTH, enum product_use USE, typename T, int COLUMNS, int LENGTH, int ROOM>
__device__ __forceinline__ void multiply_half(const double *triangle,
        const T (&rows)[COLUMNS][LENGTH], int first, T (&to)[ROOM][AT_ONCE], int lane)
{
	typedef typename rows_in<T>::two two;
	const int g = lane / 4, t = lane % 4;
#pragma unroll
	for (int s = 0; s < (has_code<T> ? 2 : 0); s++) {
		const int p = strip_of(HALF, s);
		if (16 * p >= WIDTH)
			continue;
		double c[2][4] = {};
		two *place[2][2];
#pragma unroll
		for (int i = 0; i < 2; i++)
#pragma unroll
			for (int o = 0; o < 2; o++) {
				place[i][o] = (two *)(element_of(to, g, 8 * i + 2 * t) +
				                      (16 * p + 8 * o) * AT_ONCE);
				if (USE == REPLACES)
					continue;
				c[i][2 * o] = place[i][o]->x;
				c[i][2 * o + 1] = place[i][o]->y;
			}
#pragma unroll
		for (int q = 0; q <= 2 * p + 1; q++) {
			double left[4];
#pragma unroll
			for (int i = 0; i < 4; i++)
				left[i] = triangle[(vector_tile(p, q) * 4 + i) * 32 + lane];
#pragma unroll
			for (int i = 0; i < 2; i++) {
				const T *from =
				        element_of(rows, t, first + 8 * i + g) + 8 * q * LENGTH;
				const int sign = USE == SUBTRACTS ? -1 : 1;
				const double x[2] = {sign * from[0], sign * from[4 * LENGTH]};
				mma_double(c[i], left, x);
			}
		}
#pragma unroll
		for (int i = 0; i < 2; i++)
#pragma unroll
			for (int o = 0; o < 2; o++)
				*place[i][o] = {(T)c[i][2 * o], (T)c[i][2 * o + 1]};
	}
}

/* The sum over a block's pairs, in the first pair; part_of(w) is memory for TILE_WORDS, w <
 * PAIRS / 2. Begins with a barrier. */
template <int PAIRS, typename function>
__device__ __forceinline__ void add_pairs(
        const struct seat_of_pair &t, const function &part_of, half_tiles &sum)
{
#pragma unroll
	for (int left = PAIRS, kept; left > 1; left = kept) {
		kept = (left + 1) / 2;
		__syncthreads();
		if (t.pair >= kept && t.pair < left)
#pragma unroll
			for (int i = 0; i < HALF_TILES * 4; i++)
				part_of(t.pair - kept)[word_of_half(t, i)] = sum[i / 4][i % 4];
		__syncthreads();
		if (t.pair + kept < left)
#pragma unroll
			for (int i = 0; i < HALF_TILES * 4; i++)
				sum[i / 4][i % 4] += part_of(t.pair)[word_of_half(t, i)];
	}
}

} // namespace
