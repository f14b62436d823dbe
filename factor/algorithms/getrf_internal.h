/* SPDX-License-Identifier: MIT */
/* The state of one LU, and what getrf.c and getrf_row_major.c share. */
#pragma once

#include "schedule.h"
#include "triangle.h"

struct factor {
	struct schedule schedule;
	struct executor *e;
	const struct plan *plan;
	struct matrix given, a; /* a: the matrix itself or its copy */
	struct pivots all;
	struct triangle solve;
	struct matrix inverse[BLOCKS_IN_FLIGHT];
	struct matrix kept;       /* right-hand sides of QUEUE_MAIN's solves */
	struct matrix panel_kept; /* of the panels' solves */
	int *local;               /* every block's pivots and info, relative to its first row */
	int *halves;              /* pivots of the halves of a panel, level by level */
	int64_t integers;         /* in local and halves together */
	int64_t kept_block;       /* its part below the diagonal is a shared split operand */
	bool row_major;           /* row-major now: works on the transpose, with panels apart */
	struct matrix transposed, panels[BLOCKS_IN_FLIGHT];
	int64_t transposed_columns; /* still row-major after the return to column-major */
	bool late;                  /* row swaps left of a panel are deferred */
	int64_t first_deferred;     /* the first block with deferred swaps */
	struct deferred_swaps swaps;
	void *panel_work;
	int64_t bytes;
};

/* A block's panel; in row-major storage a column-major copy, which lu_fetch makes. The first panel
 * comes from the matrix itself, and lu_begin transposes the other columns beside it. */
struct matrix lu_panel(struct factor *s, struct block);
bool lu_fetch(struct factor *s, struct block);
bool lu_begin(struct factor *s, struct block);

/* The panel in the transpose. */
struct matrix lu_transposed_panel(const struct factor *, struct block);

/* The return to column-major. lu_pauses: whether it is at this block; lu_pause: transposes the last
 * columns; lu_transpose_back_above: the rows above them, which no later block changes;
 * lu_transpose_back: at the end, all that is still row-major. */
bool lu_pauses(struct factor *s, struct block);
bool lu_pause(struct factor *s, struct block);
bool lu_transpose_back_above(const struct factor *, struct block);
bool lu_transpose_back(const struct factor *);
