/* SPDX-License-Identifier: MIT */
#include "model_gram_schmidt.h"

#include "../../lib/msg.h"
#include "../gram_schmidt.h"
#include "model_question.h"

#include <math.h>

static bool run(struct executor *e, const void *context)
{
	const struct gram_question *q = context;
	struct matrix a = {NULL, 0, q->m, q->n, q->m, q->precision};
	int64_t k = q->k ? q->k : q->n;
	struct matrix r = {NULL, 0, k, q->n, k, q->precision};

	return gram_schmidt_first(e, q->form, q->nb, k, a, r, NULL, NULL);
}

bool model_gram_schmidt_predict(const struct profile *profile, enum model_target target,
        const struct gram_question *asked, int level, struct prediction *out)
{
	struct executor *e = executor_model_new(profile, target, level);
	struct question question = {e, run, asked};
	void *no_memory;

	*out = (struct prediction){.low = NAN, .high = NAN};
	e->ops->alloc(e, asked->m * asked->n * precision_bytes(asked->precision), &no_memory);
	executor_model_reader(e)->threads = asked->threads;
	out->seconds = question_seconds(&question, false, &out->parts);
	out->model = executor_model_reader(e)->model;
	bool ok = !isnan(out->seconds);
	if (!ok && out->model.missing)
		fault_set(&out->fault, "the profile has no %s, which Gram-Schmidt's price needs",
		        out->model.missing_name);
	else if (!ok)
		out->fault = e->fault;
	executor_free(e);
	return ok;
}

int64_t model_gram_schmidt_width(
        const struct profile *profile, enum model_target target, const struct gram_question *asked)
{
	enum { WIDEST = 256 };
	const int64_t columns = asked->k ? asked->k : asked->n;
	double least = INFINITY;
	int64_t best = 0;

	for (int64_t nb = 4; nb <= WIDEST && nb < 2 * columns;
	        nb = nb % 3 ? nb * 3 / 2 : nb * 4 / 3) {
		struct gram_question question = *asked;
		struct prediction made;
		question.nb = nb;
		if (model_gram_schmidt_predict(profile, target, &question, 2, &made) &&
		        made.seconds < least) {
			least = made.seconds;
			best = nb;
		}
	}
	return best;
}
