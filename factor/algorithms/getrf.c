/* SPDX-License-Identifier: MIT */
/* Operations of a block of w columns with r rows and c columns right of it: panel w^2 (r - w/3),
 * triangular solve w^2 c, update 2 (r-w) w c; swaps move 2 w elements of each of n columns. Over
 * all blocks n^2 (m - n/3).
 *
 * Nothing waits for the swaps of the columns left of a panel: they run aside, or of many columns
 * all at the end (getrf_deferred_swaps.c). On a GPU an element of a row costs a sector of 32 bytes, and
 * random ones a third of the memory's rate: a large matrix is transposed before and after, so that
 * rows lie together (Volkov and Demmel, LAWN 202), and panels are copied out of it. The first panel
 * waits for no transpose: it comes from the matrix as it is given, and the other columns are
 * transposed beside it. The last columns go by columns again, as a small matrix does: there the
 * panels are what the time goes to, and copies and three kernels between two panels cost more than
 * one for small matrices does. From then on the rows above them are final and are transposed back
 * aside; the rows of the first columns that are beside them, which are exchanged to the end, are
 * transposed back after it.
 *
 * Log (H200, fp32, ms). Exchanges and solve of the wide update beside the update of the next
 * panel's columns (look-ahead 2), before and after: n = 2048 1.68 1.69, 4096 4.58 4.53, 8192 by
 * rows 17.9 17.1, 16384 85.0 82.0, by 3xTF32 58.4 55.5; in fp64 4096 7.2 6.7. The last 4096 columns
 * by columns, and the update beside a panel behind the panel's copy, not before it: 8192 15.8,
 * 16384 80.8; in fp64 8192 20.7 (23.3 without either). By 3xTF32 products on 16 multiprocessors
 * fewer beside a panel, whose kernels waited for them: 8192 14.4 13.7, 4096 4.34 4.25; as long from
 * 16384 on, where panels need more places. There, with a record of every operation, 57.2: by two or
 * three products one after the other, between which the panel gets in, 58.5 and 61.2; by panels of
 * 32 columns, which one cluster has, 68 to 71, or 62 later: only the first of them gets in before
 * the product. Exchanges and solves in 0.6 to 0.8 of the time (factor/kernels/lu/lu_rows.cu), those of 512 rows
 * in halves: 32768 548 530, 16384 81.5 81.1, 8192 15.8 15.8; and by 3xTF32, with the operands split
 * before the panel begins: 32768 323 317, 16384 55.5 54.0, 8192 13.1 12.8. With the columns of the
 * panel after the next updated in a queue of their own, so that panels need wait for no wide
 * update: no better, as the simulation said (8192 16.4, 16384 82.1, 32768 544); that narrow update
 * found its places behind the wide one. Nor is a wide update that does not wait for the panel to
 * begin (8192 16.4, by 3xTF32 13.4).
 *
 * Exchanges, solves and splits in a queue of their own, of a priority between the others, for near
 * and far columns in turn, so that they run beside the product of the other part, and what both
 * share split beside the update before: predicted 11.4 ms for 8192 by 3xTF32 and 49.7 for 16384,
 * where without 12.8 and 54.4 are measured; measured 13.7 and 53.6. In fp32 4096 4.53 4.68, 8192
 * 15.7 15.9, 16384 80.4 81.3, in fp64 16384 92.6 89.9. What runs beside a product takes its
 * multiprocessors for as long as it took alone, and halves are slower products. The narrow update
 * begun before the wide one's exchanges, which it shares the machine with otherwise: no difference
 * at any n.
 *
 * The transposes beside the first panel and aside, and exchanges that join the halves' pivots
 * (getrf_panel.c), predicted 17.97 17.47 in fp64 at 8192: 19.19 18.76, at 16384 81.5 80.9; in fp32
 * at 8192 15.08 15.00, by 3xTF32 12.78 12.65, by 3xFP16 at 16384 47.9 47.3.
 *
 * The next panel's columns take 28 us instead of 16 where the exchanges and solve beside them come
 * first, as these follow the wide update in its queue (H100). In that queue, before the exchanges,
 * predicted 4.2 by 3xFP16 at 4096: 4.41 4.43 with more than 4000 columns left, 4.48 with more than
 * 3000; 5555 7.32 7.35 and 7.50. With all of each multiprocessor's memory shared memory, so that
 * blocks of both find room on it: 4.44 4.45 and 7.28 7.39. */
#include "getrf.h"

#include "aligned.h"
#include "getrf_internal.h"
#include "panel_getrf.h"
#include "factor/executors/split.h"

#include "lib/base/msg.h"

#include <stdlib.h>

/* Levels of halves, each with an info. */
enum { MOST_LEVELS = 64 };

