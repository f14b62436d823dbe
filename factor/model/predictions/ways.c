/* SPDX-License-Identifier: MIT */
#include "ways.h"

#include "factor/algorithms/geqrf.h"
#include "factor/algorithms/getrf.h"
#include "factor/algorithms/gram_schmidt.h"
#include "factor/algorithms/potrf.h"
#include "factor/algorithms/product.h"
#include "lib/base/cli.h"
#include "lib/base/msg.h"
#include "model_factor.h"
#include "model_gram_schmidt.h"
#include "model_product.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const way_operation_name[WAY_OPERATIONS] = {
        "getrf", "geqrf", "potrf", "gemm", "gemv", "gramschmidt"};

/* What the prediction rests on. */
static void take_model(const struct model *model, struct way *way)
{
	way->regime = regime_of_both(model->regime, NULL);
	model_simpler_text(model, way->simpler, sizeof way->simpler);
}

static void take(const struct prediction *made, bool good, struct way *way)
{
	way->seconds = good ? made->seconds : NAN;
	way->parts = made->parts;
	way->fault = made->fault;
	take_model(&made->model, way);
}

/* ---- factorizations, by the default plan ---- */

static bool is_factorization(const struct way_question *q)
{
	return q->operation <= WAY_POTRF;
}

/* The question that a way asks, with the plan that its executor chooses. */
static struct executor *ask_factor(const struct profile *profile, const struct way_question *q,
        const struct way *way, struct default_plan *plan, struct factor_question *asked)
{
	*asked = (struct factor_question){.operation = way_operation_name[q->operation],
	        .plan = &plan->plan,
	        .m = q->m,
	        .n = q->n,
	        .precision = q->precision,
	        .uplo = LOWER,
	        .math = way->math,
	        .from_host = q->from_host};
	struct executor *e = model_factor_executor(profile, MODEL_CUDA, asked, LEVEL_FULL);

	plan_default(e, (enum operation)q->operation, q->m, q->n, q->precision, way->hybrid, plan);
	return e;
}

/* The matrix and the workspace. */
static double factor_bytes(
        struct executor *e, const struct way_question *q, const struct plan *plan)
{
	const struct matrix a = {NULL, 0, q->m, q->n, q->m, q->precision};
	const int64_t work = q->operation == WAY_POTRF   ? potrf_work(e, plan, LOWER, a)
	                     : q->operation == WAY_GEQRF ? geqrf_work(e, plan, a)
	                                                 : getrf_work(e, plan, a);

	return (double)q->m * (double)q->n * (double)precision_bytes(q->precision) + (double)work;
}

/* False, with the reason, where a GPU has no room for so many bytes. */
static bool fits(const struct way_question *q, double bytes, struct way *way)
{
	char needed[32], there[32];

	if (!(q->memory > 0) || bytes <= q->memory)
		return true;
	way->seconds = way->parts.seconds = NAN;
	return fault_refuse(&way->fault, "takes %s, the GPU has %s",
	        cli_format_quantity(needed, sizeof needed, bytes, "B"),
	        cli_format_quantity(there, sizeof there, q->memory, "B"));
}

static void predict_factor(
        const struct profile *profile, const struct way_question *q, struct way *way)
{
	struct default_plan *plan = xmalloc(sizeof *plan);
	struct factor_question asked;
	struct executor *e = ask_factor(profile, q, way, plan, &asked);

	snprintf(way->detail, sizeof way->detail,
	        "blocks of up to %d columns, leaves of %d, look-ahead %d",
	        (int)plan_widest(&plan->plan, q->n), (int)plan->plan.leaf, plan->plan.lookahead);
	if (fits(q, factor_bytes(e, q, &plan->plan), way)) {
		if (model_factor_run(e, &asked))
			way->parts = executor_model_result(e);
		else
			way->parts.seconds = NAN;
		take_model(&executor_model_reader(e)->model, way);
		way->seconds = way->parts.seconds;
		if (isnan(way->seconds))
			way->fault = executor_model_fault(e);
	}
	executor_free(e);
	free(plan);
}

