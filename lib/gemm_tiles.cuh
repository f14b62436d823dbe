/* SPDX-License-Identifier: MIT */
/* The tiles of C and the order in which they are worked on: bands of tile rows, column by column
 * within a band, so that the tiles at work at one time share rows of op(A) and columns of op(B) in
 * L2. Of a triangle only the tiles that touch it are counted. */
#ifndef FATHOM_GEMM_TILES_CUH
#define FATHOM_GEMM_TILES_CUH

#include "gemm.h"

struct gemm_tiles {
	int rows, columns; /* of C in tiles; equal when part is a triangle */
	int band;          /* tile rows in a band */
	enum gemm_part part;
};

struct gemm_tile {
	int row, column;
};

static inline __host__ __device__ int gemm_tile_count(const struct gemm_tiles t)
{
	return t.part == GEMM_WHOLE ? t.rows * t.columns : t.rows * (t.rows + 1) / 2;
}

/* Tile number `index` of the lower triangle of t.rows x t.rows tiles: band after band, each a
 * rectangle left of the diagonal and then the triangle at the diagonal. */
static inline __host__ __device__ struct gemm_tile gemm_tile_lower(
        const struct gemm_tiles t, int index)
{
	int first = 0, height = min(t.band, t.rows);
	while (index >= first * height + height * (height + 1) / 2) {
		index -= first * height + height * (height + 1) / 2;
		first += height;
		height = min(t.band, t.rows - first);
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
		const struct gemm_tile lower = gemm_tile_lower(t, index);
		return t.part == GEMM_LOWER ? lower : (struct gemm_tile){lower.column, lower.row};
	}
	const int full = t.band * t.columns;
	const int first = index / full * t.band;
	const int height = min(t.band, t.rows - first);
	index %= full;
	return {first + index % height, index / height};
}

#endif
