/* SPDX-License-Identifier: MIT */
/* A question to the model executor: how long does this sequence take, and how sure is that? */
#ifndef FATHOM_MODEL_QUESTION_H
#define FATHOM_MODEL_QUESTION_H

#include "factor/model/simulation/executor_model.h"

struct question {
	struct executor *executor;
	bool (*run)(struct executor *, const void *context); /* the sequence */
	const void *context;
};

/* Seconds of one run, and its parts unless they are NULL; NaN when it is refused or something is
 * missing. overlap: as in executor_model_restart. */
double question_seconds(const struct question *question, bool overlap, struct model_result *result);

/* out->low and out->high around out->seconds, as executor_model.h says. The executor has just run
 * the question. */
void question_interval(const struct question *question, struct prediction *out);

/* One parameter after the other at both ends of its interval, seconds by which the answer then
 * lies below and above: squares add up. */
struct spread {
	double below, above;
};
void spread_widen(struct spread *spread, double below, double above);

#endif
