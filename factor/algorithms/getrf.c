/* SPDX-License-Identifier: MIT */
/* Blocked right-looking LU with look-ahead (Volkov and Demmel, LAWN 202). Operations of a block of
 * w columns with r rows and c columns right of it: panel w^2 (r - w/3), triangular solve w^2 c,
 * update 2 (r-w) w c; swaps move 2 w elements of each of n columns. Over all blocks n^2 (m - n/3).
 *
 * Nothing waits for the swaps of the columns left of a panel: they run in a side queue, or for many
 * columns all at the end (factor/kernels/lu/deferred_swaps.h).
 *
 * On a GPU an element of a row costs a whole sector of memory. A large matrix is therefore
 * transposed before and after, which makes rows contiguous; panels are copied out of the transpose.
 * The first panel comes from the matrix itself, beside the transpose of the other columns. The last
 * columns are column-major again, as in a small matrix: there panels take most of the time, and
 * copies and two more kernels between panels cost more than the transpose saves. */
#include "getrf.h"

#include "aligned.h"
#include "getrf_internal.h"
#include "panel_getrf.h"
#include "factor/executors/split.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <stdlib.h>

/* Levels of halves, each with an info. */
enum { MOST_LEVELS = 64 };

/* Widest triangle whose inverse is multiplied with. A wider one has a larger backward error, above
 * all in matrices with more columns than rows. The check of the inverse's growth does not see this
 * error. */
enum { WIDEST_INVERSE = 32 };

/* ---- a panel on the device ---- */

static bool factor_halves(
        struct factor *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p);

/* A panel on the device, with the inverses of its diagonal pieces: recursive halves down to leaves,
 * which a variant of panel_getrf factorizes. halves: room for the pivots of its halves, level by
 * level. */
static bool factor(
        struct factor *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p)
{
	if (a.n > s->plan->leaf)
		return factor_halves(s, a, inverse, halves, p);
	return panel_getrf(s->e, s->plan->panel, a, s->panel_work, p) &&
	       triangle_invert(s->e, &s->solve, matrix_view(a, 0, 0, a.n, a.n), inverse);
}

/* Toledo's recursion (1997): left half, update of the right half, right half. Up to
 * EXECUTOR_LU_COLUMNS columns one kernel swaps, solves and updates. */
static bool factor_halves(
        struct factor *s, struct matrix a, struct matrix inverse, int *halves, struct pivots p)
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
	if (lu_few(s, n, a.m, rest))
		ok = ok && ex_lu_columns(e, left, first, right);
	else if (lu_at_once(s, n))
		ok = ok && ex_lu_top(e, left, first, right) &&
		     ex_gemm(e, PLAIN, PLAIN, -1, below, top, 1, bottom);
	else
		ok = ok && ex_laswp(e, right, first, false) &&
		     triangle_solve(e, &s->solve, triangle, inverse, s->panel_kept, top) &&
		     ex_gemm(e, PLAIN, PLAIN, -1, below, top, 1, bottom);
	return ok &&
	       factor(s, bottom, matrix_view(inverse, 0, n, inverse.m, rest), deeper, second) &&
	       ex_join_halves(e, below, second, n, p);
}

/* ---- row swaps left of the panels: block by block, or noted and all made at the end ---- */

/* Nothing waits for them, but beside the updates they take memory bandwidth from work that is
 * waited for. In small matrices the swaps at the end take longer than the interference costs. */

enum { TALL = 4 }; /* rows over columns: in taller matrices whole columns are more to move */

/* Rows of the column-major columns. */
static int64_t late_rows(const struct factor *s, int64_t widest)
{
	int64_t last = s->e->column_major + widest;
	int64_t before = s->row_major ? max_int64(0, s->schedule.steps - last) : 0;

	return s->a.m - before;
}

static void deferred_workspace(struct factor *s, struct workspace *workspace)
{
	const struct executor *e = s->e;
	int64_t columns = s->schedule.steps, rows = late_rows(s, plan_widest(s->plan, columns));

	s->late = e->deferred_from && !s->plan->coarse && !s->plan->single_swaps &&
	          columns >= e->deferred_from &&
	          rows <= e->deferred_most[s->a.precision == DOUBLE] &&
	          rows <= TALL * (columns - (s->a.m - rows));
	s->swaps = (struct deferred_swaps){NULL, rows, columns, plan_blocks(s->plan, columns)};
	if (s->late)
		s->swaps.data = workspace_integers(workspace, deferred_swaps_integers(s->swaps));
}

static struct deferred_swaps swaps(const struct factor *s)
{
	int64_t first = s->transposed_columns;

