/* SPDX-License-Identifier: MIT */
#include "model_update_paper.h"

#include "model_question.h"

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

bool model_update_paper(const struct profile *profile, const struct update_question *asked,
        const struct qr_paper *how, struct paper_prediction *out)
{
	struct phase_timer phase_timer = {0};
	struct qr_paper alone = {how->nb, how->whole, NULL},
	                marked = {how->nb, how->whole, &phase_timer};
	struct executor *e = model_update_executor(profile, MODEL_CUDA, asked);

	*out = (struct paper_prediction){0};
	bool ok = change(e, asked, &marked, false) &&
	          phase_timer_read(e, &phase_timer, out->phase, PAPER_PHASES);
	executor_model_restart(e, false);
	if (ok && change(e, asked, &alone, true))
		out->total = executor_model_result(e).seconds;
	ok = out->total > 0;
	if (!ok)
		paper_refuse(e, &out->total, out->phase, PAPER_PHASES, &out->fault);
	phase_timer_free(&phase_timer);
	executor_free(e);
	return ok;
}
