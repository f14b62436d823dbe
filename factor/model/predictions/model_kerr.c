/* SPDX-License-Identifier: MIT */
#include "model_kerr.h"

#include "lib/base/msg.h"

#include <math.h>

static bool refuse(struct executor *e, struct kerr_prediction *out)
{
	out->total = NAN;
	for (int p = 0; p < KERR_PHASES; p++)
		out->phase[p] = NAN;
	out->fault = executor_model_fault(e);
	return false;
}

bool model_kerr(const struct profile *profile, enum kerr_variant variant, int64_t m, int64_t n,
        int64_t r, struct kerr_prediction *out)
{
	struct executor *e = executor_model_new(profile, MODEL_CUDA, 2);
	struct matrix a = {NULL, 0, m, n, m, SINGLE}, q = {NULL, 0, m, m, m, SINGLE};
	struct phase_timer phase_timer = {0};
	void *none;

	*out = (struct kerr_prediction){0};
	bool ok = e->ops->alloc(e, (m + n) * m * precision_bytes(SINGLE), &none) &&
	          kerr_qr(e, variant, r, a, q, NULL, &phase_timer) &&
	          (variant == KERR_AHEAD ||
	                  phase_timer_read(e, &phase_timer, out->phase, KERR_PHASES));
	executor_model_restart(e, false);
	if (ok && kerr_qr(e, variant, r, a, q, NULL, NULL))
		out->total = executor_model_result(e).seconds;
	ok = ok && out->total > 0 ? true : refuse(e, out);
	phase_timer_free(&phase_timer);
	executor_free(e);
	return ok;
}
