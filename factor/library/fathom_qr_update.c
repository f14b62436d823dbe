/* SPDX-License-Identifier: MIT */
/* The calls of changes of a QR factorization, of both precisions. */
#include "fathom_qr_update.h"

#include "factor/algorithms/sweep.h"

#include <inttypes.h>
#include <string.h>

/* ---- arguments ---- */

/* Q of the new rows, in the workspace. */
static bool stack_is_possible(struct fathom *h, const struct call_factors *c, int64_t p)
{
	const int64_t rows = max_int64(c->m + p, 1);

	return call_shape(h, "the workspace for new rows",
	        call_matrix(NULL, rows, SWEEP_COLUMNS + p, rows, c->precision));
}

bool call_factors(struct fathom *h, const struct call_factors *c, enum qr_change change, int64_t p,
        struct qr_factors *f)
{
	static const char letters[] = "NnSsAa";
	const char *at = c->jobq ? strchr(letters, c->jobq) : NULL;

	if (!at)
		return call_refuse(h, "jobq '%.1s': A, S and N are possible", &c->jobq);
	if (c->n < 0 || c->m < c->n || c->nrhs < 0 || p < 0 || c->m > INT32_MAX || p > INT32_MAX)
		return call_refuse(h,
		        "m = %" PRId64 ", n = %" PRId64 ", nrhs = %" PRId64 ", p = %" PRId64
		        ": not possible",
		        c->m, c->n, c->nrhs, p);
	*f = (struct qr_factors){.m = c->m, .n = c->n, .kept = (enum q_kept)((at - letters) / 2)};
	struct qr_room room = qr_update_room(f, change, p);
	f->q = call_matrix(c->q, room.q_rows, room.q_columns, c->ldq, c->precision);
	f->r = call_matrix(c->r, room.r_rows, room.r_columns, c->ldr, c->precision);
	f->d = call_matrix(c->d, room.d_rows, c->nrhs, c->ldd, c->precision);
	return (f->kept == Q_NONE || call_shape(h, "Q", f->q)) && call_shape(h, "R", f->r) &&
	       (c->nrhs == 0 || call_shape(h, "D", f->d)) &&
	       (change != QR_ADD_ROWS || f->kept == Q_NONE || stack_is_possible(h, c, p));
}

bool call_factors_given(struct fathom *h, const struct qr_factors *f)
{
	return (f->kept == Q_NONE || call_matrix_given(h, "Q", f->q)) &&
	       call_matrix_given(h, "R", f->r) && call_matrix_given(h, "D", f->d);
}

static struct matrix sized(struct matrix a, int64_t m, int64_t n, bool read)
{
	a.m = m;
	a.n = n;
	a.ld = read ? a.ld : max_int64(m, 1);
	return a;
}

static bool right(struct fathom *h, const char *name, struct matrix a, bool given)
{
	return call_shape(h, name, a) && (!given || call_matrix_given(h, name, a));
}

bool call_change(struct fathom *h, const struct qr_factors *f, struct call_change *c, bool given)
{
	bool tall = c->change == QR_ADD_COLUMNS || c->change == QR_MODIFY;
	bool some = c->change != QR_REMOVE_COLUMNS;
	bool reads_u = some && (c->change != QR_REMOVE_ROWS || f->kept == Q_NONE);
	bool reads_b = some && f->d.n > 0 && (c->change == QR_ADD_ROWS || f->kept != Q_FULL);
	bool reads_v = c->change == QR_MODIFY;

	const int64_t last = qr_change_last(f, c->change, c->p);

	if (c->k < 0 || c->k > last)
		return call_refuse(h, "k = %" PRId64 ": 0 to %" PRId64 " is possible", c->k, last);
	c->u = sized(c->u, tall ? f->m : c->p, tall ? c->p : f->n, reads_u);
	c->v = sized(c->v, f->n, c->p, reads_v);
	c->b = sized(c->b, tall ? f->m : c->p, f->d.n, reads_b);
	return (!reads_u || right(h, "U", c->u, given)) &&
	       (!reads_v || right(h, "V", c->v, given)) &&
	       (!reads_b || right(h, "B", c->b, given)) &&
	       (c->change == QR_REMOVE_COLUMNS || c->change == QR_ADD_ROWS ||
	               call_given(h, "info", c->info, given));
}

/* ---- calls ---- */

bool run_change(struct executor *e, struct qr_factors *f, const struct call_change *c, void *work)
{
	return qr_update(e, f, c->change, c->k, c->p, c->u, c->v, c->b, work, c->info);
}

static int64_t change_work(struct fathom *h, const struct call_factors *c, enum qr_change change,
        int64_t p, struct qr_factors *f)
{
	if (!h)
		return -1;
	if (change < QR_REMOVE_COLUMNS || change > QR_MODIFY) {
		call_refuse(h, "change %d: 0 to %d are possible", (int)change, (int)QR_MODIFY);
		return -1;
	}
	if (!call_factors(h, c, change, p, f) || !call_enter(h))
		return -1;
	int64_t bytes = qr_update_work(h->e, f, change, p);
	call_leave(h);
	return bytes;
}

int64_t call_qr_update_work(
        struct fathom *h, const struct call_factors *c, enum fathom_qr_change change, int64_t p)
{
	struct qr_factors f;

	return change_work(h, c, (enum qr_change)change, p, &f);
}

enum fathom_status call_qr_update(struct fathom *h, const struct call_factors *c,
        struct call_change change, void *work, int64_t work_bytes)
{
	enum fathom_status status;
	struct qr_factors f;

	if (!call_work(h, work, work_bytes, change_work(h, c, change.change, change.p, &f)) ||
	        !call_factors_given(h, &f) || !call_change(h, &f, &change, true))
		return FATHOM_BAD_ARGUMENT;
	return call_begin(h, &status) ? call_end(h, run_change(h->e, &f, &change, work)) : status;
}
