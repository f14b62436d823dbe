/* SPDX-License-Identifier: MIT */
/* Operations: n reflectors of length m applied to c columns 4 m n c + 2 n^2 c (half of the latter
 * without T's zeros); merging halves of n/2 columns m n^2 / 2 + n^3 / 2. */
#include "reflectors.h"

struct reflectors reflectors_workspace(
        struct workspace *workspace, int64_t m, int64_t n, enum precision precision)
{
	struct matrix v = workspace_matrix(workspace, m, n, precision);

	return (struct reflectors){v, workspace_matrix(workspace, n, n, precision)};
}

struct reflector_work reflector_work_workspace(
        struct workspace *workspace, int64_t n, int64_t columns, enum precision precision)
{
	struct matrix product = workspace_room(workspace, n, columns, precision);

	return (struct reflector_work){product, workspace_room(workspace, n, columns, precision)};
}

struct reflectors reflectors_part(struct reflectors r, int64_t j, int64_t m, int64_t n)
{
	return (struct reflectors){
	        matrix_view(r.v, r.v.m - m, j, m, n), matrix_view(r.t, j, j, n, n)};
}

bool reflectors_clear(struct executor *e, struct reflectors r)
{
	int64_t n = r.v.n;

	return ex_fill(e, WHOLE, 0, 0, matrix_view(r.v, 0, 0, n, n)) &&
	       ex_fill(e, WHOLE, 0, 0, r.t);
}

bool reflectors_merge(
        struct executor *e, struct reflectors r, int64_t n, struct reflector_work work)
{
	int64_t rest = r.v.n - n, below = r.v.m - n;
	struct matrix v1 = matrix_view(r.v, n, 0, below, n);
	struct matrix v2 = matrix_view(r.v, n, n, below, rest);
	struct matrix t1 = matrix_view(r.t, 0, 0, n, n);
	struct matrix t2 = matrix_view(r.t, n, n, rest, rest);
	struct matrix product = room_for(work.product, n, rest);
	struct matrix scaled = room_for(work.scaled, n, rest);

	return ex_gemm(e, TRANSPOSED, PLAIN, 1, v1, v2, 0, product) &&
	       ex_gemm(e, PLAIN, PLAIN, 1, product, t2, 0, scaled) &&
	       ex_gemm(e, PLAIN, PLAIN, -1, t1, scaled, 0, matrix_view(r.t, 0, n, n, rest));
}

/* T of the explicit V, half by half. */
static bool form_t(struct executor *e, const struct plan *plan, struct reflectors r,
        struct matrix tau, struct reflector_work work)
{
	int64_t n = plan_left_half(plan, r.v.n), rest = r.v.n - n;

	if (r.v.n <= plan->leaf)
		return ex_larft(e, r.v, tau, r.t);
	return form_t(e, plan, reflectors_part(r, 0, r.v.m, n), matrix_view(tau, 0, 0, n, 1),
	               work) &&
	       form_t(e, plan, reflectors_part(r, n, r.v.m - n, rest),
	               matrix_view(tau, n, 0, rest, 1), work) &&
	       reflectors_merge(e, r, n, work);
}

bool reflectors_form(struct executor *e, const struct plan *plan, struct matrix a,
        struct matrix tau, struct reflectors r, struct reflector_work work)
{
	return ex_fill(e, WHOLE, 0, 0, r.t) && ex_explicit_v(e, a, r.v) &&
	       form_t(e, plan, r, tau, work);
}

/* scaled = op(T) V^T C. */
static bool project(struct executor *e, enum trans trans, struct reflectors r,
        struct reflector_work work, struct matrix c, struct matrix *scaled)
{
	struct matrix product = room_for(work.product, r.v.n, c.n);

	*scaled = room_for(work.scaled, r.v.n, c.n);
	return ex_gemm(e, TRANSPOSED, PLAIN, 1, r.v, c, 0, product) &&
	       ex_gemm(e, trans, PLAIN, 1, r.t, product, 0, *scaled);
}

static bool apply_left(struct executor *e, enum trans trans, struct reflectors r,
        struct reflector_work work, struct matrix c)
{
	struct matrix scaled;

	return project(e, trans, r, work, c, &scaled) &&
	       ex_gemm(e, PLAIN, PLAIN, -1, r.v, scaled, 1, c);
}

static bool apply_right(struct executor *e, enum trans trans, struct reflectors r,
        struct reflector_work work, struct matrix c)
{
	struct matrix product = room_for(work.product, c.m, r.v.n);
	struct matrix scaled = room_for(work.scaled, c.m, r.v.n);

	return ex_gemm(e, PLAIN, PLAIN, 1, c, r.v, 0, product) &&
	       ex_gemm(e, PLAIN, trans, 1, product, r.t, 0, scaled) &&
	       ex_gemm(e, PLAIN, TRANSPOSED, -1, scaled, r.v, 1, c);
}

/* One kernel for the few columns that the next panel waits for. Beside an update its clusters would
 * wait longer for multiprocessors than products do. */
bool reflectors_next_update(
        struct executor *e, struct reflectors r, struct reflector_work work, struct matrix c)
{
	return c.n <= EXECUTOR_QR_COLUMNS && ex_reflects_columns(e, r.v, c)
	               ? ex_reflect_columns(e, r.v, r.t, c)
	               : apply_left(e, TRANSPOSED, r, work, c);
}

bool reflectors_update_panel(struct executor *e, struct reflectors r, struct reflector_work work,
        struct matrix c, struct matrix panel, void *panel_work)
{
	struct matrix scaled;

	return project(e, TRANSPOSED, r, work, c, &scaled) &&
	       ex_update_panel(e, -1, r.v, scaled, c, panel, panel_work);
}

bool reflectors_apply(struct executor *e, enum side side, enum trans trans, struct reflectors r,
        struct reflector_work work, struct matrix c)
{
	if (r.v.m == 0 || r.v.n == 0)
		return true;
	if (side == LEFT && trans == TRANSPOSED && e->queue == QUEUE_MAIN)
		return reflectors_next_update(e, r, work, c);
	return side == LEFT ? apply_left(e, trans, r, work, c) : apply_right(e, trans, r, work, c);
}
