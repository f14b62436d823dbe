/* SPDX-License-Identifier: MIT */
/* Cholesky, lower triangle. A block of w columns with r rows below it: its owner factorizes the
 * diagonal block and solves for the rows below, leaf by leaf. Every rank receives w r elements and
 * updates its own blocks.
 *
 * On P x Q ranks the process column of the block receives the diagonal block, and each of its ranks
 * solves for its own rows, in one call. These r / P rows go along process rows. The r / Q rows
 * whose transpose updates a process column go from their process rows down this column.
 *
 * By split operands the diagonal stands apart, as in potrf.c: updates act on zeros, and the owner
 * adds the diagonal before it factorizes a block. */
#include "distributed.h"

#include "lower_update.h"
#include "panels.h"
#include "factor/algorithms/potrf.h"
#include "factor/executors/split.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <stdlib.h>

struct factor {
	struct schedule schedule;
	struct factorization operations;
	struct executor *e;
	const struct distributed *a;
	struct plan plan; /* of the blocks */
	int *info;
	struct panels panels;
	int *infos;           /* of every block, relative to its first row */
	struct matrix apart;  /* this rank's part of the diagonal, a row; empty: in place */
	struct matrix one;    /* 1 x 1 */
	struct matrix corner; /* the diagonal block, on several process rows */
	struct lower_update below;
	int64_t bytes;
};

static bool divided(const struct factor *s)
{
	return grid_rows(&s->a->grid) > 1;
}

/* This rank's part below the block's diagonal block, as it has received it. */
static struct matrix panel(struct factor *s, struct block b)
{
	return panels_room(&s->panels, b, b.j + b.w);
}

static int *info_of(const struct factor *s, struct block b)
{
	return integer_at(s->infos, b.index);
}

/* ---- the diagonal apart ---- */

/* The diagonal of this rank's block that begins at column j, as a row, and where it stands apart.
 */
static struct matrix diagonal(const struct factor *s, int64_t j, int64_t w)
{
	struct matrix own = distributed_columns(s->a, j, j, w);

	return (struct matrix){own.data, own.offset, 1, own.n, own.ld + 1, own.precision};
}

static struct matrix kept_diagonal(const struct factor *s, int64_t j, int64_t w)
{
	return matrix_view(s->apart, 0, distributed_columns_before(s->a, j), 1, w);
}

/* Beside the first panel, whose diagonal stays. */
static bool set_apart(struct factor *s, struct block first)
{
	bool ok = s->apart.n == 0 || ex_fill(s->e, WHOLE, 1, 1, s->one);

	for (struct block b = schedule_next(&s->schedule, first); ok && s->apart.n > 0 && b.w;
	        b = schedule_next(&s->schedule, b)) {
		struct matrix row = diagonal(s, b.j, b.w);
		ok = row.n == 0 || !distributed_owns_row(s->a, b.j) ||
		     (ex_copy(s->e, WHOLE, row, kept_diagonal(s, b.j, b.w)) &&
		             ex_fill(s->e, WHOLE, 0, 0, row));
	}
	return ok;
}

static bool add_apart(struct factor *s, struct block b)
{
	if (s->apart.n == 0 || b.index == 0)
		return true;
	return ex_gemm(s->e, PLAIN, PLAIN, 1, s->one, kept_diagonal(s, b.j, b.w), 1,
	        diagonal(s, b.j, b.w));
}

/* ---- the panel ---- */

static struct matrix corner(struct matrix own)
{
	return matrix_view(own, 0, 0, own.n, own.n);
}

/* The diagonal block; on one process row also the rows below it. */
static bool factor_columns(struct factor *s, struct block b, struct matrix own)
{
	struct default_plan chosen;

	panels_plan(s->e, POTRF, own, &chosen);
	bool ok = add_apart(s, b);
	struct outer outer = panels_enter(s->e);
	ok = ok && potrf_columns(s->e, &chosen.plan, own, info_of(s, b));
	panels_leave(s->e, outer);
	return ok;
}

/* From its owner to the process column. */
static bool pass_corner(struct factor *s, struct block b, struct matrix own, struct matrix passed)
{
	const struct grid *grid = &s->a->grid;
	const int root = block_cyclic_row(&s->a->layout, grid_rows(grid), b.j);
	const struct comm_piece pieces[] = {
	        {passed.data, passed.ld * passed.n * precision_bytes(passed.precision), root},
	        {info_of(s, b), sizeof(int), root}};

	return (grid_my_row(grid) != root || ex_copy(s->e, WHOLE, own, passed)) &&
	       comm_exchange(grid->column, s->e, pieces, 2, "diagonal block", b.index);
}

