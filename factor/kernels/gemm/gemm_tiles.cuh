/* SPDX-License-Identifier: MIT */
/* The tiles of C and their order: bands of tile rows, column by column within a band, so that
 * running tiles share rows of op(A) and columns of op(B) in L2. The last band of a whole C goes row
 * by row: tiles of a row that C cuts take longer and come last. In a triangle only the tiles that
 * touch it are counted. */
#pragma once

#include "gemm.h"

struct gemm_tiles {
	int rows, columns; /* of C in tiles */
	int band;          /* tile rows in a band */
	enum gemm_part part;
};

struct gemm_tile {
	int row, column;
};

static inline __host__ __device__ int gemm_tile_count(const struct gemm_tiles t)
{
	const int square = min(t.rows, t.columns), rest = max(t.rows, t.columns) - square;
	return t.part == GEMM_WHOLE ? t.rows * t.columns
	                            : square * (square + 1) / 2 + rest * square;
}

/* Tile number `index` of the lower triangle of square x square tiles and the tile rows below it,
 * `rows` in all: band after band, each a rectangle left of the diagonal and then the triangle at
 * the diagonal. */
static inline __host__ __device__ struct gemm_tile gemm_tile_lower(
        int band, int rows, int square, int index)
{
	int first = 0, height = min(band, square);
	while (first < square && index >= first * height + height * (height + 1) / 2) {
		index -= first * height + height * (height + 1) / 2;
		first += height;
		height = min(band, square - first);
	}
	if (first == square) {
		first += index / (band * square) * band;
		height = min(band, rows - first);
		index %= band * square;
		return {first + index % height, index / height};
	}
	if (index < first * height)
		return {first + index % height, index / height};
	index -= first * height;
	int column = 0;
	while (index >= height - column)
		index -= height - column++;
	return {first + column + index, first + column};
}

static inline __host__ __device__ struct gemm_tile gemm_tile_at(
        const struct gemm_tiles t, int index)
{
	if (t.part != GEMM_WHOLE) {
		const struct gemm_tile lower = gemm_tile_lower(
		        t.band, max(t.rows, t.columns), min(t.rows, t.columns), index);
		return t.part == GEMM_LOWER ? lower : (struct gemm_tile){lower.column, lower.row};
	}
	const int full = t.band * t.columns;
	const int first = index / full * t.band;
	index %= full;
	if (first + t.band >= t.rows)
		return {first + index / t.columns, index % t.columns};
	return {first + index % t.band, index / t.band};
}
