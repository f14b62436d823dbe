/* SPDX-License-Identifier: MIT */
#include "model_update_paper.h"

#include "lib/base/msg.h"

#include <math.h>

static bool change(
        struct executor *e, const struct update_question *q, const struct qr_paper *how, bool solve)
{
	struct qr_factors f = model_update_factors(q);
	bool columns = q->change == QR_ADD_COLUMNS;
	struct matrix u =
	        model_shape_of(columns ? q->m : q->p, columns ? q->p : q->n, q->precision);
	struct matrix b = model_shape_of(u.m, q->sides, q->precision);

	return qr_paper_change(e, &f, q->change, q->k, q->p, u, b, NULL, NULL, how) &&
	       (!solve || q->sides == 0 ||
	               qr_solve(e, &f, model_shape_of(f.n, q->sides, q->precision)));
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
	struct qr_paper alone = {how->nb, how->whole, NULL},
	                marked = {how->nb, how->whole, &phase_timer};
	struct qr_factors f = model_update_factors(asked);
	void *none;

	*out = (struct paper_prediction){0};
	e->ops->alloc(
	        e, (f.r.m * f.r.n + f.q.m * f.q.n) * precision_bytes(asked->precision), &none);
	bool ok = change(e, asked, &marked, false) &&
	          phase_timer_read(e, &phase_timer, out->phase, PAPER_PHASES);
	executor_model_restart(e, false);
	if (ok && change(e, asked, &alone, true))
		out->total = executor_model_result(e).seconds;
	ok = out->total > 0 || refuse(e, out);
	phase_timer_free(&phase_timer);
	executor_free(e);
	return ok;
}
