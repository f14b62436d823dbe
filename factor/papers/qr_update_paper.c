/* SPDX-License-Identifier: MIT */
/* Workspace and queues of the paper's changes. */
#include "qr_update_paper_internal.h"

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

enum { EVENT_FORK, EVENT_JOIN }; /* EVENT_JOIN + side, two events */

/* ---- queues ---- */

static enum queue queue_of(const struct paper *s, enum paper_side side)
{
	static const enum queue queues[PAPER_SIDES] = {QUEUE_MAIN, QUEUE_IN, QUEUE_OUT};

	return s->how->phase_timer ? QUEUE_MAIN : queues[side];
}

bool paper_begin(const struct paper *s, enum paper_phase phase)
{
	return phase_timer_begin(s->e, s->how->phase_timer, (int)phase);
}

bool paper_fork(const struct paper *s)
{
	s->e->queue = QUEUE_MAIN;
	return ex_record(s->e, EVENT_FORK);
}

bool paper_side_queue(const struct paper *s, enum paper_side side, enum paper_phase phase)
{
	s->e->queue = queue_of(s, side);
	return paper_begin(s, phase) && (s->e->queue == QUEUE_MAIN || ex_wait(s->e, EVENT_FORK));
}

void paper_back(const struct paper *s)
{
	s->e->queue = QUEUE_MAIN;
}

bool paper_join(const struct paper *s)
{
	struct executor *e = s->e;
	bool ok = true;

	for (int side = SIDE_D; ok && !s->how->phase_timer && side < PAPER_SIDES; side++) {
		e->queue = queue_of(s, (enum paper_side)side);
		ok = ex_record(e, EVENT_JOIN + side);
		e->queue = QUEUE_MAIN;
		ok = ok && ex_wait(e, EVENT_JOIN + side);
	}
	e->queue = QUEUE_MAIN;
	return ok;
}

/* ---- workspace ---- */

int64_t paper_width(const struct qr_paper *how, int64_t columns)
{
	return max_int64(1, how->nb ? min_int64(how->nb, columns) : (columns + 9) / 10);
}

/* Rows of the part of Q that is kept. */
static int64_t q_rows(const struct paper *s)
{
	return s->f->kept == Q_NONE ? 0 : s->f->m;
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
	s->work[SIDE_Q] = reflector_work_workspace(workspace, s->nb, q_rows(s) + p, precision);
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
		return fault_set(&s->e->fault, "the paper has no %s", qr_change_name[change]);
	return !rotates || s->f->kept == Q_FULL ||
	       fault_set(&s->e->fault, "%s as in the paper needs all of Q", qr_change_name[change]);
}

bool paper_set_up(struct paper *s, struct executor *e, struct qr_factors *f, enum qr_change change,
        int64_t p, void *work, const struct qr_paper *how)
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

bool qr_paper_change(struct executor *e, struct qr_factors *f, enum qr_change change, int64_t k,
        int64_t p, struct matrix u, struct matrix b, void *work, int *info,
        const struct qr_paper *how)
{
	struct paper s;

	if (!paper_set_up(&s, e, f, change, p, work, how) || !update_check_at(&s.update, k))
		return false;
	bool ok = change == QR_REMOVE_COLUMNS ? paper_remove_columns(&s, k)
	          : change == QR_ADD_COLUMNS  ? paper_add_columns(&s, k, u, b, info)
	          : change == QR_ADD_ROWS     ? paper_add_rows(&s, k, u, b)
	                                      : paper_remove_rows(&s, k, b, info);
	return ok && phase_timer_end(e, how->phase_timer);
}

int64_t qr_paper_work(struct executor *e, const struct qr_factors *f, enum qr_change change,
        int64_t p, const struct qr_paper *how)
{
	struct qr_factors copy = *f;
	struct paper s;

	return paper_set_up(&s, e, &copy, change, p, NULL, how) ? s.bytes : -1;
}
