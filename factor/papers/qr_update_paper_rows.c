/* SPDX-License-Identifier: MIT */
/* The paper's changes of rows. Added: [R; U] by blocks, without R's zeros. Removed: the rows of Q
 * become unit vectors by rotations of all of Q's columns, and R is rotated with them. */
#include "qr_update_paper_internal.h"

static struct matrix top_of(struct matrix a, int64_t m, int64_t n)
{
	return matrix_view(a, 0, 0, m, n);
}

/* ---- add rows ---- */

static bool add_by_blocks(struct paper *s, struct matrix u, struct matrix b, struct matrix units)
{
	const struct qr_factors *f = s->f;
	struct system y = {.r = top_of(f->r, f->n, f->n),
	        .d = top_of(f->d, f->n, f->d.n),
	        .q = top_of(f->q, f->kept == Q_NONE ? 0 : f->m + s->update.p, f->n)};

	return paper_stack(s, y, u, b, units);
}

/* Into the stacks, or back. */
static bool exchange(
        struct paper *s, struct matrix u, struct matrix b, struct matrix units, bool in)
{
	const struct qr_factors *f = s->f;
	int64_t n = f->n, p = s->update.p, m = f->kept == Q_NONE ? 0 : f->m + p;
	struct matrix pairs[][2] = {{top_of(f->r, n, n), top_of(s->stack, n, n)},
	        {u, matrix_view(s->stack, n, 0, in ? p : 0, n)},
	        {top_of(f->d, n, f->d.n), top_of(s->stack_d, n, f->d.n)},
	        {b, matrix_view(s->stack_d, n, 0, p, f->d.n)},
	        {top_of(f->q, m, n), top_of(s->stack_q, m, n)},
	        {units, matrix_view(s->stack_q, 0, n, m, p)}};

	return update_exchange(s->e, pairs, ARRAY_LEN(pairs), in, false);
}

static bool add_whole(struct paper *s, struct matrix u, struct matrix b, struct matrix units)
{
	return exchange(s, u, b, units, true) &&
	       paper_whole_run(s, &s->whole, s->stack, s->stack_d, s->stack_q) &&
	       exchange(s, u, b, units, false);
}

bool paper_add_rows(struct paper *s, int64_t k, struct matrix rows, struct matrix b)
{
	struct qr_factors *f = s->f;
	int64_t p = s->update.p, m = f->m;
	struct matrix sides = matrix_view(b, 0, 0, f->d.n == 0 ? 0 : p, f->d.n);

	if (!update_check_shape(&s->update, "the matrix of new rows", rows, p, f->n) ||
	        !update_check_sides(&s->update, b, p))
		return false;
	struct matrix units = f->kept == Q_FULL ? matrix_view(f->q, 0, m, m + p, p) : s->units;
	bool ok = paper_begin(s, PAPER_LAYOUT) && update_stretch(&s->update, k, units) &&
	          (s->how->whole ? add_whole(s, rows, sides, units)
	                         : add_by_blocks(s, rows, sides, units)) &&
	          paper_begin(s, PAPER_LAYOUT) &&
	          (f->kept != Q_FULL ||
	                  ex_copy(s->e, WHOLE, sides, matrix_view(f->d, m, 0, p, f->d.n)));
	f->m += ok ? p : 0;
	return ok;
}

/* ---- remove rows ---- */

/* x: as columns, the rows of R, of the rows' part of Q transposed, and of Q^T B. */
static bool turn_in(struct paper *s, int64_t k)
{
	struct executor *e = s->e;
	const struct qr_factors *f = s->f;
	int64_t m = f->m, n = f->n, p = s->update.p;

	return ex_fill(e, WHOLE, 0, 0, matrix_view(s->x, 0, n, n, m - n)) &&
	       ex_transpose(e, top_of(f->r, n, n), top_of(s->x, n, n)) &&
	       ex_copy(e, WHOLE, matrix_view(f->q, k, 0, p, m), matrix_view(s->x, n, 0, p, m)) &&
	       ex_transpose(e, top_of(f->d, f->d.n == 0 ? 0 : m, f->d.n),
	               matrix_view(s->x, n + p, 0, f->d.n, m));
}

/* And back, without the rows that are removed. */
static bool turn_out(struct paper *s)
{
	struct executor *e = s->e;
	const struct qr_factors *f = s->f;
	int64_t m = f->m, n = f->n, p = s->update.p;

	return ex_transpose(e, matrix_view(s->x, 0, p, n, n), top_of(f->r, n, n)) &&
	       ex_transpose(e, matrix_view(s->x, n + p, p, f->d.n, m - p),
	               top_of(f->d, f->d.n == 0 ? 0 : m - p, f->d.n));
}

bool paper_remove_rows(struct paper *s, int64_t k, struct matrix b, int *info)
{
	struct qr_factors *f = s->f;
	int64_t p = s->update.p, m = f->m, left = m - p;
	struct wave_shape shape = {.row = f->n, .p = p, .base = m - 1, .lag = 2};

	if (!update_check_sides(&s->update, b, p))
		return false;
	bool ok = ex_clear_info(s->e, info) && paper_begin(s, PAPER_LAYOUT) && turn_in(s, k) &&
	          paper_waves(s, &shape, s->x, top_of(f->q, m, m)) &&
	          paper_begin(s, PAPER_LAYOUT) && turn_out(s) &&
	          update_move(&s->update, f->q, k, left, 0, p, 0, 0) &&
	          update_move(&s->update, f->q, left - k, left, k + p, p, k, 0);
	f->m -= ok ? p : 0;
	return ok;
}
