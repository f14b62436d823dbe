/* SPDX-License-Identifier: MIT */
/* Measures the vendor by all of its algorithms, each a row of its own, and our code by a few block
 * widths and the model's choice. A run or two of each screen the candidates that are timed. */
#include "measure.h"

#include "lib/base/msg.h"
#include "factor/validation/cases.h"
#include "factor/validation/papers/lawn_plan.h"
#include "ablations.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct result bench_row(const struct bench_shape *shape, const char *variant, const char *executor)
{
	return result_new(
	        shape->operation, variant, executor, shape->precision, shape->m, shape->n);
}

struct result bench_factorization(
        const struct bench_shape *shape, const char *variant, const char *executor, bool upper)
{
	struct result row = bench_row(shape, variant, executor);

	if (strcmp(shape->operation, "potrf") == 0)
		results_option_add(row.options, "uplo", upper ? "u" : "l");
	return row;
}

/* ---- candidates of one shape ---- */

static size_t add_vendor(
        const struct measure *m, const struct bench_shape *shape, struct result *row)
{
	bool lu = strcmp(shape->operation, "getrf") == 0;
	bool cholesky = strcmp(shape->operation, "potrf") == 0;
	size_t count = 0;

	for (int upper = 0; upper <= cholesky; upper++)
		for (int a = 0; a < (lu ? VENDOR_ALGORITHMS : VENDOR_ALG_1); a++) {
			row[count] = bench_factorization(shape, "cusolver", "cuda", upper);
			results_option_add(row[count++].options, "alg", vendor_algorithm_name[a]);
		}
	if (m->emulates[shape->precision == DOUBLE])
		row[count++] = bench_factorization(shape, VENDOR_EMULATED, "cuda", false);
	return count;
}

/* Most plans of each kind: with the model's, the vendor's and the ablations all fit into
 * MEASURE_CANDIDATES. */
enum { FP32_PLANS = 10, SPLIT_PLANS = 5 };

static bool wanted_math(const struct bench_request *request, const struct result *row)
{
	bool ours = strcmp(row->variant, "gpu") == 0 || whole_panels_on_host(row->variant);

	return !ours || !request->math[0] || double_alone(request) ||
	       strcmp(request->math, math_name[row->math]) == 0;
}

/* Whether factorizations with split operands are timed: updates and panels on the GPU. */
static bool splits(const struct measure *m, const struct bench_shape *shape, enum math math)
{
	return cases_split(shape) && math_possible(m->executor[0], math);
}

static bool model_plans_only(const struct measure *m)
{
	return m->request.model_plans && m->executor[0] && m->profile;
}

/* Whether a shape also gets ablations and panels on the host; with --model-plans two squares do. */
static bool is_studied(const struct measure *m, const struct bench_shape *shape)
{
	enum { MIDDLE = 4096, LARGE = 8192 };

	return !model_plans_only(m) || (shape->precision == SINGLE && shape->m == shape->n &&
	                                       (shape->n == MIDDLE || shape->n == LARGE));
}

/* Whether LAWN 202's own plan is timed, alone and without its parts, and the matrix in host memory:
 * with --model-plans for powers of two, as the paper's figures have them. */
static bool is_lawn(const struct measure *m, const struct bench_shape *shape)
{
	return m->executor[0] && lawn_plan_has(shape) &&
	       (!model_plans_only(m) || (shape->n & (shape->n - 1)) == 0);
}

static size_t list_ours(
        const struct measure *m, const struct bench_shape *shape, struct result *row)
{
	const char *name;
	const bool cuda = measure_first(m, &name) == m->executor[0], all = !model_plans_only(m),
	           studied = is_studied(m, shape);
	size_t count = all ? cases_plans(shape, name, MATH_FP32, row, FP32_PLANS) : 0;

	if (!cuda)
		return count;
	count = ablations_gram(row, count);
	for (int hybrid = 0; hybrid <= studied && m->profile; hybrid++)
		count += cases_model_plan(m->profile, shape, hybrid, MATH_FP32, &row[count]);
	if (is_lawn(m, shape))
		row[count++] = lawn_plan_row(m->profile, shape, "cuda");
	if (studied || is_lawn(m, shape))
		count = ablations_from_host(m->profile, row, count);
	for (enum math math = MATH_3XTF32; math < MATHS; math++) {
		if (!splits(m, shape, math))
			continue;
		if (all)
			count += cases_plans(shape, "cuda", math, row + count, SPLIT_PLANS);
		if (m->profile)
			count += cases_model_plan(m->profile, shape, false, math, &row[count]);
	}
	row[count++] = cases_default(m->executor[0], shape);
	return count;
}

/* With --model-plans the host runs only squares that take it a second or two. */
static bool beside_host(const struct measure *m, const struct bench_shape *shape)
{
	enum { LARGEST = 4096 };

	if (!m->executor[1] || !cases_on_host(shape))
		return false;
	return !model_plans_only(m) || (shape->m == shape->n && shape->m <= LARGEST);
}

static void list_rows(struct measure *m, const struct bench_shape *shape)
{
	struct result row[MEASURE_CANDIDATES];
	size_t count = list_ours(m, shape, row);

	if (m->executor[0] && m->vendor)
		count += add_vendor(m, shape, row + count);
	if (beside_host(m, shape))
		row[count++] = bench_factorization(shape, "openblas", "host", false);
	for (size_t i = 0; i < count; i++)
		if (wanted_math(&m->request, &row[i]))
			measure_list(m, &row[i], NULL, false);
}

/* ---- screening ---- */

