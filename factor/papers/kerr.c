/* SPDX-License-Identifier: MIT */
/* Algorithm 3; factor/validation/papers/kerr_protocol.h counts its operations as the paper does. A
 * Householder vector is v = x - beta e1 with beta = -sign(x1) norm(x), not scaled, P = I - tau v
 * v^T, tau = 2 / v^T v = 1 / (norm(x) (norm(x) + |x1|)); a block's product is I + W Y^T with Y = V.
 * As in the paper nothing prevents overflow of squares. */
#include "kerr.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/plan.h"
#include "factor/algorithms/reflectors.h"
#include "factor/algorithms/solve.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const char *const kerr_variant_name[KERR_VARIANTS] = {
        [KERR_BLAS] = "blas", [KERR_STEPS] = "steps", [KERR_AHEAD] = "ahead"};
const char *const kerr_phase_name[KERR_PHASES] = {[KERR_HOUSE] = "house",
        [KERR_UPDATE] = "panel_update",
        [KERR_PANEL] = "panel",
        [KERR_WY] = "wy",
        [KERR_APPLY_A] = "apply_a",
        [KERR_APPLY_Q] = "apply_q"};

struct kerr {
	struct executor *e;
	int64_t r;
	struct plan plan;
	struct matrix a, q;
	struct phase_timer *phase_timer;
	int64_t bytes;
	/* Algorithm 3 */
	struct matrix w, y; /* m x r */
	struct matrix row;  /* r numbers: tau A^T v, Y^T v */
	struct matrix product;
	double *tau; /* of a block, on the host */
	/* ours */
	struct matrix taus;
	void *panel_work, *step_work;
	struct reflectors reflectors;
	struct reflector_work apply_work;
};

static bool begin(const struct kerr *s, enum kerr_phase phase)
{
	return phase_timer_begin(s->e, s->phase_timer, (int)phase);
}

/* ---- Algorithm 3 ---- */

/* Column j of the block: v into Y, and tau. x: the rest of A's column. */
static bool house(struct kerr *s, struct matrix y, int64_t j, struct matrix x)
{
	struct executor *e = s->e;
	double norm, first;

	if (!begin(s, KERR_HOUSE) || !ex_nrm2(e, x, &norm) ||
	        !ex_get(e, matrix_view(x, 0, 0, 1, 1), &first) ||
	        !ex_copy(e, WHOLE, x, matrix_view(y, j, j, x.m, 1)))
		return false;
	s->tau[j] = norm == 0 ? 0 : 1 / (norm * (norm + fabs(first)));
	return ex_fill(e, WHOLE, 0, first + copysign(norm, first), matrix_view(y, j, j, 1, 1));
}

/* The workspace as a contiguous row. */
static struct matrix row_of(const struct kerr *s, int64_t n)
{
	return (struct matrix){s->row.data, s->row.offset, 1, n, 1, s->row.precision};
}

