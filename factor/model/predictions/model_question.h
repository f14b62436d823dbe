/* SPDX-License-Identifier: MIT */
/* A question to the model executor: the time of a sequence of operations, and its interval. */
#pragma once

#include "factor/model/simulation/executor_model.h"

struct question {
	struct executor *executor;
	bool (*run)(struct executor *, const void *context); /* the sequence */
	const void *context;
};

/* Seconds of one run, and its parts unless `result` is NULL; NaN when the run is refused or a
 * parameter is missing. overlap: as in executor_model_restart. */
double question_seconds(const struct question *question, bool overlap, struct model_result *result);

/* Sets out->low and out->high around out->seconds, as executor_model.h says. The executor has just
 * run the question. */
void question_interval(const struct question *question, struct prediction *out);

/* The prediction of level 0: the longer of the times for arithmetic and for traffic. */
void prediction_bound(
        struct executor *executor, double computed, double moved, struct prediction *out);

/* Operations a second of the largest gemm measured on the target. */
double prediction_peak(
        struct cost_reader *reader, enum model_target target, enum precision precision);

/* A prediction that is not possible: NaN, and as its fault the executor's, or the missing parameter
 * with `after` behind its name. Returns false. */
bool prediction_refuse(struct executor *executor, const char *after, struct prediction *out);

/* The spread of an answer when its parameters lie, one after the other, at the ends of their
 * intervals: the sums of the squares of the seconds below and above. */
struct spread {
	double below, above;
};
void spread_widen(struct spread *spread, double below, double above);
