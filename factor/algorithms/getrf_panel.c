/* SPDX-License-Identifier: MIT */
/* LU panels on the device: recursive halves down to leaves, which a variant of panel_getrf
 * factorizes. */
#include "getrf_internal.h"
#include "panel_getrf.h"

static bool factor_halves(
        struct factor *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p);

bool lu_factor(
        struct factor *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p)
{
	if (a.n > s->plan->leaf)
		return factor_halves(s, a, inverse, halves, p);
	return panel_getrf(s->e, s->plan->panel, a, s->panel_work, p) &&
	       triangle_invert(s->e, &s->solve, matrix_view(a, 0, 0, a.n, a.n), inverse);
}

bool lu_at_once(const struct factor *s, int64_t w)
{
	return !s->solve.piece && w <= EXECUTOR_LU_TOP;
}

bool lu_few(const struct factor *s, int64_t w, int64_t rows, int64_t columns)
{
	return lu_at_once(s, w) && w <= EXECUTOR_LU_COLUMNS && rows <= EXECUTOR_LU_COLUMNS_ROWS &&
	       columns <= 2 * EXECUTOR_LU_COLUMNS;
}

/* Toledo's recursion (1997): left half, update of the right half, right half. Up to
 * EXECUTOR_LU_COLUMNS columns one kernel swaps, solves and updates. */
static bool factor_halves(
        struct factor *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p)
{
	struct executor *e = s->e;
	int64_t n = plan_left_half(s->plan, a.n), rest = a.n - n;
	struct pivots first = {p.data, n}, second = {halves, rest};
	int *deeper = integer_at(halves, rest + 1);
	struct matrix left = matrix_view(a, 0, 0, a.m, n), right = matrix_view(a, 0, n, a.m, rest);
	struct matrix triangle = matrix_view(left, 0, 0, n, n);
	struct matrix below = matrix_view(left, n, 0, a.m - n, n);
	struct matrix top = matrix_view(right, 0, 0, n, rest);
	struct matrix bottom = matrix_view(right, n, 0, a.m - n, rest);

	bool ok = lu_factor(s, left, inverse, halves, first);
	if (lu_few(s, n, a.m, rest))
		ok = ok && ex_lu_columns(e, left, first, right);
	else if (lu_at_once(s, n))
		ok = ok && ex_lu_top(e, left, first, right) &&
		     ex_gemm(e, PLAIN, PLAIN, -1, below, top, 1, bottom);
	else
		ok = ok && ex_laswp(e, right, first, false) &&
		     triangle_solve(e, &s->solve, triangle, inverse, s->panel_kept, top) &&
		     ex_gemm(e, PLAIN, PLAIN, -1, below, top, 1, bottom);
	return ok &&
	       lu_factor(s, bottom, matrix_view(inverse, 0, n, inverse.m, rest), deeper, second) &&
	       ex_join_halves(e, below, second, n, p);
}
