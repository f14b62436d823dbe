/* SPDX-License-Identifier: MIT */
/* Launchers of the kernels of blocked factorizations. Column-major device memory, leading
 * dimensions in elements. stream is a cudaStream_t. Each returns a cudaError_t as an int; none
 * allocates or waits. Empty matrices are allowed. */
#pragma once

#include "factor/tuning/tuning.h"
#include "lib/base/matrix.h"

C_BEGIN

/* Largest orders: potrf's block, the inverted triangle, larft's T. */
enum { BLOCK_POTRF_MAX = 512, BLOCK_TRTRI_MAX = 128, BLOCK_LARFT_MAX = 512 };

/* Device memory that passes data between kernels of an operation: larft's V^T V in double. */
enum { BLOCK_SCRATCH_BYTES = BLOCK_LARFT_MAX * BLOCK_LARFT_MAX * 8 };

/* Limits of a kernel of cooperating blocks of threads: shared memory of one block, most blocks, and
 * a word of device memory that is 0 between kernels of a stream. */
struct block_room {
	int64_t shared_bytes;
	int blocks;
	unsigned *readers;
};

/* Shared memory of a block of threads that factorizes a diagonal block and solves for `strip` rows
 * below it: tiles of 32 x 32, rows 16 bytes apart, and one tile's factor with its square roots. */
static inline int64_t block_potrf_bytes(int width, int strip, int word)
{
	const int columns = (width + 31) / 32 * 32;

	return (int64_t)word * (32 * 33 + (columns + strip) * (columns + 16 / word));
}

/* Beside an update the kernel uses one of this many multiprocessors
 * (docs/experiments/panel-potrf.md). */
enum { BLOCK_POTRF_BESIDE = 3 };

/* Rows of a strip, for `below` rows and at most `blocks` blocks. Every block factorizes the
 * diagonal block, so few rows per block are fastest and use many multiprocessors. */
static inline int block_potrf_strip(
        int width, int64_t below, int word, int blocks, int64_t shared_bytes)
{
	int strip = 32;

	while (strip < 128 && below > (int64_t)strip * blocks &&
	        block_potrf_bytes(width, strip + 32, word) <= shared_bytes)
		strip += 32;
	return strip;
}

/* Of block_rank: blocks of threads per multiprocessor (limited by registers); largest inner
 * dimension; inner dimension held at a time. */
enum { BLOCK_RANK_RESIDENT = 3, BLOCK_RANK_MAX = 256, BLOCK_RANK_HELD = 128 };

/* Tiles of 32 x 32 of a trapezoid with that many columns (or rows, when upper), and whether
 * block_rank is faster than kernels for large matrices (docs/experiments/rank-update.md). */
static inline int64_t block_rank_tiles(int64_t rows, int64_t columns)
{
	int64_t down = (rows + 31) / 32, across = (columns + 31) / 32;

	return across * (across + 1) / 2 + (down - across) * across;
}

static inline bool block_rank_is_ahead(const struct tuning *tuning, enum precision precision,
        int64_t rows, int64_t columns, int64_t k)
{
	const int64_t most = tuning->rank.tiles[precision == DOUBLE];
	const int64_t tiles = block_rank_tiles(rows, columns);

	if (precision == DOUBLE && k > BLOCK_RANK_HELD)
		return k <= BLOCK_RANK_MAX && tiles <= tuning->rank.tiles_deep;
	return k <= BLOCK_RANK_MAX && tiles * k <= most * BLOCK_RANK_HELD;
}

/* layout_kernels.cu: b = a^T; lacpy; laset; explicit V of the reflectors below a's diagonal. */
int block_transpose(struct matrix a, struct matrix b, void *stream);
int block_copy(enum uplo uplo, struct matrix from, struct matrix to, void *stream);
int block_fill(enum uplo uplo, double off, double on, struct matrix a, void *stream);
int block_explicit_v(struct matrix a, struct matrix v, void *stream);

/* check_triangle's bounds: of the least over the largest magnitude, and of the largest. */
static inline double diagonal_limit(struct matrix a)
{
	return (double)a.n * (a.precision == SINGLE ? 0x1p-23 : 0x1p-52);
}

static inline double diagonal_tiny(struct matrix a)
{
	return a.precision == SINGLE ? 0x1p-103 : 0x1p-970;
}

/* pivot_kernels.cu. laswp: exchanges rows i and ipiv[i]-1 of a for i = 0 .. p.n-1, or backwards; a
 * pivot outside rows i .. a.m-1 exchanges nothing. offset_pivots: all[first + i] = panel[i] +
 * first; the first nonzero info stays, increased by first. join_halves: laswp of the columns beside
 * the second half of all's panel (at least one pivot), and all[first + i] = half[i] + first;
 * all[first] held the first half's info. raise_info: *info = value unless *info is set.
 * check_triangle: operations.h has the meaning; *doubtful stays where there is no doubt. */
int block_laswp(struct matrix a, struct pivots p, bool backwards, void *stream);
int block_offset_pivots(struct pivots panel, int64_t first, struct pivots all, void *stream);
int block_join_halves(
        struct matrix beside, struct pivots half, int64_t first, struct pivots all, void *stream);
int block_raise_info(int value, int *info, void *stream);
int block_check_triangle(struct matrix a, struct matrix b, int *info, int *doubtful, void *stream);