/* A -= tau v (A^T v)^T */
static bool update_panel(struct kerr *s, struct matrix y, int64_t j, struct matrix a)
{
	struct matrix v = matrix_view(y, j, j, a.m, 1);
	struct matrix row = row_of(s, a.n);

	return begin(s, KERR_UPDATE) && ex_gemv(s->e, TRANSPOSED, s->tau[j], a, v, 0, row) &&
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

static bool blas_block(struct kerr *s, int64_t j0, int64_t n)
{
	struct executor *e = s->e;
	int64_t m = s->a.m - j0, right = s->a.n - j0 - n;
	struct matrix panel = matrix_view(s->a, j0, j0, m, n);
	struct matrix rest = matrix_view(s->a, j0, j0 + n, m, right);
	struct matrix q = matrix_view(s->q, 0, j0, s->q.m, m);
	struct matrix w = matrix_view(s->w, j0, 0, m, n), y = matrix_view(s->y, j0, 0, m, n);
	struct matrix wa = room_for(s->product, n, right), qw = room_for(s->product, q.m, n);
	bool ok = begin(s, KERR_HOUSE) && ex_fill(e, WHOLE, 0, 0, matrix_view(y, 0, 0, n, n));

	for (int64_t j = 0; ok && j < n; j++)
		ok = house(s, y, j, matrix_view(panel, j, j, m - j, 1)) &&
		     update_panel(s, y, j, matrix_view(panel, j, j, m - j, n - j));
	ok = ok && begin(s, KERR_WY);
	for (int64_t j = 0; ok && j < n; j++)
		ok = next_w(s, w, y, j);
	return ok && begin(s, KERR_APPLY_A) && ex_gemm(e, TRANSPOSED, PLAIN, 1, w, rest, 0, wa) &&
	       ex_gemm(e, PLAIN, PLAIN, 1, y, wa, 1, rest) && begin(s, KERR_APPLY_Q) &&
	       ex_gemm(e, PLAIN, PLAIN, 1, q, w, 0, qw) &&
	       ex_gemm(e, PLAIN, TRANSPOSED, 1, qw, y, 1, q);
}

static bool run_blas(struct kerr *s)
{
	bool ok = begin(s, KERR_APPLY_Q) && ex_fill(s->e, WHOLE, 0, 1, s->q);

	s->tau = xmalloc((size_t)s->r * sizeof *s->tau);
	s->e->blas_only = true;
	for (int64_t j = 0; ok && j < s->a.n; j += s->r)
		ok = blas_block(s, j, min_int64(s->r, s->a.n - j));
	s->e->blas_only = false;
	free(s->tau);
	return ok;
}

/* ---- ours ---- */

static bool block_step(struct kerr *s, int64_t j, int64_t n)
{
	struct executor *e = s->e;
	int64_t m = s->a.m - j, right = s->a.n - j - n;
	struct matrix panel = matrix_view(s->a, j, j, m, n);
	struct matrix tau = matrix_view(s->taus, j, 0, n, 1);
	struct reflectors r = {
	        room_for(s->reflectors.v, m, n), matrix_view(s->reflectors.t, 0, 0, n, n)};

	if (!begin(s, KERR_PANEL) || !ex_panel_geqrf(e, panel, tau, s->panel_work))
		return false;
	return right == 0 ||
	       (begin(s, KERR_WY) && reflectors_form(e, &s->plan, panel, tau, r, s->apply_work) &&
	               begin(s, KERR_APPLY_A) &&
	               reflectors_apply(e, LEFT, TRANSPOSED, r, s->apply_work,
	                       matrix_view(s->a, j, j + n, m, right)));
}

static bool run_own(struct kerr *s, enum kerr_variant variant)
{
	bool ok = true;

	for (int64_t j = 0; ok && variant == KERR_STEPS && j < s->a.n; j += s->r)
		ok = block_step(s, j, min_int64(s->r, s->a.n - j));
	if (variant == KERR_AHEAD)
		ok = geqrf(s->e, &s->plan, s->a, s->taus, s->step_work);
	return ok && begin(s, KERR_APPLY_Q) &&
	       orgqr(s->e, &s->plan, s->a, s->taus, s->q, s->step_work);
}

/* ---- workspace ---- */

static void workspace_blas(struct kerr *s, struct workspace *workspace)
{
	enum precision precision = s->a.precision;

	s->w = workspace_matrix(workspace, s->a.m, s->r, precision);
	s->y = workspace_matrix(workspace, s->a.m, s->r, precision);
	s->row = workspace_matrix(workspace, s->r, 1, precision);
	s->product = workspace_room(workspace, s->a.m, s->r, precision);
}

/* The widest panel is the tallest. */
static bool workspace_own(struct kerr *s, enum kerr_variant variant, struct workspace *workspace)
{
	enum precision precision = s->a.precision;
	struct matrix first = matrix_view(s->a, 0, 0, s->a.m, min_int64(s->r, s->a.n));

	s->taus = workspace_matrix(workspace, s->a.n, 1, precision);
	int64_t factor = geqrf_work(s->e, &s->plan, s->a);
	int64_t form = factor < 0 ? -1 : orgqr_work(s->e, &s->plan, s->a, s->taus, s->q);
	if (form < 0)
		return false;
	s->step_work =
	        workspace_bytes(workspace, variant == KERR_AHEAD ? max_int64(factor, form) : form);
	if (variant == KERR_STEPS) {
		s->panel_work = workspace_bytes(workspace, s->e->ops->geqrf_work(s->e, first));
		s->reflectors = reflectors_workspace(workspace, s->a.m, s->r, precision);
		s->apply_work = reflector_work_workspace(
		        workspace, s->r, max_int64(s->a.n, s->r), precision);
	}
	return true;
}

static bool check(struct executor *e, int64_t r, struct matrix a, struct matrix q)
{
	if (r < 1 || a.m < a.n || a.n < 1 || q.m != a.m || q.n != a.m)
		return fault_refuse(&e->fault,
		        "blocks of %" PRId64 " columns of a matrix of %" PRId64 " x %" PRId64
		        " with Q %" PRId64 " x %" PRId64
		        ": Q is square, with A's rows, which are not fewer than its columns",
		        r, a.m, a.n, q.m, q.n);
	return matrix_check(e, a) && matrix_check(e, q);
}

static bool set_up(struct kerr *s, struct executor *e, enum kerr_variant variant, int64_t r,
        struct matrix a, struct matrix q, void *work)
{
	struct workspace workspace = {work, 0};
	bool ok;

	*s = (struct kerr){.e = e, .r = r, .a = a, .q = q};
	s->plan = (struct plan){.widths = &s->r,
	        .count = 1,
	        .leaf = variant == KERR_AHEAD ? min_int64(r, GEQRF_LEAF_MAX) : r,
	        .lookahead = variant == KERR_AHEAD};
	e->queue = QUEUE_MAIN;
	ok = check(e, r, a, q);
	if (ok && variant == KERR_BLAS)
		workspace_blas(s, &workspace);
	else
		ok = ok && workspace_own(s, variant, &workspace);
	s->bytes = workspace.used;
	return ok;
}

/* ---- the calls ---- */

int64_t kerr_work(
        struct executor *e, enum kerr_variant variant, int64_t r, struct matrix a, struct matrix q)
{
	struct kerr s;

	return set_up(&s, e, variant, r, a, q, NULL) ? s.bytes : -1;
}

bool kerr_qr(struct executor *e, enum kerr_variant variant, int64_t r, struct matrix a,
        struct matrix q, void *work, struct phase_timer *phase_timer)
{
	struct kerr s;

	if (phase_timer)
		phase_timer->count = 0;
	if (!set_up(&s, e, variant, r, a, q, work))
		return false;
	s.phase_timer = variant == KERR_AHEAD ? NULL : phase_timer;
	bool ok = variant == KERR_BLAS ? run_blas(&s) : run_own(&s, variant);
	return ok && phase_timer_end(e, s.phase_timer);
}
