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

/* F^T F of WIDTH columns for that many rows, eight at a time; zeros follow them. SHIFTED: the two
 * elements of a lane's column may not be side by side. */
template <int HALF, int WIDTH, bool SHIFTED, typename T, int LINES, int LENGTH>
__device__ __forceinline__ void accumulate_half(
        half_tiles &sum, const T (&rows)[LINES][LENGTH], int count, int lane, int shift)
{
	typedef typename rows_in<T>::two two;
	const int EIGHT = lines_of_eight<LINES> * LENGTH;
#pragma unroll 1
	for (int first = 0; first < count && has_code<T>; first += 8) {
		const int row = first + lane % 4 * 2;
		const T *from = SHIFTED ? shifted_element_of(rows, lane / 4, row, shift)
		                        : element_of(rows, lane / 4, row);
		const T *next = shifted_element_of(rows, lane / 4, row + 1, shift);
		const auto pair = [&](int octet) {
			return SHIFTED ? two{from[octet * EIGHT], next[octet * EIGHT]}
			               : *(const two *)(from + octet * EIGHT);
		};
#pragma unroll
		for (int s = 0; s < 2; s++) {
			const int p = strip_of(HALF, s);
			if (16 * p >= WIDTH)
				continue;
			const two low = pair(2 * p), high = pair(2 * p + 1);
			const double left[4] = {low.x, high.x, low.y, high.y};
#pragma unroll
			for (int q = 2 * p; q < WIDTH / 8; q++) {
				const two f = pair(q);
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

/* The same of rows in their places. */
template <int HALF, int WIDTH, typename T, int LINES, int LENGTH>
__device__ __forceinline__ void accumulate_half(
        half_tiles &sum, const T (&rows)[LINES][LENGTH], int count, int lane)
{
	accumulate_half<HALF, WIDTH, false>(sum, rows, count, lane, 0);
}

/* What becomes of a product: it replaces the elements, is added, or is subtracted. */
enum product_use { REPLACES, ADDS, SUBTRACTS };

/* Column t or t + 4 of eight in a product with the triangle, e = 0 or 1. In double precision the
 * columns that four lanes read at once have the same shift: their banks differ. */
template <typename T> __device__ __forceinline__ constexpr int column_of_lane(int t, int e)
{
	return sizeof(T) == sizeof(double) ? 2 * t + e : t + 4 * e;
}

/* AT_ONCE rows from `first` on times WIDTH columns of the triangle, rounded. by: of the columns in
 * `rows`; of `to` if the product is subtracted, which then leaves its columns in their places. */
template <int HALF, int WIDTH, enum product_use USE, typename T, int LINES, int LENGTH, int ROOM>
__device__ __forceinline__ void multiply_half(const double *triangle,
        const T (&rows)[LINES][LENGTH], int first, T (&to)[ROOM][AT_ONCE], int lane,
        const struct shifts &by)
{
	typedef typename rows_in<T>::two two;
	const int EIGHT = lines_of_eight<LINES> * LENGTH, TO_EIGHT = lines_of_eight<ROOM> * AT_ONCE;
	const int g = lane / 4, t = lane % 4;
	const T *from[2][2];
#pragma unroll
	for (int i = 0; i < 2; i++)
#pragma unroll
		for (int e = 0; e < 2; e++) {
			const int column = column_of_lane<T>(t, e);
			from[i][e] =
			        shifted_element_of(rows, column, first + 8 * i + g, by.of(column));
		}
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
				const int row = 8 * i + 2 * t, at = (2 * p + o) * TO_EIGHT;
				place[i][o] = (two *)(element_of(to, g, row) + at);
				if (USE == ADDS) {
					c[i][2 * o] = place[i][o]->x;
					c[i][2 * o + 1] = place[i][o]->y;
				}
				if (USE == SUBTRACTS)
#pragma unroll
					for (int e = 0; e < 2; e++)
						c[i][2 * o + e] = shifted_element_of(
						        to, g, row + e, by.of(g))[at];
			}
		if (USE == SUBTRACTS) /* other lanes write in these places */
			__syncwarp();
#pragma unroll
		for (int q = 0; q <= 2 * p + 1; q++) {
			double left[4];
#pragma unroll
			for (int i = 0; i < 4; i++)
				left[i] = triangle[(vector_tile(p, q) * 4 + i) * 32 + lane];
#pragma unroll
			for (int i = 0; i < 2; i++) {
				const int sign = USE == SUBTRACTS ? -1 : 1;
				const double x[2] = {
				        sign * from[i][0][q * EIGHT], sign * from[i][1][q * EIGHT]};
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
