/* SPDX-License-Identifier: MIT */
/* Blocked Householder QR with look-ahead. Operations of a block of w columns with r rows and c
 * columns right of it: panel 2 w^2 (r - w/3), T w^2 r, update 4 r w c. Over all blocks 2 n^2 (m -
 * n/3) plus the T. */
#include "geqrf.h"

#include "aligned.h"
#include "reflectors.h"
#include "schedule.h"
#include "factor/executors/split.h"

#include "lib/base/msg.h"

#include <inttypes.h>

struct factor {
	struct schedule schedule;
	struct executor *e;
	const struct plan *plan;
	struct matrix given, a, tau;                    /* a: the matrix itself or its copy */
	struct reflectors reflectors[BLOCKS_IN_FLIGHT]; /* as many as blocks_in_flight */
	struct reflector_work work;                     /* of QUEUE_MAIN */
	struct reflector_work panel_work;               /* of the panels */
	void *leaf_work;
	int64_t bytes;
	int64_t kept; /* block whose V is a shared split operand; -1: none */
	bool summed;  /* the last update began the next leaf, in leaf_work */
};

/* Wider panels are worth 3xTF32, whose workspace is QUEUE_MAIN's. */
enum { WIDEST_LEAD = 256 };

/* ---- one panel ---- */

static bool factor_halves(
        struct factor *s, struct matrix a, struct matrix tau, struct reflectors r, bool applied);

/* A panel on the device and its reflectors. Leaves do not write the zeros of V and T: clear does.
 * applied: columns follow, and need V and T. Otherwise the panel's last leaf makes neither. */
static bool factor(
        struct factor *s, struct matrix a, struct matrix tau, struct reflectors r, bool applied)
{
	if (a.n > s->plan->leaf)
		return factor_halves(s, a, tau, r, applied);
	const bool summed = s->summed;
	const struct reflectors kept = applied ? r : reflectors_part(r, 0, a.m, 0);
	s->summed = false;
	return ex_panel_reflectors(s->e, a, tau, kept.v, kept.t, summed, s->leaf_work);
}

/* Before H^T C, whose first `width` columns, below the reflectors' first rows, are the next panel:
 * whether this update begins the panel's first leaf. An update of a leaf and many columns more does
 * not. Two updates would read V twice, which is no less than the leaf. */
static bool begins_leaf(
        struct factor *s, struct reflectors r, struct matrix c, int64_t width, struct matrix *leaf)
{
	*leaf = matrix_view(c, r.v.n, 0, c.m - r.v.n, min_int64(width, s->plan->leaf));
	s->summed = width > 0 && ex_updates_panel(s->e, r.v, c, *leaf);
	return s->summed;
}

static bool apply_before(struct factor *s, struct reflectors r, struct reflector_work work,
        struct matrix c, int64_t width)
{
	struct matrix leaf;

	return begins_leaf(s, r, c, width, &leaf)
	               ? reflectors_update_panel(s->e, r, work, c, leaf, s->leaf_work)
	               : reflectors_apply(s->e, LEFT, TRANSPOSED, r, work, c);
}

/* Columns of the left part. A last leaf of few columns is updated beside its neighbour's: that
 * reads each V once, and forms no T of several leaves for it. */
static int64_t left_part(const struct plan *plan, int64_t width)
{
	const int64_t leaves = (width + plan->leaf - 1) / plan->leaf,
	              last = width - (leaves - 1) * plan->leaf;

	return leaves % 2 && 2 * last <= plan->leaf ? leaves / 2 * plan->leaf
	                                            : plan_left_half(plan, width);
}

/* Elmroth and Gustavson's recursion (2000): left half, update of the right half, right half. */
static bool factor_halves(
        struct factor *s, struct matrix a, struct matrix tau, struct reflectors r, bool applied)
{
	struct executor *e = s->e;
	int64_t n = left_part(s->plan, a.n), rest = a.n - n, below = a.m - n;
	struct reflectors left = reflectors_part(r, 0, a.m, n);

