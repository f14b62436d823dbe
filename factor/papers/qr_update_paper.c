/* SPDX-License-Identifier: MIT */
/* The paper's changes: their workspace and order of work. */
#include "qr_update_paper_internal.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/solve.h"

#include "lib/base/msg.h"

const char *const paper_phase_name[PAPER_PHASES] = {[PAPER_LAYOUT] = "layout",
        [PAPER_PROJECT] = "project",
        [PAPER_HOUSE] = "house",
        [PAPER_T] = "t",
        [PAPER_APPLY_R] = "apply_r",
        [PAPER_APPLY_D] = "apply_d",
        [PAPER_APPLY_Q] = "apply_q",
        [PAPER_GIVENS_R] = "givens_r",
        [PAPER_GIVENS_Q] = "givens_q",
        [PAPER_WHOLE] = "whole"};

/* ---- the candidates beside the paper's algorithms: they use no zeros and have the fewest calls
 * ----
 */

/* A QR factorization by the default plan, applied to d, and to q from the right: 2 n^2 (m - n / 3)
 * operations for m x n elements, 4 m n - 2 n^2 for each column of d and row of q. _workspace: for a
 * of at most this size. _run: a becomes upper triangular with zeros below. */
static bool paper_whole_workspace(struct paper *s, struct paper_whole *whole,
        struct workspace *workspace, struct matrix a, struct matrix d, struct matrix q)
{
	struct executor *e = s->e;
	const struct plan *plan = &whole->plan.plan;

	plan_default(e, GEQRF, a.m, a.n, a.precision, false, &whole->plan);
	whole->tau = workspace_matrix(workspace, a.n, 1, a.precision);
	int64_t bytes[3] = {geqrf_work(e, plan, a)};
	if (d.n > 0)
		bytes[1] = ormqr_work(e, plan, LEFT, a, whole->tau, d);
	if (q.m > 0)
		bytes[2] = ormqr_work(e, plan, RIGHT, a, whole->tau, q);
	whole->work =
	        workspace_bytes(workspace, max_int64(bytes[0], max_int64(bytes[1], bytes[2])));
	return bytes[0] >= 0 && bytes[1] >= 0 && bytes[2] >= 0;
}

static bool paper_whole_run(const struct paper *s, const struct paper_whole *whole, struct matrix a,
        struct matrix d, struct matrix q)
{
	struct executor *e = s->e;
	const struct plan *plan = &whole->plan.plan;
	struct matrix tau = matrix_view(whole->tau, 0, 0, a.n, 1);

	return paper_begin(s, PAPER_WHOLE) && geqrf(e, plan, a, tau, whole->work) &&
	       (d.n == 0 || ormqr(e, plan, LEFT, TRANSPOSED, a, tau, d, whole->work)) &&
	       (q.m == 0 || (paper_begin(s, PAPER_APPLY_Q) &&
	                            ormqr(e, plan, RIGHT, PLAIN, a, tau, q, whole->work))) &&
	       paper_begin(s, PAPER_LAYOUT) &&
	       ex_fill(e, LOWER, 0, 0, matrix_view(a, 1, 0, a.m - 1, min_int64(a.n, a.m - 1)));
}

/* ---- workspace ---- */

/* Columns of a block of reflectors that reduce `columns` columns. */
static int64_t paper_width(const struct qr_paper *how, int64_t columns)
{
	return max_int64(1, how->nb ? min_int64(how->nb, columns) : (columns + 9) / 10);
}

/* Workspace of blocks of reflectors for this number of columns, without V. */
static void workspace_blocks(struct paper *s, struct workspace *workspace, int64_t columns)
{
	const struct qr_factors *f = s->f;
	enum precision precision = f->r.precision;
	int64_t p = s->update.p;

	s->nb = paper_width(s->how, columns);
	s->t = workspace_matrix(workspace, s->nb, columns, precision);
	s->row = workspace_matrix(workspace, s->nb, 1, precision);
	s->taus = workspace_matrix(workspace, s->nb, 1, precision);
	s->one = workspace_matrix(workspace, 1, 1, precision);
	s->work[SIDE_R] = reflector_work_workspace(workspace, s->nb, max_int64(f->n, p), precision);
	s->work[SIDE_D] = reflector_work_workspace(workspace, s->nb, f->d.n, precision);
	s->work[SIDE_Q] = reflector_work_workspace(
	        workspace, s->nb, (f->kept == Q_NONE ? 0 : f->m) + p, precision);
}

