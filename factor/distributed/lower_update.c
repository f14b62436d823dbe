/* SPDX-License-Identifier: MIT */
#include "lower_update.h"

#include "panels.h"
#include "factor/executors/split.h"

#include "lib/base/msg.h"

#include <stdlib.h>

/* This rank's blocks of columns from column `first` of the matrix on, `step` columns apart. */
struct blocks {
	struct lower_update *u;
	struct block b;
	struct matrix panel, across;
	int64_t first, step, count;
};

/* So many blocks are updated one by one. */
static int64_t few(const struct lower_update *u)
{
	const struct several_tuning *t = &u->e->tuning.several;

	if (u->a->local.precision == DOUBLE)
		return t->in_double;
	return u->e->math == MATH_FP32 ? t->in_single : t->by_splits;
}

static bool divided(const struct lower_update *u)
{
	return grid_rows(&u->a->grid) > 1;
}

/* Whether there is one call for all blocks. */
static bool has_stairs(const struct executor *e, const struct distributed *a)
{
	return grid_rows(&a->grid) == 1 && e->math == MATH_3XFP16 && a->local.precision == SINGLE;
}

/* ---- which blocks ---- */

/* Where block t begins, in columns of the matrix; behind the last one the matrix ends. */
static int64_t column(const struct blocks *s, int64_t t)
{
	return min_int64(s->first + t * s->step, s->u->a->layout.n);
}

static int64_t width(const struct blocks *s, int64_t t)
{
	return min_int64(s->u->a->layout.nb, s->u->a->layout.n - column(s, t));
}

static int64_t row_of(const struct blocks *s, int64_t i)
{
	return distributed_rows_before(s->u->a, i);
}

/* This rank's elements of blocks lo .. hi-1 from row `top` up to `end`. */
static struct matrix elements(
        const struct blocks *s, int64_t lo, int64_t hi, int64_t top, int64_t end)
{
	const int64_t n = (hi - 1 - lo) * s->u->a->layout.nb + width(s, hi - 1);

	return matrix_view(s->u->a->local, top, distributed_columns_before(s->u->a, column(s, lo)),
	        end - top, n);
}

/* Rows of the panel from this rank's row `top` up to `end`. */
static struct matrix panel_rows(const struct blocks *s, int64_t top, int64_t end)
{
	const int64_t above = row_of(s, s->b.j + s->b.w);

	return matrix_view(s->panel, top - above, 0, end - top, s->b.w);
}

/* The panel's rows that belong to the columns of blocks lo .. hi-1. */
static struct matrix across_rows(const struct blocks *s, int64_t lo, int64_t hi)
{
	const int64_t nb = s->u->a->layout.nb;

	return matrix_view(s->across, lo * nb, 0, (hi - 1 - lo) * nb + width(s, hi - 1), s->b.w);
}

/* ---- rows across ---- */

static int64_t blocks_of_row(const struct blocks *s, int row)
{
	const struct distributed *a = s->u->a;
	int64_t count = 0;

	for (int64_t t = 0; t < s->count; t++)
		count += block_cyclic_row(&a->layout, grid_rows(&a->grid), column(s, t)) == row;
	return count;
}

/* Where the rows of block t arrive: behind those of process rows before its own. */
static struct matrix arriving(const struct blocks *s, int64_t t)
{
	const struct distributed *a = s->u->a;
	const struct matrix room = s->u->received[s->u->e->queue];
	const int rows = grid_rows(&a->grid),
	          owner = block_cyclic_row(&a->layout, rows, column(s, t));
	const int64_t high = panels_block_rows(&a->layout);
	int64_t at = 0;

	for (int row = 0; row < owner; row++)
		at += blocks_of_row(s, row) * high * s->b.w;
	for (int64_t before = 0; before < t; before++)
		at += block_cyclic_row(&a->layout, rows, column(s, before)) == owner ? high : 0;
	return (struct matrix){room.data, room.offset + at, width(s, t), s->b.w,
	        blocks_of_row(s, owner) * high, room.precision};
}

static struct matrix own_rows(const struct blocks *s, int64_t t)
{
	const int64_t top = row_of(s, column(s, t));

	return panel_rows(s, top, top + width(s, t));
}

/* Every process row sends the rows that it has to its process column. */
static bool exchange(const struct blocks *s)
{
	struct lower_update *u = s->u;
	const struct distributed *a = u->a;
	char *data = matrix_address(u->received[u->e->queue]);
	bool ok = true;

	for (int64_t t = 0; ok && t < s->count; t++)
		ok = !distributed_owns_row(a, column(s, t)) ||
		     ex_copy(u->e, WHOLE, own_rows(s, t), arriving(s, t));
	for (int row = 0; row < grid_rows(&a->grid); row++) {
		const int64_t bytes = blocks_of_row(s, row) * panels_block_rows(&a->layout) *
		                      s->b.w * precision_bytes(s->across.precision);
		u->pieces[row] = (struct comm_piece){data, bytes, row};
		data += bytes;
	}
	return ok && comm_exchange(a->grid.column, u->e, u->pieces, grid_rows(&a->grid),
	                     "rows of panel", s->b.index);
}