/* Widest triangle whose inverse is multiplied with. The wider it is the larger the backward error,
 * the more so where a matrix has more columns than rows: on random ones of 300 x 4000 it is 1.05
 * times LAPACK's by substitution, and with inverses of 16, 32, 64 and 128 columns 1.1, 1.4, 2.0 and
 * 3.0 times, in either precision. No check of the inverse's growth sees that: it is the ordinary
 * one. */
enum { WIDEST_INVERSE = 32 };

/* ---- workspace ---- */

static int64_t panels_work(struct lu *s)
{
	struct block b = schedule_first(&s->schedule);
	int64_t most = 0;

	for (; !s->plan->hybrid && b.w && most >= 0; b = schedule_next(&s->schedule, b)) {
		int64_t bytes = lu_leaves_work(s, lu_panel(s, b));
		most = bytes < 0 ? -1 : larger(most, bytes);
	}
	return most;
}

/* And where the updates' products stack what they share. */
static void carve_transposed(struct lu *s, struct workspace *workspace, int64_t widest)
{
	enum precision precision = s->a.precision;

	s->transposed = workspace_matrix(workspace, s->a.n, s->a.m, precision);
	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		s->panels[i] = workspace_matrix(workspace, s->a.m, widest, precision);
	s->schedule.split = split_workspace(s->e, workspace, s->a.n, s->a.m,
	        matrix_view(s->transposed, 0, 0, widest, s->a.m), PLAIN, TF32_RIGHT);
}

