/* SPDX-License-Identifier: MIT */
/* The calls of fathom_mg.h on matrices: what a member does in each. */
#include "fathom_mg_group.h"

#include "factor/executors/workspace.h"
#include "lib/base/msg.h"

#include <inttypes.h>

/* ---- host memory ---- */

/* Where this process has the whole matrix and all ranks, nothing passes through other ranks. */
static bool run_scatter(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c);

	m->e->queue = QUEUE_MAIN;
	return c->all_here ? distributed_copy(m->e, &a, false, c->host, c->ld_host)
	                   : distributed_scatter(m->e, &a, 0, c->host, c->ld_host);
}

static bool run_gather(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c);

	m->e->queue = QUEUE_MAIN;
	return c->all_here ? distributed_copy(m->e, &a, true, c->host, c->ld_host)
	                   : distributed_gather(m->e, &a, 0, c->host, c->ld_host);
}

static enum fathom_status call_copy(struct mg_call *c)
{
	if (!c->group)
		return FATHOM_BAD_ARGUMENT;
	if (c->desc && c->ld_host < max_int64(c->desc->m, 1)) {
		fault_set(&c->group->fault,
		        "the host's matrix has %" PRId64 " rows and leading dimension %" PRId64
		        ": it is at least the rows and 1",
		        c->desc->m, c->ld_host);
		return FATHOM_BAD_ARGUMENT;
	}
	if (c->group->members[0].comm->rank == 0 &&
	        !mg_given(c->group, "the host's matrix", c->host))
		return FATHOM_BAD_ARGUMENT;
	return mg_run(c);
}

/* ---- factorizations ---- */

static int64_t lu_bytes(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c);

	return getrf_distributed_work(m->e, &a);
}

/* Every rank has all pivots; the first one here gives them to the caller. The others read info
 * alone, which also tells whether a panel's kernel has failed. */
static bool run_lu(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c);
	const struct pivots p = mg_pivots(m, c), alone = {integer_at(p.data, p.n), 0};
	int info;

	return getrf_distributed(m->e, &a, m->work, p) && grid_sync(&m->grid, m->e) &&
	       (m == c->group->members ? m->e->ops->read_pivots(m->e, p, c->ipiv, c->info)
	                               : m->e->ops->read_pivots(m->e, alone, &info, &info));
}

static int64_t cholesky_bytes(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c);

	return potrf_distributed_work(m->e, &a);
}

static bool run_cholesky(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c);
	const struct pivots info = {m->integers, 0};

	return potrf_distributed(m->e, &a, m->work, m->integers) && grid_sync(&m->grid, m->e) &&
	       (m != c->group->members || m->e->ops->read_pivots(m->e, info, c->info, c->info));
}

static int64_t qr_bytes(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c);

	return geqrf_distributed_work(m->e, &a);
}

static bool run_qr(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c);

	m->e->queue = QUEUE_MAIN;
	return geqrf_distributed(m->e, &a, mg_tau(m, c), m->work);
}

/* ---- solves ---- */

static int64_t lu_solve_bytes(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c), b = mg_right(m, c);

	return getrs_distributed_work(m->e, &a, &b);
}

static bool run_lu_solve(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c), b = mg_right(m, c);
	const struct pivots p = mg_pivots(m, c);

	m->e->queue = QUEUE_MAIN;
	return m->e->ops->store_pivots(m->e, c->ipiv, 0, p) &&
	       getrs_distributed(m->e, c->trans, &a, p, &b, m->work);
}

static int64_t cholesky_solve_bytes(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c), b = mg_right(m, c);

	return potrs_distributed_work(m->e, &a, &b);
}

static bool run_cholesky_solve(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c), b = mg_right(m, c);

	return potrs_distributed(m->e, &a, &b, m->work);
}

static int64_t apply_bytes(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c), b = mg_right(m, c);

	return ormqr_distributed_work(m->e, &a, &b);
}

static bool run_apply(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c), b = mg_right(m, c);

	return ormqr_distributed(m->e, c->trans, &a, mg_tau(m, c), &b, m->work);
}

/* tau stands behind the workspace of the other calls. */
static int64_t least_squares_bytes(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c), b = mg_right(m, c);
	struct workspace workspace = {NULL, 0};
	int64_t bytes = gels_distributed_work(m->e, &a, &b);

	workspace_bytes(&workspace, max_int64(bytes, 0));
	workspace_matrix(&workspace, a.local.n, 1, c->precision);
	return bytes < 0 ? -1 : workspace.used;
}

static bool run_least_squares(struct mg_member *m, const struct mg_call *c)
{
	const struct distributed a = mg_matrix(m, c), b = mg_right(m, c);
	struct workspace workspace = {m->work, 0};
	void *work = workspace_bytes(&workspace, gels_distributed_work(m->e, &a, &b));
	struct matrix tau = workspace_matrix(&workspace, a.local.n, 1, c->precision);

	m->e->queue = QUEUE_MAIN;
	return gels_distributed(m->e, &a, tau, &b, work);
}

#define JOIN(letter, name) fathom_mg_##letter##name
#define REAL float
#define PRECISION SINGLE
#define NAME(name) JOIN(s, name)
#include "fathom_mg_template.h"
#undef REAL
#undef PRECISION
#undef NAME
#define REAL double
#define PRECISION DOUBLE
#define NAME(name) JOIN(d, name)
#include "fathom_mg_template.h"