static void interval_of_factor(const struct profile *profile, const struct way_question *q,
        const struct way *way, struct prediction *made)
{
	struct default_plan *plan = xmalloc(sizeof *plan);
	struct factor_question asked;

	executor_free(ask_factor(profile, q, way, plan, &asked));
	model_factor_predict(profile, MODEL_CUDA, &asked, LEVEL_FULL, made);
	free(plan);
}

static size_t list_factor(const struct way_question *q, struct way *way)
{
	static const char *const place[] = {"panels on the GPU", "panels on the host"};
	size_t count = 0;

	for (enum math math = MATH_FP32; math < MATHS; math++)
		for (int hybrid = 0; hybrid < 2; hybrid++) {
			if (math != MATH_FP32 && (hybrid || q->precision == DOUBLE))
				continue;
			struct way *w = &way[count++];
			*w = (struct way){.math = math, .hybrid = hybrid};
			snprintf(w->name, sizeof w->name, "%s, %s",
			        q->precision == DOUBLE ? "fp64" : math_name[math], place[hybrid]);
		}
	return count;
}

/* ---- products ---- */

enum { CALLS = 64 };

static bool ask_product(const struct profile *profile, const struct way_question *q,
        const struct way *way, struct prediction *made)
{
	const struct product product = {.gemv = q->operation == WAY_GEMV,
	        .blas_only = way->blas_only,
	        .trans = q->trans,
	        .precision = q->precision,
	        .m = q->m,
	        .n = q->n,
	        .k = q->k,
	        .calls = CALLS};

	return model_product_predict(profile, &product, LEVEL_FULL, made);
}

static void predict_product(
        const struct profile *profile, const struct way_question *q, struct way *way)
{
	const double m = (double)q->m, n = (double)q->n, k = (double)q->k,
	             elements = q->operation == WAY_GEMV ? m * n + m + n : m * n + (m + n) * k;
	struct prediction made = {.seconds = NAN};

	if (!fits(q, elements * (double)precision_bytes(q->precision), way))
		return;
	const bool good = ask_product(profile, q, way, &made);
	take(&made, good, way);
}

static size_t list_product(struct way *way)
{
	for (int i = 0; i < 2; i++) {
		way[i] = (struct way){.blas_only = i};
		snprintf(way[i].name, sizeof way[i].name, i ? "cuBLAS" : "as fathom chooses");
	}
	return 2;
}

/* ---- Gram-Schmidt ---- */

static bool ask_gram(const struct profile *profile, const struct way_question *q,
        const struct way *way, bool interval, struct prediction *made)
{
	const struct gram_question asked = {
	        .form = way->form, .nb = way->nb, .m = q->m, .n = q->n, .precision = q->precision};

	return model_gram_schmidt_predict(profile, MODEL_CUDA, &asked, LEVEL_FULL, interval, made);
}

static void predict_gram(
        const struct profile *profile, const struct way_question *q, struct way *way)
{
	const double m = (double)q->m, n = (double)q->n;
	struct prediction made = {.seconds = NAN};

	if (!fits(q, (m * n + n * n) * (double)precision_bytes(q->precision), way))
		return;
	const bool good = ask_gram(profile, q, way, false, &made);
	take(&made, good, way);
	if (way->nb)
		snprintf(way->detail, sizeof way->detail, "blocks of %d columns", (int)way->nb);
}

static size_t list_gram(
        const struct profile *profile, const struct way_question *q, struct way *way)
{
	size_t count = 0;

	for (const char *const *form = gram_schmidt_forms; *form && count < MOST_WAYS; form++) {
		struct way *w = &way[count++];
		const struct gram_question asked = {
		        .form = *form, .m = q->m, .n = q->n, .precision = q->precision};
		*w = (struct way){.form = *form};
		snprintf(w->name, sizeof w->name, "%s", *form);
		if (gram_schmidt_in_blocks(*form))
			w->nb = max_int64(model_gram_schmidt_width(profile, MODEL_CUDA, &asked),
			        GRAM_NARROWEST);
	}
	return count;
}

