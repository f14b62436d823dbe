/* SPDX-License-Identifier: MIT */
/* Algorithms 1 and 3. A Householder vector is v = x - beta e1 with beta = -sign(x1) norm(x), not
 * scaled, P = I - tau v v^T, tau = 2 / v^T v = 1 / (norm(x) (norm(x) + |x1|)); a block's product is
 * I + W Y^T with Y = V. As in the paper nothing prevents overflow of squares. KERR_BLAS and
 * KERR_ONE read each norm and diagonal element on the host; KERR_KERNELS leaves all numbers on the
 * GPU. */
#include "kerr_internal.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

/* The workspace as a contiguous row, and as a column. */
static struct matrix row_of(const struct kerr *s, int64_t n)
{
	return (struct matrix){s->row.data, s->row.offset, 1, n, 1, s->row.precision};
}

static struct matrix column_of(const struct kerr *s, int64_t m)
{
	return (struct matrix){s->row.data, s->row.offset, m, 1, m, s->row.precision};
}

/* ---- by BLAS calls ---- */

/* Column j of the block: v into Y, and tau. x: the rest of A's column. */
static bool house(struct kerr *s, struct matrix y, int64_t j, struct matrix x)
{
	struct executor *e = s->e;
	double norm, first;

	if (!kerr_begin(s, KERR_HOUSE) || !ex_nrm2(e, x, &norm) ||
	        !ex_get(e, matrix_view(x, 0, 0, 1, 1), &first) ||
	        !ex_copy(e, WHOLE, x, matrix_view(y, j, j, x.m, 1)))
		return false;
	s->tau[j] = norm == 0 ? 0 : 1 / (norm * (norm + fabs(first)));
	return ex_fill(e, WHOLE, 0, first + copysign(norm, first), matrix_view(y, j, j, 1, 1));
}

/* A -= tau v (A^T v)^T */
static bool update_panel(struct kerr *s, double tau, struct matrix v, struct matrix a)
{
	const struct matrix row = row_of(s, a.n);

	return kerr_begin(s, KERR_UPDATE) && ex_gemv(s->e, TRANSPOSED, tau, a, v, 0, row) &&
	       ex_ger(s->e, v, row, a);
}

/* Algorithm 2: column j of W is -tau (v + W Y^T v). */
static bool next_w(struct kerr *s, struct matrix w, struct matrix y, int64_t j)
{
	struct executor *e = s->e;
	struct matrix v = matrix_view(y, 0, j, y.m, 1), z = matrix_view(w, 0, j, y.m, 1);
	struct matrix row = row_of(s, j);

	if (!ex_copy(e, WHOLE, v, z))
		return false;
	if (j == 0)
		return ex_scal(e, -s->tau[0], z);
	return ex_gemv(e, TRANSPOSED, 1, matrix_view(y, 0, 0, y.m, j), v, 0, row) &&
	       ex_gemv(e, PLAIN, -s->tau[j], matrix_view(w, 0, 0, y.m, j), row, -s->tau[j], z);
}

static bool blas_panel(struct kerr *s, struct matrix panel, struct matrix w, struct matrix y)
{
	const int64_t m = panel.m, n = panel.n;
	bool ok =
	        kerr_begin(s, KERR_HOUSE) && ex_fill(s->e, WHOLE, 0, 0, matrix_view(y, 0, 0, n, n));

	for (int64_t j = 0; ok && j < n; j++)
		ok = house(s, y, j, matrix_view(panel, j, j, m - j, 1)) &&
		     update_panel(s, s->tau[j], matrix_view(y, j, j, m - j, 1),
		             matrix_view(panel, j, j, m - j, n - j));
	ok = ok && kerr_begin(s, KERR_WY);
	for (int64_t j = 0; ok && j < n; j++)
		ok = next_w(s, w, y, j);
	return ok;
}

/* ---- by the paper's kernels ---- */

static bool reflect(struct kerr *s, struct matrix panel, struct matrix y, int64_t j)
{
	const struct matrix rest = matrix_view(panel, j, j, panel.m - j, panel.n - j),
	                    v = matrix_view(y, j, j, panel.m - j, 1), row = row_of(s, rest.n);

	return kerr_begin(s, KERR_HOUSE) && ex_kerr_house(s->e, panel, j, s->squares, y, s->taus) &&
	       kerr_begin(s, KERR_UPDATE) &&
	       ex_kerr_project(s->e, matrix_view(s->taus, j, 0, 1, 1), rest, v, row) &&
	       ex_ger(s->e, v, row, rest);
}

