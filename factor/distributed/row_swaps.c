/* SPDX-License-Identifier: MIT */
#include "row_swaps.h"

#include "factor/algorithms/getrf.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of the executor, for pivots on their way to the host. */
enum { STAGE = 1 };

struct row_swaps row_swaps_workspace(struct executor *e, const struct distributed *a,
        struct workspace *workspace, int64_t widest, const int64_t columns[QUEUE_COUNT])
{
	struct row_swaps s = {.e = e, .a = a, .known = -1, .widest = widest};

	for (int queue = 0; queue < QUEUE_COUNT; queue++) {
		if (columns[queue] == 0)
			continue;
		s.stack[queue] =
		        workspace_matrix(workspace, columns[queue], 2 * widest, a->local.precision);
		s.pivots[queue].data = workspace_integers(workspace, 2 * widest + 1);
	}
	if (!workspace->base)
		return s;
	s.below = xcalloc((size_t)widest + 1, sizeof *s.below);
	s.counts = xcalloc((size_t)grid_rows(&a->grid), sizeof *s.counts);
	s.swaps = xcalloc(2 * (size_t)widest + 1, sizeof *s.swaps);
	s.shuffle = xcalloc(2 * (size_t)widest + 1, sizeof *s.shuffle);
	s.pieces = xcalloc((size_t)grid_rows(&a->grid) + 1, sizeof *s.pieces);
	/* a stage that grows later would wait for other ranks without a bound */
	struct matrix host;
	e->ops->stage(e, STAGE, widest, 1, SINGLE, &host);
	return s;
}

void row_swaps_free(struct row_swaps *s)
{
	free(s->below);
	free(s->counts);
	free(s->swaps);
	free(s->shuffle);
	free(s->pieces);
}

bool row_swaps_check(struct executor *e, const struct distributed *a)
{
	return grid_rows(&a->grid) == 1 || e->rows_most[a->local.precision == DOUBLE] > 0 ||
	       fault_refuse(&e->fault, "LU on several process rows needs lu_rows, which this "
	                               "executor does not have");
}

/* ---- the rows ---- */

/* The process row of a row of the block. */
static int owner(const struct row_swaps *s, struct block b, int64_t row)
{
	return block_cyclic_row(&s->a->layout, grid_rows(&s->a->grid), b.j + row);
}

/* Its place in the stack; -1 when it is not there. */
static int place(const struct row_swaps *s, struct block b, int64_t row)
{
	if (row < b.w)
		return (int)row;
	for (int i = 0; i < s->count; i++)
		if (s->below[i] == row)
			return (int)b.w + i;
	return -1;
}

/* The rows below the top, process row by process row. */
static void collect(struct row_swaps *s, struct block b, const int *ipiv)
{
	const int rows = grid_rows(&s->a->grid);

	s->count = 0;
	for (int row = 0; row < rows; row++) {
		const int64_t before = s->count;
		for (int64_t i = 0; i < b.w; i++)
			if (owner(s, b, ipiv[i] - 1) == row && place(s, b, ipiv[i] - 1) < 0)
				s->below[s->count++] = ipiv[i] - 1;
		s->counts[row] = (int)(s->count - before);
	}
}

/* Swaps of stack columns i and swaps[i] - 1 that undo the swaps so far. */
static void reverse(struct row_swaps *s, struct block b)
{
	const int n = (int)(b.w + s->count);
	int *at = s->shuffle;

	/* at[i]: which column is to come to place i */
	for (int i = 0; i < n; i++)
		at[i] = i;
	for (int i = (int)b.w - 1; i >= 0; i--) {
		const int other = s->swaps[i] - 1, kept = at[i];
		at[i] = at[other];
		at[other] = kept;
	}
	for (int i = 0; i < n; i++) {
		int from = at[i];
		while (from < i)
			from = s->swaps[from] - 1;
		s->swaps[i] = from + 1;
	}
}

bool row_swaps_know(struct row_swaps *s, struct block b, const int *ipiv, bool backwards)
{
	for (int64_t i = 0; i < b.w; i++)
		if (ipiv[i] <= i || ipiv[i] > s->a->layout.m - b.j)
			return fault_set(&s->e->fault,
			        "rank %d: block %" PRId64 " has no valid pivots",
			        s->a->grid.all->rank, b.index);
	collect(s, b, ipiv);
	for (int64_t i = 0; i < b.w; i++)
		s->swaps[i] = place(s, b, ipiv[i] - 1) + 1;
	for (int queue = 0; queue < QUEUE_COUNT; queue++)
		s->pivots[queue].n = backwards ? b.w + s->count : b.w;
	if (backwards)
		reverse(s, b);
	s->known = b.index;
	return true;
}

