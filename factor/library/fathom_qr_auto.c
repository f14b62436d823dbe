/* SPDX-License-Identifier: MIT */
/* QR factorizations made again, the choice between this and an update, and drift. */
#include "fathom_qr_update.h"

#include "factor/algorithms/qr_refactor.h"

/* ---- again ---- */

/* The matrix and its right-hand sides, from which a factorization is made again. */
struct origin {
	struct matrix a, b;
};

static bool origin_given(struct fathom *h, const struct qr_factors *f, struct origin *o)
{
	o->a.m = o->b.m = f->m;
	o->a.n = f->n;
	o->b.n = f->d.n;
	return call_shape(h, "A", o->a) && call_matrix_given(h, "A", o->a) &&
	       (o->b.n == 0 || (call_shape(h, "B", o->b) && call_matrix_given(h, "B", o->b)));
}

/* The workspace of a call on a whole factorization, after checks of its arguments. */
static int64_t asked_work(struct fathom *h, const struct call_factors *c, struct qr_factors *f,
        int64_t (*work)(struct executor *, const struct qr_factors *))
{
	if (!h || !call_factors(h, c, QR_REMOVE_COLUMNS, 0, f) || !call_enter(h))
		return -1;
	int64_t bytes = work(h->e, f);
	call_leave(h);
	return bytes;
}

int64_t call_qr_factorize_work(struct fathom *h, const struct call_factors *c)
{
	struct qr_factors f;

	return asked_work(h, c, &f, qr_refactor_work);
}

enum fathom_status call_qr_factorize(struct fathom *h, const struct call_factors *c,
        struct matrix a, struct matrix b, void *work, int64_t work_bytes)
{
	struct origin origin = {a, b};
	enum fathom_status status;
	struct qr_factors f;

	if (!call_work(h, work, work_bytes, asked_work(h, c, &f, qr_refactor_work)) ||
	        !call_factors_given(h, &f) || !origin_given(h, &f, &origin))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status) ? call_end(h, qr_refactor(h->e, &f, origin.a, origin.b, work))
	                              : status;
}

/* ---- drift ---- */

int64_t call_qr_reorthogonalize_work(struct fathom *h, const struct call_factors *c)
{
	struct qr_factors f;

	return asked_work(h, c, &f, qr_reorthogonalize_work);
}

enum fathom_status call_qr_reorthogonalize(struct fathom *h, const struct call_factors *c,
        struct matrix b, void *work, int64_t work_bytes, int *info)
{
	enum fathom_status status;
	struct qr_factors f;

	b.m = c->m;
	b.n = c->nrhs;
	if (!call_work(h, work, work_bytes, asked_work(h, c, &f, qr_reorthogonalize_work)) ||
	        !call_factors_given(h, &f) ||
	        (b.n > 0 && (!call_shape(h, "B", b) || !call_matrix_given(h, "B", b))) ||
	        !call_given(h, "info", info, 1))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status) ? call_end(h, qr_reorthogonalize(h->e, &f, b, work, info))
	                              : status;
}

static int64_t drift_work(struct fathom *h, const struct call_factors *c, struct qr_factors *f)
{
	return h && call_factors(h, c, QR_REMOVE_COLUMNS, 0, f) ? qr_drift_work(h->e, f) : -1;
}

int64_t call_qr_drift_work(struct fathom *h, const struct call_factors *c)
{
	struct qr_factors f;

	return drift_work(h, c, &f);
}

enum fathom_status call_qr_drift(struct fathom *h, const struct call_factors *c, struct matrix a,
        const void *x, void *sums, void *work, int64_t work_bytes)
{
	struct matrix column = call_column(x, c->n, c->precision);
	struct matrix four = call_column(sums, 4, c->precision);
	struct origin origin = {.a = a};
	enum fathom_status status;
	struct qr_factors f;

	if (!call_work(h, work, work_bytes, drift_work(h, c, &f)) || !call_factors_given(h, &f) ||
	        (a.data && !origin_given(h, &f, &origin)) || !call_matrix_given(h, "x", column) ||
	        !call_matrix_given(h, "sums", four))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status)
	               ? call_end(h, qr_drift(h->e, &f, origin.a, column, four, work))
	               : status;
}

int fathom_sqr_drifted(int64_t m, const float sums[4])
{
	const double wide[4] = {sums[0], sums[1], sums[2], sums[3]};

	return qr_drifted(SINGLE, m, wide);
}

int fathom_dqr_drifted(int64_t m, const double sums[4])
{
	return qr_drifted(DOUBLE, m, sums);
}

/* ---- the choice ---- */

enum fathom_status fathom_read_profile(struct fathom *h, const char *path)
{
	struct choices *choices;

	if (!h)
		return FATHOM_BAD_ARGUMENT;
	if (!path) {
		call_refuse(h, "the profile's path is NULL");
		return FATHOM_BAD_ARGUMENT;
	}
	choices = choices_new(path, &h->e->fault);
	if (!choices)
		return FATHOM_FAILED;
	choices_free(h->choices);
	h->choices = choices;
	return FATHOM_OK;
}

