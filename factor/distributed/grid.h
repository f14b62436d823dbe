/* SPDX-License-Identifier: MIT */
/* Process grids, as ScaLAPACK has them: rank i of a communicator stands in process row i / columns
 * and process column i % columns. */
#pragma once

#include "comm.h"

struct grid {
	struct comm *all;
	struct comm *row;    /* of this rank's process row: rank q is process column q */
	struct comm *column; /* of this rank's process column: rank p is process row p. NULL in a
	                        grid of one process row */
};

/* One process row. */
struct grid grid_of_row(struct comm *);

/* rows x columns of comm's ranks, rows * columns of them; every rank calls this. False with a
 * fault. grid_free: its parts, not comm, which lives longer. */
bool grid_open(struct grid *, struct comm *comm, int rows, int columns, struct fault *fault);
void grid_free(struct grid *);

static inline int grid_rows(const struct grid *g)
{
	return g->column ? g->column->ranks : 1;
}

static inline int grid_columns(const struct grid *g)
{
	return g->row->ranks;
}

/* Where this rank stands. */
static inline int grid_my_row(const struct grid *g)
{
	return g->column ? g->column->rank : 0;
}

static inline int grid_my_column(const struct grid *g)
{
	return g->row->rank;
}

/* Longest wait without progress. */
void grid_set_seconds(const struct grid *, double seconds);

/* Waits for all work of the executor, and for all broadcasts. */
bool grid_sync(const struct grid *, struct executor *);
