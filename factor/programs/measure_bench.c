/* SPDX-License-Identifier: MIT */
/* Measures the vendor by all of its algorithms, each a row of its own, and our code by a few block
 * widths and the model's choice. One run of each screens the candidates that are timed. */
#include "measure.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "bench.h"
#include "factor/validation/cases.h"
#include "factor/validation/papers/paper_operations.h"
#include "screening.h"
#include "ablations.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct benching {
	struct measure *measure;
	const struct bench_request *request;
	struct results *results;
	struct profile *profile; /* for the model's plans; NULL: none */
	char *path;
};

static struct result new_row(
        const struct bench_shape *shape, const char *variant, const char *executor)
{
	return result_new(
	        shape->operation, variant, executor, shape->precision, shape->m, shape->n);
}

/* Cholesky's triangle is an option. */
static void mark(struct result *row, bool upper)
{
	if (strcmp(row->operation, "potrf") == 0)
		results_option_add(row->options, "uplo", upper ? "u" : "l");
}

/* ---- candidates of one shape ---- */

static size_t add_vendor(const struct bench_shape *shape, struct result *row)
{
	bool lu = strcmp(shape->operation, "getrf") == 0;
	bool cholesky = strcmp(shape->operation, "potrf") == 0;
	size_t count = 0;

	for (int upper = 0; upper <= cholesky; upper++)
		for (int a = 0; a < (lu ? VENDOR_ALGORITHMS : VENDOR_ALG_1); a++) {
			row[count] = new_row(shape, "cusolver", "cuda");
			mark(&row[count], upper);
			results_option_add(row[count++].options, "alg", vendor_algorithm_name[a]);
		}
	return count;
}

/* Most plans of each kind: with the model's, the vendor's and the ablations all fit into
 * MEASURE_CANDIDATES. */
enum { FP32_PLANS = 10, SPLIT_PLANS = 5 };

static bool wanted_math(const struct bench_request *request, const struct result *row)
{
	bool ours = strcmp(row->variant, "gpu") == 0 || strcmp(row->variant, "hybrid") == 0;

	return !ours || !request->math[0] || strcmp(request->math, math_name[row->math]) == 0;
}

/* Whether factorizations with split operands are timed: updates and panels on the GPU. */
static bool splits(const struct benching *b, const struct bench_shape *shape, enum math math)
{
	return cases_split(shape) && math_possible(b->measure->executor[0], math);
}

static size_t add_split(
        const struct benching *b, const struct bench_shape *shape, struct result *row, size_t count)
{
	for (enum math math = MATH_3XTF32; math < MATHS; math++) {
		if (!splits(b, shape, math))
			continue;
		count += cases_plans(shape, "cuda", math, row + count, SPLIT_PLANS);
		count +=
		        b->profile && cases_model_plan(b->profile, shape, false, math, &row[count]);
	}
	return count;
}

static bool model_plans_only(const struct benching *b)
{
	return b->request->model_plans && b->measure->executor[0] && b->profile;
}

/* Whether a shape also gets ablations, panels on the host, and the matrix in host memory; with
 * --model-plans two squares do. */
static bool is_studied(const struct benching *b, const struct bench_shape *shape)
{
	enum { MIDDLE = 4096, LARGE = 8192 };

	return !model_plans_only(b) || (shape->precision == SINGLE && shape->m == shape->n &&
	                                       (shape->n == MIDDLE || shape->n == LARGE));
}

static size_t list_model_plans(
        const struct benching *b, const struct bench_shape *shape, struct result *row)
{
	size_t count = cases_model_plan(b->profile, shape, false, MATH_FP32, row);

	if (is_studied(b, shape)) {
		count += cases_model_plan(b->profile, shape, true, MATH_FP32, &row[count]);
		count = ablations_from_host(b->profile, row, count);
	}
	for (enum math math = MATH_3XTF32; math < MATHS; math++)
		count += splits(b, shape, math) &&
		         cases_model_plan(b->profile, shape, false, math, &row[count]);
	row[count++] = cases_default(b->measure->executor[0], shape);
	return count;
}

