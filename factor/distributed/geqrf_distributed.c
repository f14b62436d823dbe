/* SPDX-License-Identifier: MIT */
/* Householder QR. A block of w columns with r rows: its owner factorizes the panel and forms V and
 * T of its reflectors, every rank receives w (r + w) elements and updates its own columns.
 *
 * On P x Q ranks the Q ranks of a process row receive w (r / P + w) elements, the panel's owners w
 * r more, and every rank P w elements for each of its columns: V^T C of every process row. */
#include "distributed.h"

#include "divided_reflectors.h"
#include "panels.h"
#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/reflectors.h"
#include "factor/executors/split.h"

struct factor {
	struct schedule schedule;
	struct factorization operations;
	struct executor *e;
	const struct distributed *a;
	struct plan plan; /* of the blocks */
	struct matrix tau;
	struct panels panels;
	struct matrix t[BLOCKS_IN_FLIGHT];
	struct reflector_work work;       /* of QUEUE_MAIN */
	struct reflector_work panel_work; /* of the next panel's columns */
	void *own_work;                   /* of this rank's panels */
	/* on several process rows: V of the whole panel; work by queue */
	struct matrix v;
	struct divided_work divided[QUEUE_COUNT];
	int64_t bytes;
};

static bool divided(const struct factor *s)
{
	return grid_rows(&s->a->grid) > 1;
}

static struct matrix panel(struct factor *s, struct block b)
{
	return panels_room(&s->panels, b, b.j);
}

/* The block's reflectors, V by this rank's rows, as it has received them. */
static struct reflectors reflectors_of(struct factor *s, struct block b)
{
	return (struct reflectors){panel(s, b), room_for(s->t[block_turn(b)], b.w, b.w)};
}

static bool factor_own(struct factor *s, struct block b)
{
	const struct distributed *a = s->a;
	struct matrix own = panels_own(a, b);
	struct matrix tau = matrix_view(s->tau, distributed_columns_before(a, b.j), 0, b.w, 1);
	struct reflectors r = reflectors_of(s, b);
	struct matrix sent = r.v, whole = own;
	struct default_plan chosen;
	bool ok = true;

	if (divided(s)) {
		r.v = panels_like(&s->panels, b, s->v);
		whole = panels_whole(&s->panels, b);
		ok = ex_copy(s->e, WHOLE, own, sent) && panels_gather(&s->panels, b);
	}
	panels_plan(s->e, GEQRF, whole, &chosen);
	ok = ok && geqrf_panel(s->e, &chosen.plan, whole, tau, r, s->own_work);
	if (!divided(s))
		return ok;
	return ok && panels_take(&s->panels, b, whole) && ex_copy(s->e, WHOLE, sent, own) &&
	       panels_take(&s->panels, b, r.v);
}

static bool panel_on_device(struct factor *s, struct block b)
{
	struct matrix t = reflectors_of(s, b).t;
	struct comm_piece piece = {t.data, t.ld * t.n * precision_bytes(t.precision), 0};

	return (!distributed_owns(s->a, b.j) || factor_own(s, b)) &&
	       panels_send(&s->panels, b, panel(s, b), &piece, 1);
}

static bool update_divided(struct factor *s, struct block b, int64_t j, int64_t n)
{
	return panels_arrived(&s->panels, b) &&
	       divided_apply(s->e, &s->a->grid, TRANSPOSED, reflectors_of(s, b),
	               s->divided[s->e->queue], distributed_columns(s->a, b.j, j, n), b.index);
}

static bool update(struct factor *s, struct block b, int64_t j, int64_t n)
{
	panels_keep(&s->panels, b, panel(s, b));
	if (divided(s))
		return update_divided(s, b, j, n);
	return panels_arrived(&s->panels, b) &&
	       reflectors_apply(s->e, LEFT, TRANSPOSED, reflectors_of(s, b), s->work,
	               distributed_columns(s->a, b.j, j, n));
}

static bool next_update(struct factor *s, struct block b, int64_t n)
{
	if (divided(s))
		return update_divided(s, b, b.j + b.w, n);
	return panels_arrived(&s->panels, b) &&
	       reflectors_next_update(s->e, reflectors_of(s, b), s->panel_work,
	               distributed_columns(s->a, b.j, b.j + b.w, n));
}

static const struct factorization operations = {.panel = panel,
        .on_device = panel_on_device,
        .update = update,
        .next_update = next_update,
        .panel_first = true};

/* ---- the calls ---- */

static bool set_up(struct factor *s, struct executor *e, const struct distributed *a,
        struct matrix tau, void *work)
{
	const struct block_cyclic *d = &a->layout;
	const enum precision precision = a->local.precision;
	struct workspace workspace = {work, 0};
	struct matrix whole = {NULL, 0, d->m, d->n, d->m, precision};

	*s = (struct factor){.e = e, .a = a, .tau = tau};
	s->plan = panels_blocks(a);
	s->operations = panels_operations(&operations, a, e);
	s->schedule = schedule_of(e, &s->plan, whole, &s->operations, s);
	if (!panels_check(e, a))
		return false;
	int64_t widest = plan_widest(&s->plan, s->schedule.steps);
	s->panels = panels_workspace(e, a, &workspace, widest);
	panels_gather_workspace(&s->panels, &workspace);
	int64_t bytes = panels_work(&s->panels, &s->schedule, GEQRF, geqrf_panel_work);
	if (bytes < 0)
		return false;
	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		s->t[i] = workspace_matrix(&workspace, widest, widest, precision);
	s->own_work = workspace_bytes(&workspace, bytes);
	s->work = reflector_work_workspace(
	        &workspace, widest, max_int64(a->local.n, widest), precision);
	s->panel_work = reflector_work_workspace(&workspace, widest, widest, precision);
	s->schedule.split = split_workspace(
	        e, &workspace, a->local.m, a->local.n, s->panels.columns[0], TRANSPOSED, TF32_LEFT);
	if (divided(s)) {
		s->v = panels_like_workspace(&s->panels, &workspace);
		s->divided[QUEUE_MAIN] =
		        divided_work_workspace(&a->grid, &workspace, widest, a->local.n, precision);
		s->divided[QUEUE_PANEL] =
		        divided_work_workspace(&a->grid, &workspace, widest, widest, precision);
	}
	s->bytes = workspace.used;
	return true;
}

int64_t geqrf_distributed_work(struct executor *e, const struct distributed *a)
{
	struct factor s;

	return set_up(&s, e, a, (struct matrix){0}, NULL) ? s.bytes : -1;
}

bool geqrf_distributed(
        struct executor *e, const struct distributed *a, struct matrix tau, void *work)
{
	struct factor s;

	return set_up(&s, e, a, tau, work) && schedule_run(&s.schedule) &&
	       panels_all_arrived(&s.panels);
}
