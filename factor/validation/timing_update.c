/* SPDX-License-Identifier: MIT */
#include "timing_update_internal.h"

#include "lib/base/msg.h"
#include "factor/algorithms/host_transfer.h"
#include "factor/algorithms/plan.h"
#include "factor/algorithms/schedule.h"
#include "fixture.h"

#include <math.h>
#include <stdlib.h>

const char *const update_way_name[UPDATE_WAYS] = {"update", "refactor", "solve", "cusolver"};

/* ---- memory ---- */

/* With columns of whole lines. */
static bool take_matrix(struct update_fixture *s, struct matrix *a, int64_t m, int64_t n)
{
	return fixture_matrix(
	        &s->fixture, a, m, n, (max_int64(m, 1) + 31) / 32 * 32, s->asked.precision);
}

static bool take_factors(struct update_fixture *s, struct qr_factors *f, struct qr_room room)
{
	*f = (struct qr_factors){.m = s->asked.m, .n = s->asked.n, .kept = s->asked.kept};
	return take_matrix(s, &f->q, room.q_rows, room.q_columns) &&
	       take_matrix(s, &f->r, room.r_rows, room.r_columns) &&
	       take_matrix(s, &f->d, room.d_rows, 1);
}

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

static bool host_take(struct update_fixture *s)
{
	struct executor *e = s->fixture.executor;
	int64_t words = take_workspace(s, NULL) / precision_bytes(SINGLE) + 1;
	struct matrix pinned;

	if (!e->ops->stage(e, HOST_STAGE, words, 1, SINGLE, &pinned))
		return false;
	take_workspace(s, pinned.data);
	return true;
}

static bool take_all(struct update_fixture *s)
{
	const int64_t m = s->asked.m, n = s->asked.n, p = s->asked.p;
	struct qr_factors bare = {.m = m, .n = n, .kept = s->asked.kept};
	const bool columns = s->asked.change == QR_ADD_COLUMNS;
	int64_t um = columns ? m : p, un = columns ? p : n, n1 = n + (columns ? p : 0);
	int64_t m1 = m + (s->asked.change == QR_ADD_ROWS ? p : 0);
	void *info = NULL;
	bool ok = take_matrix(s, &s->a, m, n) && take_matrix(s, &s->b, m, 1) &&
	          take_matrix(s, &s->u, um, un) && take_matrix(s, &s->ub, um, 1) &&
	          take_matrix(s, &s->u_given, um, un) && take_matrix(s, &s->ub_given, um, 1) &&
	          take_matrix(s, &s->a1, m1, n1) && take_matrix(s, &s->b1, m1, 1) &&
	          take_matrix(s, &s->c, m1, n1) && take_matrix(s, &s->cb, m1, 1) &&
	          take_matrix(s, &s->tau, n1, 1) && take_matrix(s, &s->x, m1, 1) &&
	          take_factors(s, &s->before, qr_update_room(&bare, QR_REMOVE_COLUMNS, 0)) &&
	          take_factors(s, &s->f, qr_update_room(&bare, s->asked.change, p));

	ok = ok && take_matrix(s, &s->vectors, m1, CHECK_VECTORS) &&
	     take_matrix(s, &s->wide, n1, CHECK_VECTORS) &&
	     take_matrix(s, &s->wide2, n1, CHECK_VECTORS) &&
	     take_matrix(s, &s->tall, m1, CHECK_VECTORS) &&
	     take_matrix(s, &s->tall2, m1, CHECK_VECTORS) &&
	     take_matrix(s, &s->sums, CHECK_VECTORS, 1) &&
	     fixture_alloc(&s->fixture, sizeof(int), &info);
	s->info = (struct pivots){info, 0};
	return ok && (!s->asked.from_host || host_take(s));
}

static bool factorize_before(struct update_fixture *s)
{
	struct executor *e = s->fixture.executor;
	int64_t bytes = qr_refactor_work(e, &s->before);
	void *work = NULL;
	bool ok = bytes >= 0 && e->ops->alloc(e, max_int64(bytes, 1), &work) &&
	          qr_refactor(e, &s->before, s->a, s->b, work) && e->ops->sync(e);

	if (work)
		e->ops->release(e, work);
	return ok;
}

