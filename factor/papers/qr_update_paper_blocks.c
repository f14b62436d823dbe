/* SPDX-License-Identifier: MIT */
/* Blocks of Householder reflectors as the paper makes them: H = I - tau [1; v] [1; v]^T column by
 * column, T's column i = -tau T V^T v by gemv. Operations of a block of w columns, whose reflectors
 * reach p rows further, applied to c columns: 4 (p + w) w c as a band; 4 p w c where R's rows are
 * apart from U's. */
#include "qr_update_paper_internal.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/msg.h"

/* ---- one reflector ---- */

struct house {
	double tau, beta;
};

/* The reflector that makes x zero and first beta; x becomes v. */
static bool house(struct paper *s, struct matrix first, struct matrix x, struct house *h)
{
	double norm = 0, head;

	if (!ex_get(s->e, first, &head) || (x.m > 0 && !ex_nrm2(s->e, x, &norm)))
		return false;
	*h = (struct house){0, head};
	if (norm == 0)
		return true;
	h->beta = -copysign(hypot(head, norm), head);
	h->tau = (h->beta - head) / h->beta;
	return ex_scal(s->e, 1 / (head - h->beta), x);
}

static struct matrix row_of(const struct paper *s, int64_t n)
{
	return (struct matrix){s->row.data, s->row.offset, 1, n, 1, s->row.precision};
}

/* ---- T ---- */

static void put(struct matrix host, int64_t i, double value)
{
	if (host.data && host.precision == SINGLE)
		((float *)host.data)[i] = (float)value;
	else if (host.data)
		((double *)host.data)[i] = value;
}

static struct matrix diagonal_of(struct matrix a)
{
	return (struct matrix){a.data, a.offset, 1, a.n, a.ld + 1, a.precision};
}

/* tau on T's diagonal, in one copy. The copy before has arrived: the host has waited for a norm
 * since. */
static bool put_taus(struct paper *s, const double *tau, struct matrix t)
{
	struct executor *e = s->e;
	struct matrix host, to = matrix_view(s->taus, 0, 0, t.n, 1);

	if (!e->ops->stage(e, 0, s->taus.m, 1, t.precision, &host))
		return false;
	for (int64_t i = 0; i < t.n; i++)
		put(host, i, tau[i]);
	host.m = t.n;
	to.ld = host.ld = t.n;
	struct matrix row = {to.data, to.offset, 1, t.n, 1, t.precision};
	return ex_to_device(e, host, to) && ex_copy(e, WHOLE, row, diagonal_of(t));
}

/* v: of a band column c begins with its 1 in row c and has p + 1 elements. */
static bool form_t(
        struct paper *s, struct matrix v, int64_t p, bool band, const double *tau, struct matrix t)
{
	struct executor *e = s->e;
	bool ok = paper_begin(s, PAPER_T) && ex_fill(e, WHOLE, 0, 0, t) && put_taus(s, tau, t);

	for (int64_t c = 1; ok && c < t.n; c++) {
		int64_t top = band ? c : 0, rows = band ? min_int64(p + 1, v.m - c) : v.m;
		struct matrix z = matrix_view(s->row, 0, 0, c, 1);
		ok = ex_gemv(e, TRANSPOSED, 1, matrix_view(v, top, 0, rows, c),
		             matrix_view(v, top, c, rows, 1), 0, z) &&
		     ex_gemv(e, PLAIN, -tau[c], matrix_view(t, 0, 0, c, c), z, 0,
		             matrix_view(t, 0, c, c, 1));
	}
	return ok;
}

/* ---- a band: reflectors of p + 1 elements along the diagonal ---- */

static bool band_column(
        struct paper *s, struct matrix panel, int64_t c, int64_t p, struct matrix v, double *tau)
{
	struct executor *e = s->e;
	int64_t rows = min_int64(p + 1, panel.m - c), right = panel.n - c - 1;
	struct matrix x = matrix_view(panel, c, c, rows, 1), y = matrix_view(v, c, c, rows, 1);
	struct matrix below = matrix_view(y, 1, 0, rows - 1, 1), row = row_of(s, right);
	struct matrix rest = matrix_view(panel, c, c + 1, rows, right);
	struct house h;

