/* SPDX-License-Identifier: MIT */
/* The questions that every what-if is put to: panels, factorizations with their default plans,
 * products, QR updates and Gram-Schmidt. */
#pragma once

#include "factor/algorithms/panel_getrf.h"
#include "factor/algorithms/plan_default.h"
#include "factor/algorithms/product.h"
#include "factor/model/predictions/model_factor.h"
#include "factor/model/predictions/model_gram_schmidt.h"
#include "factor/model/predictions/model_update.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_ANSWERS = 256 };

/* The questions' seconds, in their order, and their names. */
struct answers {
	double seconds[MOST_ANSWERS];
	char name[MOST_ANSWERS][64];
	size_t count;
};

static void add(struct answers *a, double seconds, const char *what, int64_t m, int64_t n,
        enum precision precision)
{
	a->seconds[a->count] = seconds;
	snprintf(a->name[a->count++], sizeof a->name[0], "%s %d x %d %c", what, (int)m, (int)n,
	        (char)precision);
}

static void ask_panels(const struct profile *p, struct answers *a)
{
	static const int64_t shape[][2] = {
	        {64, 64}, {512, 32}, {2048, 64}, {8192, 128}, {20000, 96}};

	for (size_t i = 0; i < ARRAY_LEN(shape); i++)
		for (int wide = 0; wide < 2; wide++)
			for (const char *const *v = panel_getrf_variants; *v; v++)
				add(a,
				        model_seconds_without(p, MODEL_CUDA, *v, shape[i][0],
				                shape[i][1], wide ? DOUBLE : SINGLE, 0),
				        *v, shape[i][0], shape[i][1], wide ? DOUBLE : SINGLE);
}

static double factor_seconds(const struct profile *p, enum operation operation,
        struct factor_question asked, bool hybrid)
{
	struct executor *e = model_factor_executor(p, MODEL_CUDA, &asked, 2);
	struct default_plan *plan = xmalloc(sizeof *plan);

	plan_default(e, operation, asked.m, asked.n, asked.precision, hybrid, plan);
	asked.plan = &plan->plan;
	const double seconds = model_factor_run(e, &asked) ? executor_model_seconds(e) : NAN;
	executor_free(e);
	free(plan);
	return seconds;
}

/* In every math, with panels on the host, and from host memory. */
static void ask_factorizations(const struct profile *p, struct answers *a)
{
	static const char *const name[] = {"getrf", "geqrf", "potrf"};
	static const int64_t side[] = {300, 1500};
	static const struct {
		enum precision precision;
		enum math math;
		bool hybrid, from_host;
	} way[] = {{SINGLE, MATH_FP32, false, false}, {DOUBLE, MATH_FP32, false, false},
	        {SINGLE, MATH_3XTF32, false, false}, {SINGLE, MATH_3XFP16, false, false},
	        {SINGLE, MATH_FP32, true, false}, {DOUBLE, MATH_FP32, true, true}};

	for (enum operation o = GETRF; o < OPERATION_COUNT; o++)
		for (size_t i = 0; i < ARRAY_LEN(side); i++)
			for (size_t w = 0; w < ARRAY_LEN(way); w++) {
				const struct factor_question asked = {.operation = name[o],
				        .m = side[i],
				        .n = side[i],
				        .precision = way[w].precision,
				        .uplo = LOWER,
				        .math = way[w].math,
				        .from_host = way[w].from_host};
				add(a, factor_seconds(p, o, asked, way[w].hybrid), name[o], side[i],
				        side[i], way[w].precision);
			}
}

static void ask_products(const struct profile *p, struct answers *a)
{
	static const int64_t side[] = {100, 1000};

	for (size_t i = 0; i < ARRAY_LEN(side); i++)
		for (int way = 0; way < 4; way++) {
			const struct product product = {.gemv = way % 2,
			        .blas_only = way / 2,
			        .precision = SINGLE,
			        .m = side[i],
			        .n = side[i],
			        .k = side[i],
			        .calls = 10};
			const struct product_data shapes = product_shapes(&product);
			struct executor *e = executor_model_new(p, MODEL_CUDA, 2);
			const bool good = product_run(e, &product, &shapes, product.calls);
			add(a, good ? executor_model_seconds(e) : NAN, way % 2 ? "gemv" : "gemm",
			        side[i], side[i], SINGLE);
			executor_free(e);
		}
}

static void ask_updates(const struct profile *p, struct answers *a)
{
	for (int change = QR_REMOVE_COLUMNS; change <= QR_MODIFY; change++) {
		const struct update_question asked = {.change = (enum qr_change)change,
		        .kept = Q_FULL,
		        .m = 600,
		        .n = 300,
		        .k = 10,
		        .p = 20,
		        .sides = 1,
		        .precision = SINGLE};
		struct prediction made;
		model_update_predict(p, MODEL_CUDA, &asked, &made);
		add(a, made.seconds, qr_change_name[change], 600, 300, SINGLE);
	}
}

static void ask_gram(const struct profile *p, struct answers *a)
{
	static const char *const form[] = {"fused", "kernels", "blocked"};

	for (size_t f = 0; f < ARRAY_LEN(form); f++) {
		const struct gram_question asked = {.form = form[f],
		        .nb = f == 2 ? 16 : 0,
		        .m = 4000,
		        .n = 60,
		        .precision = SINGLE};
		struct prediction made;
		model_gram_schmidt_predict(p, MODEL_CUDA, &asked, 2, false, &made);
		add(a, made.seconds, form[f], 4000, 60, SINGLE);
	}
}

static void ask_all(const struct profile *p, struct answers *a)
{
	a->count = 0;
	ask_panels(p, a);
	ask_factorizations(p, a);
	ask_products(p, a);
	ask_updates(p, a);
	ask_gram(p, a);
}
