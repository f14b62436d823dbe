/* SPDX-License-Identifier: MIT */
#include "kerr_balance.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/host_transfer.h"
#include "factor/algorithms/plan.h"
#include "factor/algorithms/reflectors.h"
#include "factor/algorithms/solve.h"

#include "lib/base/msg.h"

#include <inttypes.h>

enum { TURNS = 2 /* blocks in flight */ };
enum { EVENT_NEXT = 16, EVENT_PANEL, EVENT_SENT /* and EVENT_SENT + 1 */ };
enum { STAGE_COLUMNS, STAGE_TAU, STAGE_PANEL /* and STAGE_PANEL + 1 */ };

struct balance {
	struct executor *e;
	struct plan plan;
	int64_t r, share, bytes;
	struct matrix a, q, taus;
	struct matrix columns; /* the host's share */
	struct reflectors reflectors[TURNS];
	struct reflector_work work, panel_work;
	void *leaf_work, *form_work;
};

/* A block of w columns from j on; its panel, tau and reflectors. */
struct part {
	int64_t j, w, turn;
	struct matrix panel, tau;
	struct reflectors reflectors;
};

static struct part part_of(struct balance *s, int64_t j, int64_t end)
{
	const int64_t w = min_int64(s->r, end - j), m = s->a.m - j, turn = j / s->r % TURNS;
	const struct reflectors all = s->reflectors[turn];

	return (struct part){j, w, turn, matrix_view(s->a, j, j, m, w),
	        matrix_view(s->taus, j, 0, w, 1),
	        {room_for(all.v, m, w), matrix_view(all.t, 0, 0, w, w)}};
}

/* In QUEUE_PANEL, once QUEUE_MAIN has updated its columns. */
static bool factor_panel(struct balance *s, const struct part *p)
{
	struct executor *e = s->e;

	e->queue = QUEUE_MAIN;
	if (!ex_record(e, EVENT_NEXT))
		return false;
	e->queue = QUEUE_PANEL;
	return ex_wait(e, EVENT_NEXT) && ex_panel_geqrf(e, p->panel, p->tau, s->leaf_work) &&
	       reflectors_form(e, &s->plan, p->panel, p->tau, p->reflectors, s->panel_work) &&
	       ex_record(e, EVENT_PANEL);
}

/* The device's columns from `from` to `to`. */
static bool update(struct balance *s, const struct part *p, int64_t from, int64_t to)
{
	s->e->queue = QUEUE_MAIN;
	return from >= to || reflectors_apply(s->e, LEFT, TRANSPOSED, p->reflectors, s->work,
	                             matrix_view(s->a, p->j, from, s->a.m - p->j, to - from));
}

static bool stages(
        struct balance *s, const struct part *p, struct matrix *panel, struct matrix *tau)
{
	struct matrix all;

	if (!s->e->ops->stage(
	            s->e, STAGE_PANEL + (int)p->turn, s->a.m, s->r, s->a.precision, panel) ||
	        !s->e->ops->stage(s->e, STAGE_TAU, s->r, TURNS, s->a.precision, &all))
		return false;
	*panel = matrix_view(*panel, 0, 0, p->panel.m, p->w);
	*tau = matrix_view(all, 0, p->turn, p->w, 1);
	return true;
}

static bool send(struct balance *s, const struct part *p)
{
	struct executor *e = s->e;
	struct matrix panel, tau;

	e->queue = QUEUE_OUT;
	return stages(s, p, &panel, &tau) && ex_wait(e, EVENT_PANEL) &&
	       ex_to_host(e, p->panel, panel) && ex_to_host(e, p->tau, tau) &&
	       ex_record(e, EVENT_SENT + (int)p->turn);
}

static bool update_on_host(struct balance *s, const struct part *p)
{
	struct executor *e = s->e;
	struct matrix panel, tau;

	e->queue = QUEUE_MAIN;
	return stages(s, p, &panel, &tau) && ex_wait_host(e, EVENT_SENT + (int)p->turn) &&
	       ex_host_reflect(
	               e, panel, tau, matrix_view(s->columns, p->j, 0, p->panel.m, s->columns.n));
}