/* Block widths slower by this factor than the best of their variant in one run are not timed. */
static const double hopeless = 1.10;

static bool same_kind(const struct result *a, const struct result *b)
{
	return strcmp(a->variant, b->variant) == 0 && a->math == b->math &&
	       result_has(a, "from") == result_has(b, "from");
}

/* Its time over the best time of its kind. */
static double behind(const struct results *found, const struct result *one)
{
	double best = INFINITY;

	for (size_t i = 0; i < found->count; i++)
		if (same_kind(one, &found->row[i]))
			best = fmin(best, found->row[i].seconds.value);
	return one->seconds.value / best;
}

/* A first run may have loaded code: slow candidates run again, and the faster run counts. */
static void try_again(
        struct measure *screened, struct executor *executor, const struct result *listed)
{
	struct results *found = screened->results, *again = results_new();
	struct result some[MEASURE_CANDIDATES];
	size_t place[MEASURE_CANDIDATES], count = 0;

	for (size_t i = 0; i < found->count; i++)
		if (behind(found, &found->row[i]) > hopeless) {
			some[count] = listed[i];
			place[count++] = i;
		}
	screened->results = again;
	if (count && measure_rows(screened, time_whole, executor, some, count))
		for (size_t i = 0; i < count; i++)
			if (again->row[i].seconds.value < found->row[place[i]].seconds.value)
				found->row[place[i]].seconds = again->row[i].seconds;
	screened->results = found;
	results_free(again);
}

/* Of every kind (variant, math, place of the matrix) the listed plans near the best of a run or two
 * of each stay listed, with the seconds of the screening; the others go to `rejected`, with a note.
 */
static void screen(struct measure *measure, struct executor *executor, struct results *rejected)
{
	struct measure screened = *measure;
	struct results *found = screened.results = results_new();
	struct result *row = measure->row;

	screened.plan.screened = true;
	if (measure_rows(&screened, time_whole, executor, screened.row, screened.listed))
		try_again(&screened, executor, row);
	measure->listed = 0;
	for (size_t i = 0; i < found->count; i++) {
		struct result *one = &found->row[i];
		const double ratio = behind(found, one);
		/* From host memory only the best is timed. Failures stay, to be recorded. */
		const double limit = result_has(one, "from") ? 1 : hopeless;
		if (!(ratio > limit)) {
			row[measure->listed] = row[i];
			row[measure->listed++].seconds = one->seconds;
			continue;
		}
		snprintf(one->note, sizeof one->note,
		        "one run, not checked: %.0f %% behind the best of its kind",
		        100 * (ratio - 1));
		results_add(rejected, one);
	}
	results_free(found);
}

/* ---- all ---- */

/* True when rows are new. */
static bool measure_factorization(struct measure *m, const struct bench_shape *shape)
{
	struct executor *executor = measure_first(m, NULL);
	struct results *rejected = results_new();

	list_rows(m, shape);
	m->plan.ld = shape->m;
	if (m->listed)
		screen(m, executor, rejected);
	if (m->executor[0] && (is_studied(m, shape) || is_lawn(m, shape)))
		m->listed = ablations_without(executor, m->profile, m->results, m->row, m->listed);
	m->listed = ablations_upper(m->results, m->row, m->listed);
	bool any = measure_listed(m, time_whole, executor);
	if (any)
		results_append(m->results, rejected);
	results_free(rejected);
	return any;
}

static bool wanted(const struct bench_request *request, const struct bench_shape *shape)
{
	return (!request->only[0] || strcmp(request->only, shape->operation) == 0) &&
	       (!double_alone(request) || shape->precision == DOUBLE) &&
	       shape->m >= request->smallest && shape->m <= request->largest &&
	       shape->n <= request->largest && (!request->tall || shape->m >= 8 * shape->n);
}

/* Which precisions cuSOLVER can emulate here; the file's head says so. */
static void see_emulation(struct measure *m)
{
	static const enum precision both[] = {SINGLE, DOUBLE};

	for (int p = 0; p < 2 && m->vendor; p++) {
		struct fault fault = {.text = ""};
		m->emulates[p] = vendor_emulates(m->vendor, both[p], &fault);
		if (fault.text[0])
			msg_warn("emulated products are left out: %s", fault.text);
	}
	if (m->vendor)
		table_meta_set(m->results->table, "cusolver_emulates", "%s%s%s",
		        m->emulates[0] ? "single " : "", m->emulates[1] ? "double" : "",
		        m->emulates[0] || m->emulates[1] ? "" : "none");
}

void measure_bench(struct measure *m)
{
	const struct bench_request *request = &m->request;
	struct bench_shape *shape;
	size_t count = request->model_plans ? cases_largest_first(&shape) : cases_bench(&shape);

	size_t steps = 0, step = 0;

	see_emulation(m);
	for (size_t i = 0; i < count; i++)
		steps += wanted(request, &shape[i]);
	for (size_t i = 0; i < count; i++) {
		bool any;
		if (!wanted(request, &shape[i]) || !measure_in_time(m))
			continue;
		measure_progress(m, step++, steps, "%s %c %" PRId64 " x %" PRId64,
		        shape[i].operation, (char)shape[i].precision, shape[i].m, shape[i].n);
		if (!measure_others(m, &shape[i], &any))
			any = measure_factorization(m, &shape[i]);
		if (any)
			measure_save(m);
	}
	msg_progress_end();
	free(shape);
	if (request->only[0] ? strcmp(request->only, "breakdown") == 0 : !request->model_plans)
		measure_breakdown(m);
}