struct update_fixture *update_fixture_new(
        struct executor *e, const struct update_question *asked, uint64_t seed, struct fault *fault)
{
	static const struct whole general = {.operation = GEQRF};
	struct update_fixture *s = xcalloc(1, sizeof *s);

	s->fixture = (struct timing_fixture){.executor = e, .check = update_check};
	s->asked = *asked;
	e->queue = QUEUE_MAIN;
	if (take_all(s) && whole_fill(e, &general, s->a, seed) &&
	        whole_fill(e, &general, s->b, seed + 1) &&
	        whole_fill(e, &general, s->u, seed + 2) &&
	        whole_fill(e, &general, s->ub, seed + 3) &&
	        whole_fill(e, &general, s->vectors, seed + 4) && factorize_before(s))
		return s;
	fault_set(fault, "%s", e->fault.text);
	update_fixture_free(s);
	return NULL;
}

void update_fixture_free(struct update_fixture *s)
{
	if (!s)
		return;
	fixture_close(&s->fixture);
	free(s->full);
	free(s);
}

/* ---- the changed matrix ---- */

static bool copy_part(struct executor *e, struct matrix from, int64_t i, int64_t j, int64_t m,
        int64_t n, struct matrix to, int64_t to_i, int64_t to_j)
{
	return ex_copy(e, WHOLE, matrix_view(from, i, j, m, n), matrix_view(to, to_i, to_j, m, n));
}

/* to := a with p new rows at k, or without rows k .. k+p-1 */
static bool change_rows(
        struct update_fixture *s, struct matrix a, struct matrix new, struct matrix to)
{
	struct executor *e = s->fixture.executor;
	const int64_t k = s->k, p = s->p, m = a.m, n = a.n;

	if (!copy_part(e, a, 0, 0, k, n, to, 0, 0))
		return false;
	if (s->asked.change == QR_REMOVE_ROWS)
		return copy_part(e, a, k + p, 0, m - k - p, n, to, k, 0);
	return copy_part(e, new, 0, 0, p, n, to, k, 0) &&
	       copy_part(e, a, k, 0, m - k, n, to, k + p, 0);
}

static bool change_columns(struct update_fixture *s)
{
	struct executor *e = s->fixture.executor;
	const struct matrix a = s->a;
	const int64_t k = s->k, p = s->p, m = a.m, n = a.n;

	if (!copy_part(e, a, 0, 0, m, k, s->a1, 0, 0) || !ex_copy(e, WHOLE, s->b, s->b1))
		return false;
	if (s->asked.change == QR_REMOVE_COLUMNS)
		return copy_part(e, a, 0, k + p, m, n - k - p, s->a1, 0, k);
	return copy_part(e, s->u, 0, 0, m, p, s->a1, 0, k) &&
	       copy_part(e, a, 0, k, m, n - k, s->a1, 0, k + p);
}

static struct update_question question_of(const struct update_entry *entry)
{
	struct update_question q = entry->fixture->asked;

	q.k = entry->k;
	q.p = entry->p;
	return q;
}

bool update_make_after(const struct update_entry *entry)
{
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;
	struct update_question q = question_of(entry);
	int64_t m, n;

	if (s->k == q.k && s->p == q.p)
		return true;
	s->k = q.k;
	s->p = q.p;
	free(s->full);
	s->full = NULL;
	update_shape_after(&q, &m, &n);
	s->a1.m = s->b1.m = s->c.m = s->cb.m = m;
	s->a1.n = s->c.n = n;
	s->tau.m = n;
	e->queue = QUEUE_MAIN;
	bool ok = q.change == QR_ADD_ROWS || q.change == QR_REMOVE_ROWS
	                  ? change_rows(s, s->a, s->u, s->a1) && change_rows(s, s->b, s->ub, s->b1)
	                  : change_columns(s);
	return ok && e->ops->sync(e);
}

