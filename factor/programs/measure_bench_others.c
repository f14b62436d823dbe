/* SPDX-License-Identifier: MIT */
/* What the bench measures beside factorizations: panels, LAWN 202's operations, errors by LAWN
 * 202's measure and by kind of matrix, the forms of Gram-Schmidt and their kernels. The table at
 * the end names further files. */
#include "measure.h"

#include "ablations.h"
#include "bench.h"
#include "factor/model/cost/vector_gemm.h"
#include "factor/validation/cases.h"
#include "factor/validation/whole.h"
#include "factor/validation/papers/gram_cases.h"
#include "factor/validation/papers/gram_kernels.h"
#include "factor/validation/papers/lawn_errors.h"
#include "factor/validation/papers/lawn_plan.h"
#include "factor/validation/papers/paper_operations.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- panels ---- */

static bool measure_panel(struct measure *measure, const struct bench_shape *shape)
{
	const char *name;
	struct executor *executor = measure_first(measure, &name);

	for (const char *const *v = bench_variants(name); *v; v++) {
		struct result row = bench_row(shape, *v, name);
		row.nb = shape->n;
		if (strcmp(*v, "cusolver") != 0 || measure->vendor)
			measure_list(measure, &row, NULL, false);
	}
	measure->plan.ld = shape->m; /* as in the paper's table */
	return measure_listed(measure, time_panels, executor);
}

/* ---- LAWN 202's operations ---- */

static struct result part_row(
        const struct paper_op_problem *problem, const struct paper_op_way *way)
{
	struct result row = result_new(
	        paper_op_name[problem->part], way->variant, "cuda", SINGLE, problem->m, problem->n);
	const size_t used = strlen(row.options);

	row.k = problem->k;
	if (way->options[0])
		snprintf(row.options + used, sizeof row.options - used, ",%s", way->options);
	return row;
}

static struct paper_op_problem problem_of(const struct result *row)
{
	struct paper_op_problem problem = {.m = row->m, .n = row->n, .k = row->k};

	paper_op_find(row->operation, &problem.part);
	return problem;
}

static const struct paper_op_way *way_of(const struct result *row)
{
	const struct paper_op_problem problem = problem_of(row);
	const struct paper_op_way *way[PAPER_OP_WAYS];
	size_t i = paper_op_ways(problem.part, way);

	while (i-- > 0) {
		const struct result made = part_row(&problem, way[i]);
		if (strcmp(made.variant, row->variant) == 0 &&
		        strcmp(made.options, row->options) == 0)
			return way[i];
	}
	return NULL;
}

/* The model's time of the paper's kernel. */
static bool estimate(const struct profile *profile, int level, struct result *row)
{
	const struct paper_op_way *way = way_of(row);
	struct model model;

	(void)level;
	if (way->part != PAPER_OP_GEMM || strcmp(way->variant, "volkov") != 0)
		return false;
	model_start(&model, profile);
	const struct vector_estimate e = vector_estimate(
	        &model, paper_op_has(way, "trans", "nt"), (enum volkov_without)way->setting);
	row->seconds = (struct estimate){results_flops(row) / e.rate, NAN, NAN, 0};
	snprintf(row->regime, sizeof row->regime, "hardware");
	snprintf(row->plan, sizeof row->plan, "limit=%s",
	        e.rate == e.issue    ? "issue"
	        : e.rate == e.shared ? "shared"
	                             : "l2");
	return !model.missing;
}

static bool time_parts(struct rows *r)
{
	const struct paper_op_problem problem = problem_of(r->row);
	const struct paper_op_way *way[MEASURE_CANDIDATES];
	int calls[MEASURE_CANDIDATES] = {0};

	for (size_t i = 0; i < r->count; i++)
		way[i] = way_of(&r->row[i]);
	bool timed = timing_parts(r->executor, &problem, &r->measure->plan, way, r->candidate,
	        calls, r->count, &r->fault);
	for (size_t i = 0; i < r->count && timed; i++)
		snprintf(r->row[i].plan, sizeof r->row[i].plan, "calls=%d", calls[i]);
	return timed;
}

