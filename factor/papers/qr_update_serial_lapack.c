/* SPDX-License-Identifier: MIT */
/* Changes by LAPACK, with the paper's order of work: reflectors in blocks where the fill-in stays
 * small, rotations of neighbouring rows else. R's rows are columns of s->r while rotations act on
 * them. */
#include "lib/base/msg.h"
#include "qr_update_serial_internal.h"

#include <cblas.h>
#include <lapacke.h>

enum { BLOCK = 32 };

void serial_lapack_workspace(struct serial *s, struct workspace *workspace)
{
	const struct qr_factors *f = s->f;
	const int64_t p = s->update.p, rows = f->n + p;

	s->line = workspace_matrix(workspace, max_int64(BLOCK, p), 1, SINGLE); /* tau */
	if (s->update.change == QR_ADD_ROWS)
		s->sides = workspace_matrix(workspace, BLOCK, f->n, SINGLE);
	else if (s->update.change == QR_ADD_COLUMNS)
		s->sides = workspace_matrix(workspace, f->m, p, SINGLE);
	if (f->kept == Q_FULL)
		s->r = workspace_matrix(
		        workspace, s->update.change == QR_ADD_COLUMNS ? rows : f->n, rows, SINGLE);
}

static bool done(const struct serial *s, int info, const char *call)
{
	return info == 0 || fault_set(&s->e->fault, "LAPACK's %s returned %d", call, info);
}

/* ---- reflectors ---- */

/* a := its R with zeros below; what stands right of it, d and q (from the right) with it. */
static bool reduce_block(
        struct serial *s, struct matrix a, struct matrix right, struct matrix d, struct matrix q)
{
	float *tau = serial_at(s->line, 0, 0), *v = serial_at(a, 0, 0);
	const int m = (int)a.m, n = (int)a.n, ld = (int)a.ld, k = (int)min_int64(m, n);
	int info = LAPACKE_sgeqrf(LAPACK_COL_MAJOR, m, n, v, ld, tau);

	if (info == 0 && right.n > 0)
		info = LAPACKE_sormqr(LAPACK_COL_MAJOR, 'L', 'T', m, (int)right.n, k, v, ld, tau,
		        serial_at(right, 0, 0), (int)right.ld);
	if (info == 0 && d.n > 0)
		info = LAPACKE_sormqr(LAPACK_COL_MAJOR, 'L', 'T', m, (int)d.n, k, v, ld, tau,
		        serial_at(d, 0, 0), (int)d.ld);
	if (info == 0 && q.m > 0)
		info = LAPACKE_sormqr(LAPACK_COL_MAJOR, 'R', 'N', (int)q.m, m, k, v, ld, tau,
		        serial_at(q, 0, 0), (int)q.ld);
	return done(s, info, "geqrf or ormqr") &&
	       (m < 2 || ex_fill(s->e, LOWER, 0, 0,
	                         matrix_view(a, 1, 0, a.m - 1, min_int64(a.n, a.m - 1))));
}

static bool remove_columns(struct serial *s)
{
	const struct qr_factors *f = s->f;
	const int64_t k = s->update.k, p = s->update.p, n = f->n - p;
	bool ok = update_move(&s->update, f->r, f->n, n - k, 0, k + p, 0, k);

	for (int64_t j = k, w; ok && j < n; j += w) {
		w = min_int64(BLOCK, n - j);
		int64_t rows = min_int64(w + p, f->n - j);
		ok = reduce_block(s, matrix_view(f->r, j, j, rows, w),
		        matrix_view(f->r, j, j + w, rows, n - j - w),
		        matrix_view(f->d, j, 0, f->d.n == 0 ? 0 : rows, f->d.n),
		        matrix_view(f->q, 0, 0, 0, 0));
	}
	return ok;
}

/* T begins with zeros: LAPACKE looks for NaN in all of it. */
static bool add_rows(struct serial *s)
{
	const struct qr_factors *f = s->f;
	const int p = (int)s->update.p, n = (int)f->n, w = (int)min_int64(BLOCK, n);
	float *u = serial_at(s->update.u, 0, 0), *t = serial_at(s->sides, 0, 0);
	const int ldu = (int)s->update.u.ld, ldt = (int)s->sides.ld;

	if (!ex_fill(s->e, WHOLE, 0, 0, s->sides))
		return false;
	int info = LAPACKE_stpqrt(
	        LAPACK_COL_MAJOR, p, n, 0, w, serial_at(f->r, 0, 0), (int)f->r.ld, u, ldu, t, ldt);
	if (info == 0 && f->d.n > 0)
		info = LAPACKE_stpmqrt(LAPACK_COL_MAJOR, 'L', 'T', p, (int)f->d.n, n, 0, w, u, ldu,
		        t, ldt, serial_at(f->d, 0, 0), (int)f->d.ld, serial_at(s->update.b, 0, 0),
		        (int)s->update.b.ld);
	return done(s, info, "tpqrt or tpmqrt");
}

/* ---- rotations ---- */

struct rotation {
	float c, s;
};

/* That makes *lower zero; *upper becomes the length. */
static struct rotation rotation_of(float *upper, float *lower)
{
	struct rotation r;
	float length;

