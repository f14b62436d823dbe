/* SPDX-License-Identifier: MIT */
#include "gram_cases.h"
#include "factor/validation/predicted.h"

#include "lib/base/msg.h"
#include "factor/model/predictions/model_gram_schmidt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool results_is_gram(const struct result *row)
{
	return strcmp(row->operation, "gramschmidt") == 0;
}

struct result gram_case(const struct gram_way *way, const char *executor, enum precision precision,
        int64_t m, int64_t n)
{
	struct result row = {.precision = precision,
	        .m = m,
	        .n = n,
	        .nb = way->nb,
	        .residual = NAN,
	        .orthogonality = NAN};

	snprintf(row.operation, sizeof row.operation, "gramschmidt");
	snprintf(row.variant, sizeof row.variant, "%s", way->variant);
	snprintf(row.executor, sizeof row.executor, "%s", executor);
	results_options(row.options, executor, NULL, 2);
	if (way->shape)
		results_option_add(row.options, "shape", way->shape);
	return row;
}

void gram_form(const struct result *row, char form[32])
{
	bool blas = strcmp(row->variant, "cublas") == 0 || strcmp(row->variant, "openblas") == 0;
	char shape[10] = "";
	bool shaped = results_option(row->options, "shape", shape, sizeof shape);

	snprintf(form, 32, "%.20s%s%s", blas ? "blas" : row->variant, shaped ? "=" : "", shape);
}

/* ---- the held-out list ---- */

struct size {
	enum precision precision;
	int64_t m, n;
};

static const struct gram_way ways[] = {{"cublas", 0, NULL}, {"kernels", 0, NULL},
        {"fused", 0, NULL}, {"blocked", 48, NULL}, {"block", 32, NULL}, {"block", 64, NULL},
        {"twice", 64, NULL}, {"direct", 0, NULL}, {"shared", 0, NULL}, {"wide", 0, NULL},
        {"wide", 0, "512x1"}};

/* Forms that are too slow, or do not fit, for a large matrix. */
static bool suits(const struct gram_way *way, const struct size *s)
{
	const double work = (double)s->m * (double)s->n * (double)s->n;
	const bool blocked = strcmp(way->variant, "blocked") == 0;

	if (blocked && s->m * precision_bytes(s->precision) > 32768)
		return false;
	return work < 1e11 || way->nb > 0;
}

static bool predict(const struct profile *profile, int level, struct result *row)
{
	return gram_predict(profile, level, level == 2, row);
}

size_t predict_gram(
        struct results *results, const struct profile *profile, const char *executor, bool quick)
{
	static const struct size sizes[] = {{SINGLE, 3000, 3000}, {SINGLE, 1000, 1000},
	        {SINGLE, 5555, 5555}, {SINGLE, 10007, 10007}, {SINGLE, 30000, 500},
	        {SINGLE, 12000, 2000}, {DOUBLE, 3000, 3000}};
	const size_t count = (quick ? 1 : ARRAY_LEN(sizes)) * ARRAY_LEN(ways);
	size_t refused = 0;

	msg_progress("gramschmidt: %zu cases", count);
#pragma omp parallel for ordered schedule(dynamic) reduction(+ : refused)
	for (size_t i = 0; i < count; i++) {
		const struct size *s = &sizes[i / ARRAY_LEN(ways)];
		const struct gram_way *way = &ways[i % ARRAY_LEN(ways)];
		struct result row = gram_case(way, executor, s->precision, s->m, s->n);
		struct results *levels = results_new();
		if (suits(way, s))
			refused += predicted_levels(levels, profile, &row, predict);
#pragma omp ordered
		results_append(results, levels);
		results_free(levels);
	}
	return refused;
}

bool gram_predict(const struct profile *profile, int level, bool interval, struct result *row)
{
	char form[32];
	gram_form(row, form);
	const struct gram_question question = {
	        .form = form, .nb = row->nb, .m = row->m, .n = row->n, .precision = row->precision};
	struct prediction made;
	bool ok = model_gram_schmidt_predict(profile,
	        strcmp(row->executor, "cuda") == 0 ? MODEL_CUDA : MODEL_HOST, &question, level,
	        interval, &made);

	return predicted_fill(row, &made, ok);
}