/* Both ways of a change, in one workspace: f before it, `after` after it. New rows and columns are
 * A's; the change overwrites them, hence copies. */
struct both {
	struct qr_factors f, after;
	struct call_change change;
	struct origin origin; /* after the change */
	struct matrix u, b;   /* copies */
	void *work;
};

/* The bytes of the workspace, -1: refused. */
static int64_t both_set_up(
        struct fathom *h, const struct call_factors *c, struct both *s, void *work)
{
	struct workspace workspace = {work, 0};
	struct call_factors later = *c;
	const enum qr_change change = s->change.change;
	const int64_t p = s->change.p;

	if (!h)
		return -1;
	if (change < QR_REMOVE_COLUMNS || change > QR_MODIFY) {
		call_refuse(h, "change %d: 0 to %d are possible", (int)change, (int)QR_MODIFY);
		return -1;
	}
	if (!call_factors(h, c, change, p, &s->f))
		return -1;
	const struct update_question asked = {.change = change, .m = c->m, .n = c->n, .p = p};
	update_shape_after(&asked, &later.m, &later.n);
	if (change == QR_ADD_COLUMNS)
		s->u = workspace_matrix(&workspace, c->m, p, c->precision);
	if (change == QR_ADD_ROWS) {
		s->u = workspace_matrix(&workspace, p, c->n, c->precision);
		s->b = workspace_matrix(&workspace, p, c->nrhs, c->precision);
	}
	s->work = workspace_bytes(&workspace, 0);
	int64_t again = asked_work(h, &later, &s->after, qr_refactor_work);
	if (again < 0 || !call_enter(h))
		return -1;
	int64_t update = qr_update_work(h->e, &s->f, change, p);
	call_leave(h);
	return update < 0 ? -1 : workspace.used + max_int64(update, again);
}

int64_t call_qr_auto_work(
        struct fathom *h, const struct call_factors *c, enum fathom_qr_change change, int64_t p)
{
	struct both s = {.change = {.change = (enum qr_change)change, .p = p}};

	return both_set_up(h, c, &s, NULL);
}

/* Operands of the change from A and B; run_both makes the copies. */
static void take_from_origin(struct both *s)
{
	const enum qr_change change = s->change.change;

	if (change == QR_ADD_COLUMNS || change == QR_ADD_ROWS)
		s->change.u = s->u;
	if (change == QR_ADD_ROWS)
		s->change.b = s->b;
	else if (change == QR_ADD_COLUMNS || change == QR_MODIFY)
		s->change.b = s->origin.b;
}

static bool copy_new(struct executor *e, const struct both *s)
{
	const int64_t k = s->change.k, p = s->change.p;
	const struct qr_factors *f = &s->f;

	if (s->change.change == QR_ADD_COLUMNS)
		return ex_copy(e, WHOLE, matrix_view(s->origin.a, 0, k, f->m, p), s->u);
	if (s->change.change == QR_ADD_ROWS)
		return ex_copy(e, WHOLE, matrix_view(s->origin.a, k, 0, p, f->n), s->u) &&
		       ex_copy(e, WHOLE, matrix_view(s->origin.b, k, 0, p, f->d.n), s->b);
	return true;
}

static bool run_both(struct executor *e, struct both *s, bool update)
{
	if (update)
		return copy_new(e, s) && run_change(e, &s->f, &s->change, s->work);
	return (!s->change.info || ex_clear_info(e, s->change.info)) &&
	       qr_refactor(e, &s->after, s->origin.a, s->origin.b, s->work);
}

enum fathom_status call_qr_auto(struct fathom *h, const struct call_factors *c,
        struct call_change change, struct matrix a, struct matrix b, void *work, int64_t work_bytes,
        int *updated)
{
	struct both s = {.change = change, .origin = {a, b}};
	enum fathom_status status;
	bool update;

	if (!call_work(h, work, work_bytes, both_set_up(h, c, &s, work)) ||
	        !call_factors_given(h, &s.f) || !origin_given(h, &s.after, &s.origin))
		return FATHOM_BAD_ARGUMENT;
	take_from_origin(&s);
	if (!call_change(h, &s.f, &s.change, true))
		return FATHOM_BAD_ARGUMENT;
	if (!h->choices) {
		call_refuse(h, "no profile to choose by: fathom_read_profile gives one");
		return FATHOM_NOT_POSSIBLE;
	}
	const struct update_question asked = {.change = s.change.change,
	        .kept = s.f.kept,
	        .m = s.f.m,
	        .n = s.f.n,
	        .k = s.change.k,
	        .p = s.change.p,
	        .sides = s.f.d.n,
	        .precision = c->precision};
	if (!choices_update(h->choices, &asked, &update, &h->e->fault))
		return FATHOM_NOT_POSSIBLE;
	if (!call_begin(h, &status))
		return status;
	if (updated)
		*updated = update;
	return call_end(h, run_both(h->e, &s, update));
}