	LAPACKE_slartgp_work(*upper, *lower, &r.c, &r.s, &length);
	*upper = length;
	*lower = 0;
	return r;
}

/* Rows i - 1 and i of the system: columns of s->r from element `from` on, of Q, and rows of d. */
static void rotate_rows(struct serial *s, struct rotation r, int64_t i, int64_t from)
{
	const struct qr_factors *f = s->f;

	if (i < s->r.n && from < s->r.m)
		cblas_srot((int)(s->r.m - from), serial_at(s->r, from, i - 1), 1,
		        serial_at(s->r, from, i), 1, r.c, r.s);
	cblas_srot((int)f->m, serial_at(f->q, 0, i - 1), 1, serial_at(f->q, 0, i), 1, r.c, r.s);
	if (f->d.n > 0)
		cblas_srot((int)f->d.n, serial_at(f->d, i - 1, 0), (int)f->d.ld,
		        serial_at(f->d, i, 0), (int)f->d.ld, r.c, r.s);
}

/* Rows k .. n+p-1 of [W R], W's columns before R's column k, become upper triangular: column k + c
 * from the bottom. R's column j reaches row j + c - p then. */
static void rotate_columns_in(struct serial *s)
{
	const int64_t k = s->update.k, p = s->update.p, n = s->f->n;

	for (int64_t c = 0; c < p; c++)
		for (int64_t i = n + c; i > k + c; i--) {
			struct rotation r = rotation_of(
			        serial_at(s->r, k + c, i - 1), serial_at(s->r, k + c, i));
			int64_t from = c + 1 < p ? k + c + 1 : max_int64(k + p, i - 1 + p - c);
			rotate_rows(s, r, i, from);
		}
}

/* The rows of R with W as columns of s->r, or back. */
static bool exchange_rows(struct serial *s, bool in)
{
	const struct qr_factors *f = s->f;
	const int64_t k = s->update.k, p = s->update.p, n = f->n, rows = n + p;

	if (!in)
		return ex_transpose(s->e, s->r, matrix_view(f->r, 0, 0, rows, rows));
	return ex_fill(s->e, WHOLE, 0, 0, s->r) &&
	       ex_transpose(s->e, matrix_view(f->r, 0, 0, n, k), matrix_view(s->r, 0, 0, k, n)) &&
	       ex_transpose(s->e, matrix_view(s->sides, 0, 0, rows, p),
	               matrix_view(s->r, k, 0, p, rows)) &&
	       ex_transpose(s->e, matrix_view(f->r, 0, k, n, n - k),
	               matrix_view(s->r, k + p, 0, n - k, n));
}

static bool add_columns(struct serial *s)
{
	const struct qr_factors *f = s->f;
	const int64_t m = f->m, n = f->n, below = m - n;
	struct matrix w = s->sides, low = matrix_view(w, n, 0, below, w.n);

	serial_gemm(TRANSPOSED, matrix_view(f->q, 0, 0, m, m), s->update.u, w);
	if (!reduce_block(s, low, matrix_view(w, 0, 0, 0, 0),
	            matrix_view(f->d, n, 0, f->d.n == 0 ? 0 : below, f->d.n),
	            matrix_view(f->q, 0, n, m, below)) ||
	        !exchange_rows(s, true))
		return false;
	rotate_columns_in(s);
	return exchange_rows(s, false);
}

/* The p rows of Q become unit vectors: row c from its last column to column c. */
static void rotate_rows_out(struct serial *s)
{
	const struct qr_factors *f = s->f;

	for (int64_t c = 0; c < s->update.p; c++)
		for (int64_t i = f->m - 1; i > c; i--) {
			float upper = *serial_at(f->q, s->update.k + c, i - 1),
			      lower = *serial_at(f->q, s->update.k + c, i);
			rotate_rows(s, rotation_of(&upper, &lower), i, max_int64(0, i - 1 - c));
		}
}

static bool remove_rows(struct serial *s)
{
	const struct qr_factors *f = s->f;
	const int64_t k = s->update.k, p = s->update.p, n = f->n, left = f->m - p;

	if (!ex_fill(s->e, WHOLE, 0, 0, s->r) ||
	        !ex_transpose(s->e, matrix_view(f->r, 0, 0, n, n), matrix_view(s->r, 0, 0, n, n)))
		return false;
	rotate_rows_out(s);
	return ex_transpose(s->e, matrix_view(s->r, 0, p, n, n), matrix_view(f->r, 0, 0, n, n)) &&
	       update_move(&s->update, f->d, f->d.n == 0 ? 0 : left, f->d.n, p, 0, 0, 0) &&
	       update_move(&s->update, f->q, k, left, 0, p, 0, 0) &&
	       update_move(&s->update, f->q, left - k, left, k + p, p, k, 0);
}

serial_change *const serial_lapack[] = {[QR_REMOVE_COLUMNS] = remove_columns,
        [QR_ADD_ROWS] = add_rows,
        [QR_ADD_COLUMNS] = add_columns,
        [QR_REMOVE_ROWS] = remove_rows};
