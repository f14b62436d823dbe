/* SPDX-License-Identifier: MIT */
/* Launchers of the kernels of blocked factorizations. Column-major device memory, leading
 * dimensions in elements; each returns a cudaError_t as an int. stream is a cudaStream_t. None
 * allocates or waits. Matrices without elements are allowed. */
#ifndef FATHOM_BLOCK_KERNELS_H
#define FATHOM_BLOCK_KERNELS_H

#include "lib/base/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Largest sizes: of potrf's block, of the triangle to be inverted, of larft's T. */
enum { BLOCK_POTRF_MAX = 512, BLOCK_TRTRI_MAX = 128, BLOCK_LARFT_MAX = 512 };

/* Device memory that an operation of several kernels needs: larft's V^T V in double. */
enum { BLOCK_SCRATCH_BYTES = BLOCK_LARFT_MAX * BLOCK_LARFT_MAX * 8 };

/* What a kernel of cooperating blocks of threads finds: the shared memory that one may have, how
 * many it should be at most, and a word of device memory that is 0 between kernels of a stream. */
struct block_room {
	int64_t shared_bytes;
	int blocks;
	unsigned *readers;
};

/* Shared memory of a block of threads that factorizes a diagonal block and solves for `strip` rows
 * below it: in tiles of 32 x 32, rows 16 bytes apart, and one tile's factor with its roots. */
static inline int64_t block_potrf_bytes(int width, int strip, int word)
{
	const int columns = (width + 31) / 32 * 32;

	return (int64_t)word * (32 * 33 + (columns + strip) * (columns + 16 / word));
}

/* Beside an update blocks are for one multiprocessor of so many (H200, 2000 rows of fp32 with their
 * update by 128 columns beside: strips of 32, 64, 96 rows 39.4, 32.5, 31.9 us, alone 18.7, 19.5,
 * 23.1; with that of 3xFP16, which is over before the panel, 27.7, 29.2, 31.1. For one of four: 256
 * columns of 3640 rows beside 3xFP16 94 us, for one of three 86, of two 82; by 128 columns 42.9,
 * 44.1, 48.4). */
enum { BLOCK_POTRF_BESIDE = 3 };

/* How many rows that are, with `below` of them and `blocks` blocks at most: all of them factorize
 * the diagonal block, so that few rows are quickest and many spare multiprocessors. */
static inline int block_potrf_strip(
        int width, int64_t below, int word, int blocks, int64_t shared_bytes)
{
	int strip = 32;

	while (strip < 128 && below > (int64_t)strip * blocks &&
	        block_potrf_bytes(width, strip + 32, word) <= shared_bytes)
		strip += 32;
	return strip;
}

/* block_rank's blocks of threads on a multiprocessor, by their registers; its largest inner
 * dimension, the one that it holds at a time, and in how many tiles it is ahead with that; in
 * double precision with a larger one. */
enum {
	BLOCK_RANK_RESIDENT = 3,
	BLOCK_RANK_MAX = 256,
	BLOCK_RANK_HELD = 128,
	BLOCK_RANK_TILES = 1100,
	BLOCK_RANK_TILES_DOUBLE = 1600,
	BLOCK_RANK_TILES_DEEP = 400
};

/* Tiles of 32 x 32 of a trapezoid with that many columns (or rows, when upper), and whether
 * block_rank updates it sooner than kernels for large matrices do (H100, us, 128 columns by 128:
 * fp32 3968 rows 6.4 and 9.5, 8064 11.0 and 12.1, 16000 20.5 and 18.6; fp64 8.2 and 10.8, 14.1 and
 * 18.5, 26.5 and 32.3, but a triangle of 2048 29 and 30; 256 columns by 256: fp32 1024 rows 8.9 and
 * 13.4, 2048 11.3 and 13.9, 3840 21.1 and 18.3; fp64 256 rows 4.7 and 11.8, 1536 11.6 and 12.2,
 * 1792 15.6 and 13.1). */
static inline int64_t block_rank_tiles(int64_t rows, int64_t columns)
{
	int64_t down = (rows + 31) / 32, across = (columns + 31) / 32;

	return across * (across + 1) / 2 + (down - across) * across;
}

static inline bool block_rank_is_ahead(
        enum precision precision, int64_t rows, int64_t columns, int64_t k)
{
	const int64_t most = precision == SINGLE ? BLOCK_RANK_TILES : BLOCK_RANK_TILES_DOUBLE;
	const int64_t tiles = block_rank_tiles(rows, columns);

	if (precision == DOUBLE && k > BLOCK_RANK_HELD)
		return k <= BLOCK_RANK_MAX && tiles <= BLOCK_RANK_TILES_DEEP;
	return k <= BLOCK_RANK_MAX && tiles * k <= most * BLOCK_RANK_HELD;
}

/* layout_kernels.cu: b = a^T; lacpy; laset; V of the reflectors below a's diagonal. */
int block_transpose(struct matrix a, struct matrix b, void *stream);
int block_copy(enum uplo uplo, struct matrix from, struct matrix to, void *stream);
int block_fill(enum uplo uplo, double off, double on, struct matrix a, void *stream);
int block_explicit_v(struct matrix a, struct matrix v, void *stream);