bool row_swaps_read(struct row_swaps *s, struct block b, struct pivots p)
{
	const struct matrix words = {p.data, 0, p.n, 1, p.n, SINGLE};
	const enum queue queue = s->e->queue;
	struct matrix host;

	if (s->known == b.index)
		return true;
	s->e->queue = QUEUE_PANEL;
	bool ok = s->e->ops->stage(s->e, STAGE, s->widest, 1, SINGLE, &host) &&
	          ex_to_host(s->e, words, matrix_view(host, 0, 0, p.n, 1)) &&
	          comm_wait(s->a->grid.all, s->e);
	s->e->queue = queue;
	return ok && row_swaps_know(s, b, matrix_address(host), false);
}

/* ---- the exchange ---- */

/* Between `count` local rows of the columns and columns of the stack. */
static bool move(struct row_swaps *s, bool row_major, bool to_stack, struct matrix columns,
        int64_t row, int64_t count, struct matrix stack, int64_t at)
{
	const struct matrix rows = row_major ? matrix_view(columns, 0, row, columns.m, count)
	                                     : matrix_view(columns, row, 0, count, columns.n);
	const struct matrix kept = matrix_view(stack, 0, at, stack.m, count);
	const struct matrix from = to_stack ? rows : kept, to = to_stack ? kept : rows;

	return row_major ? ex_copy(s->e, WHOLE, from, to) : ex_transpose(s->e, from, to);
}

/* This rank's own rows. */
static bool move_own(struct row_swaps *s, struct block b, bool row_major, bool to_stack,
        struct matrix columns, struct matrix stack)
{
	const int my = grid_my_row(&s->a->grid);
	const int64_t first = distributed_rows_before(s->a, b.j);
	bool ok = owner(s, b, 0) != my || move(s, row_major, to_stack, columns, 0, b.w, stack, 0);

	for (int64_t i = 0; ok && i < s->count; i++)
		if (owner(s, b, s->below[i]) == my)
			ok = move(s, row_major, to_stack, columns,
			        distributed_rows_before(s->a, b.j + s->below[i]) - first, 1, stack,
			        b.w + i);
	return ok;
}

static bool exchange(struct row_swaps *s, struct block b, struct matrix stack)
{
	const int rows = grid_rows(&s->a->grid);
	const int64_t bytes = stack.ld * precision_bytes(stack.precision);
	struct matrix below = matrix_view(stack, 0, b.w, stack.m, s->count);

	s->pieces[rows] = (struct comm_piece){stack.data, bytes * b.w, owner(s, b, 0)};
	for (int row = 0; row < rows; row++) {
		s->pieces[row] =
		        (struct comm_piece){matrix_address(below), bytes * s->counts[row], row};
		below = matrix_view(below, 0, s->counts[row], below.m, below.n - s->counts[row]);
	}
	return comm_exchange(
	        s->a->grid.column, s->e, s->pieces, rows + 1, "rows of block", b.index);
}

/* The block's swaps, as many in a call as the executor can do. */
static bool swap(struct row_swaps *s, struct matrix stack)
{
	const int64_t most = s->e->rows_most[stack.precision == DOUBLE];
	const struct pivots all = s->pivots[s->e->queue];
	const struct matrix none = {0};
	bool ok = true;

	for (int64_t i = 0; ok && i < all.n; i += most) {
		const struct pivots p = {all.data, min_int64(most, all.n - i)};
		for (int64_t j = 0; j < p.n; j++)
			s->shuffle[j] = s->swaps[i + j] - (int)i;
		ok = ex_store_pivots(s->e, s->shuffle, 0, p) &&
		     ex_lu_rows(s->e, none, p, matrix_view(stack, 0, i, stack.m, stack.n - i));
	}
	return ok;
}

/* Swaps in the stack, and solves with its first columns. */
static bool swap_and_solve(struct row_swaps *s, struct matrix stack, struct matrix corner)
{
	const struct pivots p = s->pivots[s->e->queue];

	if (corner.n > 0 && corner.n <= s->e->rows_most[stack.precision == DOUBLE])
		return ex_store_pivots(s->e, s->swaps, 0, p) &&
		       lu_top_row_major(s->e, corner, p, stack);
	return swap(s, stack) &&
	       (corner.n == 0 || ex_trsm(s->e, RIGHT, LOWER, TRANSPOSED, UNIT, 1, corner,
	                                 matrix_view(stack, 0, 0, stack.m, corner.n)));
}

bool row_swaps_run(struct row_swaps *s, struct block b, bool row_major, struct matrix columns,
        struct matrix corner, struct matrix *top)
{
	const int64_t n = row_major ? columns.m : columns.n;
	const struct matrix stack = room_for(s->stack[s->e->queue], n, b.w + s->count);

	*top = matrix_view(stack, 0, 0, n, b.w);
	return n == 0 || (move_own(s, b, row_major, true, columns, stack) &&
	                         exchange(s, b, stack) && swap_and_solve(s, stack, corner) &&
	                         move_own(s, b, row_major, false, columns, stack));
}
