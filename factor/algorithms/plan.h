/* SPDX-License-Identifier: MIT */
/* The plan of a blocked factorization: the block sizes that getrf.h, geqrf.h and potrf.h obey,
 * and the division into blocks. */
#pragma once

#include "factor/executors/executor.h"
#include "factor/executors/workspace.h"

struct plan {
	bool hybrid;           /* panels on the host CPU, by LAPACKE; else on the device */
	const char *panel;     /* LU on the device: the variant of panel_getrf for the leaves; QR:
	                          PLAN_GRAM; other names have no effect there */
	const int64_t *widths; /* columns of the blocks from the left; the last repeats */
	int64_t count;         /* of widths, at least 1 */
	int64_t leaf;          /* widest panel that the device factorizes in one call; wider
	                          panels are divided in halves */
	int64_t inverse;       /* widest triangle that is inverted to solve by gemm, at most
	                          PLAN_INVERSE_MAX (in LU 32, row_major aside); 0: solves by trsm */
	int lookahead;         /* 0: none; 1: a panel beside the update of the columns right of it;
	                          2: the first part of this update also beside the update of the
	                          panel's own columns */

	/* parts of LAWN 202's factorizations (section 5), which no other plan has */
	int64_t coarse;    /* two levels, in LU and Cholesky: blocks in a coarse block, an even
	                      number; 0: one level. Blocks update the columns of their coarse block
	                      and of half the next one; the columns behind follow by half a coarse
	                      block at once */
	bool row_major;    /* LU: row-major on the device from the first block to the last */
	bool single_swaps; /* LU with panels on the host: one call for each row swap */
	bool copies_wait;  /* panels on the host: their copies queue up with the updates */
	bool in_place;     /* QR, and Cholesky without inverses: when the matrix starts in host
	                      memory, panels on the host are factorized at their place there, and
	                      the matrix does not come back as a whole */

	int64_t stop; /* for measurements. QR: only the blocks of so many columns are factorized,
	                 and applied to all columns behind them; 0: all. LU and Cholesky ignore it
	               */
};

enum { PLAN_INVERSE_MAX = 128, PLAN_LOOKAHEAD_MAX = 2 };

/* QR's panels on the device use the Gram matrix in double precision, too, where it takes them. */
#define PLAN_GRAM "gram"
bool plan_by_gram(const struct plan *);

/* False with the executor's fault when a field is out of its range, or a shape is impossible. */
bool plan_check(struct executor *, const struct plan *);
bool matrix_check(struct executor *, struct matrix a);

/* Width of block `index` when `left` columns are left; 0 when none is. */
int64_t plan_width(const struct plan *, int64_t index, int64_t left);

/* The number of blocks in `columns` columns, and the widest. */
int64_t plan_blocks(const struct plan *, int64_t columns);
int64_t plan_widest(const struct plan *, int64_t columns);

/* Columns of the left half of a panel wider than a leaf: a multiple of the leaf, only the last leaf
 * is narrower. */
int64_t plan_left_half(const struct plan *, int64_t width);