	return factor(s, matrix_view(a, 0, 0, a.m, n), matrix_view(tau, 0, 0, n, 1), left, true) &&
	       apply_before(s, left, s->panel_work, matrix_view(a, 0, n, a.m, rest), rest) &&
	       factor(s, matrix_view(a, n, n, below, rest), matrix_view(tau, n, 0, rest, 1),
	               reflectors_part(r, n, below, rest), applied) &&
	       (!applied || reflectors_merge(e, r, n, s->panel_work));
}

/* ---- the blocks ---- */

static struct matrix panel_of(struct factor *s, struct block b)
{
	return matrix_view(s->a, b.j, b.j, s->a.m - b.j, b.w);
}

static struct matrix above_panel(struct factor *s, struct block b)
{
	return matrix_view(s->a, 0, b.j, b.j, b.w);
}

static struct matrix tau_of(const struct factor *s, struct block b)
{
	return matrix_view(s->tau, b.j, 0, b.w, 1);
}

static struct reflectors reflectors_of(const struct factor *s, struct block b)
{
	struct reflectors all = s->reflectors[block_turn(b)];

	return (struct reflectors){
	        matrix_view(all.v, 0, 0, s->a.m - b.j, b.w), matrix_view(all.t, 0, 0, b.w, b.w)};
}

static bool panel_on_device(struct factor *s, struct block b)
{
	return factor(s, panel_of(s, b), tau_of(s, b), reflectors_of(s, b), b.j + b.w < s->a.n);
}

static bool panel_on_host(struct factor *s, struct block b, struct matrix host)
{
	return ex_host_panel_geqrf(s->e, host, tau_of(s, b));
}

static bool panel_back(struct factor *s, struct block b)
{
	return reflectors_form(
	        s->e, s->plan, panel_of(s, b), tau_of(s, b), reflectors_of(s, b), s->work);
}

/* Columns of the panel on the device that begins at column j, behind block b; 0: there is none. */
static int64_t next_panel(const struct factor *s, struct block b, int64_t j)
{
	const struct block next = schedule_next(&s->schedule, b);

	return s->plan->hybrid || j != next.j ? 0 : next.w;
}

static bool update(struct factor *s, struct block b, int64_t j, int64_t n)
{
	if (s->kept != b.index)
		split_keep(s->e, reflectors_of(s, b).v);
	s->kept = b.index;
	return apply_before(s, reflectors_of(s, b), s->work,
	        matrix_view(s->a, b.j, j, s->a.m - b.j, n), next_panel(s, b, j));
}

static bool narrow(struct factor *s, struct block b, int64_t n)
{
	(void)s;
	(void)b;
	return n <= WIDEST_LEAD;
}

static bool next_update(struct factor *s, struct block b, int64_t n)
{
	struct matrix c = matrix_view(s->a, b.j, b.j + b.w, s->a.m - b.j, n), leaf;
	struct reflectors r = reflectors_of(s, b);

	return begins_leaf(s, r, c, n, &leaf)
	               ? reflectors_update_panel(s->e, r, s->panel_work, c, leaf, s->leaf_work)
	               : reflectors_next_update(s->e, r, s->panel_work, c);
}

static const struct factorization operations = {.panel = panel_of,
        .above = above_panel,
        .on_device = panel_on_device,
        .on_host = panel_on_host,
        .back = panel_back,
        .update = update,
        .next_update = next_update,
        .narrow = narrow,
        .panel_first = true};

/* ---- workspace ---- */

static int64_t leaf_work(struct executor *e, const struct plan *plan, struct matrix a)
{
	(void)plan;
	return e->ops->geqrf_work(e, a);
}

static int blocks_in_flight(const struct factor *s)
{
	const struct block first = schedule_first(&s->schedule);

	return first.w && schedule_next(&s->schedule, first).w ? BLOCKS_IN_FLIGHT : 1;
}

static void take_workspace(struct factor *s, void *work)
{
	struct workspace workspace = {work, 0};
	int64_t widest = plan_widest(s->plan, s->schedule.steps);
	enum precision precision = s->given.precision;

	s->a = aligned_workspace(s->e, &workspace, s->given, ALIGNED_VECTOR);
	s->leaf_work = workspace_bytes(&workspace, schedule_leaves_work(&s->schedule, leaf_work));
	for (int i = 0; i < blocks_in_flight(s); i++)
		s->reflectors[i] = reflectors_workspace(&workspace, s->a.m, widest, precision);
	s->work =
	        reflector_work_workspace(&workspace, widest, max_int64(s->a.n, widest), precision);
	s->panel_work = reflector_work_workspace(&workspace, widest, widest, precision);
	s->schedule.split = split_workspace(s->e, &workspace, s->a.m, s->a.n,
	        matrix_view(s->a, 0, 0, s->a.m, widest), TRANSPOSED, TF32_LEFT);
	s->bytes = workspace.used;
}

