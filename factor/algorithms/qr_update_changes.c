/* SPDX-License-Identifier: MIT */
/* The changes of a QR factorization: those that sweep up (columns added, rows removed, A + U V^T),
 * and those that sweep down (columns removed, rows added). */
#include "qr_update_internal.h"

#include "gram_schmidt.h"

#include <float.h>
#include <math.h>

/* Whether all of Q is kept; its columns from n on are no part of Q R. */
static bool whole(const struct qr_factors *f)
{
	return f->kept == Q_FULL || (f->kept == Q_THIN && f->m == f->n);
}

/* Columns of U in one step when `left` are left. */
static int64_t at_once(const struct update *u, int64_t left)
{
	const struct qr_factors *f = u->f;
	bool few = u->change == QR_MODIFY && f->kept == Q_THIN && !whole(f);
	int64_t outside = few ? f->m - f->n : left;

	return min_int64(min_int64(left, SWEEP_COLUMNS), min_int64(f->n, outside));
}

/* The change in steps of w of its columns or rows from the s-th on. */
static bool in_steps(struct update *u, bool (*some)(struct update *, int64_t s, int64_t w))
{
	bool ok = true;

	for (int64_t s = 0, w; ok && s < u->p; s += w) {
		w = at_once(u, u->p - s);
		ok = some(u, s, w);
	}
	return ok;
}

static struct matrix columns_of(struct matrix a, int64_t s, int64_t w)
{
	return matrix_view(a, 0, s, a.m, w);
}

/* All of Q: makes w, Q^T U from row `from` on, upper triangular from row n on, if it has rows to
 * reduce there. */
static bool reduce(struct update *u, int64_t from, int64_t p)
{
	const struct qr_factors *f = u->f;
	int64_t rows = f->m - from;

	return rows < f->n + p || sweep_window(&u->sweep, update_system_at(u, from, rows, 0, 0),
	                                  matrix_view(u->w, f->n, 0, rows - f->n, p), f->n, 0);
}

static bool project(struct update *u, struct matrix columns)
{
	const struct qr_factors *f = u->f;

	return ex_gemm(u->e, TRANSPOSED, PLAIN, 1, matrix_view(f->q, 0, 0, f->m, f->m), columns, 0,
	               matrix_view(u->w, 0, 0, f->m, columns.n)) &&
	       reduce(u, 0, columns.n);
}

/* Thin Q: the p columns behind n of Q's from `from` on become orthonormal to them; w (n + p rows)
 * holds the coefficients. info: the first dependent one, plus `before`. */
static bool append(struct update *u, int64_t from, int64_t p, int64_t before)
{
	const struct qr_factors *f = u->f;

	return orthogonalize(u->e, SWEEP_COLUMNS, matrix_view(f->q, 0, from, f->m, f->n + p), f->n,
	               matrix_view(u->w, 0, 0, f->n + p, p), u->gram, u->info) &&
	       ex_offset_pivots(
	               u->e, (struct pivots){u->info, 0}, before, (struct pivots){u->result, 0});
}

/* The same for given columns, and the new rows of Q^T B. */
static bool append_columns(struct update *u, struct matrix columns, int64_t before)
{
	const struct qr_factors *f = u->f;
	int64_t p = columns.n;
	struct matrix new = matrix_view(f->q, 0, f->n, f->m, p);

	return ex_copy(u->e, WHOLE, columns, new) && append(u, 0, p, before) &&
	       (f->d.n == 0 || ex_gemm(u->e, TRANSPOSED, PLAIN, 1, new, u->b, 0,
	                               matrix_view(f->d, f->n, 0, p, f->d.n)));
}

/* Clears rows n .. n+p-1 of R's first `columns` columns, now part of R. */
static bool more_rows(struct update *u, int64_t p, int64_t columns)
{
	return ex_fill(u->e, WHOLE, 0, 0, matrix_view(u->f->r, u->f->n, 0, p, columns));
}

/* ---- add columns: up ---- */

/* Columns k + s .. of R come from the new ones; the columns right of them begin in column k + p. */
static bool add_some(struct update *u, int64_t s, int64_t p)
{
	struct qr_factors *f = u->f;
	int64_t n = f->n, k = u->k + s;
	struct matrix columns = columns_of(u->u, s, p), spike = matrix_view(f->r, 0, k, n + p, p);
	bool ok = (f->kept == Q_FULL ? project(u, columns) : append_columns(u, columns, s)) &&
	          ex_copy(u->e, WHOLE, matrix_view(u->w, 0, 0, n + p, p), spike) &&
	          sweep_up(&u->sweep, update_system_at(u, 0, n + p, u->k + u->p, n - k), spike, k);

	f->n += ok ? p : 0;
	return ok;
}

bool update_add_columns(struct update *u)
{
	int64_t k = u->k, p = u->p, n = u->f->n;

	return ex_clear_info(u->e, u->result) &&
	       update_move(u, u->f->r, n, n - k, 0, k, 0, k + p) && more_rows(u, p, n + p) &&
	       in_steps(u, add_some);
}

