/* SPDX-License-Identifier: MIT */
/* Sweeps over the blocks of distributed factors, forwards or backwards. The owner of a block sends
 * what its columns hold, while all ranks still work with the block before; every rank applies it to
 * its own right-hand sides. Operations: those of one rank, divided by the ranks as far as there are
 * columns for them. A rank receives every factor once a sweep.
 *
 * On a grid of several process rows a rank receives its process row's rows, and has these rows of
 * right-hand sides. A block's solution goes down process columns; with a transposed factor the
 * products of all process rows are added. */
#include "sweep_distributed.h"

#include "divided_reflectors.h"
#include "panels.h"
#include "factor/algorithms/reflectors.h"

#include "lib/base/msg.h"

#include <inttypes.h>

/* Blocks before it in QUEUE_MAIN; a block has arrived; work with it is done. */
enum { EVENT_BEGIN, EVENT_ARRIVED, EVENT_APPLIED = EVENT_ARRIVED + BLOCKS_IN_FLIGHT };

struct sweep {
	struct schedule schedule; /* for its blocks only */
	struct executor *e;
	const struct distributed *a;
	struct plan plan; /* of the blocks */
	struct panels panels;
	struct matrix right; /* this rank's right-hand sides */
	bool backwards;
	const struct sweep_steps *steps;
	/* triangles */
	enum uplo uplo;
	enum trans trans;
	enum diag diag;
	/* reflectors */
	struct matrix tau, t[BLOCKS_IN_FLIGHT];
	struct reflector_work work, form_work;
	/* on several process rows */
	struct divided_work divided;
	struct matrix unit; /* to add by products */
	struct matrix v;    /* of a whole panel */
	int64_t bytes;
};

static bool divided(const struct sweep *s)
{
	return grid_rows(&s->a->grid) > 1;
}

/* How many of this rank's rows are before row i. */
static int64_t before(const struct sweep *s, int64_t i)
{
	return distributed_rows_before(s->a, i);
}

/* Room for what is sent of a block, and the piece beside it; its owner fills both; all ranks apply
 * them to their right-hand sides. */
struct sweep_steps {
	struct matrix (*room)(struct sweep *, struct block b);
	struct comm_piece (*beside)(struct sweep *, struct block b);
	bool (*pack)(struct sweep *, struct block b);
	bool (*apply)(struct sweep *, struct block b);
};

/* ---- the order of work ---- */

static struct block block_at(const struct sweep *s, int64_t number)
{
	const int64_t nb = s->a->layout.nb, count = plan_blocks(&s->plan, s->schedule.steps);
	const int64_t i = s->backwards ? count - 1 - number : number;

	/* buffers take turns in the order of the sweep */
	return (struct block){number, i * nb, plan_width(&s->plan, i, s->schedule.steps - i * nb)};
}

/* In QUEUE_PANEL, when QUEUE_MAIN has used the buffer for the block before the last one. */
static bool send(struct sweep *s, struct block b)
{
	struct executor *e = s->e;
	const int turn = (int)block_turn(b);
	const struct comm_piece beside = s->steps->beside(s, b);

	e->queue = QUEUE_PANEL;
	return (b.index < BLOCKS_IN_FLIGHT || ex_wait(e, EVENT_APPLIED + turn)) &&
	       (!distributed_owns(s->a, b.j) || s->steps->pack(s, b)) &&
	       panels_send(&s->panels, b, s->steps->room(s, b), &beside, beside.bytes > 0) &&
	       ex_record(e, EVENT_ARRIVED + turn);
}

static bool apply(struct sweep *s, struct block b)
{
	struct executor *e = s->e;
	const int turn = (int)block_turn(b);

	e->queue = QUEUE_MAIN;
	return ex_wait(e, EVENT_ARRIVED + turn) && panels_arrived(&s->panels, b) &&
	       (s->right.n == 0 || s->steps->apply(s, b)) && ex_record(e, EVENT_APPLIED + turn);
}

static bool run(struct sweep *s)
{
	struct executor *e = s->e;
	const int64_t count = plan_blocks(&s->plan, s->schedule.steps);

	e->queue = QUEUE_MAIN;
	bool ok = ex_record(e, EVENT_BEGIN);
	e->queue = QUEUE_PANEL;
	ok = ok && ex_wait(e, EVENT_BEGIN) && (count == 0 || send(s, block_at(s, 0)));
	for (int64_t i = 0; ok && i < count; i++)
		ok = (i + 1 == count || send(s, block_at(s, i + 1))) && apply(s, block_at(s, i));
	e->queue = QUEUE_MAIN;
	return ok;
}

/* ---- triangles ---- */

/* A lower triangle's rows from the diagonal block down, an upper one's down to it: this rank's. */
static struct matrix triangle_room(struct sweep *s, struct block b)
{
	const int64_t m = s->uplo == LOWER ? before(s, s->a->layout.m) - before(s, b.j)
	                                   : before(s, b.j + b.w);