static bool copy_across(const struct blocks *s)
{
	bool ok = !divided(s->u) || exchange(s);

	for (int64_t t = 0; ok && t < s->count; t++)
		ok = ex_copy(s->u->e, WHOLE, divided(s->u) ? arriving(s, t) : own_rows(s, t),
		        across_rows(s, t, t + 1));
	return ok;
}

/* ---- products ---- */

/* Block t down to row `end`. */
static bool update_block(const struct blocks *s, int64_t t, int64_t end)
{
	struct executor *e = s->u->e;
	const struct distributed *a = s->u->a;
	const int64_t top = row_of(s, column(s, t));
	const struct matrix l = panel_rows(s, top, end);
	const struct matrix c = elements(s, t, t + 1, top, end);

	return distributed_owns_row(a, column(s, t))
	               ? ex_syrk(e, LOWER, PLAIN, -1, l, 1, c)
	               : ex_gemm(e, PLAIN, TRANSPOSED, -1, l, across_rows(s, t, t + 1), 1, c);
}

/* Blocks lo .. hi-1 down to row `end`. */
static bool update_blocks(const struct blocks *s, int64_t lo, int64_t hi, int64_t end)
{
	const int64_t middle = lo + (hi - lo) / 2, turn = row_of(s, column(s, middle));
	bool ok = true;

	if (hi - lo <= few(s->u)) {
		for (int64_t t = lo; ok && t < hi; t++)
			ok = update_block(s, t, end);
		return ok;
	}
	return ex_gemm(s->u->e, PLAIN, TRANSPOSED, -1, panel_rows(s, turn, end),
	               across_rows(s, lo, middle), 1, elements(s, lo, middle, turn, end)) &&
	       update_blocks(s, lo, middle, turn) && update_blocks(s, middle, hi, end);
}

static bool update_all(const struct blocks *s)
{
	const struct lower_update *u = s->u;
	const int64_t top = row_of(s, s->first), end = row_of(s, u->a->layout.m);
	const struct stairs stairs = {u->a->layout.nb, s->step};
	const struct matrix l = panel_rows(s, top, end), c = elements(s, 0, s->count, top, end);
	const bool in_one =
	        s->count > 1 && has_stairs(u->e, u->a) && split_wanted_stairs(u->e, stairs, l, c);

	if ((divided(u) || in_one || s->count > few(u)) && !copy_across(s))
		return false;
	return in_one ? ex_stairs(u->e, stairs, -1, l, across_rows(s, 0, s->count), c)
	              : update_blocks(s, 0, s->count, end);
}

/* ---- the calls ---- */

struct lower_update lower_update_workspace(struct executor *e, const struct distributed *a,
        struct workspace *workspace, int64_t widest)
{
	const enum precision precision = a->local.precision;
	const int64_t nb = panels_block_rows(&a->layout), blocks = (a->local.n + nb - 1) / nb;
	struct lower_update u = {.e = e, .a = a};

	if (divided(&u) || blocks > (has_stairs(e, a) ? 1 : few(&u)))
		u.across[QUEUE_MAIN] = workspace_matrix(workspace, blocks * nb, widest, precision);
	if (!divided(&u))
		return u;
	u.across[QUEUE_PANEL] = workspace_matrix(workspace, nb, widest, precision);
	u.received[QUEUE_MAIN] = workspace_matrix(workspace, blocks * nb, widest, precision);
	u.received[QUEUE_PANEL] = workspace_matrix(workspace, nb, widest, precision);
	if (workspace->base)
		u.pieces = xcalloc((size_t)grid_rows(&a->grid), sizeof *u.pieces);
	return u;
}

int64_t lower_update_columns(const struct executor *e, const struct distributed *a)
{
	const int64_t nb = panels_block_rows(&a->layout), blocks = (a->local.n + nb - 1) / nb;

	return (has_stairs(e, a) ? blocks : (blocks + 1) / 2) * nb;
}

bool lower_update(struct lower_update *u, struct block b, struct matrix panel, int64_t j, int64_t n)
{
	const struct distributed *a = u->a;
	const int columns = grid_columns(&a->grid);
	struct blocks s = {u, b, panel, u->across[u->e->queue], j, columns * a->layout.nb, 0};

	while (s.first < j + n && !distributed_owns(a, s.first))
		s.first += a->layout.nb;
	for (int64_t i = s.first; i < j + n; i += s.step)
		s.count++;
	return s.count == 0 || update_all(&s);
}
