/* SPDX-License-Identifier: MIT */
/* LU (Volkov and Demmel, LAWN 202, section 5.1). A block of w columns with r rows: every rank
 * receives w r elements, swaps w rows of all its columns, and makes its part of the update.
 *
 * As on one GPU (getrf.c), the columns of a large matrix are transposed before and after, which
 * makes rows contiguous. Panels are column-major where they are factorized and received. */
#include "distributed.h"

#include "panels.h"
#include "factor/algorithms/getrf.h"
#include "factor/executors/split.h"

struct factor {
	struct schedule schedule;
	struct executor *e;
	const struct distributed *a;
	struct plan plan; /* of the blocks */
	struct pivots all;
	struct panels panels;
	bool row_major;
	struct matrix transposed; /* this rank's columns, as rows */
	int *local;               /* every block's pivots and info, relative to its first row */
	void *panel_work;
	int64_t kept_block; /* its part below the diagonal is a shared split operand */
	int64_t bytes;
};

static struct pivots local_pivots(const struct factor *s, struct block b)
{
	return (struct pivots){integer_at(s->local, b.j + b.index), b.w};
}

/* The block's panel as every rank has received it. */
static struct matrix panel(struct factor *s, struct block b)
{
	return panels_room(&s->panels, b, s->a->layout.m - b.j);
}

/* ---- the panel ---- */

/* Rows i.. of this rank's columns among columns j .. j+n-1; in row-major storage these are rows. */
static struct matrix columns_of(const struct factor *s, int64_t i, int64_t j, int64_t n)
{
	const struct comm *c = s->a->comm;
	struct matrix columns = distributed_columns(s->a, i, j, n);

	if (!s->row_major)
		return columns;
	return matrix_view(s->transposed, block_cyclic_before(&s->a->layout, c->rank, c->ranks, j),
	        i, columns.n, columns.m);
}

/* In place, or where it is sent from. */
static bool factor_own(struct factor *s, struct block b)
{
	struct executor *e = s->e;
	struct matrix own = columns_of(s, b.j, b.j, b.w), sent = panel(s, b);
	struct default_plan chosen;

	panels_plan(e, GETRF, sent, &chosen);
	if (s->row_major && !ex_transpose(e, own, sent))
		return false;
	struct outer outer = panels_enter(e);
	bool ok = getrf(
	        e, &chosen.plan, s->row_major ? sent : own, s->panel_work, local_pivots(s, b));
	panels_leave(e, outer);
	return ok && (s->row_major ? ex_transpose(e, sent, own) : ex_copy(e, WHOLE, own, sent));
}

static bool panel_on_device(struct factor *s, struct block b)
{
	struct pivots p = local_pivots(s, b);
	struct comm_piece pivots = {p.data, (p.n + 1) * (int64_t)sizeof(int)};

	return (!distributed_owns(s->a, b.j) || factor_own(s, b)) &&
	       panels_send(&s->panels, b, panel(s, b), pivots);
}

/* ---- the updates: this rank's columns among columns j .. j+n-1 ---- */

static bool update_top(struct factor *s, struct block b, struct matrix columns)
{
	struct matrix l = panel(s, b), corner = matrix_view(l, 0, 0, b.w, b.w);
	struct pivots p = local_pivots(s, b);

	if (s->row_major)
		return lu_top_row_major(s->e, corner, p, columns);
	if (b.w <= EXECUTOR_LU_TOP)
		return ex_lu_top(s->e, l, p, columns);
	return ex_laswp(s->e, columns, p, false) &&
	       ex_trsm(s->e, LEFT, LOWER, PLAIN, UNIT, 1, corner,
	               matrix_view(columns, 0, 0, b.w, columns.n));
}

static struct matrix below_diagonal(struct factor *s, struct block b)
{
	return matrix_view(panel(s, b), b.w, 0, s->a->layout.m - b.j - b.w, b.w);
}