static void workspace_rotations(
        struct paper *s, struct workspace *workspace, int64_t rows, int64_t columns)
{
	s->x = workspace_matrix(workspace, rows, columns, s->f->r.precision);
	s->g = workspace_matrix(workspace, 2, 2 * PAPER_WAVES * s->update.p, s->f->r.precision);
}

/* Rows added: Q's columns that belong to R's rows and to the new ones stand side by side. */
static bool workspace_add_rows(struct paper *s, struct workspace *workspace)
{
	const struct qr_factors *f = s->f;
	enum precision precision = f->r.precision;
	int64_t p = s->update.p, rows = f->n + p;

	if (f->kept == Q_THIN)
		s->units = workspace_matrix(workspace, f->m + p, p, precision);
	if (s->how->whole) {
		s->stack = workspace_matrix(workspace, rows, f->n, precision);
		s->stack_d = workspace_matrix(workspace, rows, f->d.n, precision);
		s->stack_q = workspace_matrix(
		        workspace, f->kept == Q_NONE ? 0 : f->m + p, rows, precision);
		return paper_whole_workspace(
		        s, &s->whole, workspace, s->stack, s->stack_d, s->stack_q);
	}
	workspace_blocks(s, workspace, f->n);
	s->scaled = workspace_matrix(workspace, p, f->n, precision);
	return true;
}

static bool workspace_add_columns(struct paper *s, struct workspace *workspace)
{
	const struct qr_factors *f = s->f;
	enum precision precision = f->r.precision;
	int64_t m = f->m, n = f->n, p = s->update.p, sides = f->d.n, rows = n + p;

	s->w = workspace_matrix(workspace, m, p, precision);
	if (s->how->whole) {
		s->stack = workspace_matrix(workspace, rows, rows, precision);
		return paper_whole_workspace(s, &s->lower, workspace,
		               matrix_view(s->w, 0, 0, m - n, p),
		               matrix_view(f->d, 0, 0, m - n, sides),
		               matrix_view(f->q, 0, 0, m, m - n)) &&
		       paper_whole_workspace(s, &s->whole, workspace, s->stack,
		               matrix_view(f->d, 0, 0, rows, sides),
		               matrix_view(f->q, 0, 0, m, rows));
	}
	workspace_blocks(s, workspace, p);
	s->v = workspace_matrix(workspace, m - n, p, precision);
	workspace_rotations(s, workspace, rows + sides, rows);
	return true;
}

static bool take_workspace(struct paper *s, struct workspace *workspace)
{
	const struct qr_factors *f = s->f;
	int64_t p = s->update.p;

	switch (s->update.change) {
	case QR_REMOVE_COLUMNS:
		workspace_blocks(s, workspace, f->n - p);
		s->v = workspace_matrix(
		        workspace, min_int64(s->nb + p, f->n), f->n - p, f->r.precision);
		return true;
	case QR_ADD_ROWS:
		return workspace_add_rows(s, workspace);
	case QR_ADD_COLUMNS:
		return workspace_add_columns(s, workspace);
	default:
		workspace_rotations(s, workspace, f->n + p + f->d.n, f->m);
		return true;
	}
}

static bool check(const struct paper *s)
{
	enum qr_change change = s->update.change;
	bool rotates = change == QR_ADD_COLUMNS || change == QR_REMOVE_ROWS;

	if (change == QR_MODIFY)
		return fault_refuse(&s->e->fault, "the paper has no %s", qr_change_name[change]);
	return !rotates || s->f->kept == Q_FULL ||
	       fault_refuse(
	               &s->e->fault, "%s as in the paper needs all of Q", qr_change_name[change]);
}

