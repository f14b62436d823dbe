/* SPDX-License-Identifier: MIT */
/* The vendor's best: the fastest of all its algorithms, each a row of its own. Ours: the fastest of
 * a few block widths and of the model's choice. One run of each finds those worth timing. */
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
	struct profile *profile; /* for the model's choice of plans; NULL: none here */
	char *path;
	double start;
};

static struct result new_row(
        const struct bench_shape *shape, const char *variant, const char *executor)
{
	struct result row = {.precision = shape->precision,
	        .m = shape->m,
	        .n = shape->n,
	        .residual = NAN,
	        .orthogonality = NAN};

	snprintf(row.operation, sizeof row.operation, "%s", shape->operation);
	snprintf(row.variant, sizeof row.variant, "%s", variant);
	snprintf(row.executor, sizeof row.executor, "%s", executor);
	results_options(row.options, executor, NULL, 2);
	return row;
}

/* Both fill modes of Cholesky count: the other one is marked in the options. */
static void mark(struct result *row, bool upper)
{
	if (strcmp(row->operation, "potrf") == 0)
		results_option_add(row->options, "uplo", upper ? "u" : "l");
}

/* ---- one shape ---- */

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

/* Most plans of each kind: with the model's, the vendor's and the variations they all fit into
 * MEASURE_CANDIDATES. */
enum { FP32_PLANS = 10, SPLIT_PLANS = 5 };

static bool wanted_math(const struct bench_request *request, const struct result *row)
{
	bool ours = strcmp(row->variant, "gpu") == 0 || strcmp(row->variant, "hybrid") == 0;

	return !ours || !request->math[0] || strcmp(request->math, math_name[row->math]) == 0;
}

/* Whether ours of split operands are worth timing: updates on the GPU, panels there. */
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
		count += b->profile && cases_model_plan(b->profile, shape, false, math, &row[count]);
	}
	return count;
}

static bool chosen_alone(const struct benching *b)
{
	return b->request->chosen && b->measure->executor[0] && b->profile;
}

/* Where also the model's choices alone have beside them what each optimization is worth, the panels
 * on the host, and the matrix in host memory. */
static bool is_studied(const struct benching *b, const struct bench_shape *shape)
{
	enum { MIDDLE = 4096, LARGE = 8192 };

	return !chosen_alone(b) || (shape->precision == SINGLE && shape->m == shape->n &&
	                                   (shape->n == MIDDLE || shape->n == LARGE));
}

static size_t list_chosen(
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
	bool cuda = measure->executor[0] != NULL;
	size_t count = cases_plans(
	        shape, measure_executor_names[cuda ? 0 : 1], MATH_FP32, row, FP32_PLANS);

	for (int hybrid = 0; hybrid < 2 && cuda && b->profile; hybrid++)
		count += cases_model_plan(b->profile, shape, hybrid, MATH_FP32, &row[count]);
	if (cuda) {
		count = add_split(b, shape, row, ablations_from_host(b->profile, row, count));
		row[count++] = cases_default(measure->executor[0], shape);
	}
	return count;
}

/* Of the model's choices alone the host is beside the squares that take it a second or two. */
static bool beside_host(const struct benching *b, const struct bench_shape *shape)
{
	enum { LARGEST = 4096 };

	if (!b->measure->executor[1] || !cases_on_host(shape))
		return false;
	return !chosen_alone(b) || (shape->m == shape->n && shape->m <= LARGEST);
}