static bool update_bottom(struct factor *s, struct block b, struct matrix columns)
{
	struct matrix l = below_diagonal(s, b);

	if (s->row_major)
		return ex_gemm(s->e, PLAIN, TRANSPOSED, -1,
		        matrix_view(columns, 0, 0, columns.m, b.w), l, 1,
		        matrix_view(columns, 0, b.w, columns.m, l.m));
	return ex_gemm(s->e, PLAIN, PLAIN, -1, l, matrix_view(columns, 0, 0, b.w, columns.n), 1,
	        matrix_view(columns, b.w, 0, l.m, columns.n));
}

static bool update_all(struct factor *s, struct block b, int64_t j, int64_t n)
{
	struct matrix columns = columns_of(s, b.j, j, n);

	return panels_arrived(&s->panels, b) && update_top(s, b, columns) &&
	       update_bottom(s, b, columns);
}

static bool update(struct factor *s, struct block b, int64_t j, int64_t n)
{
	if (s->kept_block != b.index)
		split_keep(s->e, below_diagonal(s, b));
	s->kept_block = b.index;
	return update_all(s, b, j, n);
}

static bool next_update(struct factor *s, struct block b, int64_t n)
{
	return update_all(s, b, b.j + b.w, n);
}

static bool narrow(struct factor *s, struct block b, int64_t n)
{
	(void)b;
	(void)n;
	return panels_narrow(s->a, s->e);
}

/* The pivots for the caller, and the swaps in this rank's finished columns. */
static bool side_queue(struct factor *s, struct block b)
{
	struct pivots local = local_pivots(s, b);
	struct matrix left = columns_of(s, b.j, 0, b.j), none = {0};

	return panels_arrived(&s->panels, b) && ex_offset_pivots(s->e, local, b.j, s->all) &&
	       (s->row_major ? ex_lu_rows(s->e, none, local, left)
	                     : ex_laswp(s->e, left, local, false));
}

static const struct factorization operations = {.panel = panel,
        .on_device = panel_on_device,
        .update = update,
        .next_update = next_update,
        .narrow = narrow,
        .side_queue = side_queue,
        .panel_first = true};

/* ---- the calls ---- */

static bool set_up(struct factor *s, struct executor *e, const struct distributed *a, void *work,
        struct pivots all)
{
	const struct block_cyclic *d = &a->layout;
	struct workspace workspace = {work, 0};
	struct matrix whole = {NULL, 0, d->m, d->n, d->m, a->local.precision};

	*s = (struct factor){.e = e, .a = a, .all = all, .kept_block = -1};
	s->plan = panels_blocks(a);
	s->schedule = schedule_of(e, &s->plan, whole, &operations, s);
	if (!distributed_check(e, a) || !panels_math_check(e, a))
		return false;
	int64_t steps = s->schedule.steps;
	int64_t bytes = panels_work(&s->schedule, a, GETRF, getrf_work);
	int64_t widest = plan_widest(&s->plan, steps);
	if (bytes < 0)
		return false;
	s->row_major = getrf_row_major(e, &s->plan, whole);
	s->transposed = workspace_matrix(
	        &workspace, s->row_major ? a->local.n : 0, d->m, a->local.precision);
	s->panels = panels_workspace(e, a, &workspace, widest);
	s->panel_work = workspace_bytes(&workspace, bytes);
	s->local = workspace_integers(&workspace, steps + plan_blocks(&s->plan, steps));
	s->schedule.split = split_workspace(e, &workspace, d->m, a->local.n,
	        matrix_view(s->panels.columns[0], 0, 0, d->m, widest), TRANSPOSED,
	        s->row_major ? TF32_RIGHT : TF32_LEFT);
	s->bytes = workspace.used;
	return true;
}

int64_t getrf_distributed_work(struct executor *e, const struct distributed *a)
{
	struct factor s;

	return set_up(&s, e, a, NULL, (struct pivots){0}) ? s.bytes : -1;
}

bool getrf_distributed(
        struct executor *e, const struct distributed *a, void *work, struct pivots pivots)
{
	struct factor s;

	if (!set_up(&s, e, a, work, pivots))
		return false;
	e->queue = QUEUE_MAIN;
	return ex_clear_info(e, integer_at(pivots.data, pivots.n)) &&
	       (!s.row_major || ex_transpose(e, a->local, s.transposed)) &&
	       schedule_run(&s.schedule) &&
	       (!s.row_major || ex_transpose(e, s.transposed, a->local));
}