	return room_for(s->panels.columns[block_turn(b)], m, b.w);
}

static struct comm_piece nothing_beside(struct sweep *s, struct block b)
{
	(void)s;
	(void)b;
	return (struct comm_piece){NULL, 0, 0};
}

static bool triangle_pack(struct sweep *s, struct block b)
{
	struct matrix room = triangle_room(s, b);
	int64_t first = s->uplo == LOWER ? b.j : 0;

	return ex_copy(s->e, WHOLE,
	        matrix_view(distributed_columns(s->a, first, b.j, b.w), 0, 0, room.m, b.w), room);
}

/* This rank's rows of a triangle's block, and of the right-hand sides: the diagonal block and its
 * solutions, none elsewhere, and the others. */
struct triangle_rows {
	struct matrix corner, x, off, y;
};

static struct triangle_rows triangle_rows(struct sweep *s, struct block b)
{
	const struct matrix room = triangle_room(s, b);
	const int64_t at = before(s, b.j), w = distributed_owns_row(s->a, b.j) ? b.w : 0;
	const int64_t above = s->uplo == LOWER ? 0 : at, rest = room.m - w;

	return (struct triangle_rows){matrix_view(room, above, 0, w, w ? b.w : 0),
	        matrix_view(s->right, at, 0, w, s->right.n),
	        matrix_view(room, s->uplo == LOWER ? w : 0, 0, rest, b.w),
	        matrix_view(s->right, s->uplo == LOWER ? at + w : 0, 0, rest, s->right.n)};
}

/* The solutions of the block, from their process row to all. */
static bool pass_solutions(struct sweep *s, struct block b, struct matrix *x)
{
	const struct grid *grid = &s->a->grid;
	const struct matrix own = *x, passed = room_for(s->divided.scaled, b.w, s->right.n);
	const int root = block_cyclic_row(&s->a->layout, grid_rows(grid), b.j);
	const struct comm_piece piece = {
	        passed.data, passed.ld * passed.n * precision_bytes(passed.precision), root};

	*x = passed;
	return (own.m == 0 || ex_copy(s->e, WHOLE, own, passed)) &&
	       comm_exchange(grid->column, s->e, &piece, 1, "solutions of block", b.index);
}

/* x -= off^T y. */
static bool subtract_products(struct sweep *s, struct block b, struct triangle_rows t)
{
	struct executor *e = s->e;
	const struct matrix unit = matrix_view(s->unit, 0, 0, b.w, b.w);

	if (!divided(s))
		return t.off.m == 0 || ex_gemm(e, TRANSPOSED, PLAIN, -1, t.off, t.y, 1, t.x);
	bool ok = divided_products(e, &s->a->grid, t.off, t.y, s->divided, b.index);
	for (int row = 0; ok && t.x.m > 0 && row < grid_rows(&s->a->grid); row++)
		ok = ex_gemm(e, PLAIN, PLAIN, -1, unit,
		        divided_product(s->divided, row, b.w, t.x.n), 1, t.x);
	return ok;
}

static bool triangle_apply(struct sweep *s, struct block b)
{
	const struct triangle_rows t = triangle_rows(s, b);
	struct matrix x = t.x;

	if (s->trans == TRANSPOSED)
		return subtract_products(s, b, t) &&
		       ex_trsm(s->e, LEFT, s->uplo, TRANSPOSED, s->diag, 1, t.corner, x);
	return ex_trsm(s->e, LEFT, s->uplo, PLAIN, s->diag, 1, t.corner, x) &&
	       (!divided(s) || pass_solutions(s, b, &x)) &&
	       ex_gemm(s->e, PLAIN, PLAIN, -1, t.off, x, 1, t.y);
}

static const struct sweep_steps triangle_steps = {
        triangle_room, nothing_beside, triangle_pack, triangle_apply};

/* ---- reflectors ---- */

static struct matrix reflectors_room(struct sweep *s, struct block b)
{
	return panels_room(&s->panels, b, b.j);
}

static struct reflectors reflectors_of(struct sweep *s, struct block b)
{
	return (struct reflectors){reflectors_room(s, b), room_for(s->t[block_turn(b)], b.w, b.w)};
}

static struct comm_piece t_beside(struct sweep *s, struct block b)
{
	struct matrix t = reflectors_of(s, b).t;

	return (struct comm_piece){t.data, t.ld * t.n * precision_bytes(t.precision), 0};
}

static bool reflectors_pack(struct sweep *s, struct block b)
{
	const struct distributed *a = s->a;
	int64_t at = distributed_columns_before(a, b.j);
	struct matrix own = panels_own(a, b), tau = matrix_view(s->tau, at, 0, b.w, 1);
	struct reflectors r = reflectors_of(s, b);
	struct default_plan chosen;

	if (divided(s)) {
		if (!ex_copy(s->e, WHOLE, own, r.v) || !panels_gather(&s->panels, b))
			return false;
		own = panels_whole(&s->panels, b);
		r.v = panels_like(&s->panels, b, s->v);
	}
	panels_plan(s->e, GEQRF, own, &chosen);
	return reflectors_form(s->e, &chosen.plan, own, tau, r, s->form_work) &&
	       (!divided(s) || panels_take(&s->panels, b, r.v));
}