/* Checks the change and allocates the workspace; false with the executor's fault. */
static bool paper_set_up(struct paper *s, struct executor *e, struct qr_factors *f,
        enum qr_change change, int64_t p, void *work, const struct qr_paper *how)
{
	*s = (struct paper){.e = e, .f = f, .how = how};
	if (!update_set_up(&s->update, e, f, change, p, work) || !check(s))
		return false;
	struct workspace workspace = {work, s->update.bytes};
	bool ok = take_workspace(s, &workspace);
	s->bytes = workspace.used;
	if (how->phase_timer)
		how->phase_timer->count = 0;
	e->queue = QUEUE_MAIN;
	return ok;
}

/* ---- columns removed: the rest of R has p elements below its diagonal, a band ---- */

static bool paper_remove_columns(struct paper *s, int64_t k)
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

/* ---- columns added ---- */

/* The rows of Q^T U below row n become triangular by blocks of reflectors, the others by rotations
 * of neighbouring rows, which keep R's zeros below. */

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

static bool paper_add_columns(struct paper *s, int64_t k, struct matrix columns, int *info)
{
	struct executor *e = s->e;
	struct qr_factors *f = s->f;
	int64_t p = s->update.p, n = f->n, m = f->m;

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

static struct matrix top_of(struct matrix a, int64_t m, int64_t n)
{
	return matrix_view(a, 0, 0, m, n);
}

/* ---- rows added: [R; U] by blocks, without R's zeros ---- */

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

static bool paper_add_rows(struct paper *s, int64_t k, struct matrix rows, struct matrix b)
{
	struct qr_factors *f = s->f;
	int64_t p = s->update.p, m = f->m;
	struct matrix sides = matrix_view(b, 0, 0, f->d.n == 0 ? 0 : p, f->d.n);

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

/* ---- rows removed ---- */

/* The rows of Q become unit vectors by rotations of all of Q's columns, and R is rotated with them.
 */

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

static bool paper_remove_rows(struct paper *s, int64_t k, int *info)
{
	struct qr_factors *f = s->f;
	int64_t p = s->update.p, m = f->m, left = m - p;
	struct wave_shape shape = {.row = f->n, .p = p, .base = m - 1, .lag = 2};

	bool ok = ex_clear_info(s->e, info) && paper_begin(s, PAPER_LAYOUT) && turn_in(s, k) &&
	          paper_waves(s, &shape, s->x, top_of(f->q, m, m)) &&
	          paper_begin(s, PAPER_LAYOUT) && turn_out(s) &&
	          update_move(&s->update, f->q, k, left, 0, p, 0, 0) &&
	          update_move(&s->update, f->q, left - k, left, k + p, p, k, 0);
	f->m -= ok ? p : 0;
	return ok;
}

bool qr_paper_change(struct executor *e, struct qr_factors *f, enum qr_change change, int64_t k,
        int64_t p, struct matrix u, struct matrix b, void *work, int *info,
        const struct qr_paper *how)
{
	struct paper s;

	if (!paper_set_up(&s, e, f, change, p, work, how) ||
	        !update_take_operands(&s.update, k, u, u, b, info))
		return false;
	bool ok = change == QR_REMOVE_COLUMNS ? paper_remove_columns(&s, k)
	          : change == QR_ADD_COLUMNS  ? paper_add_columns(&s, k, u, info)
	          : change == QR_ADD_ROWS     ? paper_add_rows(&s, k, u, b)
	                                      : paper_remove_rows(&s, k, info);
	return ok && phase_timer_end(e, how->phase_timer);
}

int64_t qr_paper_work(struct executor *e, const struct qr_factors *f, enum qr_change change,
        int64_t p, const struct qr_paper *how)
{
	struct qr_factors copy = *f;
	struct paper s;

	return paper_set_up(&s, e, &copy, change, p, NULL, how) ? s.bytes : -1;
}