	if (!ex_copy(e, WHOLE, matrix_view(x, 1, 0, rows - 1, 1), below) ||
	        !house(s, matrix_view(x, 0, 0, 1, 1), below, &h))
		return false;
	*tau = h.tau;
	return ex_fill(e, WHOLE, 0, h.beta, x) &&
	       (right == 0 ||
	               (ex_gemv(e, TRANSPOSED, h.tau, rest, y, 0, row) && ex_ger(e, y, row, rest)));
}

static bool band_block(struct paper *s, struct matrix panel, int64_t p, struct matrix v,
        struct matrix t, double *tau)
{
	bool ok = paper_begin(s, PAPER_HOUSE) && ex_fill(s->e, WHOLE, 0, 1, v);

	for (int64_t c = 0; ok && c < panel.n; c++)
		ok = band_column(s, panel, c, p, v, &tau[c]);
	return ok && form_t(s, v, p, true, tau, t);
}

/* Rows (columns of q) i .. of the system, columns c .. of r. */
static bool apply_band(struct paper *s, struct system y, struct reflectors h, int64_t i, int64_t c)
{
	struct executor *e = s->e;
	int64_t rows = h.v.m;

	return paper_fork(s) &&
	       (y.d.n == 0 || (paper_side_queue(s, SIDE_D, PAPER_APPLY_D) &&
	                              reflectors_apply(e, LEFT, TRANSPOSED, h, s->work[SIDE_D],
	                                      matrix_view(y.d, i, 0, rows, y.d.n)))) &&
	       (y.q.m == 0 || (paper_side_queue(s, SIDE_Q, PAPER_APPLY_Q) &&
	                              reflectors_apply(e, RIGHT, PLAIN, h, s->work[SIDE_Q],
	                                      matrix_view(y.q, 0, i, y.q.m, rows)))) &&
	       paper_side_queue(s, SIDE_R, PAPER_APPLY_R) &&
	       (c >= y.r.n || reflectors_apply(e, LEFT, TRANSPOSED, h, s->work[SIDE_R],
	                              matrix_view(y.r, i, c, rows, y.r.n - c)));
}

bool paper_band(struct paper *s, struct system y, int64_t j, int64_t p)
{
	double *tau = xmalloc((size_t)s->nb * sizeof *tau);
	bool ok = true;

	for (int64_t first = j, w; ok && j < y.r.n; j += w) {
		w = min_int64(s->nb, y.r.n - j);
		int64_t rows = min_int64(w + p, y.r.m - j);
		struct reflectors h = {matrix_view(s->v, 0, j - first, rows, w),
		        matrix_view(s->t, 0, j - first, w, w)};
		ok = band_block(s, matrix_view(y.r, j, j, rows, w), p, h.v, h.t, tau) &&
		     apply_band(s, y, h, j, j + w);
	}
	free(tau);
	return paper_join(s) && ok;
}

/* ---- R above U: reflectors [1; v], v in U ---- */

/* u: the block's columns of U, r: its rows and columns of R. */
static bool stack_column(struct paper *s, struct matrix r, struct matrix u, int64_t c, double *tau)
{
	struct executor *e = s->e;
	int64_t right = u.n - c - 1;
	struct matrix head = matrix_view(r, c, c, 1, 1), v = matrix_view(u, 0, c, u.m, 1);
	struct matrix top = matrix_view(r, c, c + 1, 1, right), row = row_of(s, right);
	struct matrix rest = matrix_view(u, 0, c + 1, u.m, right);
	struct house h;

	if (!house(s, head, v, &h))
		return false;
	*tau = h.tau;
	return ex_fill(e, WHOLE, 0, h.beta, head) &&
	       (right == 0 ||
	               (ex_copy(e, WHOLE, top, row) && ex_gemv(e, TRANSPOSED, 1, rest, v, 1, row) &&
	                       ex_scal(e, h.tau, row) && ex_ger(e, s->one, row, top) &&
	                       ex_ger(e, v, row, rest)));
}