static bool take_workspace(struct lu *s, void *work)
{
	struct workspace workspace = {work, 0};
	int64_t columns = s->schedule.steps, widest = plan_widest(s->plan, columns);
	int64_t kept = s->solve.piece ? widest : 0;
	enum precision precision = s->a.precision;

	if (s->row_major)
		carve_transposed(s, &workspace, widest);
	else
		s->a = aligned_workspace(s->e, &workspace, s->given, ALIGNED_VECTOR);
	int64_t panel = panels_work(s);
	if (panel < 0)
		return false;
	s->panel_work = workspace_bytes(&workspace, panel);
	int64_t locals = columns + plan_blocks(s->plan, columns);
	s->integers = locals + 2 * (widest + s->plan->leaf) + MOST_LEVELS;
	s->local = workspace_integers(&workspace, s->integers);
	lu_deferred_workspace(s, &workspace);
	s->halves = integer_at(s->local, locals);
	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		s->inverse[i] = triangle_workspace(&s->solve, &workspace, widest, precision);
	s->kept = workspace_matrix(&workspace, kept, s->a.n, precision);
	s->panel_kept = workspace_matrix(&workspace, kept, widest, precision);
	if (!s->row_major)
		s->schedule.split = split_workspace(s->e, &workspace, s->a.m, s->a.n,
		        matrix_view(s->a, 0, 0, s->a.m, widest), TRANSPOSED, TF32_LEFT);
	s->bytes = workspace.used;
	return true;
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
	struct matrix panel = lu_panel(s, b);

	return lu_factor(s, panel, inverse_of(s, b), s->halves, local_pivots(s, b)) &&
	       (!s->row_major || ex_transpose(s->e, panel, lu_transposed_panel(s, b)));
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

/* Columns of the matrix right of the block, from its first row on; by rows they are rows. */
static struct matrix columns_of(const struct lu *s, struct block b, int64_t j, int64_t n)
{
	int64_t rows = s->a.m - b.j;

	return s->row_major ? matrix_view(s->transposed, j, b.j, n, rows)
	                  : matrix_view(s->a, b.j, j, rows, n);
}

/* Rows exchanged and the block's own solved for. */
static bool update_top(struct lu *s, struct block b, int64_t j, int64_t n, struct matrix kept)
{
	struct matrix panel = lu_panel(s, b), columns = columns_of(s, b, j, n);
	struct pivots local = local_pivots(s, b);

	if (s->row_major)
		return lu_top_row_major(s->e, matrix_view(panel, 0, 0, b.w, b.w), local, columns);
	if (lu_at_once(s, b.w))
		return ex_lu_top(s->e, panel, local, columns);
	return ex_laswp(s->e, columns, local, false) &&
	       triangle_solve(s->e, &s->solve, diagonal_block(s, b), inverse_of(s, b), kept,
	               matrix_view(columns, 0, 0, b.w, n));
}

static struct matrix below_diagonal(const struct lu *s, struct block b)
{
	int64_t below = s->a.m - b.j - b.w;

	return s->row_major ? matrix_view(s->transposed, b.j, b.j + b.w, b.w, below)
	                  : matrix_view(s->a, b.j + b.w, b.j, below, b.w);
}

/* c -= a b */
struct product {
	struct matrix a, b, c;
};

static struct product product_of(const struct lu *s, struct block b, int64_t j, int64_t n)
{
	struct matrix left = below_diagonal(s, b), columns = columns_of(s, b, j, n);
	int64_t below = s->a.m - b.j - b.w;

	if (s->row_major)
		return (struct product){matrix_view(columns, 0, 0, n, b.w), left,
		        matrix_view(columns, 0, b.w, n, below)};
	return (struct product){
	        left, matrix_view(columns, 0, 0, b.w, n), matrix_view(columns, b.w, 0, below, n)};
}

static bool update_bottom(struct lu *s, struct block b, int64_t j, int64_t n)
{
	struct product p = product_of(s, b, j, n);

	return ex_gemm(s->e, PLAIN, PLAIN, -1, p.a, p.b, 1, p.c);
}

static bool top(void *self, struct block b, int64_t j, int64_t n)
{
	struct lu *s = self;

	return update_top(s, b, j, n, s->kept);
}

/* The updates with a block share its part below the diagonal. */
static void keep(struct lu *s, struct block b)
{
	if (s->kept_block != b.index)
		split_keep(s->e, below_diagonal(s, b));
	s->kept_block = b.index;
}

/* By columns the panels are what the time goes to, and what comes before them has the device for
 * itself: 4096 columns by 3xTF32 4.5 ms instead of 4.25 (H200). */
static bool ready(void *self, struct block b, int64_t j, int64_t n)
{
	struct lu *s = self;
	struct product p = product_of(s, b, j, n);

	if (!s->row_major)
		return true;
	keep(s, b);
	return split_ready(s->e, PLAIN, PLAIN, p.a, p.b, p.c);
}

static bool bottom(void *self, struct block b, int64_t j, int64_t n)
{
	struct lu *s = self;

	keep(s, b);
	return update_bottom(s, b, j, n);
}

static bool update(void *self, struct block b, int64_t j, int64_t n)
{
	return top(self, b, j, n) && bottom(self, b, j, n);
}

static bool narrow(void *self, struct block b, int64_t n)
{
	const struct lu *s = self;

	return !s->row_major && lu_few(s, b.w, s->a.m - b.j, n);
}

static bool next_update(void *self, struct block b, int64_t n)
{
	struct lu *s = self;
	int64_t j = b.j + b.w;

	if (narrow(s, b, n))
		return ex_lu_columns(
		        s->e, lu_panel(s, b), local_pivots(s, b), columns_of(s, b, j, n));
	return update_top(s, b, j, n, s->panel_kept) && update_bottom(s, b, j, n);
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
static bool side_queue(void *self, struct block b)
{
	struct lu *s = self;
	struct pivots local = local_pivots(s, b);
	int64_t rows = s->a.m - b.j, left = s->row_major ? b.j : s->transposed_columns;
	struct matrix none = matrix_view(s->a, 0, 0, 0, 0);

	return ex_offset_pivots(s->e, local, b.j, s->all) && lu_transpose_back_above(s, b) &&
	       (left == 0 ||
	               ex_lu_rows(s->e, none, local, matrix_view(s->transposed, 0, b.j, left, rows))) &&
	       lu_exchange_left(s, b, local);
}

static const struct factorization operations = {.panel = lu_panel,
        .fetch = lu_fetch,
        .begin = lu_begin,
        .pause = lu_pause,
        .pauses = lu_pauses,
        .on_device = panel_on_device,
        .on_host = panel_on_host,
        .back = panel_back,
        .update = update,
        .top = top,
        .ready = ready,
        .bottom = bottom,
        .next_update = next_update,
        .narrow = narrow,
        .side_queue = side_queue,
        .panel_first = true};

/* ---- the calls ---- */

static int *info_of(struct pivots p)
{
	return integer_at(p.data, p.n);
}

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

static bool set_up(struct lu *s, struct executor *e, const struct plan *plan, struct matrix a,
        void *work, struct pivots all)
{
	*s = (struct lu){.e = e, .plan = plan, .given = a, .a = a, .all = all, .kept_block = -1};
	s->schedule = (struct schedule){.e = e,
	        .plan = plan,
	        .steps = smaller(a.m, a.n),
	        .columns = a.n,
	        .operations = &operations,
	        .self = s};
	s->solve = (struct triangle){LEFT, LOWER, PLAIN, UNIT, narrow_piece(plan)};
	s->row_major = getrf_row_major(e, plan, a);
	return check(e, plan, a) && take_workspace(s, work);
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
	return aligned_copy(e, WHOLE, s.given, s.a) && stand_in_pivots(&s) &&
	       ex_clear_info(e, info_of(pivots)) && schedule_run(&s.schedule) && lu_apply_swaps(&s) &&
	       lu_transpose_back(&s) && aligned_copy(e, WHOLE, s.a, s.given);
}
