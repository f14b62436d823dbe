/* SPDX-License-Identifier: MIT */
/* Question: how large are the errors of our factorizations, by LAWN 202's measure and on matrices
 * of other kinds, beside the vendor's and the host's on the same matrices? */
#include "measure.h"

#include "factor/validation/cases.h"
#include "factor/validation/papers/lawn_errors.h"

#include <stdio.h>
#include <string.h>

/* The block width of all plans. */
enum { WIDTH = 128, MOST_PLANS = 12 };

static size_t add_plans(
        const struct bench_shape *shape, const char *executor, enum math math, struct result *row)
{
	struct result plan[MOST_PLANS];
	size_t plans = cases_plans(shape, executor, math, plan, MOST_PLANS), count = 0;

	for (size_t i = 0; i < plans; i++)
		if (plan[i].nb == WIDTH)
			row[count++] = plan[i];
	return count;
}

static struct result other(
        const struct bench_shape *shape, const char *variant, const char *executor)
{
	struct result row = result_new(
	        shape->operation, variant, executor, shape->precision, shape->m, shape->n);

	if (strcmp(shape->operation, "potrf") == 0)
		results_option_add(row.options, "uplo", "l");
	return row;
}

static size_t list(
        const struct measure *measure, const struct bench_shape *shape, struct result *row)
{
	struct executor *cuda = measure->executor[0];
	const char *name;
	measure_first(measure, &name);
	size_t count = add_plans(shape, name, MATH_FP32, row);

	for (enum math math = MATH_3XTF32; math < MATHS; math++)
		if (cuda && cases_split(shape) && math_possible(cuda, math))
			count += add_plans(shape, "cuda", math, row + count);
	if (cuda && measure->vendor)
		row[count++] = other(shape, "cusolver", "cuda");
	if (measure->executor[1])
		row[count++] = other(shape, "openblas", "host");
	return count;
}

/* kind NULL: LAWN 202's matrix. */
static bool measure_one(struct measure *measure, const char *operation, const char *kind, int64_t n,
        struct results *out)
{
	const struct bench_shape shape = {operation, SINGLE, n, n};
	struct result row[MEASURE_CANDIDATES];
	size_t count = list(measure, &shape, row), kept = 0;

	for (size_t i = 0; i < count; i++) {
		snprintf(row[i].operation, sizeof row[i].operation, RESULTS_ERROR "%s", operation);
		if (kind)
			results_option_add(row[i].options, "kind", kind);
		if (!results_find(out, &row[i]))
			row[kept++] = row[i];
	}
	measure->plan.ld = n;
	return kept && measure_whole(measure, measure_first(measure, NULL), row, kept, out);
}

bool measure_lawn_errors(struct measure *measure, int64_t n, struct results *out)
{
	bool any = false;

	for (int o = 0; o < OPERATION_COUNT; o++)
		any = measure_one(measure, operation_name[o], NULL, n, out) || any;
	return any;
}

bool measure_kind_errors(struct measure *measure, int64_t n, struct results *out)
{
	bool any = false;

	for (int o = 0; o < OPERATION_COUNT; o++)
		for (int k = 0; k < KIND_ERRORS && o != POTRF; k++)
			any = measure_one(
			              measure, operation_name[o], kind_errors_name[k], n, out) ||
			      any;
	return any;
}
