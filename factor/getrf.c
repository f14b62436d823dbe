/* SPDX-License-Identifier: MIT */
/* Operations of a block of w columns with r rows and c columns right of it: panel w^2 (r - w/3),
 * triangular solve w^2 c, update 2 (r-w) w c; swaps move 2 w elements of each of n columns. Over
 * all blocks n^2 (m - n/3).
 *
 * The swaps of the columns left of a panel are not needed by the factorization and come at the end.
 */
#include "getrf.h"

#include "panel_getrf.h"
#include "triangle.h"

#include "../lib/msg.h"

#include <inttypes.h>

enum { EVENT_UPDATED, EVENT_PANEL, EVENT_ARRIVED };

/* Updates run beside the next panel, which has inverses and copies of its own. */
enum { BLOCKS_IN_FLIGHT = 2 };

struct lu {
	struct executor *e;
	const struct plan *plan;
	struct matrix a;
	struct pivots all;
	struct triangle solve;
	struct matrix inverse[BLOCKS_IN_FLIGHT];
	struct matrix kept;       /* right-hand sides of QUEUE_MAIN's solves */
	struct matrix panel_kept; /* and of the panels' */
	int *local;               /* every block's pivots and info, relative to its first row */
	int *halves;              /* pivots of the halves of a panel, level by level */
	void *panel_work;
	int64_t bytes;
};

/* Block `index`: columns j .. j+w-1. */
struct block {
	int64_t index, j, w;
};

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t steps(const struct lu *s)
{
	return smaller(s->a.m, s->a.n);
}

static struct block block_at(const struct lu *s, int64_t index, int64_t j)
{
	return (struct block){index, j, plan_width(s->plan, index, steps(s) - j)};
}

static struct block next_block(const struct lu *s, struct block b)
{
	return block_at(s, b.index + 1, b.j + b.w);
}

/* ---- workspace ---- */

/* The largest of the leaves' needs, or -1. */
static int64_t leaves_work(const struct lu *s, struct matrix a)
{
	if (a.n <= s->plan->leaf)
		return panel_getrf_work(s->e, s->plan->panel, a);

	int64_t n = plan_left_half(s->plan, a.n);
	int64_t left = leaves_work(s, matrix_view(a, 0, 0, a.m, n));
	int64_t right = leaves_work(s, matrix_view(a, n, n, a.m - n, a.n - n));
	return left < 0 || right < 0 ? -1 : larger(left, right);
}

static int64_t panels_work(const struct lu *s)
{
	int64_t most = 0;

	if (s->plan->hybrid)
		return 0;
	for (struct block b = block_at(s, 0, 0); b.w && most >= 0; b = next_block(s, b)) {
		int64_t bytes = leaves_work(s, matrix_view(s->a, b.j, b.j, s->a.m - b.j, b.w));
		most = bytes < 0 ? -1 : larger(most, bytes);
	}
	return most;
}

static bool carve(struct lu *s, void *work)
{
	struct carver carver = {work, 0};
	int64_t columns = steps(s), widest = plan_widest(s->plan, columns);
	int64_t panel = panels_work(s), kept = s->solve.piece ? widest : 0;
	enum precision precision = s->a.precision;

	if (panel < 0)
		return false;
	s->panel_work = carve_bytes(&carver, panel);
	s->local = carve_integers(&carver, columns + plan_blocks(s->plan, columns));
	s->halves = carve_integers(&carver, 2 * (widest + s->plan->leaf) + 64);
	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		s->inverse[i] = triangle_carve(&s->solve, &carver, widest, precision);
	s->kept = carve_matrix(&carver, kept, s->a.n, precision);
	s->panel_kept = carve_matrix(&carver, kept, widest, precision);
	s->bytes = carver.used;
	return true;
}

static bool check(struct executor *e, const struct plan *plan, struct matrix a)
{
	if (a.m < 0 || a.n < 0)
		return fault_set(&e->fault, "a matrix of %" PRId64 " x %" PRId64, a.m, a.n);
	if (a.ld < larger(1, a.m))
		return fault_set(&e->fault,
		        "leading dimension %" PRId64 " is smaller than the %" PRId64 " rows", a.ld,
		        a.m);
	if (!plan->hybrid && plan->inverse && plan->leaf % smaller(plan->inverse, plan->leaf) != 0)
		return fault_set(&e->fault,
		        "leaves of %" PRId64 " columns are no multiple of inverses of %" PRId64,
		        plan->leaf, plan->inverse);
	return plan_check(e, plan);
}

