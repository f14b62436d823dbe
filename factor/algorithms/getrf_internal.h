/* SPDX-License-Identifier: MIT */
/* The state of one LU, and what getrf.c, getrf_update.c and getrf_row_major.c share. */
#pragma once

#include "schedule.h"
#include "triangle.h"

struct factor {
	struct schedule schedule;
	struct executor *e;
	const struct plan *plan;
	struct matrix given, a; /* a: the matrix itself or its copy */
	struct pivots all;
	struct triangle solve;  /* in column-major panels, and right of them */
	struct triangle across; /* in row-major columns, with the transposed triangle */
	struct matrix inverse[BLOCKS_IN_FLIGHT]; /* of all blocks of half a coarse block */
	struct matrix kept;                      /* right-hand sides of QUEUE_MAIN's solves */
	struct matrix panel_kept;                /* of the panels' solves */
	int *local;         /* every block's pivots and info, relative to its first row */
	int *noted;         /* the pivots on the host, for single swaps */
	int *halves;        /* pivots of the halves of a panel, level by level */
	int64_t integers;   /* in local and halves together */
	int64_t kept_block; /* its part below the diagonal is a shared split operand */
	bool row_major;     /* row-major now: works on the transpose, with panels apart */
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

/* The triangle that solves for U's rows right of a block, its inverses, and its pivots relative to
 * its first row. */
static inline const struct triangle *lu_triangle(const struct factor *s)
{
	return s->row_major ? &s->across : &s->solve;
}
static inline struct matrix lu_inverse_of(const struct factor *s, struct block b)
{
	const int64_t half = plan_half(s->plan);
	struct matrix all = s->inverse[b.index / half % BLOCKS_IN_FLIGHT];
	const int64_t widest = all.n / half;

	return matrix_view(all, 0, b.index % half * widest, all.m, b.w);
}
static inline struct pivots lu_local_pivots(const struct factor *s, struct block b)
{
	return (struct pivots){integer_at(s->local, b.j + b.index), b.w};
}

/* Rows i .. i+rows-1 of columns j .. j+n-1 as they are stored: in row-major storage transposed. */
struct matrix lu_part(const struct factor *, int64_t i, int64_t j, int64_t rows, int64_t n);

/* Whether one kernel swaps and solves the rows right of a panel of w columns, and whether it also
 * updates the columns: few of them, of few rows. */
bool lu_at_once(const struct factor *, int64_t w);
bool lu_few(const struct factor *, int64_t w, int64_t rows, int64_t columns);

/* The block's row swaps in all columns but its own, one call for each (row-major: its own, too). */
bool lu_single_swaps(struct factor *, struct block);

/* The steps of the schedule right of a panel. */
bool lu_top(struct factor *, struct block, int64_t j, int64_t n);
bool lu_ready(struct factor *, struct block, int64_t j, int64_t n);
bool lu_bottom(struct factor *, struct block, int64_t j, int64_t n);
bool lu_update(struct factor *, struct block, int64_t j, int64_t n);
bool lu_narrow(struct factor *, struct block, int64_t n);
bool lu_next_update(struct factor *, struct block, int64_t n);
bool lu_coarse(struct factor *, struct block half, int64_t j, int64_t n);
