/* SPDX-License-Identifier: MIT */
#include "lawn_plan.h"

#include "factor/model/plan/plan_choice.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64, COARSE = 8 };

bool lawn_plan_has(const struct bench_shape *shape)
{
	enum operation operation;

	return operation_find(shape->operation, &operation) && shape->precision == SINGLE &&
	       shape->m == shape->n;
}

static double seconds_of(
        const struct profile *profile, const struct bench_shape *shape, const struct plan *plan)
{
	struct factor_question asked = cases_question(shape, MATH_FP32);

	asked.plan = plan;
	struct executor *e = model_factor_executor(profile, MODEL_CUDA, &asked, LEVEL_FULL);
	const double seconds = model_factor_run(e, &asked) ? executor_model_seconds(e) : NAN;
	executor_free(e);
	return seconds;
}

/* The fastest coarse blocks, fewer than the matrix has: else there is one level. */
static void choose_coarse(
        const struct profile *profile, const struct bench_shape *shape, struct plan *plan)
{
	static const int64_t blocks[] = {4, 8, 16, 32};
	struct plan tried = *plan;
	double least = INFINITY;

	for (size_t i = 0; profile && i < ARRAY_LEN(blocks); i++) {
		if (i > 0 && blocks[i] * WIDTH >= shape->n)
			break;
		tried.coarse = blocks[i];
		const double seconds = seconds_of(profile, shape, &tried);
		if (seconds < least) {
			least = seconds;
			plan->coarse = blocks[i];
		}
	}
}

/* The model's sequence for panels on the host. */
static void choose_widths(
        const struct profile *profile, const struct bench_shape *shape, struct whole_plan *plan)
{
	struct plan_choice *choice = xmalloc(sizeof *choice);
	struct plan_fixed fixed = plan_free;
	const struct factor_question asked = cases_question(shape, MATH_FP32);

	fixed.hybrid = 1;
	fixed.lookahead = 1;
	fixed.leaf = WIDTH;
	fixed.multiple = WIDTH;
	if (profile && plan_choose(profile, &asked, &fixed, choice) &&
	        choice->plan.count <= WHOLE_WIDTHS) {
		plan->plan.count = choice->plan.count;
		memcpy(plan->widths, choice->widths,
		        (size_t)choice->plan.count * sizeof *plan->widths);
	}
	free(choice);
}

void lawn_plan_make(const struct profile *profile, const struct bench_shape *shape,
        enum operation operation, struct whole_plan *plan)
{
	plan->widths[0] = WIDTH;
	plan->plan = (struct plan){.hybrid = true,
	        .widths = plan->widths,
	        .count = 1,
	        .leaf = WIDTH,
	        .inverse = operation == GETRF ? WIDTH : 0,
	        .lookahead = 1,
	        .coarse = operation == GEQRF ? 0 : COARSE,
	        .row_major = operation == GETRF,
	        .in_place = operation != GETRF};
	if (operation == GEQRF)
		choose_widths(profile, shape, plan);
	else
		choose_coarse(profile, shape, &plan->plan);
}

struct result lawn_plan_row(
        const struct profile *profile, const struct bench_shape *shape, const char *executor)
{
	struct result row = result_new(
	        shape->operation, LAWN_VARIANT, executor, shape->precision, shape->m, shape->n);
	struct whole_plan *plan = xmalloc(sizeof *plan);
	struct whole whole = {.uplo = LOWER};

	operation_find(shape->operation, &whole.operation);
	lawn_plan_make(profile, shape, whole.operation, plan);
	if (whole.operation == POTRF)
		results_option_add(row.options, "uplo", "l");
	row.nb = plan->widths[0];
	if (!whole_plan_text(&whole, &plan->plan, row.plan)) {
		plan->widths[0] = row.nb = WIDTH; /* a sequence too long for the row */
		plan->plan.count = 1;
		whole_plan_text(&whole, &plan->plan, row.plan);
	}
	free(plan);
	return row;
}
