/* SPDX-License-Identifier: MIT */
/* The rows of the columns left of LU's panels: exchanged block by block, or noted and all exchanged
 * at the end (factor/kernels/lu/deferred_swaps.h). Nothing waits for them, but beside the updates they take the
 * memory's rate from what is waited for.
 *
 * Log (H200, us, 3xFP16, 3xTF32, fp32). Bound, without any: LU of 4096 3909 3800, 3923 3839, 4154
 * 4049, of 5555 6375 6198, 6885 6664, 6987 6831; of 2048 1557 1548. Floor of the exchanges at the
 * end: 4096 17, 5555 30. Measured, block by block and late, by 3xFP16, in fp32 and fp64: 4096 3905
 * 3879, 4170 4100, 5894 5827; 5555 6376 6244, 7002 6898; 8192, whose last columns go so, 11301
 * 11250; but 3000 2491 2513, 2560 in fp32 2041 2067, where what comes at the end is longer than
 * what it disturbed. All at the end takes 19 us of 4096 columns; 45, with what records cost, before
 * the copies were asynchronous and four columns shared a look at where their rows come from, 26
 * then. */
#include "getrf_internal.h"

enum { TALL = 4 }; /* times as many rows as columns: whole columns are more than rows then */

/* Rows of the columns that do not lie by rows, of all or of the last ones. */
static int64_t late_rows(const struct lu *s, int64_t widest)
{
	int64_t last = s->e->column_major + widest;
	int64_t before = s->row_major ? larger(0, s->schedule.steps - last) : 0;

	return s->a.m - before;
}

void lu_deferred_workspace(struct lu *s, struct workspace *workspace)
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

/* Of the columns that do not lie by rows. */
static struct deferred_swaps swaps(const struct lu *s)
{
	int64_t first = s->transposed_columns;

	return (struct deferred_swaps){
	        s->swaps.data, s->a.m - first, s->schedule.steps - first, s->swaps.blocks};
}

bool lu_exchange_left(struct lu *s, struct block b, struct pivots local)
{
	int64_t first = s->transposed_columns, rows = s->a.m - b.j;

	if (s->row_major)
		return true;
	if (!s->late)
		return ex_laswp(
		        s->e, matrix_view(s->a, b.j, first, rows, b.j - first), local, false);
	return ex_record_swaps(s->e, swaps(s), local, b.j - first, b.index - s->first_deferred);
}

bool lu_apply_swaps(struct lu *s)
{
	int64_t first = s->transposed_columns, columns = s->schedule.steps - first;

	if (!s->late || s->row_major)
		return true;
	s->e->queue = QUEUE_MAIN;
	return ex_apply_swaps(
	        s->e, swaps(s), matrix_view(s->a, first, first, s->a.m - first, columns));
}