/* ---- remove rows: up to row 0 ---- */

/* w := the unit vectors of p rows from row k on in terms of the columns of Q from `from` on. */
static bool project_units(struct update *u, int64_t from, int64_t k, int64_t p)
{
	const struct qr_factors *f = u->f;
	int64_t rows = f->m - from;

	return ex_transpose(u->e, matrix_view(f->q, k, from, p, rows),
	               matrix_view(u->w, 0, 0, rows, p)) &&
	       reduce(u, from, p);
}

static bool append_units(struct update *u, int64_t from, int64_t k, int64_t p)
{
	const struct qr_factors *f = u->f;
	struct matrix new = matrix_view(f->q, 0, from + f->n, f->m, p);

	return ex_fill(u->e, WHOLE, 0, 0, new) &&
	       ex_fill(u->e, WHOLE, 0, 1, matrix_view(new, k, 0, p, p)) && append(u, from, p, from);
}

/* w from the rows: R^T W = rows^T, and below it Cholesky's factor of I - W^T W, less the possible
 * rounding of zero. */
static bool solve_units(struct update *u, int64_t from, struct matrix rows)
{
	struct executor *e = u->e;
	int64_t n = u->f->n, p = rows.m;
	struct matrix w = matrix_view(u->w, 0, 0, n, p), s = matrix_view(u->w, n, 0, p, p);

	double rounding =
	        4 * sqrt((double)n) * (w.precision == SINGLE ? (double)FLT_EPSILON : DBL_EPSILON);

	return ex_transpose(e, rows, w) &&
	       ex_trsm(e, LEFT, UPPER, TRANSPOSED, NON_UNIT, 1, matrix_view(u->f->r, from, 0, n, n),
	               w) &&
	       ex_fill(e, WHOLE, 0, 1 - rounding, s) &&
	       ex_gemm(e, TRANSPOSED, PLAIN, -1, w, w, 1, s) &&
	       ex_potrf_block(e, UPPER, s, (struct matrix){0}, from, u->result) &&
	       ex_fill(e, LOWER, 0, 0, matrix_view(s, 1, 0, p - 1, p - 1));
}

/* New rows of Q^T B: the part of the right-hand sides of the p rows outside of R's columns. */
static bool solve_sides(struct update *u, int64_t from, struct matrix b)
{
	const struct qr_factors *f = u->f;
	int64_t n = f->n, p = b.m;
	struct matrix new = matrix_view(f->d, from + n, 0, p, f->d.n);

	if (f->d.n == 0)
		return true;
	return ex_copy(u->e, WHOLE, b, new) &&
	       ex_gemm(u->e, TRANSPOSED, PLAIN, -1, matrix_view(u->w, 0, 0, n, p),
	               matrix_view(f->d, from, 0, n, f->d.n), 1, new) &&
	       ex_trsm(u->e, LEFT, UPPER, TRANSPOSED, NON_UNIT, 1, matrix_view(u->w, n, 0, p, p),
	               new);
}

static bool remove_some(struct update *u, int64_t s, int64_t p)
{
	const struct qr_factors *f = u->f;
	struct matrix b = matrix_view(u->b, s, 0, p, f->d.n);
	bool ok;

	if (f->kept == Q_FULL)
		ok = project_units(u, s, u->k + s, p);
	else if (f->kept == Q_THIN)
		ok = append_units(u, s, u->k + s, p) && solve_sides(u, s, b);
	else
		ok = solve_units(u, s, matrix_view(u->u, s, 0, p, u->u.n)) && solve_sides(u, s, b);
	return ok && sweep_up(&u->sweep, update_system_at(u, s, f->n + p, 0, f->n),
	                     matrix_view(u->w, 0, 0, f->n + p, p), 0);
}

/* Drops the rows swept to the top, and rows k .. k+p-1 of Q. */
static bool close_up(struct update *u)
{
	const struct qr_factors *f = u->f;
	int64_t k = u->k, p = u->p, m = f->m, n = f->n, rows = f->kept == Q_FULL ? m - p : n;

	return update_move(u, f->r, n, n, p, 0, 0, 0) &&
	       update_move(u, f->d, rows, f->d.n, p, 0, 0, 0) &&
	       (f->kept == Q_NONE ||
	               (update_move(u, f->q, k, rows, 0, p, 0, 0) &&
	                       update_move(u, f->q, m - k - p, rows, k + p, p, k, 0)));
}

bool update_remove_rows(struct update *u)
{
	bool ok = ex_clear_info(u->e, u->result) && more_rows(u, u->p, u->f->n) &&
	          in_steps(u, remove_some) && close_up(u);

	u->f->m -= ok ? u->p : 0;
	return ok;
}

/* ---- modify: up to row 0, and down ---- */