/* ---- all ---- */

static void predict(const struct profile *profile, const struct way_question *q, struct way *way)
{
	(is_factorization(q)               ? predict_factor
	        : q->operation == WAY_GRAM ? predict_gram
	                                   : predict_product)(profile, q, way);
}

double way_seconds(
        const struct profile *profile, const struct way_question *q, const struct way *way)
{
	struct way again = *way;

	predict(profile, q, &again);
	return again.seconds;
}

void way_interval(const struct profile *profile, const struct way_question *q, struct way *way)
{
	struct prediction made = {.below = NAN, .above = NAN};

	if (is_factorization(q))
		interval_of_factor(profile, q, way, &made);
	else if (q->operation == WAY_GRAM)
		ask_gram(profile, q, way, true, &made);
	else
		ask_product(profile, q, way, &made);
	way->low = fmax(0, way->seconds - made.below);
	way->high = way->seconds + made.above;
}

const char *way_limiter(const struct way_question *q, const struct way *way)
{
	enum phase most = 0;

	if (!is_factorization(q))
		return term_name[way->parts.limiter];
	for (enum phase p = 1; p < PHASE_COUNT; p++)
		if (way->parts.phase[p] > way->parts.phase[most])
			most = p;
	return phase_name[most];
}

static int faster_first(const void *a, const void *b)
{
	const double x = ((const struct way *)a)->seconds, y = ((const struct way *)b)->seconds;

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return (x > y) - (x < y);
}

size_t ways_of(const struct profile *profile, const struct profile *by_hardware,
        const struct way_question *q, struct way way[MOST_WAYS])
{
	const size_t count = is_factorization(q)        ? list_factor(q, way)
	                     : q->operation == WAY_GRAM ? list_gram(profile, q, way)
	                                                : list_product(way);

	for (size_t i = 0; i < count; i++) {
		predict(profile, q, &way[i]);
		way[i].hardware = by_hardware && !isnan(way[i].seconds)
		                          ? way_seconds(by_hardware, q, &way[i])
		                          : NAN;
	}
	qsort(way, count, sizeof *way, faster_first);
	return count;
}

double way_flops(const struct way_question *q)
{
	const double m = (double)q->m, n = (double)q->n;

	if (is_factorization(q))
		return model_factor_flops(way_operation_name[q->operation], m, n);
	return 2 * m * n *
	       (q->operation == WAY_GEMM          ? (double)q->k
	               : q->operation == WAY_GRAM ? n
	                                          : 1);
}

const struct way_question way_example[WAY_EXAMPLES] = {
        {WAY_GETRF, 1024, 1024, 0, SINGLE, false, PLAIN, 0},
        {WAY_GETRF, 8192, 8192, 0, SINGLE, false, PLAIN, 0},
        {WAY_GETRF, 8192, 8192, 0, DOUBLE, false, PLAIN, 0},
        {WAY_GETRF, 8192, 8192, 0, SINGLE, true, PLAIN, 0},
        {WAY_GEQRF, 1024, 1024, 0, SINGLE, false, PLAIN, 0},
        {WAY_GEQRF, 8192, 8192, 0, SINGLE, false, PLAIN, 0},
        {WAY_GEQRF, 65536, 128, 0, SINGLE, false, PLAIN, 0},
        {WAY_POTRF, 1024, 1024, 0, SINGLE, false, PLAIN, 0},
        {WAY_POTRF, 8192, 8192, 0, SINGLE, false, PLAIN, 0},
        {WAY_GEMM, 8192, 8192, 8192, SINGLE, false, PLAIN, 0},
        {WAY_GEMM, 8192, 8192, 128, SINGLE, false, PLAIN, 0},
        {WAY_GEMV, 1024, 1024, 0, SINGLE, false, PLAIN, 0},
        {WAY_GEMV, 16384, 16384, 0, SINGLE, false, PLAIN, 0},
        {WAY_GRAM, 1000000, 64, 0, SINGLE, false, PLAIN, 0}};
