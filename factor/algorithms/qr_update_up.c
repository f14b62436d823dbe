/* SPDX-License-Identifier: MIT */
/* Changes of a QR factorization that sweep up: columns added, rows removed, A + U V^T. */
#include "qr_update_internal.h"

#include "gram_schmidt.h"

#include <float.h>
#include <math.h>

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
static bool append(struct update *u, int64_t from, int64_t p, int64_t before, int *info)
{
	const struct qr_factors *f = u->f;

	return orthogonalize(u->e, SWEEP_COLUMNS, matrix_view(f->q, 0, from, f->m, f->n + p), f->n,
	               matrix_view(u->w, 0, 0, f->n + p, p), u->gram, u->info) &&
	       ex_offset_pivots(
	               u->e, (struct pivots){u->info, 0}, before, (struct pivots){info, 0});
}

/* The same for given columns, and the new rows of Q^T B. */
static bool append_columns(
        struct update *u, struct matrix columns, struct matrix b, int64_t before, int *info)
{
	const struct qr_factors *f = u->f;
	int64_t p = columns.n;
	struct matrix new = matrix_view(f->q, 0, f->n, f->m, p);

	return ex_copy(u->e, WHOLE, columns, new) && append(u, 0, p, before, info) &&
	       (f->d.n == 0 || ex_gemm(u->e, TRANSPOSED, PLAIN, 1, new, b, 0,
	                               matrix_view(f->d, f->n, 0, p, f->d.n)));
}

/* Clears rows n .. n+p-1 of R's first `columns` columns, now part of R. */
static bool more_rows(struct update *u, int64_t p, int64_t columns)
{
	return ex_fill(u->e, WHOLE, 0, 0, matrix_view(u->f->r, u->f->n, 0, p, columns));
}

/* ---- add columns: up ---- */

/* Columns k .. k+p-1 of R come from `columns`; the columns right of them begin in column `right`.
 */
static bool add_some(struct update *u, int64_t k, int64_t right, struct matrix columns,
        struct matrix b, int64_t before, int *info)
{
	struct qr_factors *f = u->f;
	int64_t n = f->n, p = columns.n;
	struct matrix spike = matrix_view(f->r, 0, k, n + p, p);
	bool ok = (f->kept == Q_FULL ? project(u, columns)
	                             : append_columns(u, columns, b, before, info)) &&
	          ex_copy(u->e, WHOLE, matrix_view(u->w, 0, 0, n + p, p), spike) &&
	          sweep_up(&u->sweep, update_system_at(u, 0, n + p, right, n - k), spike, k);

	f->n += ok ? p : 0;
	return ok;
}

bool qr_add_columns(struct executor *e, struct qr_factors *f, int64_t k, struct matrix columns,
        struct matrix b, void *work, int *info)
{
	struct update u;
	int64_t p = columns.n, n = f->n;

	if (!update_set_up(&u, e, f, QR_ADD_COLUMNS, p, work) || !update_check_at(&u, k) ||
	        !update_check_shape(&u, "the matrix of new columns", columns, f->m, p) ||
	        !update_check_sides(&u, b, f->m))
		return false;
	bool ok = ex_clear_info(e, info) && update_move(&u, f->r, n, n - k, 0, k, 0, k + p) &&
	          more_rows(&u, p, n + p);
	for (int64_t s = 0, w; ok && s < p; s += w) {
		w = update_at_once(&u, p - s);
		ok = add_some(&u, k + s, k + p, matrix_view(columns, 0, s, f->m, w), b, s, info);
	}
	return ok;
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

static bool append_units(
        struct update *u, int64_t from, int64_t k, int64_t p, int64_t before, int *info)
{
	const struct qr_factors *f = u->f;
	struct matrix new = matrix_view(f->q, 0, from + f->n, f->m, p);

	return ex_fill(u->e, WHOLE, 0, 0, new) &&
	       ex_fill(u->e, WHOLE, 0, 1, matrix_view(new, k, 0, p, p)) &&
	       append(u, from, p, before, info);
}

/* w from the rows: R^T W = rows^T, and below it Cholesky's factor of I - W^T W, less the possible
 * rounding of zero. */
static bool solve_units(
        struct update *u, int64_t from, struct matrix rows, int64_t before, int *info)
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
	       ex_potrf_block(e, UPPER, s, before, info) &&
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

static bool remove_some(
        struct update *u, int64_t from, int64_t k, struct matrix rows, struct matrix b, int *info)
{
	const struct qr_factors *f = u->f;
	int64_t p = b.m;
	bool ok;

