/* SPDX-License-Identifier: MIT */
/* Row-major LU: when, its transposes, and the rows of a block right of its panel. */
#include "getrf.h"
#include "getrf_internal.h"

#include "factor/executors/split.h"

/* One kernel solves for at most this many rows; larger triangles are divided, with products
 * between. */
enum { ROWS_AT_ONCE = 256 };

/* c := c triangle^-T. */
static bool solve_rows(struct executor *e, struct matrix triangle, struct matrix c)
{
	struct pivots none = {NULL, 0};
	int64_t n = triangle.n, h = n / 2;

	if (n <= ROWS_AT_ONCE)
		return ex_lu_rows(e, triangle, none, c);
	struct matrix first = matrix_view(c, 0, 0, c.m, h);
	struct matrix second = matrix_view(c, 0, h, c.m, n - h);
	return solve_rows(e, matrix_view(triangle, 0, 0, h, h), first) &&
	       ex_gemm(e, PLAIN, TRANSPOSED, -1, first, matrix_view(triangle, h, 0, n - h, h), 1,
	               second) &&
	       solve_rows(e, matrix_view(triangle, h, h, n - h, n - h), second);
}

bool lu_top_row_major(struct executor *e, struct matrix triangle, struct pivots p, struct matrix c)
{
	struct matrix none = matrix_view(triangle, 0, 0, 0, 0);

	if (triangle.n <= ROWS_AT_ONCE)
		return ex_lu_rows(e, triangle, p, c);
	return (p.n == 0 || ex_lu_rows(e, none, p, c)) && solve_rows(e, triangle, c);
}

/* ---- the transposes ---- */

/* By the plan, or by size: contiguous row swaps pay for two transposes of a large matrix and of its
 * panels; in double precision, where panels take a smaller part of the time, from four fifths of
 * the columns on. */
bool getrf_row_major(const struct executor *e, const struct plan *plan, struct matrix a)
{
	int64_t columns = min_int64(a.m, a.n), from = e->row_major;

	if (plan->row_major)
		return true;
	if (a.precision == DOUBLE)
		from -= from / 5;
	return e->row_major && !plan->hybrid && !plan->inverse && !plan->coarse &&
	       columns >= from && plan_widest(plan, columns) <= e->rows_most[a.precision == DOUBLE];
}

struct matrix lu_panel(struct factor *s, struct block b)
{
	int64_t rows = s->a.m - b.j;

	return s->row_major ? matrix_view(s->panels[block_turn(b)], 0, 0, rows, b.w)
	                    : matrix_view(s->a, b.j, b.j, rows, b.w);
}

struct matrix lu_transposed_panel(const struct factor *s, struct block b)
{
	return matrix_view(s->transposed, b.j, b.j, b.w, s->a.m - b.j);
}

bool lu_fetch(struct factor *s, struct block b)
{
	if (!s->row_major)
		return true;
	if (b.index == 0)
		return ex_copy(s->e, WHOLE, matrix_view(s->a, 0, 0, s->a.m, b.w), lu_panel(s, b));
	return ex_transpose(s->e, lu_transposed_panel(s, b), lu_panel(s, b));
}

bool lu_begin(struct factor *s, struct block b)
{
	int64_t right = s->a.n - b.w;

	return !s->row_major || ex_transpose(s->e, matrix_view(s->a, 0, b.w, s->a.m, right),
	                                matrix_view(s->transposed, b.w, 0, right, s->a.m));
}

bool lu_pauses(struct factor *s, struct block b)
{
	return s->row_major && !s->plan->row_major &&
	       s->schedule.steps - b.j - b.w < s->e->column_major;
}

bool lu_pause(struct factor *s, struct block b)
{
	s->row_major = false;
	s->transposed_columns = b.j;
	s->first_deferred = b.index;
	split_turn(s->e, TRANSPOSED, TF32_LEFT);
	return ex_transpose(s->e, matrix_view(s->transposed, b.j, b.j, s->a.n - b.j, s->a.m - b.j),
	        matrix_view(s->a, b.j, b.j, s->a.m - b.j, s->a.n - b.j));
}

bool lu_transpose_back_above(const struct factor *s, struct block b)
{
	if (s->row_major || b.j != s->transposed_columns)
		return true;
	return ex_transpose(s->e, matrix_view(s->transposed, 0, 0, s->a.n, b.j),
	        matrix_view(s->a, 0, 0, b.j, s->a.n));
}

bool lu_transpose_back(const struct factor *s)
{
	int64_t n = s->row_major ? s->a.n : s->transposed_columns;
	int64_t above = s->row_major ? 0 : s->transposed_columns, rows = s->a.m - above;

	return ex_transpose(s->e, matrix_view(s->transposed, 0, above, n, rows),
	        matrix_view(s->a, above, 0, rows, n));
}
