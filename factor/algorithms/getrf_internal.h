/* SPDX-License-Identifier: MIT */
/* What getrf.c shares with getrf_panel.c, getrf_row_major.c and getrf_deferred_swaps.c: the state of one LU, its
 * panels on the device, and the rows of a block by rows. */
#ifndef FATHOM_GETRF_INTERNAL_H
#define FATHOM_GETRF_INTERNAL_H

#include "schedule.h"
#include "triangle.h"

struct lu {
	struct schedule schedule;
	struct executor *e;
	const struct plan *plan;
	struct matrix given, a; /* a: the matrix itself or its copy */
	struct pivots all;
	struct triangle solve;
	struct matrix inverse[BLOCKS_IN_FLIGHT];
	struct matrix kept;       /* right-hand sides of QUEUE_MAIN's solves */
	struct matrix panel_kept; /* and of the panels' */
	int *local;               /* every block's pivots and info, relative to its first row */
	int *halves;              /* pivots of the halves of a panel, level by level */
	int64_t integers;         /* in both together */
	int64_t kept_block;       /* whose part below the diagonal the products share */
	bool row_major;             /* works on the transpose, but in the panels, which lie by columns
	                             in memory of their own */
	struct matrix transposed, panels[BLOCKS_IN_FLIGHT];
	int64_t transposed_columns; /* that still lie by rows when the others do not any more */
	bool late;              /* exchanges reach the others left of a panel at the end */
	int64_t first_deferred;     /* the first block of which they do */
	struct deferred_swaps swaps;
	void *panel_work;
	int64_t bytes;
};

/* Workspace of a panel, the largest of its leaves' needs, in bytes, or -1. */
int64_t lu_leaves_work(const struct lu *, struct matrix a);

/* A panel on the device, with the inverses of its diagonal pieces; halves: the pivots of its
 * halves, level by level. */
bool lu_factor(struct lu *, struct matrix a, struct matrix inverse, int *halves, struct pivots p);

/* Whether rows right of a panel of w columns are exchanged and solved for in one go: when that is
 * by substitution. */
bool lu_at_once(const struct lu *, int64_t w);

/* And all of the columns updated: few of them, and of few rows. Of 16384 rows that took 92 us
 * beside an update and three kernels 35 us; 64 columns of 65536 took 82 us, solve and product
 * take 10 and 35 (H200); where panels keep it back until they are nearly done, LU of 16384 took
 * 76.3 ms with up to 8192 rows so and 77.3 with all, in fp64 81.8 and 82.5 (H100). */
bool lu_few(const struct lu *, int64_t w, int64_t rows, int64_t columns);

/* A block's panel: by rows a copy by columns, which lu_fetch makes. The first one comes from the
 * matrix itself, as lu_begin, beside it, transposes the rest. self: the struct lu. */
struct matrix lu_panel(void *self, struct block);
bool lu_fetch(void *self, struct block);
bool lu_begin(void *self, struct block);

/* The panel as it lies by rows. */
struct matrix lu_transposed_panel(const struct lu *, struct block);

/* Where the last columns begin to go by columns: whether that is at this block, and their transpose
 * back; that of the rows above them, which no block changes any more; and at the end that of what
 * still lies by rows. */
bool lu_pauses(void *self, struct block);
bool lu_pause(void *self, struct block);
bool lu_transpose_back_above(const struct lu *, struct block);
bool lu_transpose_back(const struct lu *);

/* Whether exchanges are late, and room for what is noted until then; what a block exchanges in the
 * columns left of it that do not lie by rows; and all that, late, once every block has. */
void lu_deferred_workspace(struct lu *, struct workspace *);
bool lu_exchange_left(struct lu *, struct block, struct pivots local);
bool lu_apply_swaps(struct lu *);

/* By rows, c the transpose of columns beside a panel from its first row on: rows exchanged, and the
 * first of them solved for with the panel's triangle, which lies by columns. */
bool lu_top_row_major(struct executor *, struct matrix triangle, struct pivots p, struct matrix c);

#endif