	return (struct deferred_swaps){
	        s->swaps.data, s->a.m - first, s->schedule.steps - first, s->swaps.blocks};
}

static bool exchange_left(struct factor *s, struct block b, struct pivots local)
{
	int64_t first = s->transposed_columns, rows = s->a.m - b.j;

	if (s->row_major)
		return true;
	if (!s->late)
		return ex_laswp(
		        s->e, matrix_view(s->a, b.j, first, rows, b.j - first), local, false);
	return ex_record_swaps(s->e, swaps(s), local, b.j - first, b.index - s->first_deferred);
}

static bool apply_swaps(struct factor *s)
{
	int64_t first = s->transposed_columns, columns = s->schedule.steps - first;

	if (!s->late || s->row_major)
		return true;
	s->e->queue = s->e->home;
	return ex_apply_swaps(
	        s->e, swaps(s), matrix_view(s->a, first, first, s->a.m - first, columns));
}

/* ---- workspace ---- */

static int64_t leaf_work(struct executor *e, const struct plan *plan, struct matrix a)
{
	return panel_getrf_work(e, plan->panel, a);
}

static void carve_transposed(struct factor *s, struct workspace *workspace, int64_t widest)
{
	enum precision precision = s->a.precision;

	s->transposed = workspace_matrix(workspace, s->a.n, s->a.m, precision);
	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		s->panels[i] = workspace_matrix(workspace, s->a.m, widest, precision);
	s->schedule.split = split_workspace(s->e, workspace, s->a.n, s->a.m,
	        matrix_view(s->transposed, 0, 0, widest, s->a.m), PLAIN, TF32_RIGHT);
}

static bool take_workspace(struct factor *s, void *work)
{
	struct workspace workspace = {work, 0};
	int64_t columns = s->schedule.steps, widest = plan_widest(s->plan, columns);
	int64_t kept = lu_triangle(s)->piece ? widest : 0;
	enum precision precision = s->a.precision;

	if (s->row_major)
		carve_transposed(s, &workspace, widest);
	else
		s->a = aligned_workspace(s->e, &workspace, s->given, ALIGNED_VECTOR);
	int64_t panel = schedule_leaves_work(&s->schedule, leaf_work);
	if (panel < 0)
		return false;
	s->panel_work = workspace_bytes(&workspace, panel);
	int64_t locals = columns + plan_blocks(s->plan, columns);
	s->integers = locals + 2 * (widest + min_int64(s->plan->leaf, widest)) + MOST_LEVELS;
	s->local = workspace_integers(&workspace, s->integers);
	deferred_workspace(s, &workspace);
	s->halves = integer_at(s->local, locals);
	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		s->inverse[i] = triangle_workspace(
		        lu_triangle(s), &workspace, widest * plan_half(s->plan), precision);
	s->kept = workspace_room(&workspace, kept, kept ? s->a.n : 0, precision);
	s->panel_kept = workspace_room(&workspace, kept, kept, precision);
	if (!s->row_major)
		s->schedule.split = split_workspace(s->e, &workspace, s->a.m, s->a.n,
		        matrix_view(s->a, 0, 0, s->a.m, widest), TRANSPOSED, TF32_LEFT);
	s->bytes = workspace.used;
	return true;
}

/* ---- the blocks ---- */

/* The inverses for the solves right of the block, in row-major storage of the transposed triangle.
 */
static bool invert(struct factor *s, struct block b)
{
	return triangle_invert(
	        s->e, lu_triangle(s), lu_part(s, b.j, b.j, b.w, b.w), lu_inverse_of(s, b));
}

static bool panel_on_device(struct factor *s, struct block b)
{
	struct matrix panel = lu_panel(s, b);

	if (!factor(s, panel, lu_inverse_of(s, b), s->halves, lu_local_pivots(s, b)))
		return false;
	return !s->row_major ||
	       (ex_transpose(s->e, panel, lu_transposed_panel(s, b)) && invert(s, b));
}

static bool panel_on_host(struct factor *s, struct block b, struct matrix host)
{
	return ex_host_panel_getrf(
	        s->e, host, lu_local_pivots(s, b), s->noted ? s->noted + b.j : NULL);
}

static bool panel_back(struct factor *s, struct block b)
{
	return (!s->plan->single_swaps || lu_single_swaps(s, b)) &&
	       (!s->row_major || ex_transpose(s->e, lu_panel(s, b), lu_transposed_panel(s, b))) &&
	       invert(s, b);
}