/* Square and thin products on the host (Figure 6). True when the row is new. */
static bool measure_host_product(struct measure *measure, const struct paper_op_problem *problem,
        const struct bench_shape *shape)
{
	static const double sample_flops = 1e9;
	enum { MOST_CALLS = 64 };
	struct result row = bench_row(shape, "openblas", "host");

	if (problem->part != PAPER_OP_THIN_GEMM || !measure->executor[1] || !cases_on_host(shape))
		return false;
	row.m = problem->m;
	row.n = problem->n;
	row.k = problem->k;
	snprintf(row.plan, sizeof row.plan, "calls=%.0f",
	        fmax(1, fmin(sample_flops / results_flops(&row), MOST_CALLS)));
	measure_list(measure, &row, NULL, false);
	return measure_listed(measure, time_products, measure->executor[1]);
}

static bool measure_part(struct measure *measure, const struct bench_shape *shape)
{
	const struct paper_op_way *way[PAPER_OP_WAYS];
	enum paper_op part;

	paper_op_find(shape->operation, &part);
	const struct paper_op_problem problem = paper_op_problem(part, shape->m, shape->n);
	const size_t ways = measure->executor[0] ? paper_op_ways(part, way) : 0;
	for (size_t i = 0; i < ways; i++) {
		const struct result row = part_row(&problem, way[i]);
		measure_list(measure, &row, estimate, false);
	}
	const bool any = measure_listed(measure, time_parts, measure->executor[0]);
	return measure_host_product(measure, &problem, shape) || any;
}

/* ---- errors of factorizations in single precision ---- */

/* Our plans of one block width. */
static size_t add_plans(
        const struct bench_shape *shape, const char *executor, enum math math, struct result *row)
{
	enum { WIDTH = 128, MOST_PLANS = 12 };
	struct result plan[MOST_PLANS];
	size_t plans = cases_plans(shape, executor, math, plan, MOST_PLANS), count = 0;

	for (size_t i = 0; i < plans; i++)
		if (plan[i].nb == WIDTH)
			row[count++] = plan[i];
	return count;
}

/* The same plans of LU with products by inverted triangles in place of solves, as LAWN 202 has it:
 * option with=inverse. */
static size_t add_inverses(struct result *row, size_t count)
{
	struct whole_plan *plan = xmalloc(sizeof *plan);
	const struct whole whole = {.operation = GETRF, .uplo = LOWER};
	const size_t plans = count;

	for (size_t i = 0; i < plans; i++) {
		row[count] = row[i];
		whole_plan_parse(
		        row[i].plan, whole_panels_on_host(row[i].variant), row[i].nb, plan);
		plan->plan.inverse = plan->plan.leaf;
		whole_plan_text(&whole, &plan->plan, row[count].plan);
		results_option_add(row[count++].options, "with", "inverse");
	}
	free(plan);
	return count;
}

/* LAWN 202's own plan, of LU also with solves in place of its inverses. */
static size_t add_lawn(const struct measure *measure, const struct bench_shape *shape,
        struct result *row, size_t count)
{
	const char *name;
	const struct executor *executor = measure_first(measure, &name);
	struct result without[ABLATIONS_OF];
	const size_t own = count;

	if (!lawn_plan_has(shape))
		return count;
	row[count++] = lawn_plan_row(measure->profile, shape, name);
	const size_t parts = ablations_of(executor, NULL, &row[own], without);
	for (size_t i = 0; i < parts; i++)
		if (result_has_value(&without[i], "without", "inverse"))
			row[count++] = without[i];
	return count;
}

/* Ours, the vendor's and the host's on one matrix. kind NULL: LAWN 202's. */
static bool measure_errors_of(
        struct measure *measure, const struct bench_shape *shape, const char *kind)
{
	struct executor *cuda = measure->executor[0];
	struct result row[MEASURE_CANDIDATES];
	const char *name;
	struct executor *first = measure_first(measure, &name);
	size_t count = add_plans(shape, name, MATH_FP32, row);

