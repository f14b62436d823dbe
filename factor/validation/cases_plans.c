/* SPDX-License-Identifier: MIT */
/* The plans for the cases' shapes, as rows without results. */
#include "cases.h"

#include "lib/base/msg.h"
#include "factor/model/predictions/model_transfer.h"
#include "factor/model/plan/plan_choice.h"
#include "factor/algorithms/plan_default.h"
#include "whole.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPLIT_ROWS = 2048, SPLIT_COLUMNS = 512, FROM_HOST_SMALLEST = 2048 };

static struct result row_of(const struct bench_shape *shape, const char *executor, enum math math,
        const struct plan *plan)
{
	struct whole whole = {.uplo = LOWER};
	struct result row = result_new(shape->operation, plan->hybrid ? "hybrid" : "gpu", executor,
	        shape->precision, shape->m, shape->n);

	row.math = math;
	row.nb = plan->widths[0];
	operation_find(results_factorization(shape->operation), &whole.operation);
	if (whole.operation == POTRF)
		results_option_add(row.options, "uplo", "l");
	whole_plan_text(&whole, plan, row.plan);
	return row;
}

/* Cholesky's blocks are whole panels on the device; with panels on the host they use inverses. */
static struct result uniform(const struct bench_shape *shape, const char *executor, bool hybrid,
        enum math math, int64_t nb)
{
	bool cholesky = strcmp(results_factorization(shape->operation), "potrf") == 0;
	int64_t leaf = cholesky ? 128 : 64;
	const struct plan plan = {.hybrid = hybrid,
	        .panel = "persistent",
	        .widths = &nb,
	        .count = 1,
	        .leaf = leaf < nb ? leaf : nb,
	        .inverse = cholesky && hybrid ? 128 : 0,
	        .lookahead = 1};

	return row_of(shape, executor, math, &plan);
}

struct result cases_panel(const struct bench_shape *shape, bool hybrid)
{
	return uniform(shape, "cuda", hybrid, MATH_FP32, shape->n);
}

bool cases_transfers(const struct bench_shape *shape)
{
	return shape->m == shape->n && shape->n >= FROM_HOST_SMALLEST;
}

struct result cases_from_host(const struct profile *profile, const struct result *resident)
{
	struct result row = *resident;
	const bool triangle = profile && strcmp(row.operation, "potrf") == 0;
	const int64_t piece = triangle ? model_triangle_width(profile, row.n, row.precision) : 0;
	char columns[24];

	results_option_add(row.options, "from", "host");
	snprintf(columns, sizeof columns, "%" PRId64, piece);
	if (piece)
		results_option_add(row.options, "piece", columns);
	return row;
}

bool cases_split(const struct bench_shape *shape)
{
	return shape->precision == SINGLE && shape->m >= SPLIT_ROWS && shape->n >= SPLIT_COLUMNS;
}

bool cases_estimated(const struct profile *profile, enum math math)
{
	static const char *const name[MATHS] = {
	        [MATH_3XTF32] = "gpu.gemm.tf32", [MATH_3XFP16] = "gpu.half_gemm.s"};
	double low, high;

	return !name[math] || profile_range(profile, name[math], "n", &low, &high);
}

/* Plans of very many blocks or of fewer than 4 wide ones are never the best; panels on the host are
 * narrower than on the device. */
static bool worth_trying(int64_t columns, bool hybrid, int64_t width)
{
	const int64_t most = hybrid ? 400 : 96;
	const int64_t narrowest = hybrid ? 32 : 64, widest = hybrid ? 256 : 1024;

	return columns <= most * width && width >= narrowest && width <= widest &&
	       (width <= 128 || 4 * width <= columns);
}

size_t cases_plans(const struct bench_shape *shape, const char *executor, enum math math,
        struct result *row, size_t most)
{
	static const int64_t widths[] = {32, 64, 128, 256, 512, 1024};
	int64_t k = shape->m < shape->n ? shape->m : shape->n;
	size_t count = 0;

	if (strcmp(executor, "cuda") != 0) {
		row[0] = uniform(shape, executor, true, math, k < 128 ? k : 128);
		return 1;
	}
	for (int hybrid = 0; hybrid < (math == MATH_FP32 ? 2 : 1); hybrid++)
		for (size_t w = 0; w < ARRAY_LEN(widths) && count < most; w++)
			if (worth_trying(k, hybrid, widths[w]))
				row[count++] = uniform(shape, executor, hybrid, math, widths[w]);
	return count;
}

struct factor_question cases_question(const struct bench_shape *shape, enum math math)
{
	return (struct factor_question){.operation = shape->operation,
	        .m = shape->m,
	        .n = shape->n,
	        .precision = shape->precision,
	        .uplo = LOWER,
	        .math = math};
}

static struct plan_choice *choice_of(
        const struct profile *profile, const struct bench_shape *shape, bool hybrid, enum math math)
{
	struct plan_choice *choice = xmalloc(sizeof *choice);
	struct plan_fixed fixed = plan_free;
	const struct factor_question asked = cases_question(shape, math);

	fixed.hybrid = hybrid;
	if (plan_choose(profile, &asked, &fixed, choice))
		return choice;
	free(choice);
	return NULL;
}

bool cases_model_plan(const struct profile *profile, const struct bench_shape *shape, bool hybrid,
        enum math math, struct result *row)
{
	struct plan_choice *choice = choice_of(profile, shape, hybrid, math);

	if (!choice)
		return false;
	*row = row_of(shape, "cuda", math, &choice->plan);
	if (choice->plan.count > 1 && !strstr(row->plan, "widths="))
		row->nb = choice->uniform;
	results_option_add(row->options, "plan", "model");
	free(choice);
	return true;
}

struct result cases_default(struct executor *e, const struct bench_shape *shape)
{
	enum operation operation = GETRF;
	struct default_plan plan;

	operation_find(shape->operation, &operation);
	plan_default(e, operation, shape->m, shape->n, shape->precision, false, &plan);
	struct result row = row_of(shape, "cuda", MATH_FP32, &plan.plan);
	results_option_add(row.options, "plan", "default");
	return row;
}

int64_t cases_single_width(const struct profile *profile, const struct result *chosen)
{
	const struct bench_shape shape = {
	        chosen->operation, chosen->precision, chosen->m, chosen->n};
	struct plan_choice *choice =
	        choice_of(profile, &shape, strcmp(chosen->variant, "hybrid") == 0, chosen->math);
	int64_t width = choice ? choice->uniform : 0;

	free(choice);
	return width;
}