static bool set_up(struct lu *s, struct executor *e, const struct plan *plan, struct matrix a,
        void *work, struct pivots all)
{
	int64_t piece = plan->hybrid ? plan->inverse : smaller(plan->inverse, plan->leaf);

	*s = (struct lu){.e = e, .plan = plan, .a = a, .all = all};
	s->solve = (struct triangle){LEFT, LOWER, PLAIN, UNIT, piece};
	return check(e, plan, a) && carve(s, work);
}

int64_t getrf_work(struct executor *e, const struct plan *plan, struct matrix a)
{
	struct lu s;

	return set_up(&s, e, plan, a, NULL, (struct pivots){0}) ? s.bytes : -1;
}

/* ---- one panel ---- */

static int *info_of(struct pivots p)
{
	return integer_at(p.data, p.n);
}

static bool factor_halves(
        struct lu *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p);

/* A panel on the device, with the inverses of its diagonal pieces. */
static bool factor(
        struct lu *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p)
{
	if (a.n > s->plan->leaf)
		return factor_halves(s, a, inverse, halves, p);
	return panel_getrf(s->e, s->plan->panel, a, s->panel_work, p) &&
	       triangle_invert(s->e, &s->solve, matrix_view(a, 0, 0, a.n, a.n), inverse);
}

/* Toledo's recursion (1997): left half, update of the right half, right half. */
static bool factor_halves(
        struct lu *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p)
{
	struct executor *e = s->e;
	int64_t n = plan_left_half(s->plan, a.n), rest = a.n - n;
	struct pivots half = {halves, n};
	int *deeper = integer_at(halves, n + 1);
	struct matrix left = matrix_view(a, 0, 0, a.m, n), right = matrix_view(a, 0, n, a.m, rest);
	struct matrix triangle = matrix_view(left, 0, 0, n, n);
	struct matrix below = matrix_view(left, n, 0, a.m - n, n);
	struct matrix top = matrix_view(right, 0, 0, n, rest);
	struct matrix bottom = matrix_view(right, n, 0, a.m - n, rest);

	bool ok = ex_clear_info(e, info_of(p)) && factor(s, left, inverse, deeper, half) &&
	          ex_adopt_pivots(e, half, 0, p) && ex_laswp(e, right, half, false) &&
	          triangle_solve(e, &s->solve, triangle, inverse, s->panel_kept, top) &&
	          ex_gemm(e, PLAIN, PLAIN, -1, below, top, 1, bottom);
	half.n = rest;
	return ok && factor(s, bottom, matrix_view(inverse, 0, n, inverse.m, rest), deeper, half) &&
	       ex_laswp(e, below, half, false) && ex_adopt_pivots(e, half, n, p);
}

/* ---- the blocks ---- */

static struct matrix panel_of(const struct lu *s, struct block b)
{
	return matrix_view(s->a, b.j, b.j, s->a.m - b.j, b.w);
}

static struct matrix inverse_of(const struct lu *s, struct block b)
{
	return s->inverse[b.index % BLOCKS_IN_FLIGHT];
}

static struct pivots local_pivots(const struct lu *s, struct block b)
{
	return (struct pivots){integer_at(s->local, b.j + b.index), b.w};
}

static bool stage_of(struct lu *s, struct block b, struct matrix *host)
{
	return s->e->ops->stage(s->e, 0, s->a.m - b.j, b.w, s->a.precision, host);
}

/* The panel's columns are up to date in QUEUE_MAIN: factorizes them on the device, or starts their
 * way to the host. */
static bool start_panel(struct lu *s, struct block b)
{
	struct executor *e = s->e;
	struct matrix panel = panel_of(s, b), host;
	struct pivots local = local_pivots(s, b);
	enum queue device = s->plan->lookahead ? QUEUE_PANEL : QUEUE_MAIN;

	if (!ex_record(e, EVENT_UPDATED))
		return false;
	e->queue = s->plan->hybrid ? QUEUE_OUT : device;
	if (!ex_wait(e, EVENT_UPDATED))
		return false;
	if (s->plan->hybrid)
		return stage_of(s, b, &host) && ex_to_host(e, panel, host) &&
		       ex_record(e, EVENT_ARRIVED);
	return factor(s, panel, inverse_of(s, b), s->halves, local) &&
	       ex_adopt_pivots(e, local, b.j, s->all) && ex_record(e, EVENT_PANEL);
}

