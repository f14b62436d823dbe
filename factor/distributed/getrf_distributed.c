/* SPDX-License-Identifier: MIT */
/* LU (Volkov and Demmel, LAWN 202, section 5.1). A block of w columns with r rows: every rank
 * receives w r elements, swaps w rows of all its columns, and makes its part of the update.
 *
 * On P x Q ranks the Q ranks of a process row receive w r / P elements. Every rank exchanges rows
 * of its columns with its process column (row_swaps.h), at most 2 w rows of each column, and solves
 * for U's rows by itself. The panel's owners receive w r elements more.
 *
 * As on one GPU (getrf.c), the columns of a large matrix are transposed before and after, which
 * makes rows contiguous. Panels are column-major where they are factorized and received. */
#include "distributed.h"

#include "row_swaps.h"
#include "factor/algorithms/getrf.h"
#include "factor/executors/split.h"

struct factor {
	struct schedule schedule;
	struct factorization operations;
	struct executor *e;
	const struct distributed *a;
	struct plan plan; /* of the blocks */
	struct pivots all;
	struct panels panels;
	bool row_major;
	struct matrix transposed; /* this rank's columns, as rows */
	int *local;               /* every block's pivots and info, relative to its first row */
	void *panel_work;
	/* on several process rows: the diagonal blocks of panels in flight */
	struct matrix corners[BLOCKS_IN_FLIGHT];
	struct row_swaps swaps;
	int64_t bytes;
};

static bool divided(const struct factor *s)
{
	return grid_rows(&s->a->grid) > 1;
}

static struct pivots local_pivots(const struct factor *s, struct block b)
{
	return (struct pivots){integer_at(s->local, b.j + b.index), b.w};
}

/* This rank's rows of the block's panel, as it has received them, and the diagonal block. */
static struct matrix panel(struct factor *s, struct block b)
{
	return panels_room(&s->panels, b, b.j);
}

static struct matrix corner(struct factor *s, struct block b)
{
	return divided(s) ? room_for(s->corners[block_turn(b)], b.w, b.w)
	                  : matrix_view(panel(s, b), 0, 0, b.w, b.w);
}

/* ---- the panel ---- */

/* Rows i.. of this rank's columns among columns j .. j+n-1; in row-major storage these are rows. */
static struct matrix columns_of(const struct factor *s, int64_t i, int64_t j, int64_t n)
{
	struct matrix columns = distributed_columns(s->a, i, j, n);

	if (!s->row_major)
		return columns;
	return matrix_view(s->transposed, distributed_columns_before(s->a, j),
	        distributed_rows_before(s->a, i), columns.n, columns.m);
}

static bool factor(struct factor *s, struct block b, struct matrix whole)
{
	struct default_plan chosen;

	panels_plan(s->e, GETRF, whole, &chosen);
	struct outer outer = panels_enter(s->e);
	bool ok = getrf(s->e, &chosen.plan, whole, s->panel_work, local_pivots(s, b));
	panels_leave(s->e, outer);
	return ok;
}

/* Of all process rows: the same on all ranks of the process column. */
static bool factor_gathered(struct factor *s, struct block b)
{
	const struct matrix whole = panels_whole(&s->panels, b);

	return panels_gather(&s->panels, b) && factor(s, b, whole) &&
	       panels_take(&s->panels, b, whole) &&
	       ex_copy(s->e, WHOLE, matrix_view(whole, 0, 0, b.w, b.w), corner(s, b));
}

static bool in_place(const struct factor *s)
{
	return !s->row_major && !divided(s);
}

/* In place, or where it is sent from. */
static bool factor_own(struct factor *s, struct block b)
{
	struct executor *e = s->e;
	struct matrix own = columns_of(s, b.j, b.j, b.w), sent = panel(s, b);

	if (in_place(s))
		return factor(s, b, own) && ex_copy(e, WHOLE, own, sent);
	return (s->row_major ? ex_transpose(e, own, sent) : ex_copy(e, WHOLE, own, sent)) &&
	       (divided(s) ? factor_gathered(s, b) : factor(s, b, sent));
}

/* Behind the broadcast, which others wait for. */
static bool write_back(struct factor *s, struct block b)
{
	struct matrix own = columns_of(s, b.j, b.j, b.w), sent = panel(s, b);

	if (in_place(s))
		return true;
	return s->row_major ? ex_transpose(s->e, sent, own) : ex_copy(s->e, WHOLE, sent, own);
}

static bool panel_on_device(struct factor *s, struct block b)
{
	struct pivots p = local_pivots(s, b);
	struct matrix top = corner(s, b);
	struct comm_piece others[] = {{p.data, (p.n + 1) * (int64_t)sizeof(int), 0},
	        {top.data, top.ld * top.n * precision_bytes(top.precision), 0}};
	const bool owns = distributed_owns(s->a, b.j);

	return (!owns || factor_own(s, b)) &&
	       panels_send(&s->panels, b, panel(s, b), others, divided(s) ? 2 : 1) &&
	       (!owns || write_back(s, b));
}

/* ---- the updates: this rank's columns among columns j .. j+n-1 ---- */

/* upper: U's rows of these columns, transposed where `divided` or row-major. */
static bool update_top(
        struct factor *s, struct block b, struct matrix columns, struct matrix *upper)
{
	struct matrix l = corner(s, b);
	struct pivots p = local_pivots(s, b);

