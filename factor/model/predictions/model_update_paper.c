/* SPDX-License-Identifier: MIT */
#include "model_update_paper.h"

#include "lib/base/msg.h"
#include "model_question.h"

#include <math.h>
#include <stdlib.h>

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

/* The host's share of a launch; not 0, which a parameter cannot be. */
static const char no_enqueue[] = "gpu.launch.enqueue=1e-12s";

double model_update_paper_device(const struct profile *profile, const struct update_question *asked,
        const struct qr_paper *how)
{
	const struct lookup tail = profile_get(profile, "gpu.launch.device.tail", NULL, 0);
	struct paper_prediction found = {.total = NAN};
	struct fault fault;

	if (!tail.found || asked->change != QR_REMOVE_ROWS)
		return NAN;
	struct profile *changed = profile_copy(profile);
	char *dependent = xasprintf("gpu.launch.dependent=%.9gs", tail.estimate.value);
	if (!profile_set(changed, no_enqueue, &fault) || !profile_set(changed, dependent, &fault) ||
	        !model_update_paper(changed, asked, how, &found))
		found.total = NAN;
	free(dependent);
	profile_free(changed);
	return found.total;
}