/* The host's part, while the device updates the other columns. */
static bool finish_panel(struct lu *s, struct block b)
{
	struct executor *e = s->e;
	struct pivots local = local_pivots(s, b);
	struct matrix host;

	if (!s->plan->hybrid)
		return true;
	e->queue = QUEUE_IN;
	return stage_of(s, b, &host) && ex_wait_host(e, EVENT_ARRIVED) &&
	       ex_host_panel_getrf(e, host, local) && ex_adopt_pivots(e, local, b.j, s->all) &&
	       ex_to_device(e, host, panel_of(s, b)) && ex_record(e, EVENT_PANEL);
}

/* QUEUE_MAIN after the panel, whose diagonal pieces a host panel leaves to be inverted. */
static bool join_panel(struct lu *s, struct block b)
{
	struct matrix top = matrix_view(s->a, b.j, b.j, b.w, b.w);

	s->e->queue = QUEUE_MAIN;
	return ex_wait(s->e, EVENT_PANEL) &&
	       (!s->plan->hybrid || triangle_invert(s->e, &s->solve, top, inverse_of(s, b)));
}

/* Swaps, solve and update of the columns j .. j+n-1 right of block b. */
static bool update(struct lu *s, struct block b, int64_t j, int64_t n)
{
	struct executor *e = s->e;
	int64_t below = s->a.m - b.j - b.w;
	struct matrix triangle = matrix_view(s->a, b.j, b.j, b.w, b.w);
	struct matrix left = matrix_view(s->a, b.j + b.w, b.j, below, b.w);
	struct matrix columns = matrix_view(s->a, b.j, j, s->a.m - b.j, n);
	struct matrix top = matrix_view(columns, 0, 0, b.w, n);

	e->queue = QUEUE_MAIN;
	return n == 0 ||
	       (ex_laswp(e, columns, local_pivots(s, b), false) &&
	               triangle_solve(e, &s->solve, triangle, inverse_of(s, b), s->kept, top) &&
	               ex_gemm(e, PLAIN, PLAIN, -1, left, top, 1,
	                       matrix_view(columns, b.w, 0, below, n)));
}

/* After the panel of b: the update right of it with the next panel in between. */
static bool step(struct lu *s, struct block b)
{
	struct block next = next_block(s, b);
	int64_t right = s->a.n - next.j;
	int64_t strip = s->plan->lookahead && next.w ? next.w : right;

	return join_panel(s, b) && update(s, b, next.j, strip) &&
	       (!next.w || start_panel(s, next)) && update(s, b, next.j + strip, right - strip) &&
	       (!next.w || finish_panel(s, next));
}

static bool swap_left(struct lu *s)
{
	bool ok = true;

	s->e->queue = QUEUE_MAIN;
	for (struct block b = block_at(s, 0, 0); ok && b.w; b = next_block(s, b))
		ok = ex_laswp(s->e, matrix_view(s->a, b.j, 0, s->a.m - b.j, b.j),
		        local_pivots(s, b), false);
	return ok;
}

/* Host memory for the largest panel at once: a stage that grows would move under a copy. */
static bool reserve_stage(struct lu *s)
{
	struct matrix host;
	int64_t widest = plan_widest(s->plan, steps(s));

	return !s->plan->hybrid || s->e->ops->stage(s->e, 0, s->a.m, widest, s->a.precision, &host);
}

bool getrf(struct executor *e, const struct plan *plan, struct matrix a, void *work,
        struct pivots pivots)
{
	struct lu s;

	if (!set_up(&s, e, plan, a, work, pivots))
		return false;
	e->queue = QUEUE_MAIN;
	bool ok = ex_clear_info(e, info_of(pivots));
	if (steps(&s) == 0)
		return ok;

	struct block first = block_at(&s, 0, 0);
	ok = ok && reserve_stage(&s) && start_panel(&s, first) && finish_panel(&s, first);
	for (struct block b = first; ok && b.w; b = next_block(&s, b))
		ok = step(&s, b);
	return ok && swap_left(&s);
}