/* With the panels' phase skipped every pivot is the first row. */
static bool stand_in_pivots(struct factor *s)
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
static bool side_queue(struct factor *s, struct block b)
{
	struct pivots local = lu_local_pivots(s, b);
	int64_t rows = s->a.m - b.j, left = s->row_major ? b.j : s->transposed_columns;
	struct matrix none = matrix_view(s->a, 0, 0, 0, 0);

	if (s->plan->single_swaps)
		return ex_offset_pivots(s->e, local, b.j, s->all);
	return ex_offset_pivots(s->e, local, b.j, s->all) && lu_transpose_back_above(s, b) &&
	       (left == 0 || ex_lu_rows(s->e, none, local,
	                             matrix_view(s->transposed, 0, b.j, left, rows))) &&
	       exchange_left(s, b, local);
}

static const struct factorization operations = {.panel = lu_panel,
        .fetch = lu_fetch,
        .begin = lu_begin,
        .pause = lu_pause,
        .pauses = lu_pauses,
        .on_device = panel_on_device,
        .on_host = panel_on_host,
        .back = panel_back,
        .update = lu_update,
        .top = lu_top,
        .bottom = lu_bottom,
        .coarse = lu_coarse,
        .ready = lu_ready,
        .next_update = lu_next_update,
        .narrow = lu_narrow,
        .side_queue = side_queue,
        .panel_first = true};

/* ---- the calls ---- */

static int64_t rows_most(const struct executor *e, struct matrix a)
{
	return e->rows_most[a.precision == DOUBLE];
}

static bool check(struct executor *e, const struct plan *plan, struct matrix a)
{
	if (!plan_check(e, plan) || !matrix_check(e, a))
		return false;
	if (!plan->hybrid && !plan->panel)
		return fault_refuse(&e->fault, "a plan without a panel variant for the device");
	if (plan->in_place)
		return fault_refuse(&e->fault, "rows of LU's panels move: they are not in place");
	if (plan->row_major && plan_widest(plan, min_int64(a.m, a.n)) > rows_most(e, a))
		return fault_refuse(&e->fault, "row-major blocks have at most %" PRId64 " columns",
		        rows_most(e, a));
	return triangle_check(e, plan) && split_check(e);
}

/* The widest piece of at most WIDEST_INVERSE columns; it divides the plan's piece, as that divides
 * the leaves. */
static int64_t narrow_piece(const struct plan *plan)
{
	int64_t piece = triangle_piece(plan), parts = 1;

	while (piece > parts * WIDEST_INVERSE || (parts > 1 && piece % parts != 0))
		parts++;
	return piece / parts;
}

static bool set_up(struct factor *s, struct executor *e, const struct plan *plan, struct matrix a,
        void *work, struct pivots all)
{
	*s = (struct factor){
	        .e = e, .plan = plan, .given = a, .a = a, .all = all, .kept_block = -1};
	if (!check(e, plan, a))
		return false;
	s->schedule = schedule_of(e, plan, a, &operations, s);
	s->row_major = getrf_row_major(e, plan, a);
	s->solve =
	        (struct triangle){LEFT, LOWER, PLAIN, UNIT, s->row_major ? 0 : narrow_piece(plan)};
	s->across = (struct triangle){RIGHT, UPPER, PLAIN, UNIT, triangle_piece(plan)};
	return take_workspace(s, work);
}

int64_t getrf_work(struct executor *e, const struct plan *plan, struct matrix a)
{
	struct factor s;

	return set_up(&s, e, plan, a, NULL, (struct pivots){0}) ? s.bytes : -1;
}

/* Row swaps of the host's own count need its pivots there; without panels no row moves. */
static int *note_pivots(const struct factor *s)
{
	const int64_t columns = s->plan->single_swaps ? s->schedule.steps : 0;
	int *noted = columns ? xmalloc((size_t)columns * sizeof *noted) : NULL;
	struct block b = schedule_first(&s->schedule);

	for (; columns && b.w; b = schedule_next(&s->schedule, b))
		for (int64_t i = 0; i < b.w; i++)
			noted[b.j + i] = (int)i + 1;
	return noted;
}

bool getrf(struct executor *e, const struct plan *plan, struct matrix a, void *work,
        struct pivots pivots)
{
	struct factor s;

	if (!set_up(&s, e, plan, a, work, pivots))
		return false;
	s.noted = note_pivots(&s);
	bool ok = aligned_copy(e, WHOLE, s.given, s.a) && stand_in_pivots(&s) &&
	          ex_clear_info(e, integer_at(pivots.data, pivots.n)) &&
	          schedule_run(&s.schedule) && apply_swaps(&s) && lu_transpose_back(&s) &&
	          aligned_copy(e, WHOLE, s.a, s.given);
	free(s.noted);
	return ok;
}
