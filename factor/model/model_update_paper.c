/* SPDX-License-Identifier: MIT */
#include "model_update_paper.h"

#include "lib/base/msg.h"
#include "factor/algorithms/schedule.h"

#include <math.h>

static struct matrix matrix_of(const struct update_question *q, int64_t m, int64_t n)
{
	return (struct matrix){NULL, 0, m, n, max_int64(m, 1), q->precision};
}

static struct qr_factors factors_of(const struct update_question *q)
{
	struct qr_factors f = {.m = q->m, .n = q->n, .kept = q->kept};
	struct qr_room room = qr_update_room(&f, q->change, q->p);

	f.q = matrix_of(q, room.q_rows, room.q_columns);
	f.r = matrix_of(q, room.r_rows, room.r_columns);
	f.d = matrix_of(q, room.d_rows, q->sides);
	return f;
}

static bool change(
        struct executor *e, const struct update_question *q, const struct qr_paper *how, bool solve)
{
	struct qr_factors f = factors_of(q);
	bool columns = q->change == QR_ADD_COLUMNS;
	struct matrix u = matrix_of(q, columns ? q->m : q->p, columns ? q->p : q->n);
	struct matrix b = matrix_of(q, u.m, q->sides);

	return qr_paper_change(e, &f, q->change, q->k, q->p, u, b, NULL, NULL, how) &&
	       (!solve || q->sides == 0 || qr_solve(e, &f, matrix_of(q, f.n, q->sides)));
}

static bool refuse(struct executor *e, struct paper_prediction *out)
{
	out->total = NAN;
	for (int p = 0; p < PAPER_PHASES; p++)
		out->phase[p] = NAN;
	out->fault = executor_model_fault(e);
	return false;
}

bool model_update_paper(const struct profile *profile, const struct update_question *asked,
        const struct qr_paper *how, struct paper_prediction *out)
{
	struct executor *e = executor_model_new(profile, MODEL_CUDA, 2);
	struct phase_timer phase_timer = {0};
	struct qr_paper alone = {how->nb, how->whole, NULL}, marked = {how->nb, how->whole, &phase_timer};
	struct qr_factors f = factors_of(asked);
	void *none;

	*out = (struct paper_prediction){0};
	e->ops->alloc(
	        e, (f.r.m * f.r.n + f.q.m * f.q.n) * precision_bytes(asked->precision), &none);
	bool ok = change(e, asked, &marked, false) && phase_timer_read(e, &phase_timer, out->phase, PAPER_PHASES);
	executor_model_restart(e, false);
	if (ok && change(e, asked, &alone, true))
		out->total = executor_model_result(e).seconds;
	ok = out->total > 0 || refuse(e, out);
	phase_timer_free(&phase_timer);
	executor_free(e);
	return ok;
}
