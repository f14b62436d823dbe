/* SPDX-License-Identifier: MIT */
/* A rank's part of a symmetric update of a lower triangle: C -= L L^T by one panel L, in the rank's
 * blocks of columns, each from its diagonal block down. Operations: two for each element there and
 * column of L.
 *
 * By 3xFP16, on one process row, all blocks are one update in stairs
 * (factor/kernels/gemm/stairs.h).
 *
 * Elsewhere, products for single blocks are long and narrow. So the blocks are halved. Below the
 * first row of the right half, the left half is one product. It needs the rows of L that belong to
 * the columns of the left half, and copies of these rows stand together. The rest, the left half
 * above that row and the right half, is halved again, down to a few blocks. */
#pragma once

#include "block_cyclic.h"
#include "factor/algorithms/schedule.h"
#include "factor/executors/workspace.h"

struct lower_update {
	struct executor *e;
	const struct distributed *a;
	/* by queue: rows of L of this rank's columns; on several process rows as they arrive,
	 * process row by process row */
	struct matrix across[QUEUE_COUNT], received[QUEUE_COUNT];
	struct comm_piece *pieces;
};

/* Room for QUEUE_MAIN, which updates all columns, and for QUEUE_PANEL, which updates one block. The
 * caller frees `pieces`. */
struct lower_update lower_update_workspace(
        struct executor *, const struct distributed *, struct workspace *, int64_t widest);

/* The most columns of one product. */
int64_t lower_update_columns(const struct executor *, const struct distributed *);

/* Columns j .. j+n-1 of the matrix by block b. panel: this rank's rows of L below b's diagonal
 * block. In the current queue; on several process rows all of a process column call it. */
bool lower_update(struct lower_update *, struct block b, struct matrix panel, int64_t j, int64_t n);
