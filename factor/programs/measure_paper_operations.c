/* SPDX-License-Identifier: MIT */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/model/cost/vector_gemm.h"
#include "factor/validation/papers/paper_operations.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct result new_row(const struct paper_op_problem *problem, const struct paper_op_way *way)
{
	struct result row = result_new(
	        paper_op_name[problem->part], way->variant, "cuda", SINGLE, problem->m, problem->n);
	const size_t used = strlen(row.options);

	row.k = problem->k;
	if (way->options[0])
		snprintf(row.options + used, sizeof row.options - used, ",%s", way->options);
	return row;
}

/* The model's time of the paper's kernel, before its measurement. */
static void estimate(const struct profile *profile, const struct paper_op_way *way,
        const struct result *measured, struct results *out)
{
	struct result row = *measured;
	struct model model;

	if (!profile || way->part != PAPER_OP_GEMM || strcmp(way->variant, "volkov") != 0)
		return;
	snprintf(row.executor, sizeof row.executor, "model");
	if (results_find(out, &row))
		return;
	model_start(&model, profile);
	const struct vector_estimate e = vector_estimate(
	        &model, paper_op_has(way, "trans", "nt"), (enum volkov_without)way->setting);
	row.seconds = (struct estimate){results_flops(&row) / e.rate, NAN, NAN, 0};
	snprintf(row.regime, sizeof row.regime, "hardware");
	snprintf(row.plan, sizeof row.plan, "limit=%s",
	        e.rate == e.issue    ? "issue"
	        : e.rate == e.shared ? "shared"
	                             : "l2");
	if (!model.missing)
		results_add(out, &row);
}

bool measure_parts(struct measure *measure, const struct profile *profile, const char *operation,
        int64_t m, int64_t n, struct results *out)
{
	const struct paper_op_way *way[PAPER_OP_WAYS];
	enum paper_op part;
	struct result row[PAPER_OP_WAYS];
	struct candidate candidate[PAPER_OP_WAYS];
	struct fault fault = {""};
	int calls[PAPER_OP_WAYS];
	size_t count = 0;

	paper_op_find(operation, &part);
	const struct paper_op_problem problem = paper_op_problem(part, m, n);
	const size_t ways = measure->executor[0] ? paper_op_ways(problem.part, way) : 0;
	for (size_t i = 0; i < ways; i++) {
		row[count] = new_row(&problem, way[i]);
		estimate(profile, way[i], &row[count], out);
		way[count] = way[i];
		if (!results_find(out, &row[count]))
			count++;
	}
	if (count == 0)
		return false;
	measure->plan.seed += 1000;
	bool timed = timing_parts(measure->executor[0], &problem, &measure->plan, way, candidate,
	        calls, count, &fault);
	for (size_t i = 0; i < count && timed; i++)
		snprintf(row[i].plan, sizeof row[i].plan, "calls=%d", calls[i]);
	return measure_add_all(measure, row, candidate, count, timed, &fault, out);
}
