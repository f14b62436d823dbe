/* SPDX-License-Identifier: MIT */
#include "model_kerr.h"

#include "factor/model/cost/cost.h"
#include "factor/papers/kerr_balance.h"
#include "model_question.h"

#include <math.h>

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

static bool run(struct executor *e, const void *context)
{
	const struct kerr_question *q = context;
	const struct matrix a = {NULL, 0, q->m, q->n, q->lda ? q->lda : q->m, q->precision};

	return kerr_qr(e, q->variant, q->r, a,
	               (struct matrix){NULL, 0, q->m, q->m, q->m, q->precision}, NULL, NULL) &&
	       e->ops->sync(e);
}

/* A is read and written, Q written. */
static void bound(const struct asking *asking, struct prediction *out)
{
	const struct kerr_question *q = asking->question.context;
	const double m = (double)q->m, n = (double)q->n,
	             word = (double)precision_bytes(q->precision), factor = 2 * n * n * (m - n / 3),
	             form = 4 * m * m * n - 4 * m * n * n + 4 * n * n * n / 3;
	struct cost_reader *r = executor_model_reader(asking->question.executor);

	prediction_bound(asking, (factor + form) / prediction_peak(asking, q->precision),
	        m * (2 * n + m) * word / cost_scalar(r, "gpu.dram.copy"), out);
}

bool model_kerr_predict(const struct profile *profile, const struct kerr_question *question,
        int level, struct prediction *out)
{
	struct executor *e = prediction_executor(profile, MODEL_CUDA, level,
	        (question->m + question->n) * question->m * precision_bytes(question->precision));

	return prediction_make(&(struct asking){{e, run, question}, level, true, true, 1, NULL,
	                               bound, ", which QR with the whole Q needs"},
	        out);
}

double model_kerr_balance(
        const struct profile *profile, int64_t m, int64_t n, int64_t r, int64_t share)
{
	struct executor *e =
	        prediction_executor(profile, MODEL_CUDA, 2, (m + n) * m * precision_bytes(SINGLE));
	const struct matrix a = {NULL, 0, m, n, m, SINGLE}, q = {NULL, 0, m, m, m, SINGLE};
	const double seconds =
	        kerr_balance(e, r, share, a, q, NULL) ? executor_model_result(e).seconds : NAN;

	executor_free(e);
	return seconds;
}

int64_t model_kerr_share(const struct profile *profile, int64_t m, int64_t n, int64_t r)
{
	double least = model_kerr_balance(profile, m, n, r, 0);
	int64_t best = 0;

	for (int64_t share = 1; share <= n / 2; share *= 2) {
		const double seconds = model_kerr_balance(profile, m, n, r, share);
		if (seconds < least) {
			least = seconds;
			best = share;
		}
	}
	return best;
}
