/* SPDX-License-Identifier: MIT */
/* Updates by 3xFP16 in one kernel, by warpgroups of compute capability 9.0. */
#pragma once

#include "stairs.h"

C_BEGIN

/* Size of a tile. A multiprocessor holds one at a time. */
enum { HALF_TILE_ROWS = 128, HALF_TILE_COLUMNS = 192 };

/* Tiles of an m x n matrix that overlap its part. */
static inline int64_t half_update_tiles(enum uplo part, int64_t m, int64_t n)
{
	const int64_t side = part == UPPER ? m : n, across = part == UPPER ? n : m;
	const int64_t line = part == UPPER ? HALF_TILE_ROWS : HALF_TILE_COLUMNS;
	const int64_t tile = HALF_TILE_ROWS + HALF_TILE_COLUMNS - line;
	int64_t tiles = 0;

	for (int64_t at = 0; at < side; at += line) {
		const int64_t first = part == WHOLE ? 0 : at / tile,
		              end = (across + tile - 1) / tile;
		tiles += end > first ? end - first : 0;
	}
	return tiles;
}

/* The same in stairs. */
static inline int64_t half_stairs_tiles(struct stairs stairs, int64_t m, int64_t n)
{
	const int64_t end = (m + HALF_TILE_ROWS - 1) / HALF_TILE_ROWS;
	int64_t tiles = 0;

	for (int64_t at = 0; at < n; at += HALF_TILE_COLUMNS)
		tiles += max_int64(0, end - stairs_top(stairs, at) / HALF_TILE_ROWS);
	return tiles;
}

/* Of `rounds` rounds with one tile per multiprocessor: the number that one block processes when it
 * must let other kernels in between. */
HOST_DEVICE static inline int64_t half_update_share(int64_t rounds)
{
	const int64_t most = 4, some = rounds / 4;

	return some < 1 ? 1 : some < most ? some : most;
}

/* Needs code for sm_90a (struct current, warpgroups). c += alpha X^T Y; `left` and `right` are the
 * pairs of X and Y (factor/kernels/gemm/half_pair.h), with at most TF32_PIECE elements along the
 * inner dimension, at addresses of multiples of 16 bytes. c is m x n. part WHOLE: X has m columns,
 * Y n. LOWER (m >= n): the triangle and the rows below it; UPPER (m <= n): the triangle and the
 * columns right of it; left and right are one pair with as many columns as the longer side. The
 * rest of c keeps its values, but elements beside the diagonal are read and written back. c starts
 * at a multiple of 16 bytes, its leading dimension is a multiple of four. shared: lets other
 * kernels in between; else blocks stay until the end, which is faster alone. stream is a
 * cudaStream_t; returns a cudaError_t. */
int half_update(enum uplo part, double alpha, struct matrix left, struct matrix right,
        struct matrix c, bool shared, void *stream);

/* The same in stairs, whose last column begins above row m; X has m columns, Y n. */
int half_stairs(struct stairs stairs, double alpha, struct matrix left, struct matrix right,
        struct matrix c, bool shared, void *stream);

C_END
