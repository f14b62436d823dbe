/* SPDX-License-Identifier: MIT */
/* Matrices spread over a grid of ranks, two-dimensional block-cyclic, as ScaLAPACK has them: block
 * (a, b) of mb x nb elements belongs to process row (first_row + a) mod rows and process column
 * (first + b) mod columns. A rank's rows stand below each other, its columns side by side, in their
 * order. On a grid of one process row every rank has whole columns, whatever mb, and pivoting moves
 * nothing between ranks: LAWN 202's layout on two GPUs. No rank holds the whole matrix. */
#pragma once

#include "grid.h"

struct block_cyclic {
	int64_t m, n, nb;
	int first; /* process column of the first block: ScaLAPACK's csrc */
	/* not read on a grid of one process row */
	int first_row; /* process row of the first block: ScaLAPACK's rsrc */
	int64_t mb;
};

struct distributed {
	struct grid grid;
	struct block_cyclic layout;
	struct matrix local; /* this rank's part, in executor memory */
};

/* How many of the first j rows or columns, in blocks of nb from rank `first` of `ranks` on, are the
 * rank's: ScaLAPACK's numroc. */
static inline int64_t cyclic_before(int64_t nb, int first, int rank, int ranks, int64_t j)
{
	int64_t block = j / nb, turn = (rank - first + ranks) % ranks;
	int64_t own = block % ranks, rest = own == turn ? j % nb : own > turn ? nb : 0;

	return block / ranks * nb + rest;
}

/* The process column of column j, and the process row of row i. */
static inline int block_cyclic_column(const struct block_cyclic *d, int columns, int64_t j)
{
	return (int)((d->first + j / d->nb) % columns);
}

static inline int block_cyclic_row(const struct block_cyclic *d, int rows, int64_t i)
{
	return rows == 1 ? 0 : (int)((d->first_row + i / d->mb) % rows);
}

/* How many of the columns before column j are the process column's, and of the rows before row i
 * the process row's. */
static inline int64_t block_cyclic_columns_before(
        const struct block_cyclic *d, int column, int columns, int64_t j)
{
	return cyclic_before(d->nb, d->first, column, columns, j);
}

static inline int64_t block_cyclic_rows_before(
        const struct block_cyclic *d, int row, int rows, int64_t i)
{
	return rows == 1 ? i : cyclic_before(d->mb, d->first_row, row, rows, i);
}

/* The same for this rank. */
static inline int64_t distributed_columns_before(const struct distributed *a, int64_t j)
{
	return block_cyclic_columns_before(
	        &a->layout, grid_my_column(&a->grid), grid_columns(&a->grid), j);
}

static inline int64_t distributed_rows_before(const struct distributed *a, int64_t i)
{
	return block_cyclic_rows_before(&a->layout, grid_my_row(&a->grid), grid_rows(&a->grid), i);
}

/* This rank's part of rows i .. m-1 of columns j .. j+n-1, which stands together. */
static inline struct matrix distributed_columns(
        const struct distributed *a, int64_t i, int64_t j, int64_t n)
{
	int64_t from = distributed_columns_before(a, j), top = distributed_rows_before(a, i);
	int64_t to = distributed_columns_before(a, j + n);

	return matrix_view(
	        a->local, top, from, distributed_rows_before(a, a->layout.m) - top, to - from);
}

/* Whether this rank's process column has column j, and its process row has row i. */
static inline bool distributed_owns(const struct distributed *a, int64_t j)
{
	return block_cyclic_column(&a->layout, grid_columns(&a->grid), j) ==
	       grid_my_column(&a->grid);
}

static inline bool distributed_owns_row(const struct distributed *a, int64_t i)
{
	return block_cyclic_row(&a->layout, grid_rows(&a->grid), i) == grid_my_row(&a->grid);
}

/* False with the executor's fault when the layout or the local matrix is impossible. */
bool distributed_check(struct executor *, const struct distributed *a);

/* Fills this rank's part. element: of row i, column j of the whole matrix. */
bool distributed_fill(struct executor *, const struct distributed *a,
        double (*element)(void *context, int64_t i, int64_t j), void *context);

/* Between a whole matrix in host memory of rank `root` (m x n, leading dimension ld, in the
 * precision of a; NULL elsewhere) and the ranks, columns of blocks one by one. Every rank calls
 * these. */
bool distributed_scatter(
        struct executor *, const struct distributed *a, int root, const void *host, int64_t ld);
bool distributed_gather(
        struct executor *, const struct distributed *a, int root, void *host, int64_t ld);

/* The same without the other ranks: this rank's part, all of it from or to the whole matrix. */
bool distributed_copy(
        struct executor *, const struct distributed *a, bool to_host, void *host, int64_t ld);