static size_t list_ours(
        const struct benching *b, const struct bench_shape *shape, struct result *row)
{
	const struct measure *measure = b->measure;
	const char *name;
	bool cuda = measure_first(measure, &name) == measure->executor[0];
	size_t count = cases_plans(shape, name, MATH_FP32, row, FP32_PLANS);

	for (int hybrid = 0; hybrid < 2 && cuda && b->profile; hybrid++)
		count += cases_model_plan(b->profile, shape, hybrid, MATH_FP32, &row[count]);
	if (cuda) {
		count = add_split(b, shape, row, ablations_from_host(b->profile, row, count));
		row[count++] = cases_default(measure->executor[0], shape);
	}
	return count;
}

/* With --model-plans the host runs only squares that take it a second or two. */
static bool beside_host(const struct benching *b, const struct bench_shape *shape)
{
	enum { LARGEST = 4096 };

	if (!b->measure->executor[1] || !cases_on_host(shape))
		return false;
	return !model_plans_only(b) || (shape->m == shape->n && shape->m <= LARGEST);
}

static size_t list_rows(
        const struct benching *b, const struct bench_shape *shape, struct result *row)
{
	const struct measure *measure = b->measure;
	size_t count =
	        model_plans_only(b) ? list_model_plans(b, shape, row) : list_ours(b, shape, row);
	size_t kept = 0;

	if (measure->executor[0] && measure->vendor)
		count += add_vendor(shape, row + count);
	if (beside_host(b, shape)) {
		row[count] = new_row(shape, "openblas", "host");
		mark(&row[count++], false);
	}
	for (size_t i = 0; i < count; i++)
		if (wanted_math(b->request, &row[i]) && !results_find(b->results, &row[i]))
			row[kept++] = row[i];
	return kept;
}

/* ---- one shape: true when rows are new ---- */

static bool measure_factorization(struct benching *b, const struct bench_shape *shape)
{
	struct measure *measure = b->measure;
	struct executor *executor = measure_first(measure, NULL);
	struct result row[MEASURE_CANDIDATES];
	struct results *rejected = results_new();
	size_t count = list_rows(b, shape, row);

	measure->plan.ld = shape->m;
	if (count)
		count = screening_choose(measure, executor, row, count, rejected);
	if (measure->executor[0] && is_studied(b, shape))
		count = ablations_without(executor, b->profile, b->results, row, count);
	count = ablations_upper(b->results, row, count);
	bool any = count && measure_whole(measure, executor, row, count, b->results);
	if (any)
		results_append(b->results, rejected);
	results_free(rejected);
	return any;
}

static bool measure_one_panel(struct benching *b, const struct bench_shape *shape)
{
	struct measure *measure = b->measure;
	const char *name;
	struct executor *executor = measure_first(measure, &name);
	struct result row[MEASURE_CANDIDATES];
	size_t count = 0;

	for (const char *const *v = bench_variants(name); *v; v++) {
		if (strcmp(*v, "cusolver") == 0 && !measure->vendor)
			continue;
		row[count] = new_row(shape, *v, name);
		row[count].nb = shape->n;
		count += !results_find(b->results, &row[count]);
	}
	measure->plan.ld = shape->m; /* as in the paper's table */
	return count && measure_panel(measure, executor, row, count, b->results);
}

static bool measure_one_part(struct benching *b, const struct bench_shape *shape)
{
	return measure_parts(
	        b->measure, b->profile, shape->operation, shape->m, shape->n, b->results);
}

static bool measure_errors(struct benching *b, const struct bench_shape *shape)
{
	return (strcmp(shape->operation, "lawn_errors") == 0
	                ? measure_lawn_errors
	                : measure_kind_errors)(b->measure, shape->n, b->results);
}

