/* SPDX-License-Identifier: MIT */
/* Solves with distributed factors: sweeps over the blocks, forwards or backwards. The owner of a
 * block sends what its columns hold, while all ranks still work with the block before; every rank
 * applies it to its own right-hand sides. Operations: those of one rank, divided by the ranks as
 * far as there are columns for them. A rank receives every factor once a sweep. */
#include "distributed.h"

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
	int64_t bytes;
};

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

/* A lower triangle's rows from the diagonal block down, an upper one's down to it. */
static struct matrix triangle_room(struct sweep *s, struct block b)
{
	return room_for(s->panels.columns[block_turn(b)],
	        s->uplo == LOWER ? s->a->layout.m - b.j : b.j + b.w, b.w);
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

static bool triangle_apply(struct sweep *s, struct block b)
{
	struct executor *e = s->e;
	struct matrix room = triangle_room(s, b);
	const int64_t above = s->uplo == LOWER ? 0 : b.j, rest = room.m - b.w;
	const int64_t other = s->uplo == LOWER ? b.j + b.w : 0, n = s->right.n;
	struct matrix corner = matrix_view(room, above, 0, b.w, b.w);
	struct matrix off = matrix_view(room, s->uplo == LOWER ? b.w : 0, 0, rest, b.w);
	struct matrix x = matrix_view(s->right, b.j, 0, b.w, n);
	struct matrix y = matrix_view(s->right, other, 0, rest, n);

	if (s->trans == PLAIN)
		return ex_trsm(e, LEFT, s->uplo, PLAIN, s->diag, 1, corner, x) &&
		       ex_gemm(e, PLAIN, PLAIN, -1, off, x, 1, y);
	return (rest == 0 || ex_gemm(e, TRANSPOSED, PLAIN, -1, off, y, 1, x)) &&
	       ex_trsm(e, LEFT, s->uplo, TRANSPOSED, s->diag, 1, corner, x);
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
	struct matrix own = panels_own(a, b);
	struct default_plan chosen;

	panels_plan(s->e, GEQRF, own, &chosen);
	return reflectors_form(s->e, &chosen.plan, own, matrix_view(s->tau, at, 0, b.w, 1),
	        reflectors_of(s, b), s->form_work);
}

static bool reflectors_step(struct sweep *s, struct block b)
{
	return reflectors_apply(s->e, LEFT, s->trans, reflectors_of(s, b), s->work,
	        matrix_view(s->right, b.j, 0, s->right.m - b.j, s->right.n));
}

static const struct sweep_steps reflector_steps = {
        reflectors_room, t_beside, reflectors_pack, reflectors_step};

/* ---- the calls ---- */

static bool set_up(struct sweep *s, struct executor *e, const struct distributed *a,
        const struct distributed *b, const struct sweep_steps *steps, void *work)
{
	const int64_t columns = min_int64(a->layout.m, a->layout.n);
	const enum precision precision = a->local.precision;
	struct workspace workspace = {work, 0};

	*s = (struct sweep){.e = e, .a = a, .steps = steps};
	if (!distributed_check(e, a) || (b && !distributed_check(e, b)) || !panels_one_row(e, a))
		return false;
	if (b && b->layout.m != a->layout.m)
		return fault_refuse(&e->fault,
		        "factors of %" PRId64 " rows and right-hand sides of %" PRId64, a->layout.m,
		        b->layout.m);
	s->plan = panels_blocks(a);
	s->schedule = (struct schedule){.e = e, .plan = &s->plan, .steps = columns};
	const int64_t widest = plan_widest(&s->plan, columns);
	s->panels = panels_workspace(e, a, &workspace, widest);
	if (b)
		s->right = b->local;
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

static bool sweep_triangle(struct executor *e, enum uplo uplo, enum trans trans, enum diag diag,
        const struct distributed *a, const struct distributed *b, void *work)
{
	struct sweep s;

	if (!set_up(&s, e, a, b, &triangle_steps, work))
		return false;
	s.uplo = uplo;
	s.trans = trans;
	s.diag = diag;
	s.backwards = (uplo == UPPER) == (trans == PLAIN);
	return run(&s);
}

static int64_t triangle_work(struct executor *e, const struct distributed *a)
{
	struct sweep s;

	return set_up(&s, e, a, NULL, &triangle_steps, NULL) ? s.bytes : -1;
}

static bool square_check(struct executor *e, const struct distributed *a)
{
	return a->layout.m == a->layout.n ||
	       fault_refuse(&e->fault, "factors of %" PRId64 " x %" PRId64 " are not square",
	               a->layout.m, a->layout.n);
}

int64_t getrs_distributed_work(struct executor *e, const struct distributed *lu)
{
	return square_check(e, lu) ? triangle_work(e, lu) : -1;
}

bool getrs_distributed(struct executor *e, enum trans trans, const struct distributed *lu,
        struct pivots pivots, const struct distributed *b, void *work)
{
	if (!square_check(e, lu))
		return false;
	e->queue = QUEUE_MAIN;
	if (trans == PLAIN)
		return ex_laswp(e, b->local, pivots, false) &&
		       sweep_triangle(e, LOWER, PLAIN, UNIT, lu, b, work) &&
		       sweep_triangle(e, UPPER, PLAIN, NON_UNIT, lu, b, work);
	return sweep_triangle(e, UPPER, TRANSPOSED, NON_UNIT, lu, b, work) &&
	       sweep_triangle(e, LOWER, TRANSPOSED, UNIT, lu, b, work) &&
	       ex_laswp(e, b->local, pivots, true);
}

int64_t potrs_distributed_work(struct executor *e, const struct distributed *l)
{
	return square_check(e, l) ? triangle_work(e, l) : -1;
}

bool potrs_distributed(
        struct executor *e, const struct distributed *l, const struct distributed *b, void *work)
{
	return square_check(e, l) && sweep_triangle(e, LOWER, PLAIN, NON_UNIT, l, b, work) &&
	       sweep_triangle(e, LOWER, TRANSPOSED, NON_UNIT, l, b, work);
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

/* -1 when one of the two is. */
static int64_t both(int64_t a, int64_t b)
{
	return a < 0 || b < 0 ? -1 : max_int64(a, b);
}

int64_t gels_distributed_work(
        struct executor *e, const struct distributed *a, const struct distributed *b)
{
	if (a->layout.m < a->layout.n) {
		fault_refuse(&e->fault, "least squares over ranks need m >= n");
		return -1;
	}
	return both(geqrf_distributed_work(e, a),
	        both(ormqr_distributed_work(e, a, b), triangle_work(e, a)));
}

bool gels_distributed(struct executor *e, const struct distributed *a, struct matrix tau,
        const struct distributed *b, void *work)
{
	return gels_distributed_work(e, a, b) >= 0 && geqrf_distributed(e, a, tau, work) &&
	       ormqr_distributed(e, TRANSPOSED, a, tau, b, work) &&
	       sweep_triangle(e, UPPER, PLAIN, NON_UNIT, a, b, work);
}
