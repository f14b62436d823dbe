/* SPDX-License-Identifier: MIT */
/* Copies of the diagonal block and a strip of the rows below it between global and shared
 * memory, for potrf_kernels.cu. */
#pragma once

#include "factor/kernels/blocks/block_tile.cuh"

namespace
{

/* Warps of a block: the first factorizes diagonal tiles, the next ones solve a tile of rows
 * each, the others update. The last warps, where they have no rows, load the columns behind the
 * first tile's. */
const int WARPS = 12;
const int LOADERS = 4;

const int WIDEST = 128; /* columns of a step */

template <typename T, bool upper> struct block {
	struct triangle<T, upper> a;
	int rows, width; /* of this step: rows from its first row on, and its columns */
	int strip;       /* rows a block of threads, a multiple of TILE */
	int first;       /* row of the matrix */
	int *info;
	unsigned *readers; /* number of blocks that have read the diagonal block; 0 between calls */
	const T *added;    /* to the diagonal, or NULL */
};

/* Calls f(i, j, at, wanted, there) for the thread's share, among the last SHARED_BY warps, of
 * elements (whole tiles) in `rows` rows and columns `from` to `end` - 1; with SQUARE, `wanted`
 * is true on and below the diagonal only. at: the element's offset in the matrix, from row
 * `first` on. `there` is false beyond the `there` rows and `width` columns. */
template <int SHARED_BY, typename T, bool upper, bool SQUARE, typename F>
__device__ __forceinline__ void each_element(const struct triangle<T, upper> &a, int first,
        int there, int width, int rows, int from, int end, const F &f)
{
	const struct share<upper, SHARED_BY> mine = share_of<upper, SHARED_BY>(WARPS - SHARED_BY);
#pragma unroll 1
	for (int i = mine.i + (SQUARE && upper ? from : 0); i < rows; i += mine.row_step) {
		const int last = SQUARE ? min(i, end - 1) : end - 1;
		const int filled = i < there ? width : 0;
		T *at = a.at(first + i, from + mine.j);
		if (upper) {
#pragma unroll
			for (int j = from; j < WIDEST;
			        j += mine.column_step, at += mine.column_step)
				f(i, j + mine.j, at, j + mine.j <= last, j + mine.j < filled);
		} else {
#pragma unroll 4
			for (int j = from + mine.j; j <= last;
			        j += mine.column_step, at += mine.column_step * a.lda)
				f(i, j, at, true, j < filled);
		}
	}
}

/* The block's rows below the diagonal block: the first one and their number. */
template <typename T, bool upper>
__device__ __forceinline__ int strip_row(const struct block<T, upper> &b)
{
	return b.width + (int)blockIdx.x * b.strip;
}

template <typename T, bool upper>
__device__ __forceinline__ int strip_rows(const struct block<T, upper> &b)
{
	return min(b.strip, b.rows - strip_row(b));
}

/* One warp starts the copy of a tile of the first TILE columns to shared memory, in the order of
 * share_of. Rows and columns beyond the matrix become the identity's, which keeps the factor and
 * the strip's solution finite. */
template <typename T, bool upper>
__device__ void load_first(const struct block<T, upper> &b, T *s, int pitch, int columns, int tile)
{
	const int lane = threadIdx.x & 31, at = tile * TILE;
	const bool square = at < columns;
	const int row = square ? at : strip_row(b) + at - columns;
	const int there = square ? b.width - at : strip_rows(b) - (at - columns);
	const int first = upper ? 0 : lane % 8, row_step = upper ? 1 : 8;
	const int64_t apart = row_step * (upper ? b.a.lda : 1);
#pragma unroll 2
	for (int j = upper ? lane : lane / 8; j < TILE; j += upper ? TILE : 4) {
		const T *from = b.a.at(row + first, j);
		T *to = s + (at + first) * pitch + j;
		const int filled = j < b.width ? there : 0;
#pragma unroll 4
		for (int i = first; i < TILE; i += row_step, from += apart, to += row_step * pitch)
			copy_or_set(to, from, tile > 0 || i >= j, i < filled, T(at + i == j));
	}
	__pipeline_commit();
}

/* The same for the columns behind the first tile's, by the last SHARED_BY warps. */
template <int SHARED_BY, typename T, bool upper>
__device__ void load_rest(const struct block<T, upper> &b, T *s, int pitch, int columns)
{
	T *strip = s + columns * pitch;
	each_element<SHARED_BY, T, upper, true>(b.a, 0, b.width, b.width, columns, TILE, columns,
	        [&](int i, int j, const T *at, bool wanted, bool there) {
		        copy_or_set(s + i * pitch + j, at, wanted, there, T(i == j));
	        });
	each_element<SHARED_BY, T, upper, false>(b.a, strip_row(b), strip_rows(b), b.width, b.strip,
	        TILE, columns, [&](int i, int j, const T *at, bool wanted, bool there) {
		        copy_or_set(strip + i * pitch + j, at, wanted, there, T(0));
	        });
	__pipeline_commit();
}

template <typename T, bool upper>
__device__ void store_block(
        const struct block<T, upper> &b, const T *s, int pitch, int columns, bool diagonal)
{
	const T *strip = s + columns * pitch;
	each_element<WARPS, T, upper, false>(b.a, strip_row(b), strip_rows(b), b.width, b.strip, 0,
	        columns, [&](int i, int j, T *at, bool wanted, bool there) {
		        if (wanted && there)
			        *at = strip[i * pitch + j];
	        });
	if (!diagonal)
		return;
	each_element<WARPS, T, upper, true>(b.a, 0, b.width, b.width, columns, 0, columns,
	        [&](int i, int j, T *at, bool wanted, bool there) {
		        if (wanted && there)
			        *at = s[i * pitch + j];
	        });
}

} // namespace