/* Matrices of which one run takes this long: one run of each form, without an interval. */
static const double gram_long[] = {2, 0.5}; /* seconds; quick */

static bool measure_gram_forms(struct benching *b, const struct bench_shape *shape)
{
	const double usual = b->measure->plan.long_seconds;

	b->measure->plan.ld = shape->m;
	b->measure->plan.long_seconds = gram_long[b->measure->common.quick];
	bool any = measure_gram_schmidt(
	        b->measure, b->profile, shape->precision, shape->m, shape->n, b->results);
	b->measure->plan.long_seconds = usual;
	return any;
}

/* All shapes of blocks of threads for a square, a few for fewer columns. */
static bool measure_one_gram_kernel(struct benching *b, const struct bench_shape *shape)
{
	return measure_gram_kernels(
	        b->measure, b->profile, shape->m, shape->n, shape->m == shape->n, b->results);
}

static bool measure_one(struct benching *b, const struct bench_shape *shape)
{
	static const struct {
		const char *operation;
		bool (*measure)(struct benching *, const struct bench_shape *);
	} ways[] = {{"panel_getrf", measure_one_panel}, {"gramschmidt", measure_gram_forms},
	        {"lawn_errors", measure_errors}, {"kind_errors", measure_errors},
	        {"gram_kernels", measure_one_gram_kernel}};
	enum paper_op part;

	for (size_t i = 0; i < ARRAY_LEN(ways); i++)
		if (strcmp(shape->operation, ways[i].operation) == 0)
			return ways[i].measure(b, shape);
	return paper_op_find(shape->operation, &part) ? measure_one_part(b, shape)
	                                              : measure_factorization(b, shape);
}

/* ---- all ---- */

static bool wanted(const struct bench_request *request, const struct bench_shape *shape)
{
	return (!request->only[0] || strcmp(request->only, shape->operation) == 0) &&
	       shape->m >= request->smallest && shape->m <= request->largest &&
	       shape->n <= request->largest;
}

/* Returns how many shapes the budget was too short for. */
static size_t measure_shapes(struct benching *b)
{
	const struct measure *measure = b->measure;
	const double start = clock_now();
	struct bench_shape *shape;
	size_t count = b->request->model_plans ? cases_largest_first(&shape) : cases_bench(&shape),
	       late = 0;

	for (size_t i = 0; i < count && !*measure->plan.stop; i++) {
		if (!wanted(b->request, &shape[i]))
			continue;
		if (clock_now() - start > measure->budget) {
			late++;
			continue;
		}
		msg_progress("%s %c %" PRId64 " x %" PRId64, shape[i].operation,
		        (char)shape[i].precision, shape[i].m, shape[i].n);
		if (measure_one(b, &shape[i]))
			measure_save(b->results, b->path);
	}
	msg_progress_end();
	free(shape);
	if (b->results->count) {
		bench_print(b->results, stdout);
		measure_say(measure, b->results, b->path, clock_now() - start);
	}
	return late;
}

int measure_bench(struct measure *measure, const struct bench_request *request)
{
	struct benching b = {.measure = measure, .request = request};
	struct fault fault;

	b.path = xasprintf("%s/bench.tsv", measure->common.output);
	measure_open(measure);
	b.results = measure_start(measure, b.path, NULL);
	b.profile = measure_profile(measure, &fault);
	size_t late = measure_shapes(&b);
	bool breakdown =
	        request->only[0] ? strcmp(request->only, "breakdown") == 0 : !request->model_plans;
	if (breakdown && b.profile)
		measure_breakdown(measure, request, b.profile);
	else if (breakdown)
		msg_warn("no breakdown of times: it needs the model's plans; %s; make probe writes "
		         "it",
		        fault.text);
	measure_say_late(measure, late, "shapes");
	results_free(b.results);
	profile_free(b.profile);
	free(b.path);
	return measure_code(measure);
}
