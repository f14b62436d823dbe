/* SPDX-License-Identifier: MIT */
/* The paper's changes of columns. Removed: the rest of R has p elements below its diagonal, a band.
 * Added: the rows of Q^T U below row n become triangular by blocks of reflectors, the others by
 * rotations of neighbouring rows, which keep R's zeros below. */
#include "qr_update_paper_internal.h"

bool paper_remove_columns(struct paper *s, int64_t k)
{
	struct qr_factors *f = s->f;
	int64_t p = s->update.p, n = f->n - p;

	s->nb = paper_width(s->how, n - k);
	bool ok = paper_begin(s, PAPER_LAYOUT) &&
	          update_move(&s->update, f->r, f->n, n - k, 0, k + p, 0, k) &&
	          paper_band(s, update_system_at(&s->update, 0, f->n, 0, n), k, p);
	f->n -= ok ? p : 0;
	return ok;
}

/* ---- add columns ---- */

/* w, Q^T U, becomes upper triangular from row n on. */
static bool reduce(struct paper *s, struct matrix w)
{
	const struct qr_factors *f = s->f;
	int64_t n = f->n, below = f->m - n;
	struct system y = {.r = matrix_view(w, n, 0, below, w.n),
	        .d = matrix_view(f->d, n, 0, f->d.n == 0 ? 0 : below, f->d.n),
	        .q = matrix_view(f->q, 0, n, f->m, below)};

	return s->how->whole ? paper_whole_run(s, &s->lower, y.r, y.d, y.q)
	                     : paper_band(s, y, 0, below);
}

/* x: as columns, rows k .. n+p-1 of R's columns from k on, of w, and of Q^T B. */
static bool exchange_rows(struct paper *s, struct matrix x, struct matrix w, int64_t k, bool in)
{
	const struct qr_factors *f = s->f;
	int64_t p = w.n, columns = f->n - k, rows = f->n + p - k;
	struct matrix pairs[][2] = {
	        {matrix_view(f->r, k, k + p, rows, columns), matrix_view(x, 0, 0, columns, rows)},
	        {matrix_view(w, k, 0, rows, p), matrix_view(x, columns, 0, p, rows)},
	        {matrix_view(f->d, k, 0, f->d.n == 0 ? 0 : rows, f->d.n),
	                matrix_view(x, columns + p, 0, f->d.n, rows)}};

	return update_exchange(s->e, pairs, ARRAY_LEN(pairs), in, true);
}

static bool by_rotations(struct paper *s, struct matrix w, int64_t k)
{
	const struct qr_factors *f = s->f;
	int64_t p = w.n, columns = f->n - k;
	struct matrix x = matrix_view(s->x, 0, 0, columns + p + f->d.n, columns + p);
	struct wave_shape shape = {.row = columns, .p = p, .base = columns, .lag = 1};

	return paper_begin(s, PAPER_LAYOUT) && exchange_rows(s, x, w, k, true) &&
	       paper_waves(s, &shape, x, matrix_view(f->q, 0, k, f->m, columns + p)) &&
	       paper_begin(s, PAPER_LAYOUT) && exchange_rows(s, x, w, k, false);
}

/* Householder with fill-in: rows k .. n+p-1 as if they had no zeros. */
static bool by_reflectors(struct paper *s, struct matrix w, int64_t k)
{
	struct executor *e = s->e;
	const struct qr_factors *f = s->f;
	int64_t p = w.n, columns = f->n - k, rows = columns + p;
	struct matrix a = matrix_view(s->stack, 0, 0, rows, rows);
	struct matrix spike = matrix_view(w, k, 0, rows, p);
	struct matrix r = matrix_view(f->r, k, k + p, rows, columns);
	struct matrix left = matrix_view(a, 0, 0, rows, p);
	struct matrix right = matrix_view(a, 0, p, rows, columns);
	struct matrix d = matrix_view(f->d, k, 0, f->d.n == 0 ? 0 : rows, f->d.n);

	if (columns == 0)
		return true;
	return ex_copy(e, WHOLE, spike, left) && ex_copy(e, WHOLE, r, right) &&
	       paper_whole_run(s, &s->whole, a, d, matrix_view(f->q, 0, k, f->m, rows)) &&
	       ex_copy(e, WHOLE, left, spike) && ex_copy(e, WHOLE, right, r);
}

/* R gets p columns at k, and rows below it. */
static bool open_gap(struct paper *s, int64_t k)
{
	const struct qr_factors *f = s->f;
	int64_t p = s->update.p, n = f->n;

	return update_move(&s->update, f->r, n, n - k, 0, k, 0, k + p) &&
	       ex_fill(s->e, WHOLE, 0, 0, matrix_view(f->r, n, 0, p, n + p));
}

bool paper_add_columns(
        struct paper *s, int64_t k, struct matrix columns, struct matrix b, int *info)
{
	struct executor *e = s->e;
	struct qr_factors *f = s->f;
	int64_t p = s->update.p, n = f->n, m = f->m;

	if (!update_check_shape(&s->update, "the matrix of new columns", columns, m, p) ||
	        !update_check_sides(&s->update, b, m))
		return false;
	bool ok =
	        ex_clear_info(e, info) && paper_begin(s, PAPER_LAYOUT) && open_gap(s, k) &&
	        paper_begin(s, PAPER_PROJECT) &&
	        ex_gemm(e, TRANSPOSED, PLAIN, 1, matrix_view(f->q, 0, 0, m, m), columns, 0, s->w) &&
	        reduce(s, s->w) &&
	        (s->how->whole ? by_reflectors(s, s->w, k) : by_rotations(s, s->w, k)) &&
	        ex_copy(e, WHOLE, matrix_view(s->w, 0, 0, n + p, p),
	                matrix_view(f->r, 0, k, n + p, p));
	f->n += ok ? p : 0;
	return ok;
}