/* ---- candidates ---- */

struct qr_factors update_factors_after(const struct update_entry *entry)
{
	struct update_question q = question_of(entry);
	struct qr_factors f = entry->fixture->f;

	update_shape_after(&q, &f.m, &f.n);
	return f;
}

static int64_t work_of(const struct update_entry *entry)
{
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;
	const struct qr_factors f = update_factors_after(entry);

	switch (entry->way) {
	case UPDATE_CHANGE:
		return entry->paper
		               ? qr_paper_work(e, &s->f, s->asked.change, entry->p, entry->paper)
		       : entry->serial
		               ? qr_serial_work(e, &s->f, s->asked.change, entry->p, *entry->serial)
		               : qr_update_work(e, &s->f, s->asked.change, entry->p);
	case UPDATE_REFACTOR:
		return qr_refactor_work(e, &f);
	case UPDATE_SOLVE:
		return qr_least_squares_work(e, s->c, s->cb);
	default:
		return 0;
	}
}

static bool prepare(struct candidate *candidate)
{
	struct update_entry *entry = candidate->context;
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;

	if (!update_make_after(entry))
		return false;
	if (entry->way == UPDATE_CUSOLVER)
		return entry->vendor_prepare(entry->vendor, s->c, s->cb, &candidate->fault);
	return timing_work(candidate, e, work_of(entry));
}

static struct update_given source_of(const struct update_entry *entry)
{
	const struct update_fixture *s = entry->fixture;
	const struct update_question q = question_of(entry);
	const bool columns = q.change == QR_ADD_COLUMNS, adds = columns || q.change == QR_ADD_ROWS;

	return update_given_view(&q, adds ? s->u : matrix_view(s->a, q.k, 0, q.p, q.n),
	        columns ? s->b
	        : adds  ? s->ub
	                : matrix_view(s->b, q.k, 0, q.p, 1));
}

static struct update_given given_of(const struct update_entry *entry)
{
	const struct update_question q = question_of(entry);

	return update_given_view(&q, entry->fixture->u_given, entry->fixture->ub_given);
}

/* ---- from host memory, as Andrew and Dingle time: the factors and the added rows or columns start
 * there; for a new factorization the changed matrix does. Before a run the input moves there and
 * the executor's copy becomes NaN; the run copies the input back ---- */

static struct update_given host_given_of(const struct update_entry *entry)
{
	const struct update_fixture *s = entry->fixture;
	const struct update_given given = given_of(entry);

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
	const struct update_given source = source_of(entry), given = given_of(entry),
	                          host = host_given_of(entry);

	return out(e, s->before.q, s->host.q, s->f.q) && out(e, s->before.r, s->host.r, s->f.r) &&
	       out(e, s->before.d, s->host.d, s->f.d) && out(e, source.u, host.u, given.u) &&
	       out(e, source.b, host.b, given.b);
}

static bool host_prepare(const struct update_entry *entry)
{
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;

	if (entry->way == UPDATE_CHANGE)
		return prepare_change(entry);
	return out(e, s->a1, matrix_view(s->host_a1, 0, 0, s->a1.m, s->a1.n), s->c) &&
	       out(e, s->b1, matrix_view(s->host_b1, 0, 0, s->b1.m, 1), s->cb);
}

static bool host_bring(const struct update_entry *entry)
{
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;

	if (entry->way == UPDATE_CHANGE)
		return update_to_device(
		        e, &s->asked, &s->host, &s->f, host_given_of(entry), given_of(entry));
	return matrix_to_device(
	               e, WHOLE, 1, matrix_view(s->host_a1, 0, 0, s->a1.m, s->a1.n), s->c) &&
	       matrix_to_device(e, WHOLE, 1, matrix_view(s->host_b1, 0, 0, s->b1.m, 1), s->cb);
}

/* ---- runs ---- */