static bool reflectors_step(struct sweep *s, struct block b)
{
	const int64_t at = before(s, b.j);
	const struct matrix c = matrix_view(s->right, at, 0, s->right.m - at, s->right.n);

	if (divided(s))
		return divided_apply(
		        s->e, &s->a->grid, s->trans, reflectors_of(s, b), s->divided, c, b.index);
	return reflectors_apply(s->e, LEFT, s->trans, reflectors_of(s, b), s->work, c);
}

static const struct sweep_steps reflector_steps = {
        reflectors_room, t_beside, reflectors_pack, reflectors_step};

/* ---- the calls ---- */

bool sweep_check(struct executor *e, const struct distributed *a, const struct distributed *b)
{
	if (!panels_layout_check(e, a) || !distributed_check(e, b))
		return false;
	if (b->layout.m != a->layout.m)
		return fault_refuse(&e->fault,
		        "factors of %" PRId64 " rows and right-hand sides of %" PRId64, a->layout.m,
		        b->layout.m);
	return grid_rows(&a->grid) == 1 ||
	       (b->layout.mb == a->layout.mb && b->layout.first_row == a->layout.first_row) ||
	       fault_refuse(&e->fault,
	               "rows of right-hand sides in blocks of %" PRId64
	               " from process row %d, of factors %" PRId64 " from %d: both must be equal",
	               b->layout.mb, b->layout.first_row, a->layout.mb, a->layout.first_row);
}

static void divided_workspace(struct sweep *s, struct workspace *workspace, int64_t widest)
{
	const enum precision precision = s->a->local.precision;

	s->divided = divided_work_workspace(&s->a->grid, workspace, widest, s->right.n, precision);
	if (s->steps == &reflector_steps) {
		panels_gather_workspace(&s->panels, workspace);
		s->v = panels_like_workspace(&s->panels, workspace);
	} else {
		s->unit = workspace_matrix(workspace, widest, widest, precision);
	}
}

static bool set_up(struct sweep *s, struct executor *e, const struct distributed *a,
        const struct distributed *b, const struct sweep_steps *steps, void *work)
{
	const int64_t columns = min_int64(a->layout.m, a->layout.n);
	const enum precision precision = a->local.precision;
	struct workspace workspace = {work, 0};

	*s = (struct sweep){.e = e, .a = a, .steps = steps};
	if (!sweep_check(e, a, b))
		return false;
	s->plan = panels_blocks(a);
	s->schedule = (struct schedule){.e = e, .plan = &s->plan, .steps = columns};
	const int64_t widest = plan_widest(&s->plan, columns);
	s->panels = panels_workspace(e, a, &workspace, widest);
	s->right = b->local;
	if (divided(s))
		divided_workspace(s, &workspace, widest);
	if (steps == &reflector_steps) {
		for (int i = 0; i < BLOCKS_IN_FLIGHT; i++)
			s->t[i] = workspace_matrix(&workspace, widest, widest, precision);
		s->form_work = reflector_work_workspace(&workspace, widest, widest, precision);
		s->work = reflector_work_workspace(
		        &workspace, widest, max_int64(s->right.n, widest), precision);
	}
	s->bytes = workspace.used;
	return true;
}

bool sweep_triangle(struct executor *e, enum uplo uplo, enum trans trans, enum diag diag,
        const struct distributed *a, const struct distributed *b, void *work)
{
	struct sweep s;

	if (!set_up(&s, e, a, b, &triangle_steps, work))
		return false;
	s.uplo = uplo;
	s.trans = trans;
	s.diag = diag;
	s.backwards = (uplo == UPPER) == (trans == PLAIN);
	e->queue = QUEUE_MAIN;
	return ex_fill(e, WHOLE, 0, 1, s.unit) && run(&s);
}

int64_t sweep_triangle_work(
        struct executor *e, const struct distributed *a, const struct distributed *b)
{
	struct sweep s;

	return set_up(&s, e, a, b, &triangle_steps, NULL) ? s.bytes : -1;
}

int64_t ormqr_distributed_work(
        struct executor *e, const struct distributed *a, const struct distributed *c)
{
	struct sweep s;

	return set_up(&s, e, a, c, &reflector_steps, NULL) ? s.bytes : -1;
}

bool ormqr_distributed(struct executor *e, enum trans trans, const struct distributed *a,
        struct matrix tau, const struct distributed *c, void *work)
{
	struct sweep s;

	if (!set_up(&s, e, a, c, &reflector_steps, work))
		return false;
	s.tau = tau;
	s.trans = trans;
	s.backwards = trans == PLAIN;
	return run(&s);
}