static bool check(struct executor *e, const struct plan *plan, struct matrix a)
{
	if (plan->leaf > GEQRF_LEAF_MAX)
		return fault_refuse(&e->fault,
		        "a leaf of %" PRId64 " columns: QR's have at most %d", plan->leaf,
		        GEQRF_LEAF_MAX);
	if (plan->coarse)
		return fault_refuse(&e->fault, "QR has one level of blocks");
	return plan_check(e, plan) && matrix_check(e, a) && split_check(e);
}

static bool set_up(struct factor *s, struct executor *e, const struct plan *plan, struct matrix a,
        struct matrix tau, void *work)
{
	*s = (struct factor){.e = e, .plan = plan, .given = a, .tau = tau, .kept = -1};
	s->schedule = schedule_of(e, plan, a, &operations, s);
	if (plan->stop)
		s->schedule.steps = min_int64(plan->stop, s->schedule.steps);
	if (!check(e, plan, a))
		return false;
	e->gram_double = plan_by_gram(plan);
	take_workspace(s, work);
	return true;
}

/* Zeros in V and T that leaves do not write; they are the same for all panels. */
static bool clear(struct factor *s)
{
	const int in_flight = s->plan->hybrid ? 0 : blocks_in_flight(s);
	bool ok = true;

	s->e->queue = s->e->home;
	for (int i = 0; ok && i < in_flight; i++)
		ok = s->reflectors[i].v.n <= s->plan->leaf ||
		     reflectors_clear(s->e, s->reflectors[i]);
	return ok;
}

/* ---- the calls ---- */

int64_t geqrf_work(struct executor *e, const struct plan *plan, struct matrix a)
{
	struct factor s;

	const bool ok = set_up(&s, e, plan, a, (struct matrix){0}, NULL);

	e->gram_double = false;
	return ok ? s.bytes : -1;
}

bool geqrf(
        struct executor *e, const struct plan *plan, struct matrix a, struct matrix tau, void *work)
{
	struct factor s;

	const bool ok = set_up(&s, e, plan, a, tau, work) && aligned_copy(e, WHOLE, s.given, s.a) &&
	                clear(&s) && schedule_run(&s.schedule) &&
	                aligned_copy(e, WHOLE, s.a, s.given);

	e->gram_double = false;
	return ok;
}

/* ---- one panel alone ---- */

static bool set_up_panel(
        struct factor *s, struct executor *e, const struct plan *plan, struct matrix a, void *work)
{
	const struct plan one = {.widths = &a.n, .count = 1, .leaf = plan->leaf};
	struct workspace workspace = {work, 0};

	*s = (struct factor){.e = e, .plan = plan, .given = a, .a = a};
	if (!check(e, plan, a))
		return false;
	const struct schedule schedule = schedule_of(e, &one, a, &operations, s);
	e->gram_double = plan_by_gram(plan);
	s->leaf_work = workspace_bytes(&workspace, schedule_leaves_work(&schedule, leaf_work));
	s->panel_work = reflector_work_workspace(&workspace, a.n, a.n, a.precision);
	s->bytes = workspace.used;
	return true;
}

int64_t geqrf_panel_work(struct executor *e, const struct plan *plan, struct matrix a)
{
	struct factor s;

	const bool ok = set_up_panel(&s, e, plan, a, NULL);

	e->gram_double = false;
	return ok ? s.bytes : -1;
}

bool geqrf_panel(struct executor *e, const struct plan *plan, struct matrix a, struct matrix tau,
        struct reflectors r, void *work)
{
	struct factor s;

	const bool ok = set_up_panel(&s, e, plan, a, work) && reflectors_clear(e, r) &&
	                factor(&s, a, tau, r, true);

	e->gram_double = false;
	return ok;
}
