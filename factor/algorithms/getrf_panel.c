/* SPDX-License-Identifier: MIT */
/* LU's panels on the device: recursion down to the leaves, which a variant of panel_getrf
 * factorizes. */
#include "getrf_internal.h"
#include "panel_getrf.h"

int64_t lu_leaves_work(const struct lu *s, struct matrix a)
{
	if (a.n <= s->plan->leaf)
		return panel_getrf_work(s->e, s->plan->panel, a);

	int64_t n = plan_left_half(s->plan, a.n);
	int64_t left = lu_leaves_work(s, matrix_view(a, 0, 0, a.m, n));
	int64_t right = lu_leaves_work(s, matrix_view(a, n, n, a.m - n, a.n - n));
	return left < 0 || right < 0 ? -1 : larger(left, right);
}

static bool factor_halves(
        struct lu *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p);

bool lu_factor(struct lu *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p)
{
	if (a.n > s->plan->leaf)
		return factor_halves(s, a, inverse, halves, p);
	return panel_getrf(s->e, s->plan->panel, a, s->panel_work, p) &&
	       triangle_invert(s->e, &s->solve, matrix_view(a, 0, 0, a.n, a.n), inverse);
}

bool lu_at_once(const struct lu *s, int64_t w)
{
	return !s->solve.piece && w <= EXECUTOR_LU_TOP;
}

bool lu_few(const struct lu *s, int64_t w, int64_t rows, int64_t columns)
{
	return lu_at_once(s, w) && w <= EXECUTOR_LU_COLUMNS && rows <= EXECUTOR_LU_COLUMNS_ROWS &&
	       columns <= 2 * EXECUTOR_LU_COLUMNS;
}

/* Toledo's recursion (1997): left half, update of the right half, right half.
 *
 * Log. Exchanges and solve by one kernel: in fp64 8192 20.5 -> 19.8 ms, in fp32 15.3 -> 15.0, but
 * by 3xTF32 12.7 -> 13.6 (H200), since it came to its multiprocessors as soon as the panel had
 * begun, and products waited for these. With panels that keep it back (factor/kernels/lu/panel_cluster.cu), by
 * 3xFP16 8192 13.6 -> 13.3, 16384 50.6 -> 49.2 (H100). And with the product in the same kernel, in
 * matrices by rows as in others: 8192 15.3 -> 14.9, by 3xFP16 13.3 -> 12.2, by 3xTF32 14.1 14.1, in
 * fp64 20.0 -> 18.9, 16384 76.6 76.4, by 3xFP16 49.2 -> 48.4. The exchanges in the left half
 * launched early: fp64 8192 18.85 18.84, by 3xFP16 16384 47.45 47.50, fp32 4096 4.33 4.38 (H200).
 * Products of that queue launched early, and letting panels come early: 5555 7.69 -> 7.92, 8192
 * 14.93 15.00, by 3xFP16 12.34 12.36, QR of 4096 and 8192 5.76 24.8 -> 5.91 25.1 (H100). */
static bool factor_halves(
        struct lu *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p)
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