	if (strcmp(shape->operation, "getrf") == 0)
		count = add_inverses(row, count);
	for (enum math math = MATH_3XTF32; math < MATHS; math++)
		if (cuda && cases_split(shape) && math_possible(cuda, math))
			count += add_plans(shape, "cuda", math, row + count);
	if (!kind)
		count = add_lawn(measure, shape, row, count);
	if (cuda && measure->vendor)
		row[count++] = bench_factorization(shape, "cusolver", "cuda", false);
	if (measure->executor[1])
		row[count++] = bench_factorization(shape, "openblas", "host", false);
	for (size_t i = 0; i < count; i++) {
		snprintf(row[i].operation, sizeof row[i].operation, RESULTS_ERROR "%s",
		        shape->operation);
		if (kind)
			results_option_add(row[i].options, "kind", kind);
		measure_list(measure, &row[i], NULL, false);
	}
	measure->plan.ld = shape->n;
	return measure_listed(measure, time_whole, first);
}

static bool measure_errors(struct measure *measure, const struct bench_shape *asked)
{
	const bool lawn = strcmp(asked->operation, "lawn_errors") == 0;
	bool any = false;

	for (int o = 0; o < OPERATION_COUNT; o++) {
		const struct bench_shape shape = {operation_name[o], SINGLE, asked->n, asked->n, 0};
		const int kinds = lawn ? 1 : o == POTRF ? 0 : KIND_ERRORS;
		for (int k = 0; k < kinds; k++)
			any |= measure_errors_of(
			        measure, &shape, lawn ? NULL : kind_errors_name[k]);
	}
	return any;
}

/* ---- Gram-Schmidt on the GPU and on the host ---- */

/* Forms and block widths to be measured. */
static const struct gram_way on_gpu[] = {{"cublas", 0, NULL}, {"kernels", 0, NULL},
        {"fused", 0, NULL}, {"blocked", 64, NULL}, {"block", 32, NULL}, {"block", 64, NULL},
        {"twice", 64, NULL}, {"direct", 0, NULL}, {"shared", 0, NULL}, {"wide", 0, NULL}};
static const struct gram_run on_host[] = {{.form = "blocked", .nb = 32},
        {.form = "blocked", .nb = 64}, {.form = "block", .nb = 64}, {.form = "twice", .nb = 64},
        {.form = "blas", .threads = 1}, {.form = "kernels"}, {.form = "fused"}};

/* Largest sizes on the host, which takes minutes beyond: blocked forms, and memory-bound forms. */
enum { IN_BLOCKS_MOST = 8192, ON_HOST_MOST = 2048 };

static bool predict(const struct profile *profile, int level, struct result *row)
{
	return gram_predict(profile, level, false, row);
}

/* Whether each form takes about a second at most, on the GPU or on the host. */
static bool is_small(const struct bench_shape *shape, bool device)
{
	const double work = (double)shape->m * (double)shape->n * (double)shape->n;

	return work < (device ? 1e11 : 1e10);
}

/* The blocked form needs columns that fit into registers. --quick measures large matrices only by
 * the vendor's form, by one pass, and by products. */
static bool gpu_suits(
        const struct measure *measure, const struct gram_way *way, const struct bench_shape *shape)
{
	if (strcmp(way->variant, "blocked") == 0 &&
	        shape->m * precision_bytes(shape->precision) > GRAM_APPLY_BYTES)
		return false;
	return !measure->common.quick || is_small(shape, true) || way->nb > 0 ||
	       strcmp(way->variant, "cublas") == 0 || strcmp(way->variant, "fused") == 0;
}

static bool measure_gpu(struct measure *measure, const struct bench_shape *shape)
{
	for (size_t i = 0; measure->executor[0] && i < ARRAY_LEN(on_gpu); i++) {
		const struct result row =
		        gram_case(&on_gpu[i], "cuda", shape->precision, shape->m, shape->n);
		if (gpu_suits(measure, &on_gpu[i], shape))
			measure_list(measure, &row, predict, true);
	}
	return measure_listed(measure, time_gram, measure->executor[0]);
}

