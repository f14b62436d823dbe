/* SPDX-License-Identifier: MIT */
/* LU (Volkov and Demmel, LAWN 202, section 5.1). A block of w columns with r rows: every rank
 * receives w r elements, swaps w rows of all its columns, and makes its part of the update. */
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
	int *local; /* every block's pivots and info, relative to its first row */
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

static bool factor_own(struct factor *s, struct block b)
{
	struct matrix own = panels_own(s->a, b);
	struct default_plan chosen;

	panels_plan(s->e, GETRF, own, &chosen);
	struct outer outer = panels_enter(s->e);
	bool ok = getrf(s->e, &chosen.plan, own, s->panel_work, local_pivots(s, b));
	panels_leave(s->e, outer);
	return ok && ex_copy(s->e, WHOLE, own, panel(s, b));
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
	struct matrix l = panel(s, b), top = matrix_view(columns, 0, 0, b.w, columns.n);
	struct pivots p = local_pivots(s, b);

	if (b.w <= EXECUTOR_LU_TOP)
		return ex_lu_top(s->e, l, p, columns);
	return ex_laswp(s->e, columns, p, false) &&
	       ex_trsm(s->e, LEFT, LOWER, PLAIN, UNIT, 1, matrix_view(l, 0, 0, b.w, b.w), top);
}

static bool update_all(struct factor *s, struct block b, int64_t j, int64_t n)
{
	struct matrix columns = distributed_columns(s->a, b.j, j, n);
	int64_t below = columns.m - b.w;

	return panels_arrived(&s->panels, b) && update_top(s, b, columns) &&
	       ex_gemm(s->e, PLAIN, PLAIN, -1, matrix_view(panel(s, b), b.w, 0, below, b.w),
	               matrix_view(columns, 0, 0, b.w, columns.n), 1,
	               matrix_view(columns, b.w, 0, below, columns.n));
}

static bool update(struct factor *s, struct block b, int64_t j, int64_t n)
{
	if (s->kept_block != b.index)
		split_keep(s->e, matrix_view(panel(s, b), b.w, 0, s->a->layout.m - b.j - b.w, b.w));
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

	return panels_arrived(&s->panels, b) && ex_offset_pivots(s->e, local, b.j, s->all) &&
	       ex_laswp(s->e, distributed_columns(s->a, b.j, 0, b.j), local, false);
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
	s->panels = panels_workspace(e, a, &workspace, widest);
	s->panel_work = workspace_bytes(&workspace, bytes);
	s->local = workspace_integers(&workspace, steps + plan_blocks(&s->plan, steps));
	s->schedule.split = split_workspace(e, &workspace, d->m, a->local.n,
	        matrix_view(s->panels.columns[0], 0, 0, d->m, widest), TRANSPOSED, TF32_LEFT);
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
	return ex_clear_info(e, integer_at(pivots.data, pivots.n)) && schedule_run(&s.schedule);
}
