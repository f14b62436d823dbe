/* SPDX-License-Identifier: MIT */
/* Blocked right-looking Cholesky. Operations of a block of w columns with r rows below it: diagonal
 * block w^3 / 3, triangular solve w^2 r, update w r (r + 1). Over all blocks n^3 / 3.
 *
 * By split operands blocks are narrow, and updates of a dominant diagonal are a few units in its
 * last place: their roundings go the same way, and their sum grows with the number of blocks. There
 * the diagonal stands apart: updates act on zeros, and a leaf adds the diagonal before it is
 * factorized (docs/experiments/truncation.md). */
#include "potrf.h"

#include "aligned.h"
#include "schedule.h"
#include "factor/executors/split.h"
#include "triangle.h"

#include "lib/base/msg.h"

#include <inttypes.h>

struct factor {
	struct schedule schedule;
	struct executor *e;
	const struct plan *plan;
	enum uplo uplo;
	struct matrix given, a; /* a: the matrix itself or its copy (aligned.h) */
	int *info;
	struct triangle solve;
	struct matrix inverse[BLOCKS_IN_FLIGHT];
	struct matrix kept;  /* right-hand sides of the solves, which are all in one queue */
	struct matrix apart; /* the diagonal behind the first block, a column; empty: in place */
	int64_t bytes;
};

/* Rows i.. and columns j.. of the lower triangle, or their mirror image in the upper one. */
static struct matrix part(
        enum uplo uplo, struct matrix a, int64_t i, int64_t j, int64_t m, int64_t n)
{
	return uplo == LOWER ? matrix_view(a, i, j, m, n) : matrix_view(a, j, i, n, m);
}

/* c -= x x^T for the lower triangle, x^T x for the upper one; c may be a trapezoid */
static bool subtract_square(struct factor *s, struct matrix x, struct matrix c)
{
	return ex_syrk(s->e, s->uplo, s->uplo == LOWER ? PLAIN : TRANSPOSED, -1, x, 1, c);
}

/* c -= below x^T for the lower triangle, x^T below for the upper one */
static bool subtract_product(
        struct factor *s, struct matrix below, struct matrix x, struct matrix c)
{
	if (s->uplo == LOWER)
		return ex_gemm(s->e, PLAIN, TRANSPOSED, -1, below, x, 1, c);
	return ex_gemm(s->e, TRANSPOSED, PLAIN, -1, x, below, 1, c);
}

/* ---- one panel ---- */

/* A leaf whose first row is `first`. */
static bool factor_leaf(struct factor *s, struct matrix a, int64_t first)
{
	int64_t j = first - (s->a.n - s->apart.m);
	struct matrix added =
	        j < 0 ? (struct matrix){0} : matrix_view(s->apart, j, 0, min_int64(a.m, a.n), 1);

	return ex_potrf_block(s->e, s->uplo, a, added, first, s->info);
}

/* A diagonal block whose first row is `first`, with the inverses of its pieces. */
static bool factor(struct factor *s, struct matrix d, struct matrix inverse, int64_t first)
{
	struct executor *e = s->e;

	if (d.n <= s->plan->leaf)
		return factor_leaf(s, d, first) && triangle_invert(e, &s->solve, d, inverse);

	int64_t n = plan_left_half(s->plan, d.n), rest = d.n - n;
	struct matrix corner = matrix_view(d, 0, 0, n, n);
	struct matrix below = part(s->uplo, d, n, 0, rest, n);
	struct matrix other = matrix_view(d, n, n, rest, rest);
	return factor(s, corner, inverse, first) &&
	       triangle_solve(e, &s->solve, corner, inverse, s->kept, below) &&
	       subtract_square(s, below, other) &&
	       factor(s, other, matrix_view(inverse, 0, n, inverse.m, rest), first + n);
}

/* A trapezoid whose first row is `first`: its diagonal block and the part below. */
static bool factor_whole(struct factor *s, struct matrix p, int64_t first)
{
	int64_t w = min_int64(p.m, p.n), rows = max_int64(p.m, p.n);

	if (w <= s->plan->leaf)
		return factor_leaf(s, p, first);

	int64_t n = plan_left_half(s->plan, w);
	return factor_whole(s, part(s->uplo, p, 0, 0, rows, n), first) &&
	       subtract_square(s, part(s->uplo, p, n, 0, rows - n, n),
	               part(s->uplo, p, n, n, rows - n, w - n)) &&
	       factor_whole(s, part(s->uplo, p, n, n, rows - n, w - n), first + n);
}