	if (divided(s))
		return row_swaps_run(&s->swaps, b, s->row_major, columns, l, upper);
	*upper = s->row_major ? matrix_view(columns, 0, 0, columns.m, b.w)
	                      : matrix_view(columns, 0, 0, b.w, columns.n);
	if (s->row_major)
		return lu_top_row_major(s->e, l, p, columns);
	if (b.w <= EXECUTOR_LU_TOP)
		return ex_lu_top(s->e, panel(s, b), p, columns);
	return ex_laswp(s->e, columns, p, false) &&
	       ex_trsm(s->e, LEFT, LOWER, PLAIN, UNIT, 1, l, *upper);
}

/* This rank's rows of the block's own, and of the panel below these. */
static int64_t top_rows(const struct factor *s, struct block b)
{
	return distributed_owns_row(s->a, b.j) ? b.w : 0;
}

static struct matrix below_diagonal(struct factor *s, struct block b)
{
	const struct matrix l = panel(s, b);
	const int64_t top = top_rows(s, b);

	return matrix_view(l, top, 0, l.m - top, b.w);
}

static bool update_bottom(
        struct factor *s, struct block b, struct matrix columns, struct matrix upper)
{
	const struct matrix l = below_diagonal(s, b);
	const int64_t top = top_rows(s, b);

	if (s->row_major)
		return ex_gemm(s->e, PLAIN, TRANSPOSED, -1, upper, l, 1,
		        matrix_view(columns, 0, top, columns.m, l.m));
	return ex_gemm(s->e, PLAIN, divided(s) ? TRANSPOSED : PLAIN, -1, l, upper, 1,
	        matrix_view(columns, top, 0, l.m, columns.n));
}

/* The panel is here, and its swaps are known where they must be. */
static bool arrived(struct factor *s, struct block b)
{
	return panels_arrived(&s->panels, b) &&
	       (!divided(s) || row_swaps_read(&s->swaps, b, local_pivots(s, b)));
}

static bool update_all(struct factor *s, struct block b, int64_t j, int64_t n)
{
	struct matrix columns = columns_of(s, b.j, j, n), upper;

	return arrived(s, b) && update_top(s, b, columns, &upper) &&
	       update_bottom(s, b, columns, upper);
}

static bool update(struct factor *s, struct block b, int64_t j, int64_t n)
{
	panels_keep(&s->panels, b, below_diagonal(s, b));
	return update_all(s, b, j, n);
}

static bool next_update(struct factor *s, struct block b, int64_t n)
{
	return update_all(s, b, b.j + b.w, n);
}

/* The pivots for the caller, and the swaps in this rank's finished columns. */
static bool side_queue(struct factor *s, struct block b)
{
	struct pivots local = local_pivots(s, b);
	struct matrix left = columns_of(s, b.j, 0, b.j), none = {0}, top;

	if (!arrived(s, b) || !ex_offset_pivots(s->e, local, b.j, s->all))
		return false;
	if (divided(s))
		return row_swaps_run(&s->swaps, b, s->row_major, left, none, &top);
	return s->row_major ? ex_lu_rows(s->e, none, local, left)
	                    : ex_laswp(s->e, left, local, false);
}

static const struct factorization operations = {.panel = panel,
        .on_device = panel_on_device,
        .update = update,
        .next_update = next_update,
        .side_queue = side_queue,
        .panel_first = true};

/* ---- the calls ---- */

/* Of the queues that swap: updates, the next panel's columns, finished columns. */
static void divided_workspace(struct factor *s, struct workspace *workspace, int64_t widest)
{
	const int64_t own = s->a->local.n;
	const int64_t columns[QUEUE_COUNT] = {
	        [QUEUE_MAIN] = own, [QUEUE_PANEL] = min_int64(own, widest), [QUEUE_OUT] = own};

	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		s->corners[i] = workspace_matrix(workspace, widest, widest, s->a->local.precision);
	s->swaps = row_swaps_workspace(s->e, s->a, workspace, widest, columns);
}

static bool set_up(struct factor *s, struct executor *e, const struct distributed *a, void *work,
        struct pivots all)
{
	const struct block_cyclic *d = &a->layout;
	struct workspace workspace = {work, 0};
	struct matrix whole = {NULL, 0, d->m, d->n, d->m, a->local.precision};

	*s = (struct factor){.e = e, .a = a, .all = all};
	s->plan = panels_blocks(a);
	s->operations = panels_operations(&operations, a, e);
	s->schedule = schedule_of(e, &s->plan, whole, &s->operations, s);
	if (!panels_check(e, a) || !row_swaps_check(e, a))
		return false;
	int64_t steps = s->schedule.steps, widest = plan_widest(&s->plan, steps);
	s->row_major = getrf_row_major(e, &s->plan, whole);
	s->transposed = workspace_matrix(
	        &workspace, s->row_major ? a->local.n : 0, a->local.m, a->local.precision);
	s->panels = panels_workspace(e, a, &workspace, widest);
	panels_gather_workspace(&s->panels, &workspace);
	int64_t bytes = panels_work(&s->panels, &s->schedule, GETRF, getrf_work);
	if (bytes < 0)
		return false;
	s->panel_work = workspace_bytes(&workspace, bytes);
	s->local = workspace_integers(&workspace, steps + plan_blocks(&s->plan, steps));
	s->schedule.split = split_workspace(e, &workspace, a->local.m, a->local.n,
	        s->panels.columns[0], TRANSPOSED, s->row_major ? TF32_RIGHT : TF32_LEFT);
	if (divided(s))
		divided_workspace(s, &workspace, widest);
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
	bool ok = ex_clear_info(e, integer_at(pivots.data, pivots.n)) &&
	          (!s.row_major || ex_transpose(e, a->local, s.transposed)) &&
	          schedule_run(&s.schedule) &&
	          (!s.row_major || ex_transpose(e, s.transposed, a->local));
	row_swaps_free(&s.swaps);
	return ok;
}
