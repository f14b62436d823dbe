/* SPDX-License-Identifier: MIT */
/* The calls of getrf and getrs, of both precisions. */
#include "fathom_handle.h"

#include "factor/algorithms/getrf.h"
#include "factor/algorithms/solve.h"

/* The workspace: pivots and info as getrf wants them, then getrf's own. */
struct lu_call {
	struct default_plan chosen;
	struct matrix a;
	struct pivots pivots;
	void *work;
};

/* The bytes of the workspace, -1: refused. */
static int64_t lu_set_up(struct fathom *h, struct lu_call *c, struct matrix a, void *work)
{
	struct workspace workspace = {work, 0};
	int64_t count = min_int64(a.m, a.n);

	c->a = a;
	if (!h || !call_shape(h, "A", a))
		return -1;
	c->pivots = (struct pivots){workspace_integers(&workspace, count + 1), count};
	c->work = workspace_bytes(&workspace, 0);
	if (!call_enter(h)) /* which panels fit depends on the handle's multiprocessors */
		return -1;
	call_plan(h, GETRF, a, &c->chosen);
	int64_t inner = getrf_work(h->e, &c->chosen.plan, a);
	call_leave(h);
	return inner < 0 ? -1 : workspace.used + inner;
}

static bool lu_run(struct fathom *h, const struct lu_call *c, int *ipiv, int *info)
{
	struct pivots p = c->pivots;
	size_t bytes = (size_t)p.n * sizeof *ipiv;

	return getrf(h->e, &c->chosen.plan, c->a, c->work, p) &&
	       (bytes == 0 || cuda_ok(h->cuda,
	                              cudaMemcpyAsync(ipiv, p.data, bytes, cudaMemcpyDeviceToDevice,
	                                      stream_of(h->cuda)),
	                              "ipiv")) &&
	       cuda_ok(h->cuda,
	               cudaMemcpyAsync(info, p.data + p.n, sizeof *info, cudaMemcpyDeviceToDevice,
	                       stream_of(h->cuda)),
	               "info");
}

int64_t call_lu_work(struct fathom *h, struct matrix a)
{
	struct lu_call c;

	return lu_set_up(h, &c, a, NULL);
}

enum fathom_status call_lu(
        struct fathom *h, struct matrix a, int *ipiv, void *work, int64_t work_bytes, int *info)
{
	enum fathom_status status;
	struct lu_call c;

	if (!call_work(h, work, work_bytes, lu_set_up(h, &c, a, work)) ||
	        !call_matrix_given(h, "A", a) || !call_given(h, "ipiv", ipiv, c.pivots.n) ||
	        !call_given(h, "info", info, 1))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status) ? call_end(h, lu_run(h, &c, ipiv, info)) : status;
}

static enum trans flipped(enum trans trans)
{
	return trans == PLAIN ? TRANSPOSED : PLAIN;
}

enum fathom_status call_lu_solve(
        struct fathom *h, char letter, bool rows, struct matrix a, const int *ipiv, struct matrix b)
{
	enum fathom_status status;
	enum trans trans;

	if (!h || !call_trans(h, letter, &trans) || !call_shape(h, "A", a) ||
	        !call_shape(h, "B", b) || !call_matrix_given(h, "A", a) ||
	        !call_matrix_given(h, "B", b) || !call_given(h, "ipiv", ipiv, a.n))
		return FATHOM_BAD_ARGUMENT;
	if (!call_begin(h, &status))
		return status;
	struct pivots pivots = {(int *)(uintptr_t)ipiv, a.n};
	return call_end(h, getrs(h->e, rows ? flipped(trans) : trans, a, pivots, b));
}
