/* SPDX-License-Identifier: MIT */
/* The grids of the Householder panels' kernels, for their launchers and their work. */
#pragma once

#include "lib/base/precision.h"
#include "factor/kernels/lu/panel_geometry.h"

/* ---- one exchange a column in one cluster (panel_geqrf_cluster.cu) ---- */

enum {
	CLUSTER_BLOCKS = 16,
	CLUSTER_WARPS = 8, /* of a block, at most */
	FEWEST_WARPS = 32, /* of the cluster */
	WORDS = 16         /* columns of a lane */
};

/* A kernel for panels of up to `columns` columns. rows: of a thread. */
struct cluster_shape {
	enum precision precision;
	int columns, rows;
};

/* X(real, columns, rows) */
#define CLUSTER_SHAPES(X)                                                                          \
	X(float, 32, 2)                                                                            \
	X(float, 32, 4)                                                                            \
	X(float, 32, 8)                                                                            \
	X(float, 64, 2)                                                                            \
	X(float, 64, 4)                                                                            \
	X(float, 64, 8)                                                                            \
	X(float, 128, 2)                                                                           \
	X(float, 128, 4)                                                                           \
	X(float, 128, 8)                                                                           \
	X(double, 32, 2)                                                                           \
	X(double, 32, 4)                                                                           \
	X(double, 64, 2)                                                                           \
	X(double, 64, 4)

/* Rows a warp. */
static inline int cluster_rows_of(const struct cluster_shape *v)
{
	return v->rows * 32 * WORDS / v->columns;
}

/* With at most that many warps a block. */
static inline bool cluster_shape_takes(
        const struct cluster_shape *v, enum precision precision, int64_t m, int64_t n, int warps)
{
	return v->precision == precision && n <= v->columns &&
	       m <= (int64_t)CLUSTER_BLOCKS * warps * cluster_rows_of(v);
}

/* Blocks, as few as leave one warp on each scheduler if the cluster may be that large. */
static inline int cluster_blocks_of(const struct cluster_shape *v, int64_t m)
{
	int blocks = FEWEST_WARPS / 4;
	while (blocks < CLUSTER_BLOCKS && (int64_t)4 * blocks * cluster_rows_of(v) < m)
		blocks *= 2;
	return blocks;
}

static inline int cluster_warps_of(const struct cluster_shape *v, int64_t m, int blocks)
{
	const int64_t rows = (int64_t)blocks * cluster_rows_of(v), warps = (m + rows - 1) / rows;
	return warps * blocks < FEWEST_WARPS ? FEWEST_WARPS / blocks : (int)warps;
}

/* ---- by the Gram matrix (panel_geqrf_gram.cu, panel_geqrf_gram_cluster.cu) ---- */

enum {
	GRAM_WARPS = 8, /* of a block of the cluster */
	GRAM_ROWS_STEP = 32,
	GRAM_FIRST_ROWS = 416, /* of the first block, at most */
	GRAM_OTHER_ROWS = 544,
	GRAM_PAIRS = 6,                      /* of warps in a block of the kernels for more rows */
	GRAM_PAIRS_DOUBLE = 4,               /* and of those in double precision */
	GRAM_AT_ONCE = 16,                   /* rows that a pair processes at once */
	GRAM_NARROW = PANEL_GRAM_COLUMNS / 2 /* columns that kernels of their own take */
};

/* Blocks of the cluster; rows of the first block, and of each other block. */
struct gram_shares {
	int blocks, first, share;
};

static inline int64_t gram_whole_steps(int64_t rows)
{
	return (rows + GRAM_ROWS_STEP - 1) / GRAM_ROWS_STEP * GRAM_ROWS_STEP;
}

/* Equal shares as long as the first block's memory holds its own: all of the top are among them. */
static inline struct gram_shares gram_shares_of(int64_t m)
{
	int blocks = FEWEST_WARPS / GRAM_WARPS;
	while (blocks < CLUSTER_BLOCKS && (int64_t)2 * blocks * PANEL_GRAM_COLUMNS <= m)
		blocks *= 2;
	const int64_t even = gram_whole_steps((m + blocks - 1) / blocks),
	              first = max_int64(PANEL_GRAM_COLUMNS, min_int64(GRAM_FIRST_ROWS, even)),
	              share = first < GRAM_FIRST_ROWS
	                              ? first
	                              : gram_whole_steps((m - first + blocks - 2) / (blocks - 1));
	return (struct gram_shares){blocks, (int)first, (int)share};
}

/* Blocks with that many pairs of the kernels for more rows: one a multiprocessor, or fewer for few
 * rows. */
static inline int gram_blocks_for(int64_t rows, int pairs, int64_t most)
{
	const int64_t step = GRAM_AT_ONCE * pairs, wanted = (rows + step - 1) / step;
	return (int)min_int64(wanted, most);
}

/* ---- in memory (panel_geqrf_columns.cu) ---- */

enum { COLUMNS_THREADS = 256, COLUMNS_BLOCKS_PER_SM = 2, COLUMNS_FEWEST_ROWS = 256 };

/* Rows of a block, for at most `most` blocks. */
static inline int64_t columns_rows_of_block(int64_t m, int64_t most)
{
	const int64_t rows = (m + most - 1) / most;
	return max_int64(COLUMNS_FEWEST_ROWS, (rows + 31) / 32 * 32);
}