static bool extend(struct kerr *s, struct matrix w, struct matrix y, int64_t j)
{
	const struct matrix v = matrix_view(y, 0, j, y.m, 1), row = row_of(s, j);

	return ex_kerr_project(s->e, matrix_view(s->taus, j, 0, 1, 0), matrix_view(y, 0, 0, y.m, j),
	               v, row) &&
	       ex_kerr_extend(s->e, matrix_view(s->taus, j, 0, 1, 1), matrix_view(w, 0, 0, y.m, j),
	               row, v, matrix_view(w, 0, j, y.m, 1));
}

/* All norms in one kernel: reflections keep them. */
static bool kernel_panel(struct kerr *s, struct matrix panel, struct matrix w, struct matrix y)
{
	bool ok = kerr_begin(s, KERR_HOUSE) &&
	          ex_column_norms(s->e, panel, matrix_view(s->squares, 0, 0, panel.n, 1));

	for (int64_t j = 0; ok && j < panel.n; j++)
		ok = reflect(s, panel, y, j);
	ok = ok && kerr_begin(s, KERR_WY);
	for (int64_t j = 0; ok && j < panel.n; j++)
		ok = extend(s, w, y, j);
	return ok;
}

/* ---- Algorithm 3 ---- */

static bool block(struct kerr *s, int64_t j0, int64_t n)
{
	struct executor *e = s->e;
	int64_t m = s->a.m - j0, right = s->a.n - j0 - n;
	struct matrix panel = matrix_view(s->a, j0, j0, m, n);
	struct matrix rest = matrix_view(s->a, j0, j0 + n, m, right);
	struct matrix q = matrix_view(s->q, 0, j0, s->q.m, m);
	struct matrix w = matrix_view(s->w, j0, 0, m, n), y = matrix_view(s->y, j0, 0, m, n);
	struct matrix wa = room_for(s->product, n, right), qw = room_for(s->product, q.m, n);

	return (s->variant == KERR_BLAS ? blas_panel : kernel_panel)(s, panel, w, y) &&
	       kerr_begin(s, KERR_APPLY_A) && ex_gemm(e, TRANSPOSED, PLAIN, 1, w, rest, 0, wa) &&
	       ex_gemm(e, PLAIN, PLAIN, 1, y, wa, 1, rest) && kerr_begin(s, KERR_APPLY_Q) &&
	       ex_gemm(e, PLAIN, PLAIN, 1, q, w, 0, qw) &&
	       ex_gemm(e, PLAIN, TRANSPOSED, 1, qw, y, 1, q);
}

/* ---- Algorithm 1 ---- */

/* Q -= tau (Q v) v^T */
static bool update_q(struct kerr *s, double tau, struct matrix v, struct matrix q)
{
	const struct matrix column = column_of(s, q.m),
	                    turned = {v.data, v.offset, 1, v.m, 1, v.precision};

	return kerr_begin(s, KERR_APPLY_Q) && ex_gemv(s->e, PLAIN, tau, q, v, 0, column) &&
	       ex_ger(s->e, column, turned, q);
}

static bool reflector(struct kerr *s, int64_t j)
{
	const int64_t m = s->a.m - j;
	const struct matrix y = matrix_view(s->y, j, 0, m, 1);

	return house(s, y, 0, matrix_view(s->a, j, j, m, 1)) &&
	       update_panel(s, s->tau[0], y, matrix_view(s->a, j, j, m, s->a.n - j)) &&
	       update_q(s, s->tau[0], y, matrix_view(s->q, 0, j, s->q.m, m));
}

/* ---- all ---- */

bool kerr_run_paper(struct kerr *s)
{
	const bool one = s->variant == KERR_ONE;
	const int64_t width = one ? 1 : s->r;
	bool ok = kerr_begin(s, KERR_APPLY_Q) && ex_fill(s->e, WHOLE, 0, 1, s->q);

	s->tau = xmalloc((size_t)width * sizeof *s->tau);
	s->e->blas_only = true;
	for (int64_t j = 0; ok && j < s->a.n; j += width)
		ok = one ? reflector(s, j) : block(s, j, min_int64(width, s->a.n - j));
	s->e->blas_only = false;
	free(s->tau);
	return ok;
}

void kerr_paper_workspace(struct kerr *s, struct workspace *workspace)
{
	const enum precision precision = s->a.precision;
	const int64_t m = s->a.m, width = s->variant == KERR_ONE ? 1 : s->r;

	s->y = workspace_matrix(workspace, m, width, precision);
	s->row = workspace_matrix(workspace, s->variant == KERR_ONE ? m : width, 1, precision);
	if (s->variant == KERR_ONE)
		return;
	s->w = workspace_matrix(workspace, m, width, precision);
	s->product = workspace_room(workspace, m, width, precision);
	s->squares = workspace_matrix(workspace, width, 1, precision);
	s->taus = workspace_matrix(workspace, width, 1, precision);
}
