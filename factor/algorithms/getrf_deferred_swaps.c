/* SPDX-License-Identifier: MIT */
/* Row swaps in the columns left of LU's panels: made block by block, or noted and all made at the
 * end (factor/kernels/lu/deferred_swaps.h). Nothing waits for them, but beside the updates they
 * take memory bandwidth from work that is waited for. In small matrices the swaps at the end take
 * longer than the interference costs. */
#include "getrf_internal.h"

enum { TALL = 4 }; /* rows over columns: in taller matrices whole columns are more to move */

/* Rows of the column-major columns. */
static int64_t late_rows(const struct factor *s, int64_t widest)
{
	int64_t last = s->e->column_major + widest;
	int64_t before = s->row_major ? max_int64(0, s->schedule.steps - last) : 0;

	return s->a.m - before;
}

void lu_deferred_workspace(struct factor *s, struct workspace *workspace)
{
	const struct executor *e = s->e;
	int64_t columns = s->schedule.steps, rows = late_rows(s, plan_widest(s->plan, columns));

	s->late = e->deferred_from && columns >= e->deferred_from &&
	          rows <= e->deferred_most[s->a.precision == DOUBLE] &&
	          rows <= TALL * (columns - (s->a.m - rows));
	s->swaps = (struct deferred_swaps){NULL, rows, columns, plan_blocks(s->plan, columns)};
	if (s->late)
		s->swaps.data = workspace_integers(workspace, deferred_swaps_integers(s->swaps));
}

static struct deferred_swaps swaps(const struct factor *s)
{
	int64_t first = s->transposed_columns;

	return (struct deferred_swaps){
	        s->swaps.data, s->a.m - first, s->schedule.steps - first, s->swaps.blocks};
}

bool lu_exchange_left(struct factor *s, struct block b, struct pivots local)
{
	int64_t first = s->transposed_columns, rows = s->a.m - b.j;

	if (s->row_major)
		return true;
	if (!s->late)
		return ex_laswp(
		        s->e, matrix_view(s->a, b.j, first, rows, b.j - first), local, false);
	return ex_record_swaps(s->e, swaps(s), local, b.j - first, b.index - s->first_deferred);
}

bool lu_apply_swaps(struct factor *s)
{
	int64_t first = s->transposed_columns, columns = s->schedule.steps - first;

	if (!s->late || s->row_major)
		return true;
	s->e->queue = QUEUE_MAIN;
	return ex_apply_swaps(
	        s->e, swaps(s), matrix_view(s->a, first, first, s->a.m - first, columns));
}
