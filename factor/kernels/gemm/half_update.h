/* SPDX-License-Identifier: MIT */
/* Updates by 3xFP16 in one kernel, by warpgroups of compute capability 9.0. */
#ifndef FATHOM_HALF_UPDATE_H
#define FATHOM_HALF_UPDATE_H

#include "lib/base/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of its tiles; a multiprocessor has one at a time. */
enum { HALF_TILE_ROWS = 128, HALF_TILE_COLUMNS = 192 };

/* Tiles of an m x n matrix that have something of its part. */
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

/* Of `rounds` of one tile on every multiprocessor, how many a block has that makes room for other
 * kernels in between. An eighth or a sixteenth of them, or two at most, makes LU, QR and Cholesky
 * of 5555 to 20000 columns no quicker (H200: 0.6 % less to 2 % more). */
#ifdef __CUDACC__
__host__ __device__
#endif
        static inline int64_t
        half_update_share(int64_t rounds)
{
	const int64_t most = 4, some = rounds / 4;

	return some < 1 ? 1 : some < most ? some : most;
}

/* Whether this program has that kernel for the device that is current: it needs code for sm_90a. */
bool half_update_built(void);

/* c += alpha X^T Y, of which `left` and `right` are the pairs (factor/kernels/gemm/half_pair.h), of at most
 * TF32_PIECE elements along the inner dimension, at addresses of multiples of 16 bytes. part: of a
 * c of m x n WHOLE takes X of m columns and Y of n; LOWER (m >= n) the triangle and what is below
 * it, UPPER (m <= n) the triangle and what is right of it, and left and right are one pair of as
 * many columns as the longer side has. The rest of c stays as it is, but beside the diagonal it is
 * read and written back. c begins at 16 bytes and has a leading dimension of a multiple of four.
 * shared: other kernels come in between; else blocks stay until the end, which is quicker alone.
 * stream is a cudaStream_t; returns a cudaError_t. */
int half_update(enum uplo part, double alpha, struct matrix left, struct matrix right,
        struct matrix c, bool shared, void *stream);

#ifdef __cplusplus
}
#endif
#endif
