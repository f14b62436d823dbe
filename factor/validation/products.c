/* SPDX-License-Identifier: MIT */
#include "products.h"
#include "predicted.h"

#include "factor/kernels/gemm/gemm.h"
#include "lib/base/msg.h"
#include "factor/model/predictions/model_product.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool results_is_product(const struct result *row)
{
	return strcmp(row->operation, "gemv") == 0 || strcmp(row->operation, "gemm") == 0;
}

struct product product_of(const struct result *row)
{
	return (struct product){.gemv = strcmp(row->operation, "gemv") == 0,
	        .blas_only = strcmp(row->variant, "cublas") == 0,
	        .trans = result_has_value(row, "trans", "t") ? TRANSPOSED : PLAIN,
	        .precision = row->precision,
	        .m = row->m,
	        .n = row->n,
	        .k = row->k,
	        .lda = result_lda(row),
	        .calls = results_calls(row)};
}

/* ---- the list ---- */

/* Calls for a run of about two milliseconds; more than MOST are not worth queueing. */
static int64_t calls_of(const struct product *p)
{
	enum { MOST = 64 };
	static const double bytes = 8e9, flops = 1e11; /* per run */
	const double wanted = p->gemv ? bytes / product_bytes(p) : flops / product_flops(p);

	return (int64_t)fmax(1, fmin(wanted, MOST));
}

static void add(struct results *list, const struct product *p)
{
	struct result row = result_new(p->gemv ? "gemv" : "gemm", p->blas_only ? "cublas" : "own",
	        "cuda", p->precision, p->m, p->n);

	row.k = p->k;
	snprintf(row.plan, sizeof row.plan, "calls=%" PRId64, calls_of(p));
	if (p->gemv)
		results_option_add(row.options, "trans", p->trans == TRANSPOSED ? "t" : "n");
	results_add(list, &row);
}

static void add_gemv(struct results *list, enum precision precision, int64_t m, int64_t n)
{
	for (enum trans trans = PLAIN; trans <= TRANSPOSED; trans++)
		add(list, &(struct product){.gemv = true,
		                  .trans = trans,
		                  .precision = precision,
		                  .m = m,
		                  .n = n});
}

/* Our kernel too where the executor takes it. */
static void add_gemm(
        struct results *list, enum precision precision, int64_t m, int64_t n, int64_t k)
{
	struct product p = {.blas_only = true, .precision = precision, .m = m, .n = n, .k = k};

	add(list, &p);
	p.blas_only = false;
	if (gemm_is_ahead(&tuning_hopper, precision, m, n, k))
		add(list, &p);
}

static void add_drawn(const struct draw *draw, struct results *list)
{
	struct drawn_shape shape[DRAW_SHAPES];

	for (int d = 0; d < 2; d++) {
		const enum precision precision = d ? DOUBLE : SINGLE;
		size_t count = draw_shapes(draw, "gemv", "cuda", precision, shape);
		for (size_t i = 0; i < count; i++)
			add_gemv(list, precision, shape[i].m, shape[i].n);
		count = draw_shapes(draw, "gemm", "cuda", precision, shape);
		for (size_t i = 0; i < count; i++)
			add_gemm(list, precision, shape[i].m, shape[i].n, shape[i].k);
	}
	draw_mark(draw, list, 0); /* predictions depend on the leading dimension */
}

size_t cases_products(bool quick, const struct draw *draw, struct result **rows)
{
	static const int64_t gemv_shape[][2] = {{1000, 1000}, {3000, 3000}, {5555, 5555},
	        {10007, 10007}, {30000, 500}, {500, 30000}};
	static const int64_t gemm_shape[][2] = {{1000, 1000}, {3000, 3000}, {5555, 5555},
	        {10007, 10007}, {1000, 100}, {3000, 100}, {5555, 200}, {10007, 100}, {10007, 200}};
	struct results list = {0};

	if (draw)
		add_drawn(draw, &list);
	for (size_t i = 0; i < ARRAY_LEN(gemv_shape) && !quick && !draw; i++)
		for (int d = 0; d < 2; d++)
			add_gemv(&list, d ? DOUBLE : SINGLE, gemv_shape[i][0], gemv_shape[i][1]);
	for (size_t i = 0; i < ARRAY_LEN(gemm_shape) && !quick && !draw; i++)
		for (int d = 0; d < 2; d++)
			add_gemm(&list, d ? DOUBLE : SINGLE, gemm_shape[i][0], gemm_shape[i][0],
			        gemm_shape[i][1]);
	if (quick && !draw) {
		add_gemv(&list, SINGLE, 3000, 3000);
		add_gemm(&list, SINGLE, 3000, 3000, 100);
	}
	*rows = list.row;
	return list.count;
}

/* ---- predictions ---- */

static bool predict(const struct profile *profile, int level, struct result *row)
{
	const struct product product = product_of(row);
	struct prediction made = {0};

	return predicted_fill(row, &made, model_product_predict(profile, &product, level, &made));
}

size_t predict_products(
        struct results *results, const struct profile *profile, bool quick, const struct draw *draw)
{
	struct result *rows;
	size_t count = cases_products(quick, draw, &rows);

	return predicted_all(results, profile, rows, count, predict);
}
