/* SPDX-License-Identifier: MIT */
/* Row swaps of an LU on a grid of several process rows. The ranks of a process column exchange all
 * rows that a block's swaps touch, at once: its w top rows and at most w rows below. Every rank
 * then has these rows of its columns as columns of a stack, top rows first, swaps them there (and
 * solves with the top rows), and stores its own rows again. A rank thus receives at most 2 w rows.
 *
 * Which rows these are must be known in host memory: it waits for every panel's pivots, while
 * updates run. */
#pragma once

#include "panels.h"

struct row_swaps {
	struct executor *e;
	const struct distributed *a;           /* its rows */
	struct matrix stack[QUEUE_COUNT];      /* of the queues that swap: columns x 2 widest */
	struct pivots pivots[QUEUE_COUNT];     /* swaps in the stack */
	int64_t known;                         /* this block's rows are below; -1: none */
	int64_t widest, count;                 /* touched rows below the top */
	int *below, *counts, *swaps, *shuffle; /* their rows, how many each process row has */
	struct comm_piece *pieces;
};

/* Room for swaps in at most `columns` of this rank's columns in each of the queues, by blocks of at
 * most `widest` rows. Without a base nothing works yet. row_swaps_free: its host memory. */
struct row_swaps row_swaps_workspace(struct executor *, const struct distributed *a,
        struct workspace *, int64_t widest, const int64_t columns[QUEUE_COUNT]);
void row_swaps_free(struct row_swaps *);

/* False with the executor's fault when it cannot do this. */
bool row_swaps_check(struct executor *, const struct distributed *a);

/* The block's pivots, relative to its first row: in executor memory, where all earlier work in
 * QUEUE_PANEL has put them, or in host memory; backwards: for swaps in the opposite order. */
bool row_swaps_read(struct row_swaps *, struct block b, struct pivots p);
bool row_swaps_know(struct row_swaps *, struct block b, const int *ipiv, bool backwards);

/* Swaps rows in columns, this rank's from the block's first row on, or their transpose. With
 * columns in corner, the block's unit lower triangle, the first b.w rows become the solutions. top:
 * these, transposed; they stay until the next call in this queue. */
bool row_swaps_run(struct row_swaps *, struct block b, bool row_major, struct matrix columns,
        struct matrix corner, struct matrix *top);