static bool restore_factors(struct update_fixture *s)
{
	struct executor *e = s->fixture.executor;
	const struct qr_factors *from = &s->before, *to = &s->f;

	return ex_fill(e, WHOLE, NAN, NAN, to->r) &&
	       ex_copy(e, WHOLE, from->r, matrix_view(to->r, 0, 0, from->r.m, from->r.n)) &&
	       ex_copy(e, WHOLE, from->d, matrix_view(to->d, 0, 0, from->d.m, 1)) &&
	       (s->asked.kept == Q_NONE ||
	               ex_copy(e, WHOLE, from->q, matrix_view(to->q, 0, 0, from->q.m, from->q.n)));
}

static bool restore_input(const struct update_entry *entry)
{
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;
	const struct update_given source = source_of(entry), given = given_of(entry);

	if (entry->way == UPDATE_CHANGE)
		return restore_factors(s) && ex_copy(e, WHOLE, source.u, given.u) &&
		       ex_copy(e, WHOLE, source.b, given.b);
	return entry->way == UPDATE_REFACTOR ||
	       (ex_copy(e, WHOLE, s->a1, s->c) && ex_copy(e, WHOLE, s->b1, s->cb));
}

static bool restore(struct candidate *candidate)
{
	struct update_entry *entry = candidate->context;
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;

	e->queue = QUEUE_MAIN;
	return ((entry->way == UPDATE_CHANGE || update_make_after(entry)) &&
	        (s->asked.from_host ? host_prepare(entry) : restore_input(entry)) &&
	        ex_fill(e, WHOLE, NAN, NAN, s->x) && e->ops->sync(e));
}

static bool run_change(const struct update_entry *entry, struct qr_factors *f, void *work)
{
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;
	const struct update_given given = given_of(entry);

	if (entry->paper)
		return qr_paper_change(e, f, s->asked.change, entry->k, entry->p, given.u, given.b,
		        work, s->info.data, entry->paper);
	if (entry->serial)
		return qr_serial_change(e, f, s->asked.change, entry->k, entry->p, given.u, given.b,
		        work, s->info.data, *entry->serial);
	if (s->asked.change == QR_MODIFY)
		return fault_set(&e->fault, "%s is not timed", qr_change_name[QR_MODIFY]);
	return qr_update(e, f, s->asked.change, entry->k, entry->p, given.u, given.u, given.b, work,
	        s->info.data);
}

static bool run_ours(const struct update_entry *entry, void *work)
{
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;
	struct qr_factors f = s->f;

	if (entry->way == UPDATE_SOLVE)
		return qr_least_squares(e, s->c, s->cb, work, s->info.data);
	if (entry->way == UPDATE_REFACTOR) {
		f = update_factors_after(entry);
		bool moved = s->asked.from_host;
		if (!qr_refactor(e, &f, moved ? s->c : s->a1, moved ? s->cb : s->b1, work))
			return false;
	} else if (!run_change(entry, &f, work)) {
		return false;
	}
	return qr_solve(e, &f, matrix_view(s->x, 0, 0, f.n, 1));
}

static bool run(struct candidate *candidate)
{
	const struct update_entry *entry = candidate->context;
	struct update_fixture *s = entry->fixture;
	struct executor *e = s->fixture.executor;

	if (s->asked.from_host &&
	        !(host_bring(entry) && (entry->way != UPDATE_CUSOLVER || e->ops->sync(e))))
		return false;
	if (entry->way == UPDATE_CUSOLVER)
		return entry->vendor_solve(
		        entry->vendor, s->c, s->tau, s->cb, s->info.data, &candidate->fault);
	return run_ours(entry, candidate->work) && e->ops->sync(e);
}

struct candidate candidate_update(struct update_entry *entry)
{
	return (struct candidate){.variant = update_way_name[entry->way],
	        .prepare = prepare,
	        .before = restore,
	        .run = run,
	        .context = entry};
}

bool timing_update(struct update_fixture *fixture, const struct timing_plan *plan,
        struct candidate *candidate, size_t count, struct fault *fault)
{
	fixture->fixture.plan = plan;
	return timing_turns(&fixture->fixture, candidate, count, fault);
}
