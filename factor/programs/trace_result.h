/* SPDX-License-Identifier: MIT */
/* The answer of `trace`: one plan's timeline, simulated and measured, as text and as a table. */
#pragma once

#include "lib/device/gpu.h"
#include "factor/model/plan/plan_choice.h"
#include "factor/model/predictions/model_several.h"
#include "factor/validation/trace_run.h"
#include "profile_context.h"

/* Where an answer goes besides the screen; NULL: nowhere. */
struct trace_output {
	const char *svg, *tsv;
	size_t lines;    /* of the table on the screen */
	double from, to; /* microseconds that are drawn */
};
/* Ends the program where the drawing would begin behind the end of every timeline. */
void trace_check_window(
        const struct trace_output *, const struct timeline *const *timeline, size_t count);
void trace_draw(const struct trace_output *, const struct timeline *const *timeline, size_t count);

/* Simulates over several GPUs, and prints, keeps and draws it. */
void trace_several(const struct several_question *, const struct trace_output *,
        const struct profile_context *);

struct trace_result {
	struct factor_question asked; /* without a plan */
	struct whole whole;           /* the same operation */
	struct profile_context context;
	struct plan_choice *plan;
	double seconds; /* simulated, until the host knows that it is done */
	double marks; /* what the recorder's marks add to them in the simulated timeline; 0: none */
	struct timeline *simulated;
	struct timeline *measured; /* NULL: none */
	char *names[2];            /* titles of the two */
	struct trace_run run;      /* of a measurement made now, */
	struct gpu gpu;            /* on this GPU */
	struct table *recorded;    /* else the file of the measurement, or NULL */
};

/* Plan, the first `lines` lines of both timelines, lanes, phases, and the comparison. */
void trace_result_print(const struct trace_result *answer, size_t lines, FILE *out);

/* Both timelines with metadata; the caller frees it. */
struct table *trace_result_table(const struct trace_result *answer);

/* The factorization, and its plan if asked for, into the metadata of a file. */
void trace_result_describe(const struct trace_result *answer, bool with_plan, struct table *table);

void trace_result_free(struct trace_result *answer);
