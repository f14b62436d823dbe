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
	struct matrix r = {NULL, 0, q->n, q->n, q->n, q->precision};

	return gram_schmidt(e, q->form, q->nb, a, r, NULL, NULL);
}

bool model_gram_schmidt_predict(const struct profile *profile, enum model_target target,
        const struct gram_question *asked, int level, struct prediction *out)
{
	struct executor *e = executor_model_new(profile, target, level);
	struct question question = {e, run, asked};
	void *no_memory;

	*out = (struct prediction){.low = NAN, .high = NAN};
	e->ops->alloc(e, asked->m * asked->n * precision_bytes(asked->precision), &no_memory);
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