/* Columns `from` to `to`; hosted: with the host's share behind them. The next panel runs beside the
 * rest of the update, and both beside the host. */
static bool factor_columns(struct balance *s, int64_t from, int64_t to, bool hosted)
{
	struct part now = part_of(s, from, to);
	bool ok = factor_panel(s, &now);

	for (int64_t j = from; ok && j < to; j += s->r) {
		const int64_t end = now.j + now.w;
		const struct part next = part_of(s, min_int64(end, to - 1), to);
		const bool more = end < to;
		s->e->queue = QUEUE_MAIN;
		ok = ex_wait(s->e, EVENT_PANEL) && (!hosted || send(s, &now)) &&
		     (!more || (update(s, &now, end, end + next.w) && factor_panel(s, &next) &&
		                       update(s, &now, end + next.w, to))) &&
		     (!hosted || update_on_host(s, &now));
		now = next;
	}
	s->e->queue = QUEUE_MAIN;
	return ok;
}

static bool run(struct balance *s)
{
	struct executor *e = s->e;
	const int64_t n = s->a.n, own = n - s->share;
	const struct matrix last = matrix_view(s->a, 0, own, s->a.m, s->share);
	const bool hosted = s->share > 0;
	bool ok = !hosted ||
	          (e->ops->stage(e, STAGE_COLUMNS, s->a.m, s->share, s->a.precision, &s->columns) &&
	                  matrix_to_host(e, WHOLE, 0, last, s->columns));

	ok = ok && factor_columns(s, 0, own, hosted);
	return ok &&
	       (!hosted || (matrix_to_device(e, WHOLE, 0, s->columns, last) &&
	                           factor_columns(s, own, n, false))) &&
	       orgqr(e, &s->plan, s->a, s->taus, s->q, s->form_work);
}

static bool check(struct executor *e, int64_t r, int64_t share, struct matrix a, struct matrix q)
{
	if (r < 1 || r > GEQRF_LEAF_MAX || share < 0 || share >= a.n || a.m < a.n || q.m != a.m ||
	        q.n != a.m)
		return fault_refuse(&e->fault,
		        "blocks of %" PRId64 " columns (at most %d) of a matrix of %" PRId64
		        " x %" PRId64 ", %" PRId64 " on the host, with Q %" PRId64 " x %" PRId64,
		        r, GEQRF_LEAF_MAX, a.m, a.n, share, q.m, q.n);
	return matrix_check(e, a) && matrix_check(e, q);
}

static bool set_up(struct balance *s, struct executor *e, int64_t r, int64_t share, struct matrix a,
        struct matrix q, void *work)
{
	struct workspace workspace = {work, 0};
	const enum precision precision = a.precision;

	*s = (struct balance){.e = e, .r = r, .share = share, .a = a, .q = q};
	s->plan = (struct plan){.widths = &s->r, .count = 1, .leaf = r, .lookahead = true};
	e->queue = QUEUE_MAIN;
	if (!check(e, r, share, a, q))
		return false;
	s->taus = workspace_matrix(&workspace, a.n, 1, precision);
	for (int t = 0; t < TURNS; t++)
		s->reflectors[t] = reflectors_workspace(&workspace, a.m, r, precision);
	s->work = reflector_work_workspace(&workspace, r, max_int64(a.n, r), precision);
	s->panel_work = reflector_work_workspace(&workspace, r, r, precision);
	s->leaf_work = workspace_bytes(
	        &workspace, e->ops->geqrf_work(e, matrix_view(a, 0, 0, a.m, min_int64(r, a.n))));
	const int64_t form = orgqr_work(e, &s->plan, a, s->taus, q);
	if (form < 0)
		return false;
	s->form_work = workspace_bytes(&workspace, form);
	s->bytes = workspace.used;
	return true;
}

int64_t kerr_balance_work(
        struct executor *e, int64_t r, int64_t share, struct matrix a, struct matrix q)
{
	struct balance s;

	return set_up(&s, e, r, share, a, q, NULL) ? s.bytes : -1;
}

bool kerr_balance(
        struct executor *e, int64_t r, int64_t share, struct matrix a, struct matrix q, void *work)
{
	struct balance s;

	return set_up(&s, e, r, share, a, q, work) && run(&s);
}