struct stacked {
	struct matrix v, t, scaled;
};

/* The paper's two products: [top; bottom] -= [T^T; V T^T] (top + V^T bottom). */
static bool apply_left(const struct paper *s, struct stacked h, enum paper_side side,
        struct matrix top, struct matrix bottom)
{
	struct executor *e = s->e;
	struct matrix product = room_for(s->work[side].product, top.m, top.n);

	return ex_copy(e, WHOLE, top, product) &&
	       ex_gemm(e, TRANSPOSED, PLAIN, 1, h.v, bottom, 1, product) &&
	       ex_gemm(e, TRANSPOSED, PLAIN, -1, h.t, product, 1, top) &&
	       ex_gemm(e, PLAIN, PLAIN, -1, h.scaled, product, 1, bottom);
}

static bool apply_right(
        const struct paper *s, struct stacked h, struct matrix left, struct matrix right)
{
	struct executor *e = s->e;
	struct matrix product = room_for(s->work[SIDE_Q].product, left.m, left.n);

	return ex_copy(e, WHOLE, left, product) &&
	       ex_gemm(e, PLAIN, PLAIN, 1, right, h.v, 1, product) &&
	       ex_gemm(e, PLAIN, PLAIN, -1, product, h.t, 1, left) &&
	       ex_gemm(e, PLAIN, TRANSPOSED, -1, product, h.scaled, 1, right);
}

static bool stack_block(
        struct paper *s, struct matrix r, struct matrix u, struct stacked h, double *tau)
{
	bool ok = paper_begin(s, PAPER_HOUSE);

	for (int64_t c = 0; ok && c < u.n; c++)
		ok = stack_column(s, r, u, c, &tau[c]);
	return ok && form_t(s, h.v, u.m, false, tau, h.t) &&
	       ex_gemm(s->e, PLAIN, TRANSPOSED, 1, h.v, h.t, 0, h.scaled);
}

static bool apply_stack(struct paper *s, struct system y, struct matrix u, struct matrix b,
        struct matrix units, struct stacked h, int64_t j)
{
	int64_t w = h.v.n, right = y.r.n - j - w;

	return paper_fork(s) &&
	       (y.d.n == 0 ||
	               (paper_side_queue(s, SIDE_D, PAPER_APPLY_D) &&
	                       apply_left(s, h, SIDE_D, matrix_view(y.d, j, 0, w, y.d.n), b))) &&
	       (y.q.m == 0 ||
	               (paper_side_queue(s, SIDE_Q, PAPER_APPLY_Q) &&
	                       apply_right(s, h, matrix_view(y.q, 0, j, y.q.m, w), units))) &&
	       paper_side_queue(s, SIDE_R, PAPER_APPLY_R) &&
	       (right == 0 || apply_left(s, h, SIDE_R, matrix_view(y.r, j, j + w, w, right),
	                              matrix_view(u, 0, j + w, u.m, right)));
}

bool paper_stack(
        struct paper *s, struct system y, struct matrix u, struct matrix b, struct matrix units)
{
	double *tau = xmalloc((size_t)s->nb * sizeof *tau);
	bool ok = ex_fill(s->e, WHOLE, 1, 1, s->one);

	for (int64_t j = 0, w; ok && j < y.r.n; j += w) {
		w = min_int64(s->nb, y.r.n - j);
		struct stacked h = {matrix_view(u, 0, j, u.m, w), matrix_view(s->t, 0, j, w, w),
		        matrix_view(s->scaled, 0, j, u.m, w)};
		ok = stack_block(s, matrix_view(y.r, j, j, w, w), h.v, h, tau) &&
		     apply_stack(s, y, u, b, units, h, j);
	}
	free(tau);
	return paper_join(s) && ok;
}