static struct matrix diagonal_block(const struct factor *s, struct block b)
{
	return matrix_view(s->a, b.j, b.j, b.w, b.w);
}

static struct matrix inverse_of(const struct factor *s, struct block b)
{
	return s->inverse[block_turn(b)];
}

static bool solve_below(struct factor *s, struct block b)
{
	int64_t first = b.j + b.w;

	return triangle_solve(s->e, &s->solve, diagonal_block(s, b), inverse_of(s, b), s->kept,
	        part(s->uplo, s->a, first, b.j, s->a.n - first, b.w));
}

static bool corner_on_device(struct factor *s, struct block b)
{
	return factor(s, diagonal_block(s, b), inverse_of(s, b), b.j);
}

static bool whole_on_device(struct factor *s, struct block b)
{
	return factor_whole(s, part(s->uplo, s->a, b.j, b.j, s->a.n - b.j, b.w), b.j);
}

static struct matrix panel_of(struct factor *s, struct block b)
{
	return s->plan->inverse ? diagonal_block(s, b)
	                        : part(s->uplo, s->a, b.j, b.j, s->a.n - b.j, b.w);
}

static bool panel_on_host(struct factor *s, struct block b, struct matrix host)
{
	return ex_host_panel_potrf(s->e, s->uplo, host, b.j, s->info);
}

static bool panel_back(struct factor *s, struct block b)
{
	return !s->plan->inverse ||
	       (triangle_invert(s->e, &s->solve, diagonal_block(s, b), inverse_of(s, b)) &&
	               solve_below(s, b));
}

static bool set_apart(struct factor *s, struct block b)
{
	int64_t first = b.j + b.w, step = s->a.ld + 1, n = s->apart.m;
	struct matrix diagonal = {s->a.data, s->a.offset + first * step, 1, n, step, SINGLE};
	struct matrix row = {s->apart.data, s->apart.offset, 1, n, 1, SINGLE};

	return ex_copy(s->e, WHOLE, diagonal, row) && ex_fill(s->e, WHOLE, 0, 0, diagonal);
}

/* Products right of the block share the split operands of its part below the diagonal. */
static void keep(struct factor *s, struct block b)
{
	int64_t first = b.j + b.w;

	split_keep(s->e, part(s->uplo, s->a, first, b.j, s->a.n - first, b.w));
}

static bool update_corner(struct factor *s, struct block b, int64_t j, int64_t n)
{
	if (j == b.j + b.w)
		keep(s, b);
	return subtract_square(
	        s, part(s->uplo, s->a, j, b.j, n, b.w), matrix_view(s->a, j, j, n, n));
}

static bool update(struct factor *s, struct block b, int64_t j, int64_t n)
{
	int64_t next = j + n, rest = s->a.n - next;

	return subtract_product(s, part(s->uplo, s->a, next, b.j, rest, b.w),
	        part(s->uplo, s->a, j, b.j, n, b.w), part(s->uplo, s->a, next, j, rest, n));
}

static bool update_whole(struct factor *s, struct block b, int64_t j, int64_t n)
{
	int64_t rows = s->a.n - j;

	if (j == b.j + b.w)
		keep(s, b);
	return subtract_square(
	        s, part(s->uplo, s->a, j, b.j, rows, b.w), part(s->uplo, s->a, j, j, rows, n));
}

/* Splits the operand of the update beside a panel, early: beside the update of the panel's columns.
 */
static bool top_whole(struct factor *s, struct block b, int64_t j, int64_t n)
{
	int64_t rows = s->a.n - j;

	return split_prepare(s->e, s->uplo == LOWER ? PLAIN : TRANSPOSED,
	        part(s->uplo, s->a, j, b.j, rows, b.w), part(s->uplo, s->a, j, j, rows, n));
}

/* To the last column: the square there. */
static bool update_far(struct factor *s, struct block half, int64_t j, int64_t n)
{
	return subtract_square(
	        s, part(s->uplo, s->a, j, half.j, n, half.w), matrix_view(s->a, j, j, n, n));
}

/* In the panels' queue: no waits between queues before and after it. */
static bool next_update_whole(struct factor *s, struct block b, int64_t n)
{
	return update_whole(s, b, b.j + b.w, n);
}

