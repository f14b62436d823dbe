/* SPDX-License-Identifier: MIT */
/* The calls of geqrf, ormqr, orgqr and gels, of both precisions. */
#include "fathom_handle.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/solve.h"

#include <inttypes.h>

static int64_t qr_set_up(struct fathom *h, struct matrix a, struct default_plan *chosen)
{
	if (!h || !call_shape(h, "A", a))
		return -1;
	if (!call_enter(h))
		return -1;
	call_plan(h, GEQRF, a, chosen);
	int64_t bytes = geqrf_work(h->e, &chosen->plan, a);
	call_leave(h);
	return bytes;
}

int64_t call_qr_work(struct fathom *h, struct matrix a)
{
	struct default_plan chosen;

	return qr_set_up(h, a, &chosen);
}

enum fathom_status call_qr(
        struct fathom *h, struct matrix a, void *tau, void *work, int64_t work_bytes)
{
	struct matrix column = call_column(tau, min_int64(a.m, a.n), a.precision);
	struct default_plan chosen;
	enum fathom_status status;

	if (!call_work(h, work, work_bytes, qr_set_up(h, a, &chosen)) ||
	        !call_matrix_given(h, "A", a) || !call_matrix_given(h, "tau", column))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status) ? call_end(h, geqrf(h->e, &chosen.plan, a, column, work))
	                              : status;
}

/* a: the k reflectors, as long as C's columns (LEFT) or rows */
struct apply_call {
	struct default_plan chosen;
	enum side side;
	enum trans trans;
	struct matrix a, tau, c;
};

static int64_t apply_set_up(struct fathom *h, struct apply_call *call, char side, char trans,
        int64_t k, const void *a, int64_t lda, const void *tau, struct matrix c)
{
	if (!h || !call_side(h, side, &call->side) || !call_trans(h, trans, &call->trans))
		return -1;
	call->a = call_matrix(a, call->side == LEFT ? c.m : c.n, k, lda, c.precision);
	call->tau = call_column(tau, k, c.precision);
	call->c = c;
	if (!call_shape(h, "A", call->a) || !call_shape(h, "C", c))
		return -1;
	call_plan(h, GEQRF, call->a, &call->chosen);
	return ormqr_work(h->e, &call->chosen.plan, call->side, call->a, call->tau, c);
}

int64_t call_apply_work(
        struct fathom *h, char side, char trans, int64_t k, int64_t lda, struct matrix c)
{
	struct apply_call call;

	return apply_set_up(h, &call, side, trans, k, NULL, lda, NULL, c);
}

enum fathom_status call_apply(struct fathom *h, char side, char trans, int64_t k, const void *a,
        int64_t lda, const void *tau, struct matrix c, void *work, int64_t work_bytes)
{
	struct apply_call call;
	enum fathom_status status;

	if (!call_work(
	            h, work, work_bytes, apply_set_up(h, &call, side, trans, k, a, lda, tau, c)) ||
	        !call_matrix_given(h, "A", call.a) || !call_matrix_given(h, "tau", call.tau) ||
	        !call_matrix_given(h, "C", c))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status) ? call_end(h, ormqr(h->e, &call.chosen.plan, call.side,
	                                                    call.trans, call.a, call.tau, c, work))
	                              : status;
}

/* orgqr wants the reflectors elsewhere than Q: they are copied into the workspace. */
struct form_call {
	struct default_plan chosen;
	struct matrix reflectors, tau;
	void *work;
};

/* The bytes of the workspace, -1: refused. */
static int64_t form_set_up(struct fathom *h, struct form_call *c, int64_t k, struct matrix q,
        const void *tau, void *work)
{
	struct workspace workspace = {work, 0};

	if (!h || !call_shape(h, "A", q))
		return -1;
	if (k < 0 || k > q.n || q.n > q.m) {
		call_refuse(h,
		        "Q of m = %" PRId64 ", n = %" PRId64 ", k = %" PRId64
		        ": m >= n >= k >= 0 is needed",
		        q.m, q.n, k);
		return -1;
	}
	c->reflectors = workspace_matrix(&workspace, q.m, k, q.precision);
	c->reflectors.ld = max_int64(c->reflectors.ld, 1);
	c->tau = call_column(tau, k, q.precision);
	c->work = workspace_bytes(&workspace, 0);
	call_plan(h, GEQRF, c->reflectors, &c->chosen);
	int64_t inner = orgqr_work(h->e, &c->chosen.plan, c->reflectors, c->tau, q);
	return inner < 0 ? -1 : workspace.used + inner;
}

int64_t call_form_work(struct fathom *h, int64_t k, struct matrix q)
{
	struct form_call c;

	return form_set_up(h, &c, k, q, NULL, NULL);
}

enum fathom_status call_form(struct fathom *h, int64_t k, struct matrix q, const void *tau,
        void *work, int64_t work_bytes)
{
	enum fathom_status status;
	struct form_call c;

	if (!call_work(h, work, work_bytes, form_set_up(h, &c, k, q, tau, work)) ||
	        !call_matrix_given(h, "A", q) || !call_matrix_given(h, "tau", c.tau))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	return call_end(h, ex_copy(h->e, WHOLE, matrix_view(q, 0, 0, q.m, k), c.reflectors) &&
	                           orgqr(h->e, &c.chosen.plan, c.reflectors, c.tau, q, c.work));
}

/* The factorized matrix is tall: A or its transpose. */
static int64_t least_squares_set_up(struct fathom *h, char letter, struct matrix a, struct matrix b,
        enum trans *trans, struct default_plan *chosen)
{
	if (!h || !call_trans(h, letter, trans) || !call_shape(h, "A", a) || !call_shape(h, "B", b))
		return -1;
	plan_default(h->e, GEQRF, max_int64(a.m, a.n), min_int64(a.m, a.n), a.precision,
	        h->host_panels, chosen);
	if (!call_enter(h))
		return -1;
	int64_t bytes = gels_work(h->e, &chosen->plan, a, b);
	call_leave(h);
	return bytes;
}

int64_t call_least_squares_work(struct fathom *h, char letter, struct matrix a, struct matrix b)
{
	struct default_plan chosen;
	enum trans trans;

	return least_squares_set_up(h, letter, a, b, &trans, &chosen);
}

enum fathom_status call_least_squares(struct fathom *h, char letter, struct matrix a,
        struct matrix b, void *work, int64_t work_bytes, int *info)
{
	struct default_plan chosen;
	enum fathom_status status;
	enum trans trans;

	if (!call_work(
	            h, work, work_bytes, least_squares_set_up(h, letter, a, b, &trans, &chosen)) ||
	        !call_matrix_given(h, "A", a) || !call_matrix_given(h, "B", b) ||
	        !call_given(h, "info", info, 1))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status) ? call_end(h, gels(h->e, &chosen.plan, trans, a, b, work,
	                                                    info, cuda_doubtful(h->cuda)))
	                              : status;
}