/* qr_columns.cu: applies the block reflector of a QR panel to the columns c right of it: c - V T^T
 * V^T c, V explicit, T with its zeros. Single precision; at most BLOCK_QR_COLUMNS_MAX columns and
 * BLOCK_QR_COLUMNS_ROWS rows of V, on devices whose clusters hold them. Meant for the few columns
 * of the next panel. */
enum { BLOCK_QR_COLUMNS_MAX = 64, BLOCK_QR_COLUMNS_ROWS = 8192 };
bool block_qr_columns_fits(enum precision precision, int64_t m, int64_t k);
int block_qr_columns(struct matrix v, struct matrix t, struct matrix c, void *stream);

/* lu_columns.cu: updates the columns c right of an LU panel a of p.n columns, both from the panel's
 * first row on: row interchanges as by laswp, solve of the first p.n rows with a's unit lower
 * triangle, update of the rows below. One kernel on devices with clusters of 16 (fits). */
enum { BLOCK_LU_COLUMNS_MAX = 64 };     /* columns of a */
enum { BLOCK_LU_COLUMNS_TURN = 16384 }; /* bytes of a column that a cluster processes at once */
bool block_lu_columns_fits(enum precision precision, int64_t m, int64_t k);
int block_lu_columns(struct matrix a, struct pivots p, struct matrix c, void *stream);

/* lu_top.cu: the same without the rows below, which a product must update. A block of threads takes
 * lu_top_bytes of shared memory. */
enum { BLOCK_LU_TOP_MAX = 128 }; /* columns of a */
int64_t block_lu_top_bytes(enum precision precision, int64_t k);
int block_lu_top(struct matrix a, struct pivots p, struct matrix c, void *stream);

/* potrf_kernels.cu: Cholesky of a diagonal block whose first row is row `first` of the matrix, and
 * the solve for the rows below it (LOWER, a m x n, m >= n) or the columns right of it (UPPER, a n x
 * m); `added` (a column, or empty) is first added to the diagonal. The first pivot that is not
 * positive (or NaN) sets info to its 1-based row. While info is set, calls with it change nothing.
 */
int block_potrf(enum uplo uplo, struct matrix a, struct matrix added, int64_t first, int *info,
        const struct block_room *room, void *stream);

/* rank_kernels.cu: C = alpha X X^T + beta C (LOWER) or alpha X^T X + beta C (UPPER), one triangle
 * and the rows below or columns right of it, inner dimension at most BLOCK_RANK_MAX. Nothing
 * happens when info is not NULL and *info not 0. */
int64_t block_rank_bytes(enum precision precision); /* most shared memory of a block */
int block_rank(enum uplo uplo, double alpha, struct matrix x, double beta, struct matrix c,
        const int *info, void *stream);

/* lu_rows.cu, for a row-major matrix, passed as its transpose c (columns x rows), from the first
 * row of an LU panel on. Exchanges rows as laswp does, then solves for the first p.n rows (at most
 * BLOCK_ROWS_MAX and block_lu_rows_most) with the column-major unit lower triangle a. a.n = 0:
 * exchanges only. p.n = 0: solves for the first a.n rows only. */
enum { BLOCK_ROWS_MAX = 512 };
int block_lu_rows(struct matrix a, struct pivots p, struct matrix c, void *stream);

/* Most shared memory of a block of threads for 64, 128, 256 or BLOCK_ROWS_MAX rows, and the most
 * rows that fit. */
#define BLOCK_ROWS_BYTES(precision, rows)                                                          \
	(((rows) <= 64                   ? 52                                                      \
	         : (rows) <= 128         ? 94                                                      \
	         : (rows) > 256          ? 216                                                     \
	         : (precision) == SINGLE ? 112                                                     \
	                                 : 200)                                                    \
	        << 10)
static inline int64_t block_lu_rows_most(enum precision precision, int64_t shared_bytes)
{
	int64_t rows = BLOCK_ROWS_MAX;

	while (rows >= 64 && shared_bytes < BLOCK_ROWS_BYTES(precision, rows))
		rows /= 2;
	return rows >= 64 ? rows : 0;
}

/* triangle_kernels.cu; shared_bytes is the shared memory that a block of threads may have. trtri:
 * inverse of the triangle a, zeros in the other triangle. larft: T from G = V^T V (both n x n) and
 * tau. */
int block_trtri(enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse,
        int64_t shared_bytes, void *stream);
int block_larft(
        struct matrix g, struct matrix tau, struct matrix t, int64_t shared_bytes, void *stream);

/* The largest order of block_larft with that much shared memory, a multiple of 32. */
int64_t block_larft_most(enum precision precision, int64_t shared_bytes);

/* guard_kernels.cu, a of order BLOCK_TRTRI_MAX at most: b, the product of inverse and kept (either
 * order), stays when the product of the largest magnitudes of the triangle a and its inverse is at
 * most `growth`. Otherwise, or when the inverse has a NaN, b becomes the solution by substitution
 * from kept. */
int block_trsm_guard(enum side side, enum uplo uplo, enum trans trans, enum diag diag,
        struct matrix a, struct matrix inverse, double growth, struct matrix kept, struct matrix b,
        void *stream);

C_END
