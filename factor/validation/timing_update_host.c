/* SPDX-License-Identifier: MIT */
/* Changes of a QR factorization timed as Andrew and Dingle do: the factors and the added rows or
 * columns start in host memory; for a new factorization the changed matrix does. */
#include "timing_update_internal.h"

#include "factor/algorithms/plan.h"
#include "factor/algorithms/host_transfer.h"

#include <math.h>

enum { HOST_STAGE = EXECUTOR_STAGES - 1 };

static struct matrix like(struct workspace *workspace, struct matrix a)
{
	return workspace_matrix(workspace, a.m, a.n, a.precision);
}

static int64_t take_workspace(struct update_fixture *s, void *pinned)
{
	struct workspace workspace = {pinned, 0};

	s->host = s->before;
	s->host.q = like(&workspace, s->before.q);
	s->host.r = like(&workspace, s->before.r);
	s->host.d = like(&workspace, s->before.d);
	s->host_given =
	        (struct update_given){like(&workspace, s->u_given), like(&workspace, s->ub_given)};
	s->host_a1 = like(&workspace, s->a1);
	s->host_b1 = like(&workspace, s->b1);
	return workspace.used;
}

bool update_host_take(struct update_fixture *s)
{
	struct executor *e = s->fixture.executor;
	int64_t words = take_workspace(s, NULL) / precision_bytes(SINGLE) + 1;
	struct matrix pinned;

	if (!e->ops->stage(e, HOST_STAGE, words, 1, SINGLE, &pinned))
		return false;
	take_workspace(s, pinned.data);
	return true;
}

static struct update_given host_given_of(const struct update_entry *entry)
{
	const struct update_fixture *s = entry->fixture;
	const struct update_given given = update_given_of(entry);

	return (struct update_given){matrix_view(s->host_given.u, 0, 0, given.u.m, given.u.n),
	        matrix_view(s->host_given.b, 0, 0, given.b.m, given.b.n)};
}

static bool out(struct executor *e, struct matrix a, struct matrix host, struct matrix lost)
{
	return a.m == 0 || a.n == 0 ||
	       (ex_to_host(e, a, host) && ex_fill(e, WHOLE, NAN, NAN, lost));
}

static bool prepare_change(const struct update_entry *entry)
{
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;
	const struct update_given source = update_source_of(entry), given = update_given_of(entry),
	                          host = host_given_of(entry);

	return out(e, s->before.q, s->host.q, s->f.q) && out(e, s->before.r, s->host.r, s->f.r) &&
	       out(e, s->before.d, s->host.d, s->f.d) && out(e, source.u, host.u, given.u) &&
	       out(e, source.b, host.b, given.b);
}

bool update_host_prepare(const struct update_entry *entry)
{
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;

	if (entry->way == UPDATE_CHANGE)
		return prepare_change(entry);
	return out(e, s->a1, matrix_view(s->host_a1, 0, 0, s->a1.m, s->a1.n), s->c) &&
	       out(e, s->b1, matrix_view(s->host_b1, 0, 0, s->b1.m, 1), s->cb);
}

bool update_host_bring(const struct update_entry *entry)
{
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;

	if (entry->way == UPDATE_CHANGE)
		return update_to_device(e, &s->asked, &s->host, &s->f, host_given_of(entry),
		        update_given_of(entry));
	return matrix_to_device(
	               e, WHOLE, 1, matrix_view(s->host_a1, 0, 0, s->a1.m, s->a1.n), s->c) &&
	       matrix_to_device(e, WHOLE, 1, matrix_view(s->host_b1, 0, 0, s->b1.m, 1), s->cb);
}