	if (f->kept == Q_FULL)
		ok = project_units(u, from, k, p);
	else if (f->kept == Q_THIN)
		ok = append_units(u, from, k, p, from, info) && solve_sides(u, from, b);
	else
		ok = solve_units(u, from, rows, from, info) && solve_sides(u, from, b);
	return ok && sweep_up(&u->sweep, update_system_at(u, from, f->n + p, 0, f->n),
	                     matrix_view(u->w, 0, 0, f->n + p, p), 0);
}

/* Drops the rows swept to the top, and rows k .. k+p-1 of Q. */
static bool close_up(struct update *u, int64_t k)
{
	const struct qr_factors *f = u->f;
	int64_t p = u->p, m = f->m, n = f->n, rows = f->kept == Q_FULL ? m - p : n;

	return update_move(u, f->r, n, n, p, 0, 0, 0) &&
	       update_move(u, f->d, rows, f->d.n, p, 0, 0, 0) &&
	       (f->kept == Q_NONE ||
	               (update_move(u, f->q, k, rows, 0, p, 0, 0) &&
	                       update_move(u, f->q, m - k - p, rows, k + p, p, k, 0)));
}

bool qr_remove_rows(struct executor *e, struct qr_factors *f, int64_t k, int64_t p,
        struct matrix rows, struct matrix b, void *work, int *info)
{
	struct update u;

	if (!update_set_up(&u, e, f, QR_REMOVE_ROWS, p, work) || !update_check_at(&u, k) ||
	        (f->kept == Q_NONE &&
	                !update_check_shape(&u, "the matrix of rows", rows, p, f->n)) ||
	        !update_check_sides(&u, b, p))
		return false;
	bool ok = ex_clear_info(e, info) && more_rows(&u, p, f->n);
	for (int64_t s = 0, w; ok && s < p; s += w) {
		w = update_at_once(&u, p - s);
		ok = remove_some(&u, s, k + s, matrix_view(rows, s, 0, w, rows.n),
		        matrix_view(b, s, 0, w, f->d.n), info);
	}
	ok = ok && close_up(&u, k);
	f->m -= ok ? p : 0;
	return ok;
}

/* ---- modify: up to row 0, and down ---- */

static bool modify_some(struct update *u, struct matrix columns, struct matrix v, struct matrix b,
        int64_t before, int *info)
{
	const struct qr_factors *f = u->f;
	int64_t n = f->n, p = columns.n, rows = min_int64(n + p, f->m);
	struct system all = update_system_at(u, 0, rows, 0, n);
	struct matrix spike = matrix_view(u->w, 0, 0, rows, p);

	return more_rows(u, rows - n, n) &&
	       (update_whole(f) ? project(u, columns)
	                        : append_columns(u, columns, b, before, info)) &&
	       sweep_up(&u->sweep, all, spike, 0) &&
	       ex_gemm(u->e, PLAIN, TRANSPOSED, 1, matrix_view(spike, 0, 0, p, p), v, 1,
	               matrix_view(f->r, 0, 0, p, n)) &&
	       sweep_down(&u->sweep, all, 0, p);
}

bool qr_modify(struct executor *e, struct qr_factors *f, struct matrix columns, struct matrix v,
        struct matrix b, void *work, int *info)
{
	struct update u;
	int64_t p = columns.n;

	if (!update_set_up(&u, e, f, QR_MODIFY, p, work) ||
	        !update_check_shape(&u, "U", columns, f->m, p) ||
	        !update_check_shape(&u, "V", v, f->n, p) || !update_check_sides(&u, b, f->m))
		return false;
	bool ok = ex_clear_info(e, info);
	for (int64_t s = 0, w; ok && s < p; s += w) {
		w = update_at_once(&u, p - s);
		ok = modify_some(&u, matrix_view(columns, 0, s, f->m, w),
		        matrix_view(v, 0, s, f->n, w), b, s, info);
	}
	return ok;
}
