/* SPDX-License-Identifier: MIT */
/* Operations of a block of w columns with r rows and c columns right of it: panel w^2 (r - w/3),
 * triangular solve w^2 c, update 2 (r-w) w c; swaps move 2 w elements of each of n columns. Over
 * all blocks n^2 (m - n/3).
 *
 * Nothing waits for the swaps of the columns left of a panel: they run aside. On a GPU an element
 * of a row costs a sector of 32 bytes, and random ones a third of the memory's rate: a large matrix
 * is transposed before and after, so that rows lie together (Volkov and Demmel, LAWN 202), and
 * panels are copied out of it. */
#include "getrf.h"

#include "panel_getrf.h"
#include "schedule.h"
#include "split.h"
#include "triangle.h"

#include "../lib/msg.h"

#include <stdlib.h>

/* Levels of halves, each with an info. */
enum { MOST_LEVELS = 64 };

/* Widest triangle whose inverse is multiplied with. The wider it is the larger the backward error,
 * the more so where a matrix has more columns than rows: on random ones of 300 x 4000 it is 1.05
 * times LAPACK's by substitution, and with inverses of 16, 32, 64 and 128 columns 1.1, 1.4, 2.0 and
 * 3.0 times, in either precision. No check of the inverse's growth sees that: it is the ordinary
 * one. */
enum { WIDEST_INVERSE = 32 };

struct lu {
	struct schedule schedule;
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
	int64_t integers;         /* in both together */
	int64_t kept_block;       /* whose part below the diagonal the products share */
	bool by_rows;             /* works on the transpose, but in the panels, which lie by columns
	                             in memory of their own */
	struct matrix turned, panels[BLOCKS_IN_FLIGHT];
	void *panel_work;
	int64_t bytes;
};

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

static struct matrix panel_of(void *self, struct block b)
{
	struct lu *s = self;
	int64_t rows = s->a.m - b.j;

	return s->by_rows ? matrix_view(s->panels[block_turn(b)], 0, 0, rows, b.w)
	                  : matrix_view(s->a, b.j, b.j, rows, b.w);
}

static int64_t panels_work(struct lu *s)
{
	struct block b = schedule_first(&s->schedule);
	int64_t most = 0;

	for (; !s->plan->hybrid && b.w && most >= 0; b = schedule_next(&s->schedule, b)) {
		int64_t bytes = leaves_work(s, panel_of(s, b));
		most = bytes < 0 ? -1 : larger(most, bytes);
	}
	return most;
}

/* And where the updates' products stack what they share. */
static void carve_turned(struct lu *s, struct carver *carver, int64_t widest)
{
	enum precision precision = s->a.precision;

	s->turned = carve_matrix(carver, s->a.n, s->a.m, precision);
	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		s->panels[i] = carve_matrix(carver, s->a.m, widest, precision);
	s->schedule.split = split_carve(s->e, carver, s->a.n, s->a.m,
	        matrix_view(s->turned, 0, 0, widest, s->a.m), PLAIN, TF32_RIGHT);
}

