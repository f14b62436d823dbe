/* SPDX-License-Identifier: MIT */
/* Changes of a QR factorization that sweep down: columns removed, rows added. */
#include "qr_update_internal.h"

bool qr_remove_columns(struct executor *e, struct qr_factors *f, int64_t k, int64_t p, void *work)
{
	struct update u;
	int64_t n = f->n - p;

	if (!update_set_up(&u, e, f, QR_REMOVE_COLUMNS, p, work) || !update_check_at(&u, k) ||
	        !update_move(&u, f->r, f->n, n - k, 0, k + p, 0, k) ||
	        !sweep_down(&u.sweep, update_system_at(&u, 0, f->n, 0, n), k, p))
		return false;
	f->n = n;
	return true;
}

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

bool qr_add_rows(struct executor *e, struct qr_factors *f, int64_t k, struct matrix rows,
        struct matrix b, void *work)
{
	struct update u;
	int64_t p = rows.m;

	if (!update_set_up(&u, e, f, QR_ADD_ROWS, p, work) || !update_check_at(&u, k) ||
	        !update_check_shape(&u, "the matrix of new rows", rows, p, f->n) ||
	        !update_check_sides(&u, b, p))
		return false;
	struct matrix units = matrix_view(u.stack.q, 0, SWEEP_COLUMNS, f->m + p, p);
	bool ok = update_stretch(&u, k, units) &&
	          ex_copy(e, WHOLE, rows, matrix_view(u.stack.r, SWEEP_COLUMNS, 0, p, f->n)) &&
	          (f->d.n == 0 || ex_copy(e, WHOLE, b,
	                                  matrix_view(u.stack.d, SWEEP_COLUMNS, 0, p, f->d.n)));
	ok = ok && take_rows(&u) && take_new(&u);
	f->m += ok ? p : 0;
	return ok;
}