static bool modify_some(struct update *u, int64_t s, int64_t p)
{
	const struct qr_factors *f = u->f;
	int64_t n = f->n, rows = min_int64(n + p, f->m);
	struct matrix columns = columns_of(u->u, s, p), spike = matrix_view(u->w, 0, 0, rows, p);
	struct system all = update_system_at(u, 0, rows, 0, n);

	return more_rows(u, rows - n, n) &&
	       (whole(f) ? project(u, columns) : append_columns(u, columns, s)) &&
	       sweep_up(&u->sweep, all, spike, 0) &&
	       ex_gemm(u->e, PLAIN, TRANSPOSED, 1, matrix_view(spike, 0, 0, p, p),
	               columns_of(u->v, s, p), 1, matrix_view(f->r, 0, 0, p, n)) &&
	       sweep_down(&u->sweep, all, 0, p);
}

bool update_modify(struct update *u)
{
	return ex_clear_info(u->e, u->result) && in_steps(u, modify_some);
}

/* ---- remove columns: down ---- */

bool update_remove_columns(struct update *u)
{
	struct qr_factors *f = u->f;
	int64_t k = u->k, p = u->p, n = f->n - p;
	bool ok = update_move(u, f->r, f->n, n - k, 0, k + p, 0, k) &&
	          sweep_down(&u->sweep, update_system_at(u, 0, f->n, 0, n), k, p);

	f->n = ok ? n : f->n;
	return ok;
}

/* ---- add rows: down ---- */

/* Window j .. j+w-1: its rows of R and d and columns of Q move above and left of the new ones, or
 * back. */
static bool exchange_window(struct update *u, int64_t j, int64_t w, bool in)
{
	const struct qr_factors *f = u->f;
	int64_t i = SWEEP_COLUMNS - w, rows = u->stack.q.m;
	struct matrix pairs[][2] = {
	        {matrix_view(f->r, j, j, w, f->n - j), matrix_view(u->stack.r, i, j, w, f->n - j)},
	        {matrix_view(f->d, j, 0, w, f->d.n), matrix_view(u->stack.d, i, 0, w, f->d.n)},
	        {matrix_view(f->q, 0, j, rows, w), matrix_view(u->stack.q, 0, i, rows, w)}};

	return update_exchange(u->e, pairs, ARRAY_LEN(pairs), in, false);
}

static bool stack_window(struct update *u, int64_t j, int64_t w)
{
	int64_t i = SWEEP_COLUMNS - w;

	return exchange_window(u, j, w, true) &&
	       sweep_window(
	               &u->sweep, u->stack, matrix_view(u->stack.r, i, j, w + u->p, w), i, j + w) &&
	       exchange_window(u, j, w, false);
}

/* With all of Q, the columns beside it become its last ones. */
static bool take_new(struct update *u)
{
	const struct qr_factors *f = u->f;
	int64_t p = u->p;

	return f->kept != Q_FULL ||
	       (ex_copy(u->e, WHOLE, matrix_view(u->stack.q, 0, SWEEP_COLUMNS, f->m + p, p),
	                matrix_view(f->q, 0, f->m, f->m + p, p)) &&
	               ex_copy(u->e, WHOLE, matrix_view(u->stack.d, SWEEP_COLUMNS, 0, p, f->d.n),
	                       matrix_view(f->d, f->m, 0, p, f->d.n)));
}

/* Window by window, or all in one call. */
static bool take_rows(struct update *u)
{
	const struct qr_factors *f = u->f;
	int64_t n = f->n, i = SWEEP_COLUMNS, p = u->p, rows = u->stack.q.m;
	struct system added = {matrix_view(u->stack.r, i, 0, p, n),
	        matrix_view(u->stack.d, i, 0, p, f->d.n), matrix_view(u->stack.q, 0, i, rows, p)};
	struct system of = {matrix_view(f->r, 0, 0, n, n), matrix_view(f->d, 0, 0, n, f->d.n),
	        matrix_view(f->q, 0, 0, rows, rows ? n : 0)};
	bool ok = true;

	if (sweep_band_fits(u->e, f->r.precision, p))
		return ex_band_sweep(u->e, &(struct band){of, &added, 0, p}, u->sweep.band_work);
	for (int64_t j = 0; ok && j < n; j += SWEEP_COLUMNS)
		ok = stack_window(u, j, min_int64(SWEEP_COLUMNS, n - j));
	return ok;
}

bool update_add_rows(struct update *u)
{
	struct executor *e = u->e;
	struct qr_factors *f = u->f;
	int64_t p = u->p;
	bool ok = update_stretch(u, u->k, matrix_view(u->stack.q, 0, SWEEP_COLUMNS, f->m + p, p)) &&
	          ex_copy(e, WHOLE, u->u, matrix_view(u->stack.r, SWEEP_COLUMNS, 0, p, f->n)) &&
	          (f->d.n == 0 || ex_copy(e, WHOLE, u->b,
	                                  matrix_view(u->stack.d, SWEEP_COLUMNS, 0, p, f->d.n)));

	ok = ok && take_rows(u) && take_new(u);
	f->m += ok ? p : 0;
	return ok;
}
