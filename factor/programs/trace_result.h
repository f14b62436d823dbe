/* SPDX-License-Identifier: MIT */
/* What `trace` answers: one plan's timeline, simulated and measured, as text and as a table. */
#ifndef FATHOM_TRACE_RESULT_H
#define FATHOM_TRACE_RESULT_H

#include "lib/device/gpu.h"
#include "factor/model/plan/plan_choice.h"
#include "factor/validation/trace_run.h"

struct trace_result {
	struct factor_question asked; /* its plan is not used */
	struct whole whole;           /* the same */
	const char *folder;           /* of the profile, */
	const char *choice;           /* and a sentence on it */
	struct profile *profile;
	struct plan_choice *plan;
	double seconds; /* simulated, to the host's knowledge of the end */
	struct timeline *simulated;
	struct timeline *measured; /* NULL: not here */
	char *names[2];            /* titles of the two */
	struct trace_run run;      /* what measured it now, */
	struct gpu gpu;            /* and where; */
	struct table *recorded;    /* else the file that it is from, or NULL */
};

/* Plan, the first `lines` lines of both timelines, lanes, phases, and the comparison. */
void trace_result_print(const struct trace_result *answer, size_t lines, FILE *out);

/* Both timelines with what a file says of them, the caller frees it. argc, argv: the command. */
struct table *trace_result_table(const struct trace_result *answer, int argc, char **argv);

void trace_result_free(struct trace_result *answer);

#endif