static const struct factorization operations = {.panel = panel_of,
        .begin = set_apart,
        .on_device = solve_below,
        .corner_on_device = corner_on_device,
        .on_host = panel_on_host,
        .back = panel_back,
        .update = update,
        .update_corner = update_corner,
        .coarse = update_far};

static const struct factorization whole_panels = {.panel = panel_of,
        .begin = set_apart,
        .on_device = whole_on_device,
        .update = update_whole,
        .top = top_whole,
        .bottom = update_whole,
        .coarse = update_far,
        .next_update = next_update_whole,
        .panel_first = true};

static bool leaves_solve(const struct plan *plan)
{
	return !plan->hybrid && !plan->inverse && plan->leaf <= POTRF_WHOLE_LEAF;
}

/* ---- the calls ---- */

static bool stands_apart(const struct factor *s)
{
	return s->e->math != MATH_FP32 && s->a.precision == SINGLE && !s->plan->hybrid &&
	       s->a.n >= s->e->splits->apart;
}

static void take_workspace(struct factor *s, void *work)
{
	struct workspace workspace = {work, 0};
	int64_t widest = plan_widest(s->plan, s->given.n);

	s->a = aligned_workspace(s->e, &workspace, s->given,
	        s->given.precision == DOUBLE ? ALIGNED_SECTOR : ALIGNED_VECTOR);
	for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
		s->inverse[i] = triangle_workspace(&s->solve, &workspace, widest, s->a.precision);
	s->kept = workspace_room(&workspace, s->solve.piece ? s->a.n : 0, widest, s->a.precision);
	s->apart = workspace_matrix(&workspace,
	        stands_apart(s) ? s->a.n - schedule_first(&s->schedule).w : 0, 1, s->a.precision);
	s->schedule.split = split_workspace(s->e, &workspace, s->a.n, s->a.n,
	        part(s->uplo, s->a, 0, 0, s->a.n, widest), s->uplo == LOWER ? TRANSPOSED : PLAIN,
	        TF32_BOTH);
	s->bytes = workspace.used;
}

static bool check(struct executor *e, const struct plan *plan, enum uplo uplo, struct matrix a)
{
	if (!plan_check(e, plan) || !matrix_check(e, a))
		return false;
	if (a.m != a.n)
		return fault_refuse(&e->fault,
		        "%" PRId64 " x %" PRId64 " is not square: Cholesky needs that", a.m, a.n);
	if (uplo == WHOLE)
		return fault_refuse(&e->fault, "Cholesky works on one triangle, lower or upper");
	if (plan->leaf > POTRF_LEAF_MAX)
		return fault_refuse(&e->fault,
		        "a leaf of %" PRId64 " columns: Cholesky's have at most %d", plan->leaf,
		        POTRF_LEAF_MAX);
	return triangle_check(e, plan) && split_check(e);
}

static bool set_up(struct factor *s, struct executor *e, const struct plan *plan, enum uplo uplo,
        struct matrix a, void *work, int *info)
{
	*s = (struct factor){.e = e, .plan = plan, .uplo = uplo, .given = a, .info = info};
	s->schedule = schedule_of(e, plan, a, leaves_solve(plan) ? &whole_panels : &operations, s);
	s->solve = (struct triangle){
	        uplo == LOWER ? RIGHT : LEFT, uplo, TRANSPOSED, NON_UNIT, triangle_piece(plan)};
	if (!check(e, plan, uplo, a))
		return false;
	take_workspace(s, work);
	return true;
}

int64_t potrf_work(struct executor *e, const struct plan *plan, enum uplo uplo, struct matrix a)
{
	struct factor s;

	return set_up(&s, e, plan, uplo, a, NULL, NULL) ? s.bytes : -1;
}

bool potrf(struct executor *e, const struct plan *plan, enum uplo uplo, struct matrix a, void *work,
        int *info)
{
	struct factor s;

	if (!set_up(&s, e, plan, uplo, a, work, info))
		return false;
	e->queue = e->home;
	return aligned_copy(e, uplo, s.given, s.a) && ex_clear_info(e, info) &&
	       schedule_run(&s.schedule) && aligned_copy(e, uplo, s.a, s.given);
}

bool potrf_columns(struct executor *e, const struct plan *plan, struct matrix p, int *info)
{
	struct factor s = {.e = e, .plan = plan, .uplo = LOWER, .a = p, .info = info};

	return ex_clear_info(e, info) && factor_whole(&s, p, 0);
}