static size_t list_rows(
        const struct benching *b, const struct bench_shape *shape, struct result *row)
{
	const struct measure *measure = b->measure;
	size_t count = chosen_alone(b) ? list_chosen(b, shape, row) : list_ours(b, shape, row);
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

static void measure_one(struct benching *b, const struct bench_shape *shape)
{
	struct measure *measure = b->measure;
	struct executor *executor = measure->executor[measure->executor[0] ? 0 : 1];
	struct result row[MEASURE_CANDIDATES];
	struct results *rejected = results_new();

	msg_progress("%s %c %" PRId64 " x %" PRId64, shape->operation, (char)shape->precision,
	        shape->m, shape->n);
	size_t count = list_rows(b, shape, row);
	measure->plan.ld = shape->m;
	if (count)
		count = screening_choose(measure, executor, row, count, rejected);
	if (measure->executor[0] && is_studied(b, shape))
		count = ablations_without(executor, b->profile, b->results, row, count);
	count = ablations_upper(b->results, row, count);
	if (count && measure_whole(measure, executor, row, count, b->results)) {
		for (size_t i = 0; i < rejected->count; i++)
			results_add(b->results, &rejected->row[i]);
		measure_save(b->results, b->path);
	}
	results_free(rejected);
}

/* ---- panels ---- */

static void measure_one_panel(struct benching *b, const struct bench_shape *shape)
{
	struct measure *measure = b->measure;
	int chosen = measure->executor[0] ? 0 : 1;
	struct result row[MEASURE_CANDIDATES];
	size_t count = 0;

	for (const char *const *v = bench_variants(measure_executor_names[chosen]); *v; v++) {
		if (strcmp(*v, "cusolver") == 0 && !measure->vendor)
			continue;
		row[count] = new_row(shape, *v, measure_executor_names[chosen]);
		row[count].nb = shape->n;
		if (!results_find(b->results, &row[count]))
			count++;
	}
	measure->plan.ld = shape->m; /* as in the table this is compared with */
	msg_progress("panel %" PRId64 " x %" PRId64, shape->m, shape->n);
	if (count && measure_panel(measure, measure->executor[chosen], row, count, b->results))
		measure_save(b->results, b->path);
}

/* ---- parts ---- */

static void measure_one_part(struct benching *b, const struct bench_shape *shape)
{
	msg_progress("%s %" PRId64 " x %" PRId64, shape->operation, shape->m, shape->n);
	if (measure_parts(b->measure, b->profile, shape->operation, shape->m, shape->n, b->results))
		measure_save(b->results, b->path);
}

/* ---- errors ---- */

static void measure_one_errors(struct benching *b, const struct bench_shape *shape,
        bool (*measure)(struct measure *, int64_t n, struct results *))
{
	msg_progress("errors of %" PRId64 " x %" PRId64, shape->m, shape->n);
	if (measure(b->measure, shape->n, b->results))
		measure_save(b->results, b->path);
}

/* ---- Gram-Schmidt ---- */

/* Matrices of which one run takes seconds: of each form one, without an interval. */
static const double gram_long[] = {2, 0.5}; /* seconds; quick */

static void measure_one_gram_schmidt(struct benching *b, const struct bench_shape *shape)
{
	const double usual = b->measure->plan.long_seconds;

	msg_progress("gramschmidt %c %" PRId64 " x %" PRId64, (char)shape->precision, shape->m,
	        shape->n);
	b->measure->plan.ld = shape->m;
	b->measure->plan.long_seconds = gram_long[b->measure->common.quick];
	if (measure_gram_schmidt(
	            b->measure, b->profile, shape->precision, shape->m, shape->n, b->results))
		measure_save(b->results, b->path);
	b->measure->plan.long_seconds = usual;
}

/* All shapes of blocks of threads for a square, a few as the matrix shrinks. */
static void measure_one_gram_kernel(struct benching *b, const struct bench_shape *shape)
{
	msg_progress("%s %" PRId64 " x %" PRId64, shape->operation, shape->m, shape->n);
	if (measure_gram_kernels(
	            b->measure, b->profile, shape->m, shape->n, shape->m == shape->n, b->results))
		measure_save(b->results, b->path);
}

/* ---- all ---- */

static bool wanted(const struct benching *b, const struct bench_shape *shape)
{
	const struct bench_request *request = b->request;

	return (!request->only[0] || strcmp(request->only, shape->operation) == 0) &&
	       shape->m >= request->smallest && shape->m <= request->largest &&
	       shape->n <= request->largest;
}

int measure_bench(struct measure *measure, const struct bench_request *request)
{
	struct benching b = {.measure = measure, .request = request};
	struct bench_shape *shapes;
	size_t count = request->chosen ? cases_largest_first(&shapes) : cases_bench(&shapes),
	       late = 0;
	enum paper_op part;

	b.path = xasprintf("%s/bench.tsv", measure->common.output);
	measure_open(measure);
	b.results = measure_start(measure, b.path, NULL);
	char *source = xasprintf("%s/profile.tsv", measure->common.output);
	struct fault fault;
	b.profile = profile_read(source, &fault);
	free(source);
	b.start = clock_now();
	for (size_t i = 0; i < count && !*measure->plan.stop; i++) {
		if (!wanted(&b, &shapes[i]))
			continue;
		if (clock_now() - b.start > measure->budget)
			late++;
		else if (strcmp(shapes[i].operation, "panel_getrf") == 0)
			measure_one_panel(&b, &shapes[i]);
		else if (strcmp(shapes[i].operation, "gramschmidt") == 0)
			measure_one_gram_schmidt(&b, &shapes[i]);
		else if (strcmp(shapes[i].operation, "lawn_errors") == 0)
			measure_one_errors(&b, &shapes[i], measure_lawn_errors);
		else if (strcmp(shapes[i].operation, "kind_errors") == 0)
			measure_one_errors(&b, &shapes[i], measure_kind_errors);
		else if (strcmp(shapes[i].operation, "gram_kernels") == 0)
			measure_one_gram_kernel(&b, &shapes[i]);
		else if (paper_op_find(shapes[i].operation, &part))
			measure_one_part(&b, &shapes[i]);
		else
			measure_one(&b, &shapes[i]);
	}
	msg_progress_end();
	if (b.results->count) {
		bench_print(b.results, stdout);
		measure_say(measure, b.results, b.path, clock_now() - b.start);
	}
	bool breakdown =
	        request->only[0] ? strcmp(request->only, "breakdown") == 0 : !request->chosen;
	if (breakdown && b.profile)
		measure_breakdown(measure, request, b.profile);
	else if (breakdown)
		msg_warn("no breakdown of times, which needs the model's plans: %s; make probe "
		         "writes it",
		        fault.text);
	if (late)
		msg_warn("the time of %.0f s is spent: %zu shapes are not measured; the same "
		         "command goes on",
		        measure->budget, late);
	results_free(b.results);
	profile_free(b.profile);
	free(shapes);
	free(b.path);
	return measure->failed || *measure->plan.stop ? EXIT_MEASURE_FAILED : EXIT_DONE;
}
