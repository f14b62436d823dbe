/* SPDX-License-Identifier: MIT */
/* Matrices spread over ranks, one-dimensional block-cyclic by columns: block b of nb columns
 * belongs to rank (first + b) mod ranks. A rank's columns stand side by side, in their order. This
 * is ScaLAPACK's layout on a grid of one process row, and LAWN 202's on two GPUs: pivoting moves
 * nothing between ranks. No rank holds the whole matrix. */
#pragma once

#include "comm.h"

struct block_cyclic {
	int64_t m, n, nb;
	int first; /* rank of the first block: ScaLAPACK's csrc */
};

struct distributed {
	struct comm *comm;
	struct block_cyclic layout;
	struct matrix local; /* this rank's columns, layout.m rows, in executor memory */
};

/* The rank of column j. */
static inline int block_cyclic_rank(const struct block_cyclic *d, int ranks, int64_t j)
{
	return (int)((d->first + j / d->nb) % ranks);
}

/* How many of the columns before column j are the rank's: ScaLAPACK's numroc. */
static inline int64_t block_cyclic_before(
        const struct block_cyclic *d, int rank, int ranks, int64_t j)
{
	int64_t block = j / d->nb, turn = (rank - d->first + ranks) % ranks;
	int64_t own = block % ranks, rest = own == turn ? j % d->nb : own > turn ? d->nb : 0;

	return block / ranks * d->nb + rest;
}

/* Rows i .. m-1 of this rank's columns among columns j .. j+n-1, which stand side by side. */
static inline struct matrix distributed_columns(
        const struct distributed *a, int64_t i, int64_t j, int64_t n)
{
	const struct comm *c = a->comm;
	int64_t from = block_cyclic_before(&a->layout, c->rank, c->ranks, j);
	int64_t to = block_cyclic_before(&a->layout, c->rank, c->ranks, j + n);

	return matrix_view(a->local, i, from, a->layout.m - i, to - from);
}

static inline bool distributed_owns(const struct distributed *a, int64_t j)
{
	return block_cyclic_rank(&a->layout, a->comm->ranks, j) == a->comm->rank;
}

/* False with the executor's fault when the layout or the local matrix is impossible. */
bool distributed_check(struct executor *, const struct distributed *a);

/* Fills this rank's columns. element: of row i, column j of the whole matrix. */
bool distributed_fill(struct executor *, const struct distributed *a,
        double (*element)(void *context, int64_t i, int64_t j), void *context);

/* Between a whole matrix in host memory of rank `root` (m x n, leading dimension ld, in the
 * precision of a; NULL elsewhere) and the ranks, block by block. Every rank calls these. */
bool distributed_scatter(
        struct executor *, const struct distributed *a, int root, const void *host, int64_t ld);
bool distributed_gather(
        struct executor *, const struct distributed *a, int root, void *host, int64_t ld);