/* This rank's rows of the block, on several process rows. */
static bool factor_rows(struct factor *s, struct block b, struct matrix own, struct matrix below)
{
	const struct matrix passed = room_for(s->corner, b.w, b.w),
	                    triangle = below.m < own.m ? corner(own) : own;

	return (below.m == own.m || factor_columns(s, b, triangle)) &&
	       pass_corner(s, b, triangle, passed) &&
	       ex_trsm(s->e, RIGHT, LOWER, TRANSPOSED, NON_UNIT, 1, passed, below);
}

static bool factor_own(struct factor *s, struct block b)
{
	const int64_t top = distributed_owns_row(s->a, b.j) ? b.w : 0;
	struct matrix own = panels_own(s->a, b), below = matrix_view(own, top, 0, own.m - top, b.w);

	return (divided(s) ? factor_rows(s, b, own, below) : factor_columns(s, b, own)) &&
	       ex_copy(s->e, WHOLE, below, panel(s, b));
}

static bool panel_on_device(struct factor *s, struct block b)
{
	struct comm_piece info = {info_of(s, b), sizeof(int), 0};

	return (!distributed_owns(s->a, b.j) || factor_own(s, b)) &&
	       panels_send(&s->panels, b, panel(s, b), &info, 1);
}

/* ---- the updates ---- */

static bool update_all(struct factor *s, struct block b, int64_t j, int64_t n)
{
	return panels_arrived(&s->panels, b) && lower_update(&s->below, b, panel(s, b), j, n);
}

static bool update(struct factor *s, struct block b, int64_t j, int64_t n)
{
	panels_keep(&s->panels, b, panel(s, b));
	return update_all(s, b, j, n);
}

static bool next_update(struct factor *s, struct block b, int64_t n)
{
	return update_all(s, b, b.j + b.w, n);
}

/* The first info that is not zero stays. */
static bool side_queue(struct factor *s, struct block b)
{
	return panels_arrived(&s->panels, b) &&
	       ex_offset_pivots(
	               s->e, (struct pivots){info_of(s, b), 0}, b.j, (struct pivots){s->info, 0});
}

static const struct factorization operations = {.panel = panel,
        .begin = set_apart,
        .on_device = panel_on_device,
        .update = update,
        .next_update = next_update,
        .side_queue = side_queue,
        .panel_first = true};

/* ---- the calls ---- */

static bool stands_apart(const struct executor *e, const struct distributed *a)
{
	return e->math != MATH_FP32 && a->local.precision == SINGLE &&
	       a->layout.n >= e->splits->apart;
}

static bool check(struct executor *e, const struct distributed *a)
{
	if (!panels_check(e, a))
		return false;
	return a->layout.m == a->layout.n ||
	       fault_refuse(&e->fault,
	               "%" PRId64 " x %" PRId64 " is not square: Cholesky needs that", a->layout.m,
	               a->layout.n);
}

static bool set_up(
        struct factor *s, struct executor *e, const struct distributed *a, void *work, int *info)
{
	const struct block_cyclic *d = &a->layout;
	const enum precision precision = a->local.precision;
	struct workspace workspace = {work, 0};
	struct matrix whole = {NULL, 0, d->m, d->n, d->m, precision};

	*s = (struct factor){.e = e, .a = a, .info = info};
	s->plan = panels_blocks(a);
	s->operations = panels_operations(&operations, a, e);
	s->schedule = schedule_of(e, &s->plan, whole, &s->operations, s);
	if (!check(e, a))
		return false;
	int64_t widest = plan_widest(&s->plan, d->n);
	s->panels = panels_workspace(e, a, &workspace, widest);
	s->infos = workspace_integers(&workspace, plan_blocks(&s->plan, d->n));
	s->apart = workspace_matrix(&workspace, 1, stands_apart(e, a) ? a->local.n : 0, precision);
	s->one = workspace_matrix(&workspace, 1, 1, precision);
	s->schedule.split = split_workspace(e, &workspace, a->local.m,
	        max_int64(widest, lower_update_columns(e, a)), s->panels.columns[0], TRANSPOSED,
	        TF32_BOTH);
	if (divided(s))
		s->corner = workspace_matrix(&workspace, widest, widest, precision);
	s->below = lower_update_workspace(e, a, &workspace, widest);
	s->bytes = workspace.used;
	return true;
}

int64_t potrf_distributed_work(struct executor *e, const struct distributed *a)
{
	struct factor s;

	return set_up(&s, e, a, NULL, NULL) ? s.bytes : -1;
}

bool potrf_distributed(struct executor *e, const struct distributed *a, void *work, int *info)
{
	struct factor s;

	if (!set_up(&s, e, a, work, info))
		return false;
	e->queue = QUEUE_MAIN;
	bool ok = ex_clear_info(e, info) && schedule_run(&s.schedule);
	free(s.below.pieces);
	return ok;
}