static bool carve(struct lu *s, void *work)
{
	struct carver carver = {work, 0};
	int64_t columns = s->schedule.steps, widest = plan_widest(s->plan, columns);
	int64_t kept = s->solve.piece ? widest : 0;
	enum precision precision = s->a.precision;

	if (s->by_rows)
		carve_turned(s, &carver, widest);
	int64_t panel = panels_work(s);
	if (panel < 0)
		return false;
	s->panel_work = carve_bytes(&carver, panel);
	int64_t locals = columns + plan_blocks(s->plan, columns);
	s->integers = locals + 2 * (widest + s->plan->leaf) + MOST_LEVELS;
	s->local = carve_integers(&carver, s->integers);
	s->halves = integer_at(s->local, locals);
	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		s->inverse[i] = triangle_carve(&s->solve, &carver, widest, precision);
	s->kept = carve_matrix(&carver, kept, s->a.n, precision);
	s->panel_kept = carve_matrix(&carver, kept, widest, precision);
	if (!s->by_rows)
		s->schedule.split = split_carve(s->e, &carver, s->a.m, s->a.n,
		        matrix_view(s->a, 0, 0, s->a.m, widest), TRANSPOSED, TF32_LEFT);
	s->bytes = carver.used;
	return true;
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

/* Whether rows right of a panel of w columns are exchanged and solved for in one go: when that is
 * by substitution. */
static bool at_once(const struct lu *s, int64_t w)
{
	return !s->solve.piece && w <= EXECUTOR_LU_TOP;
}

/* And all of the columns updated: few of them; not in tall panels, where that took 92 us beside an
 * update and three kernels 35 us (H200, 16384 rows). */
static bool few(const struct lu *s, int64_t w, int64_t columns)
{
	return !s->by_rows && at_once(s, w) && w <= EXECUTOR_LU_COLUMNS &&
	       columns <= 2 * EXECUTOR_LU_COLUMNS;
}

/* Toledo's recursion (1997): left half, update of the right half, right half. */
static bool factor_halves(
        struct lu *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p)
{
	struct executor *e = s->e;
	int64_t n = plan_left_half(s->plan, a.n), rest = a.n - n;
	struct pivots first = {p.data, n}, second = {halves, rest};
	int *deeper = integer_at(halves, rest + 1);
	struct matrix left = matrix_view(a, 0, 0, a.m, n), right = matrix_view(a, 0, n, a.m, rest);
	struct matrix triangle = matrix_view(left, 0, 0, n, n);
	struct matrix below = matrix_view(left, n, 0, a.m - n, n);
	struct matrix top = matrix_view(right, 0, 0, n, rest);
	struct matrix bottom = matrix_view(right, n, 0, a.m - n, rest);

	bool ok = factor(s, left, inverse, halves, first);
	if (few(s, n, rest))
		ok = ok && ex_lu_columns(e, left, first, right);
	else
		ok = ok && ex_laswp(e, right, first, false) &&
		     triangle_solve(e, &s->solve, triangle, inverse, s->panel_kept, top) &&
		     ex_gemm(e, PLAIN, PLAIN, -1, below, top, 1, bottom);
	return ok &&
	       factor(s, bottom, matrix_view(inverse, 0, n, inverse.m, rest), deeper, second) &&
	       ex_laswp(e, below, second, false) && ex_join_pivots(e, second, n, p);
}

/* ---- the blocks ---- */

static struct matrix inverse_of(const struct lu *s, struct block b)
{
	return s->inverse[block_turn(b)];
}

static struct pivots local_pivots(const struct lu *s, struct block b)
{
	return (struct pivots){integer_at(s->local, b.j + b.index), b.w};
}

static bool panel_on_device(void *self, struct block b)
{
	struct lu *s = self;
	struct matrix panel = panel_of(s, b);
	struct matrix turned = matrix_view(s->turned, b.j, b.j, b.w, panel.m);

	return (!s->by_rows || ex_transpose(s->e, turned, panel)) &&
	       factor(s, panel, inverse_of(s, b), s->halves, local_pivots(s, b)) &&
	       (!s->by_rows || ex_transpose(s->e, panel, turned));
}

static bool panel_on_host(void *self, struct block b, struct matrix host)
{
	struct lu *s = self;

	return ex_host_panel_getrf(s->e, host, local_pivots(s, b));
}

static struct matrix diagonal_block(const struct lu *s, struct block b)
{
	return matrix_view(s->a, b.j, b.j, b.w, b.w);
}

static bool panel_back(void *self, struct block b)
{
	struct lu *s = self;

	return triangle_invert(s->e, &s->solve, diagonal_block(s, b), inverse_of(s, b));
}

/* The updates with a block share its part below the diagonal. */
static void keep(struct lu *s, struct block b, struct matrix left)
{
	if (s->kept_block != b.index)
		split_keep(s->e, left);
	s->kept_block = b.index;
}

static bool update_by_rows(struct lu *s, struct block b, int64_t j, int64_t n)
{
	int64_t rows = s->a.m - b.j, below = rows - b.w;
	struct matrix left = matrix_view(s->turned, b.j, b.j + b.w, b.w, below);
	struct matrix columns = matrix_view(s->turned, j, b.j, n, rows);

	keep(s, b, left);
	return ex_lu_rows(s->e, matrix_view(panel_of(s, b), 0, 0, b.w, b.w), local_pivots(s, b),
	               columns) &&
	       ex_gemm(s->e, PLAIN, PLAIN, -1, matrix_view(columns, 0, 0, n, b.w), left, 1,
	               matrix_view(columns, 0, b.w, n, below));
}

static bool update(void *self, struct block b, int64_t j, int64_t n)
{
	struct lu *s = self;
	int64_t rows = s->a.m - b.j, below = rows - b.w;
	struct matrix left = matrix_view(s->a, b.j + b.w, b.j, below, b.w);
	struct matrix columns = matrix_view(s->a, b.j, j, rows, n);
	struct matrix top = matrix_view(columns, 0, 0, b.w, n);

	if (s->by_rows)
		return update_by_rows(s, b, j, n);
	keep(s, b, left);
	bool ok = at_once(s, b.w) ? ex_lu_top(s->e, panel_of(s, b), local_pivots(s, b), columns)
	                          : ex_laswp(s->e, columns, local_pivots(s, b), false) &&
	                                    triangle_solve(s->e, &s->solve, diagonal_block(s, b),
	                                            inverse_of(s, b), s->kept, top);
	return ok && ex_gemm(s->e, PLAIN, PLAIN, -1, left, top, 1,
	                     matrix_view(columns, b.w, 0, below, n));
}

static bool narrow(void *self, struct block b, int64_t n)
{
	return few(self, b.w, n);
}

static bool lead(void *self, struct block b, int64_t n)
{
	struct lu *s = self;
	struct matrix panel = panel_of(s, b);

	return ex_lu_columns(
	        s->e, panel, local_pivots(s, b), matrix_view(s->a, b.j, b.j + b.w, panel.m, n));
}

/* Pivots that no panel finds, because its phase is left out, are the first row. */
static bool stand_in_pivots(struct lu *s)
{
	if (!s->e->skip)
		return true;
	int *ones = xmalloc((size_t)s->integers * sizeof *ones);
	for (int64_t i = 0; i < s->integers; i++)
		ones[i] = 1;
	bool ok =
	        s->e->ops->store_pivots(s->e, ones, 1, (struct pivots){s->local, s->integers - 1});
	free(ones);
	return ok;
}

/* The pivots for the caller, and the swaps in the finished columns. */
static bool aside(void *self, struct block b)
{
	struct lu *s = self;
	struct pivots local = local_pivots(s, b);
	int64_t rows = s->a.m - b.j;
	struct matrix none = matrix_view(s->a, 0, 0, 0, 0);

	return ex_adopt_pivots(s->e, local, b.j, s->all) &&
	       (s->by_rows ? ex_lu_rows(
	                             s->e, none, local, matrix_view(s->turned, 0, b.j, b.j, rows))
	                   : ex_laswp(s->e, matrix_view(s->a, b.j, 0, rows, b.j), local, false));
}

static const struct factorization operations = {.panel = panel_of,
        .on_device = panel_on_device,
        .on_host = panel_on_host,
        .back = panel_back,
        .update = update,
        .lead = lead,
        .narrow = narrow,
        .aside = aside,
        .panel_first = true};

/* ---- the calls ---- */

static bool check(struct executor *e, const struct plan *plan, struct matrix a)
{
	if (!plan_check(e, plan) || !matrix_check(e, a))
		return false;
	if (!plan->hybrid && !plan->panel)
		return fault_set(&e->fault, "a plan without a panel variant for the device");
	return triangle_check(e, plan) && split_check(e);
}

/* The widest piece of the plan's that is narrow enough; it divides the plan's, as the plan's
 * divides the leaves. */
static int64_t narrow_piece(const struct plan *plan)
{
	int64_t piece = triangle_piece(plan), parts = 1;

	while (piece > parts * WIDEST_INVERSE || (parts > 1 && piece % parts != 0))
		parts++;
	return piece / parts;
}

/* Exchanges of rows that lie together are worth two transposes of a large matrix, and of panels; in
 * double precision, where panels take less of the time, from four fifths of the columns on. */
static bool by_rows(const struct executor *e, const struct plan *plan, struct matrix a)
{
	int64_t columns = smaller(a.m, a.n), from = e->by_rows;

	if (a.precision == DOUBLE)
		from -= from / 5;
	return e->by_rows && !plan->hybrid && !plan->inverse && columns >= from &&
	       plan_widest(plan, columns) <= EXECUTOR_LU_ROWS;
}

static bool set_up(struct lu *s, struct executor *e, const struct plan *plan, struct matrix a,
        void *work, struct pivots all)
{
	*s = (struct lu){.e = e, .plan = plan, .a = a, .all = all, .kept_block = -1};
	s->schedule = (struct schedule){.e = e,
	        .plan = plan,
	        .steps = smaller(a.m, a.n),
	        .columns = a.n,
	        .operations = &operations,
	        .self = s};
	s->solve = (struct triangle){LEFT, LOWER, PLAIN, UNIT, narrow_piece(plan)};
	s->by_rows = by_rows(e, plan, a);
	return check(e, plan, a) && carve(s, work);
}

int64_t getrf_work(struct executor *e, const struct plan *plan, struct matrix a)
{
	struct lu s;

	return set_up(&s, e, plan, a, NULL, (struct pivots){0}) ? s.bytes : -1;
}

bool getrf(struct executor *e, const struct plan *plan, struct matrix a, void *work,
        struct pivots pivots)
{
	struct lu s;

	if (!set_up(&s, e, plan, a, work, pivots))
		return false;
	e->queue = QUEUE_MAIN;
	return stand_in_pivots(&s) && ex_clear_info(e, info_of(pivots)) &&
	       (!s.by_rows || ex_transpose(e, a, s.turned)) && schedule_run(&s.schedule) &&
	       (!s.by_rows || ex_transpose(e, s.turned, a));
}
