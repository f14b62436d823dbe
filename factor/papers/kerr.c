/* SPDX-License-Identifier: MIT */
/* Our variants and the calls; factor/validation/papers/kerr_protocol.h counts operations as the
 * paper does. */
#include "kerr_internal.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/solve.h"

#include "lib/base/msg.h"

#include <inttypes.h>

const char *const kerr_variant_name[KERR_VARIANTS] = {[KERR_BLAS] = "blas",
        [KERR_KERNELS] = "kerr",
        [KERR_ONE] = "reflectors",
        [KERR_STEPS] = "steps",
        [KERR_AHEAD] = "ahead"};
const char *const kerr_phase_name[KERR_PHASES] = {[KERR_HOUSE] = "house",
        [KERR_UPDATE] = "panel_update",
        [KERR_PANEL] = "panel",
        [KERR_WY] = "wy",
        [KERR_APPLY_A] = "apply_a",
        [KERR_APPLY_Q] = "apply_q"};

static bool is_paper(enum kerr_variant variant)
{
	return variant != KERR_STEPS && variant != KERR_AHEAD;
}

/* ---- ours ---- */

static bool block_step(struct kerr *s, int64_t j, int64_t n)
{
	struct executor *e = s->e;
	int64_t m = s->a.m - j, right = s->a.n - j - n;
	struct matrix panel = matrix_view(s->a, j, j, m, n);
	struct matrix tau = matrix_view(s->taus, j, 0, n, 1);
	struct reflectors r = {
	        room_for(s->reflectors.v, m, n), matrix_view(s->reflectors.t, 0, 0, n, n)};

	if (!kerr_begin(s, KERR_PANEL) || !ex_panel_geqrf(e, panel, tau, s->panel_work))
		return false;
	return right == 0 || (kerr_begin(s, KERR_WY) &&
	                             reflectors_form(e, &s->plan, panel, tau, r, s->apply_work) &&
	                             kerr_begin(s, KERR_APPLY_A) &&
	                             reflectors_apply(e, LEFT, TRANSPOSED, r, s->apply_work,
	                                     matrix_view(s->a, j, j + n, m, right)));
}

static bool run_own(struct kerr *s)
{
	const enum kerr_variant variant = s->variant;
	bool ok = true;

	for (int64_t j = 0; ok && variant == KERR_STEPS && j < s->a.n; j += s->r)
		ok = block_step(s, j, min_int64(s->r, s->a.n - j));
	if (variant == KERR_AHEAD)
		ok = geqrf(s->e, &s->plan, s->a, s->taus, s->step_work);
	return ok && kerr_begin(s, KERR_APPLY_Q) &&
	       orgqr(s->e, &s->plan, s->a, s->taus, s->q, s->step_work);
}

/* ---- workspace ---- */

/* The widest panel is the tallest. */
static bool workspace_own(struct kerr *s, struct workspace *workspace)
{
	const enum kerr_variant variant = s->variant;
	enum precision precision = s->a.precision;
	struct matrix first = matrix_view(s->a, 0, 0, s->a.m, min_int64(s->r, s->a.n));

	s->taus = workspace_matrix(workspace, s->a.n, 1, precision);
	int64_t factor = geqrf_work(s->e, &s->plan, s->a);
	int64_t form = factor < 0 ? -1 : orgqr_work(s->e, &s->plan, s->a, s->taus, s->q);
	if (form < 0)
		return false;
	s->step_work =
	        workspace_bytes(workspace, variant == KERR_AHEAD ? max_int64(factor, form) : form);
	if (variant == KERR_STEPS) {
		s->panel_work = workspace_bytes(workspace, s->e->ops->geqrf_work(s->e, first));
		s->reflectors = reflectors_workspace(workspace, s->a.m, s->r, precision);
		s->apply_work = reflector_work_workspace(
		        workspace, s->r, max_int64(s->a.n, s->r), precision);
	}
	return true;
}

static bool check(struct executor *e, int64_t r, struct matrix a, struct matrix q)
{
	if (r < 1 || a.m < a.n || a.n < 1 || q.m != a.m || q.n != a.m)
		return fault_refuse(&e->fault,
		        "blocks of %" PRId64 " columns of a matrix of %" PRId64 " x %" PRId64
		        " with Q %" PRId64 " x %" PRId64
		        ": Q is square, with A's rows, which are not fewer than its columns",
		        r, a.m, a.n, q.m, q.n);
	return matrix_check(e, a) && matrix_check(e, q);
}

static bool set_up(struct kerr *s, struct executor *e, enum kerr_variant variant, int64_t r,
        struct matrix a, struct matrix q, void *work)
{
	struct workspace workspace = {work, 0};
	bool ok;

	*s = (struct kerr){.e = e, .variant = variant, .r = r, .a = a, .q = q};
	s->plan = (struct plan){.widths = &s->r,
	        .count = 1,
	        .leaf = variant == KERR_AHEAD ? min_int64(r, GEQRF_LEAF_MAX) : r,
	        .lookahead = variant == KERR_AHEAD};
	e->queue = QUEUE_MAIN;
	ok = check(e, r, a, q);
	if (ok && is_paper(variant))
		kerr_paper_workspace(s, &workspace);
	else
		ok = ok && workspace_own(s, &workspace);
	s->bytes = workspace.used;
	return ok;
}

/* ---- the calls ---- */

int64_t kerr_work(
        struct executor *e, enum kerr_variant variant, int64_t r, struct matrix a, struct matrix q)
{
	struct kerr s;

	return set_up(&s, e, variant, r, a, q, NULL) ? s.bytes : -1;
}

bool kerr_qr(struct executor *e, enum kerr_variant variant, int64_t r, struct matrix a,
        struct matrix q, void *work, struct phase_timer *phase_timer)
{
	struct kerr s;

	if (phase_timer)
		phase_timer->count = 0;
	if (!set_up(&s, e, variant, r, a, q, work))
		return false;
	s.phase_timer = variant == KERR_AHEAD ? NULL : phase_timer;
	bool ok = is_paper(variant) ? kerr_run_paper(&s) : run_own(&s);
	return ok && phase_timer_end(e, s.phase_timer);
}
