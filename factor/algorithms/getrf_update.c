/* SPDX-License-Identifier: MIT */
/* LU right of a panel: row swaps, the solve for the block's own rows of U, the product below. With
 * two levels of blocks the columns behind get all three from half a coarse block at once. */
#include "getrf_internal.h"
#include "getrf.h"

#include "factor/executors/split.h"

/* Whether one kernel swaps and solves the rows right of a panel of w columns: when the plan solves
 * by substitution. */
bool lu_at_once(const struct factor *s, int64_t w)
{
	return !s->solve.piece && !s->plan->single_swaps && w <= EXECUTOR_LU_TOP;
}

bool lu_few(const struct factor *s, int64_t w, int64_t rows, int64_t columns)
{
	return lu_at_once(s, w) && w <= EXECUTOR_LU_COLUMNS &&
	       rows <= s->e->tuning.layout.lu_columns_rows && columns <= 2 * EXECUTOR_LU_COLUMNS;
}

struct matrix lu_part(const struct factor *s, int64_t i, int64_t j, int64_t rows, int64_t n)
{
	return s->row_major ? matrix_view(s->transposed, j, i, n, rows)
	                    : matrix_view(s->a, i, j, rows, n);
}

static struct matrix below_diagonal(const struct factor *s, struct block b)
{
	int64_t first = b.j + b.w;

	return lu_part(s, first, b.j, s->a.m - first, b.w);
}

/* ---- row swaps ---- */

/* A row of columns j .. j+n-1, as the executor's swap takes it. */
static struct matrix row_of(const struct factor *s, int64_t i, int64_t j, int64_t n)
{
	struct matrix row = lu_part(s, i, j, 1, n);

	return s->row_major ? (struct matrix){row.data, row.offset, 1, n, 1, row.precision} : row;
}

static bool swap_rows(struct factor *s, int64_t i, int64_t k, int64_t j, int64_t n)
{
	return n == 0 || ex_swap(s->e, row_of(s, i, j, n), row_of(s, k, j, n));
}

bool lu_single_swaps(struct factor *s, struct block b)
{
	bool ok = true;

	for (int64_t i = b.j; ok && i < b.j + b.w; i++) {
		int64_t other = b.j + s->noted[i] - 1, right = b.j + b.w;
		if (other == i)
			continue;
		ok = s->row_major ? swap_rows(s, i, other, 0, s->a.n)
		                  : swap_rows(s, i, other, 0, b.j) &&
		                            swap_rows(s, i, other, right, s->a.n - right);
	}
	return ok;
}

/* Of all rows from the block's first one on. */
static bool swap_columns(struct factor *s, struct block b, int64_t j, int64_t n)
{
	struct matrix none = matrix_view(s->a, 0, 0, 0, 0);
	struct matrix columns = lu_part(s, b.j, j, s->a.m - b.j, n);

	if (s->plan->single_swaps)
		return true;
	return s->row_major ? ex_lu_rows(s->e, none, lu_local_pivots(s, b), columns)
	                    : ex_laswp(s->e, columns, lu_local_pivots(s, b), false);
}

/* ---- U's rows ---- */

static bool solve(struct factor *s, struct block b, int64_t j, int64_t n, struct matrix kept)
{
	return triangle_solve(s->e, lu_triangle(s), lu_part(s, b.j, b.j, b.w, b.w),
	        lu_inverse_of(s, b), kept, lu_part(s, b.j, j, b.w, n));
}

/* Row swaps, and the solve for the block's own rows. */
static bool update_top(struct factor *s, struct block b, int64_t j, int64_t n, struct matrix kept)
{
	struct matrix panel = lu_panel(s, b), columns = lu_part(s, b.j, j, s->a.m - b.j, n);
	struct pivots local = lu_local_pivots(s, b), none = {NULL, 0};

	if (s->row_major && !lu_triangle(s)->piece)
		return lu_top_row_major(s->e, matrix_view(panel, 0, 0, b.w, b.w),
		        s->plan->single_swaps ? none : local, columns);
	if (!s->row_major && lu_at_once(s, b.w))
		return ex_lu_top(s->e, panel, local, columns);
	return swap_columns(s, b, j, n) && solve(s, b, j, n, kept);
}