/* pivot_kernels.cu. laswp: rows i and ipiv[i]-1 of a exchanged for i = 0 .. p.n-1, or backwards; a
 * pivot that is no row of a from its own downwards exchanges nothing. offset_pivots: all[first + i]
 * = panel[i] + first; the first info that is not zero stays, moved by first. join_halves: laswp of
 * what is beside the second half of all's panel, one pivot at least, and all[first + i] = half[i] +
 * first; the first half's info is all[first]. raise_info: *info = value unless *info is set.
 * zero_diagonal: *info = the 1-based index of the first exactly zero element of the diagonal of a
 * (m >= n), 0 when there is none. */
int block_laswp(struct matrix a, struct pivots p, bool backwards, void *stream);
int block_offset_pivots(struct pivots panel, int64_t first, struct pivots all, void *stream);
int block_join_halves(
        struct matrix beside, struct pivots half, int64_t first, struct pivots all, void *stream);
int block_raise_info(int value, int *info, void *stream);
int block_zero_diagonal(struct matrix a, int *info, void *stream);

/* qr_columns.cu: the columns c right of a QR panel less what its reflectors take: c - V T^T V^T c,
 * V explicit, with T's zeros. In single precision, V of BLOCK_QR_COLUMNS_MAX columns and
 * BLOCK_QR_COLUMNS_ROWS rows at most, on devices with clusters that hold it. Meant for few columns,
 * which the next panel waits for. */
enum { BLOCK_QR_COLUMNS_MAX = 64, BLOCK_QR_COLUMNS_ROWS = 8192 };
bool block_qr_columns_fits(enum precision precision, int64_t m, int64_t k);
int block_qr_columns(struct matrix v, struct matrix t, struct matrix c, void *stream);

/* lu_columns.cu: the columns c right of an LU panel a of p.n columns, both from the panel's first
 * row on: rows exchanged as by laswp, the first p.n rows solved for with a's unit lower triangle,
 * those below them less what is left of them in a times these. One kernel on devices with clusters
 * of 16 (fits). */
enum { BLOCK_LU_COLUMNS_MAX = 64 };     /* columns of a */
enum { BLOCK_LU_COLUMNS_TURN = 16384 }; /* bytes of a column that a cluster goes through at once */
bool block_lu_columns_fits(enum precision precision, int64_t m, int64_t k);
int block_lu_columns(struct matrix a, struct pivots p, struct matrix c, void *stream);

/* lu_top.cu: the same without the rows below, whose product is still to come; a block of threads
 * takes lu_top_bytes of shared memory. */
enum { BLOCK_LU_TOP_MAX = 128 }; /* columns of a */
int64_t block_lu_top_bytes(enum precision precision, int64_t k);
int block_lu_top(struct matrix a, struct pivots p, struct matrix c, void *stream);

/* potrf_kernels.cu: Cholesky of a diagonal block whose first row is row `first` of the matrix, and
 * the solution for what is below it (LOWER, a m x n, m >= n) or right of it (UPPER, a n x m): a
 * pivot that is not positive (or NaN) sets info, once, to its 1-based row; from then on all calls
 * with this info leave their blocks alone. */
int block_potrf(enum uplo uplo, struct matrix a, int64_t first, int *info,
        const struct block_room *room, void *stream);

/* rank_kernels.cu: one triangle of C = alpha X X^T + beta C (LOWER) or alpha X^T X + beta C
 * (UPPER), and what is below or right of it, with an inner dimension of at most BLOCK_RANK_MAX.
 * Nothing happens when info is not NULL and *info not 0. */
int64_t block_rank_bytes(enum precision precision); /* of shared memory, at most */
int block_rank(enum uplo uplo, double alpha, struct matrix x, double beta, struct matrix c,
        const int *info, void *stream);

/* lu_rows.cu, for a matrix that lies by rows, as its transpose c (columns x rows), from the first
 * row of an LU panel on: rows exchanged as by laswp, then the first p.n of them (BLOCK_ROWS_MAX at
 * most, block_lu_rows_most) solved for with the unit lower triangle a, which lies by columns; with
 * a.n = 0 exchanged only, with p.n = 0 its first a.n rows solved for only. */
enum { BLOCK_ROWS_MAX = 512 };
int block_lu_rows(struct matrix a, struct pivots p, struct matrix c, void *stream);

/* Shared memory that a block of threads takes at most for 64, 128, 256 or BLOCK_ROWS_MAX of them,
 * and for how many it has room. */
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

/* triangle_kernels.cu; shared_bytes is what a block of threads may have of shared memory. trtri:
 * inverse of the triangle a, zeros in the other triangle. larft: T out of G = V^T V (both n x n)
 * and tau. */
int block_trtri(enum uplo uplo, enum diag diag, struct matrix a, struct matrix inverse,
        int64_t shared_bytes, void *stream);
int block_larft(
        struct matrix g, struct matrix tau, struct matrix t, int64_t shared_bytes, void *stream);

/* guard_kernels.cu, a of order BLOCK_TRTRI_MAX at most: b, which is inverse times kept (or kept
 * times inverse), stays when the product of the largest magnitudes of the triangle a and of its
 * inverse is at most `growth`; else, and when the inverse has a NaN, b becomes the solution by
 * substitution from kept. */
int block_trsm_guard(enum side side, enum uplo uplo, enum trans trans, enum diag diag,
        struct matrix a, struct matrix inverse, double growth, struct matrix kept, struct matrix b,
        void *stream);

#ifdef __cplusplus
}
#endif
#endif
