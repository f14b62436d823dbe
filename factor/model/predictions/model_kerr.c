/* SPDX-License-Identifier: MIT */
#include "model_kerr.h"

#include "model_question.h"

bool model_kerr(const struct profile *profile, enum kerr_variant variant, int64_t m, int64_t n,
        int64_t r, struct kerr_prediction *out)
{
	struct executor *e =
	        prediction_executor(profile, MODEL_CUDA, 2, (m + n) * m * precision_bytes(SINGLE));
	struct matrix a = {NULL, 0, m, n, m, SINGLE}, q = {NULL, 0, m, m, m, SINGLE};
	struct phase_timer phase_timer = {0};

	*out = (struct kerr_prediction){0};
	bool ok = kerr_qr(e, variant, r, a, q, NULL, &phase_timer) &&
	          (variant == KERR_AHEAD ||
	                  phase_timer_read(e, &phase_timer, out->phase, KERR_PHASES));
	executor_model_restart(e, false);
	if (ok && kerr_qr(e, variant, r, a, q, NULL, NULL))
		out->total = executor_model_result(e).seconds;
	ok = ok && out->total > 0;
	if (!ok)
		paper_refuse(e, &out->total, out->phase, KERR_PHASES, &out->fault);
	phase_timer_free(&phase_timer);
	executor_free(e);
	return ok;
}
