/* SPDX-License-Identifier: MIT */
/* A question to the model executor: the time of a sequence of operations, and its interval. */
#pragma once

#include "factor/model/simulation/executor_model.h"
#include "intervals.h"

struct question {
	struct executor *executor;
	bool (*run)(struct executor *, const void *context); /* the sequence */
	const void *context;
};

/* Seconds of one run, and its parts unless `result` is NULL; NaN when the run is refused or a
 * parameter is missing. overlap: as in executor_model_restart. */
double question_seconds(const struct question *question, bool overlap, struct model_result *result);

/* How a question is predicted at a level. Level 0: `bound` sets the seconds, by prediction_bound.
 */
struct asking {
	struct question question;
	int level;
	bool interval;
	bool bound_alone;                         /* level 0 does not need the sequence to run */
	double calls;                             /* in the sequence: the prediction is of one */
	bool (*accepts)(const struct question *); /* NULL: all */
	void (*bound)(const struct asking *, struct prediction *out);
	const char *after; /* behind the name of a missing parameter */
};

/* The prediction; low and high are NaN without an interval. False with out->fault, and NaN, when
 * the sequence is refused or a parameter is missing. Frees the executor. */
bool prediction_make(const struct asking *asking, struct prediction *out);

/* Sets out->low and out->high around out->seconds, as executor_model.h says. The executor has just
 * run the question. draws: for questions that take long, only so many runs for all parameters
 * together, the same in every call; 0: two for each. */
void question_interval(const struct question *question, int draws, struct prediction *out);

/* The longer of the times for arithmetic and for traffic. */
void prediction_bound(
        const struct asking *asking, double computed, double moved, struct prediction *out);

/* Operations a second of the largest gemm measured on the executor's target. */
double prediction_peak(const struct asking *asking, enum precision precision);

/* A model executor with so many bytes of operands. */
struct executor *prediction_executor(
        const struct profile *profile, enum model_target target, int level, int64_t bytes);

/* A paper's prediction that is not possible: NaN, and the executor's fault. */
void paper_refuse(
        struct executor *executor, double *total, double *phase, int phases, struct fault *fault);