/* ---- products ---- */

/* c -= a b */
struct product {
	struct matrix a, b, c;
};

/* Rows i .. i+rows-1 of columns j .. j+n-1 minus their part of L times the block's rows of U. */
static struct product product_of(
        const struct factor *s, struct block b, int64_t i, int64_t rows, int64_t j, int64_t n)
{
	struct matrix l = lu_part(s, i, b.j, rows, b.w), u = lu_part(s, b.j, j, b.w, n),
	              c = lu_part(s, i, j, rows, n);

	return s->row_major ? (struct product){u, l, c} : (struct product){l, u, c};
}

static bool subtract(struct factor *s, struct product p)
{
	return ex_gemm(s->e, PLAIN, PLAIN, -1, p.a, p.b, 1, p.c);
}

static struct product below_block(const struct factor *s, struct block b, int64_t j, int64_t n)
{
	int64_t first = b.j + b.w;

	return product_of(s, b, first, s->a.m - first, j, n);
}

/* Products with a block share the split operands of its part below the diagonal. */
static void keep(struct factor *s, struct block b)
{
	if (s->kept_block != b.index)
		split_keep(s->e, below_diagonal(s, b));
	s->kept_block = b.index;
}

/* ---- the steps of the schedule ---- */

bool lu_top(struct factor *s, struct block b, int64_t j, int64_t n)
{
	return update_top(s, b, j, n, s->kept);
}

/* Only in row-major blocks: in column-major ones the panel comes next and should have the device
 * for itself. */
bool lu_ready(struct factor *s, struct block b, int64_t j, int64_t n)
{
	struct product p = below_block(s, b, j, n);

	if (!s->row_major)
		return true;
	keep(s, b);
	return split_ready(s->e, PLAIN, PLAIN, p.a, p.b, p.c);
}

bool lu_bottom(struct factor *s, struct block b, int64_t j, int64_t n)
{
	keep(s, b);
	return subtract(s, below_block(s, b, j, n));
}

bool lu_update(struct factor *s, struct block b, int64_t j, int64_t n)
{
	return lu_top(s, b, j, n) && lu_bottom(s, b, j, n);
}

bool lu_narrow(struct factor *s, struct block b, int64_t n)
{
	return !s->row_major && lu_few(s, b.w, s->a.m - b.j, n);
}

bool lu_next_update(struct factor *s, struct block b, int64_t n)
{
	int64_t j = b.j + b.w;

	if (lu_narrow(s, b, n))
		return ex_lu_columns(s->e, lu_panel(s, b), lu_local_pivots(s, b),
		        lu_part(s, b.j, j, s->a.m - b.j, n));
	return update_top(s, b, j, n, s->panel_kept) && subtract(s, below_block(s, b, j, n));
}

static struct block block_after(const struct factor *s, struct block b)
{
	return schedule_next(&s->schedule, b);
}

/* Its blocks' swaps first: the half's L has all of them. */
bool lu_coarse(struct factor *s, struct block half, int64_t j, int64_t n)
{
	int64_t end = half.j + half.w;
	struct block first = {half.index, half.j, plan_width(s->plan, half.index, half.w)};
	bool ok = true;

	for (struct block b = first; ok && b.j < end; b = block_after(s, b))
		ok = swap_columns(s, b, j, n);
	for (struct block b = first; ok && b.j < end; b = block_after(s, b)) {
		int64_t below = b.j + b.w;
		ok = solve(s, b, j, n, s->kept) &&
		     subtract(s, product_of(s, b, below, end - below, j, n));
	}
	return ok && subtract(s, below_block(s, half, j, n));
}