/* Loss of orthogonality: every form once on matrices of several conditions. */
static bool measure_losses(struct measure *measure, const struct bench_shape *shape)
{
	static const char *const condition[] = {"1", "1e3", "1e5"};
	bool any = false;

	measure->plan.long_seconds = DBL_MIN; /* one run of each */
	for (size_t c = 0; measure->executor[0] && c < ARRAY_LEN(condition); c++) {
		for (size_t i = 0; i < ARRAY_LEN(on_gpu); i++) {
			struct result row =
			        gram_case(&on_gpu[i], "cuda", shape->precision, shape->m, shape->n);
			results_option_add(row.options, "cond", condition[c]);
			measure_list(measure, &row, NULL, false);
		}
		any |= measure_listed(measure, time_gram, measure->executor[0]);
	}
	return any;
}

/* --quick: only forms that take less than a second; on larger matrices the blocked ones. */
static bool host_suits(
        const struct measure *measure, const struct gram_run *run, const struct bench_shape *shape)
{
	if (shape->m > (run->nb ? IN_BLOCKS_MOST : ON_HOST_MOST))
		return false;
	return !measure->common.quick || is_small(shape, false) ||
	       (is_small(shape, true) && run->nb == 64 && strcmp(run->form, "twice") != 0);
}

/* By as many threads as the probes' largest run has; the BLAS's products with one column are too
 * small for more than one. */
static bool measure_host(struct measure *measure, const struct bench_shape *shape)
{
	for (size_t i = 0; i < ARRAY_LEN(on_host); i++) {
		struct gram_run run = on_host[i];
		run.k = shape->n;
		if (!run.threads)
			run.threads = measure->topology ? measure_largest_threads(measure) : 1;
		const struct result row =
		        gram_row(shape->precision, shape->m, shape->n, &run, NULL);
		if (host_suits(measure, &on_host[i], shape))
			measure_list(measure, &row, gram_row_predict, true);
	}
	return measure_listed(measure, time_gram_host, measure->executor[1]);
}

/* Matrices of which one run takes this long: one run of each form, without an interval. */
static const double gram_long[] = {2, 0.5}; /* seconds; quick */

static bool measure_gram_schmidt(struct measure *measure, const struct bench_shape *shape)
{
	const double usual = measure->plan.long_seconds;
	bool any = false;

	if (measure->common.quick && shape->precision == DOUBLE && !is_small(shape, false))
		return false;
	measure->plan.ld = shape->m;
	measure->plan.long_seconds = gram_long[measure->common.quick];
	if (shape->m > shape->n) {
		any = measure_losses(measure, shape);
	} else {
		any = measure_gpu(measure, shape);
		any |= measure_host(measure, shape);
	}
	measure->plan.long_seconds = usual;
	return any;
}

/* All shapes of blocks of threads for a square, a few for fewer columns. */
static bool measure_gram_kernels(struct measure *measure, const struct bench_shape *shape)
{
	struct executor *cuda = measure->executor[0];
	struct result *listed;
	size_t count =
	        cuda ? gram_kernels_documented(shape->m, shape->n, shape->m == shape->n, &listed)
	             : 0;
	bool any = false;

	for (size_t i = 0; i < count && !*measure->plan.stop; i++) {
		measure_list(measure, &listed[i], gram_kernel_predict, true);
		if (measure->listed == MEASURE_CANDIDATES || i + 1 == count)
			any |= measure_listed(measure, time_gram_kernels, cuda);
	}
	if (cuda)
		free(listed);
	return any;
}

/* ---- all ---- */

bool measure_others(struct measure *measure, const struct bench_shape *shape, bool *any)
{
	static const struct {
		const char *operation;
		bool (*measure)(struct measure *, const struct bench_shape *);
	} ways[] = {{"panel_getrf", measure_panel}, {"gramschmidt", measure_gram_schmidt},
	        {"lawn_errors", measure_errors}, {"kind_errors", measure_errors},
	        {"gram_kernels", measure_gram_kernels}, {"widths", measure_widths}};
	enum paper_op part;

	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		if (strcmp(shape->operation, ways[i].operation) == 0) {
			*any = ways[i].measure(measure, shape);
			return true;
		}
	if (!paper_op_find(shape->operation, &part))
		return false;
	*any = measure_part(measure, shape);
	return true;
}
