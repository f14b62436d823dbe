/* SPDX-License-Identifier: MIT */
/* Products and Gram-Schmidt's kernels in a row: the lists, their times on the host executor, which
 * result is not right; what the model makes of products; how a form stands in a row. */
#include "tests/tap.h"
#include "tests/model/model_profile.h"

#include "factor/model/predictions/model_product.h"
#include "factor/validation/papers/gram_cases.h"
#include "factor/validation/papers/gram_kernels.h"
#include "factor/validation/products.h"

#include <stdlib.h>

static size_t repeated(struct result *rows, size_t count)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		struct results earlier = {.row = rows, .count = i};
		found += results_find(&earlier, &rows[i]) != NULL;
	}
	return found;
}

static void test_list(void)
{
	struct result *rows;
	const size_t count = cases_products(false, NULL, &rows);
	size_t own = 0, powers = 0, lost = 0;

	for (size_t i = 0; i < count; i++) {
		const struct product p = product_of(&rows[i]);
		own += p.gemv && !p.blas_only;
		powers += (p.m & (p.m - 1)) == 0 || (p.n & (p.n - 1)) == 0;
		lost += p.calls < 1 || p.precision != rows[i].precision ||
		        p.gemv != (rows[i].k == 0) || !results_is_product(&rows[i]);
	}
	ok(own == 24, "our gemv in six shapes, both precisions, plain and transposed");
	ok(powers == 0, "no size is one that the probes use");
	ok(lost == 0, "a row says all of its product");
	ok(repeated(rows, count) == 0, "no case is there twice");
	free(rows);
}

static void test_gram_list(struct result *rows, size_t count, const char *name, size_t wanted)
{
	size_t lost = 0;

	for (size_t i = 0; i < count; i++) {
		const struct gram_kernel k = gram_kernel_of(&rows[i]);
		const bool shaped = k.shape.access != GRAM_OWN;
		lost += !results_is_gram_kernel(&rows[i]) || k.calls < 2 || k.m != rows[i].m ||
		        k.n != rows[i].n || k.k != rows[i].k ||
		        shaped != (strstr(rows[i].options, "shape=") != NULL) ||
		        (shaped && !gram_shape_allowed(k.shape));
	}
	ok(count == wanted, "%s: %zu cases", name, count);
	ok(lost == 0, "%s: a row says all of its kernel", name);
	ok(repeated(rows, count) == 0, "%s: no case is there twice", name);
	free(rows);
}

/* 21 shapes, three accesses, two kernels; six of atomic additions; three passes of ours; the
 * blocked update. */
static void test_gram_lists(void)
{
	struct result *rows;
	size_t count = gram_kernels_documented(8192, 8192, true, &rows);

	test_gram_list(rows, count, "the square", 21 * 3 * 2 + 6 + 3 + 3 * 2);
	count = gram_kernels_documented(8192, 64, false, &rows);
	test_gram_list(rows, count, "fewer columns", 9 + 3);
	count = gram_kernels_documented(256, 8192, false, &rows);
	test_gram_list(rows, count, "few rows", 3 * 2 + 2 + 3);
	count = gram_kernels_held_out(false, NULL, &rows);
	test_gram_list(rows, count, "held out", 2 * (9 * 3 * 2 + 3 + 2));
}

static void is_timed(bool ran, const struct candidate *c, const char *what)
{
	ok(ran && !c->failed && c->residual < 30 && c->seconds.value > 0, "%s is timed and right",
	        what);
	if (c->note[0])
		diag("%s", c->note);
}

/* Right results pass; those of a product with another operand do not. */
static void test_times(void)
{
	static const volatile sig_atomic_t go = 0;
	const struct timing_plan plan = {
	        .warm_seconds = 1e-4, .max_seconds = 1e-2, .target = 0.5, .seed = 7, .stop = &go};
	const struct product products[] = {
	        {.precision = SINGLE, .m = 50, .n = 41, .k = 33, .calls = 3},
	        {.precision = DOUBLE, .m = 50, .n = 3, .k = 1, .calls = 1},
	        {.gemv = true, .precision = SINGLE, .m = 90, .n = 17, .calls = 2},
	        {.gemv = true, .precision = DOUBLE, .m = 9, .n = 70, .calls = 2},
	        {.gemv = true,
	                .trans = TRANSPOSED,
	                .precision = DOUBLE,
	                .m = 90,
	                .n = 17,
	                .calls = 2}};
	const struct gram_kernel kernels[] = {
	        {.step = GRAM_DOTS, .precision = SINGLE, .m = 90, .n = 17, .calls = 3},
	        {.step = GRAM_UPDATE, .precision = DOUBLE, .m = 90, .n = 17, .calls = 2},
	        {.step = GRAM_FUSED, .precision = SINGLE, .m = 301, .n = 150, .calls = 2},
	        {.step = GRAM_UPDATE, .k = 5, .precision = SINGLE, .m = 70, .n = 9, .calls = 2}};
	struct fault fault = {.text = ""};
	struct executor *e = executor_host_new(&fault);
	struct candidate c;

	for (size_t i = 0; i < ARRAY_LEN(products); i++)
		is_timed(timing_products(e, &products[i], &plan, &c, 1, &fault), &c, "a product");
	for (size_t i = 0; i < ARRAY_LEN(kernels); i++)
		is_timed(timing_gram_kernels(e, &kernels[i], &plan, &c, 1, &fault), &c, "a kernel");
	executor_free(e);
}

static void test_forms(void)
{
	static const struct {
		struct gram_way way;
		const char *form;
	} cases[] = {{{"cublas", 0, NULL}, "blas"}, {{"openblas", 0, NULL}, "blas"},
	        {{"fused", 0, NULL}, "fused"}, {{"wide", 0, "512x1"}, "wide=512x1"}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct result row = gram_case(&cases[i].way, "cuda", SINGLE, 100, 50);
		char form[32];
		gram_form(&row, form);
		ok(results_is_gram(&row) && strcmp(form, cases[i].form) == 0, "%s is %s",
		        row.variant, form);
	}
}

/* On the synthetic profile a call is queued in 2.75 us, longer than the 0.9 us that the device
 * takes for 9 million words in L2; the wait is 5. */
static void test_costs(void)
{
	struct profile *p = synthetic(0.01);
	const struct product gemv = {
	        .gemv = true, .precision = SINGLE, .m = 3000, .n = 3000, .calls = 10};
	struct prediction made;

	add_blocks(p, 0.01);
	add_written(p, "gpu.dram.read", 2e13, 0.01);
	ok(model_product_predict(p, &gemv, 2, &made), "gemv is estimated");
	is_real(made.seconds * 1e6, (10 * 2.75 + 0.9 + 5) / 10, 1e-9, "the calls, and one wait");
	ok(made.low < made.seconds && made.seconds < made.high &&
	                regime_is_timing(made.model.regime),
	        "with an interval, from timings");
	ok(model_product_predict(p, &gemv, 0, &made), "the bound");
	is_real(made.seconds * 1e6, 18e6 / 1e7, 1e-9, "is the slower of arithmetic and traffic");
	profile_free(p);
}

int main(void)
{
	test_list();
	test_gram_lists();
	test_forms();
	test_times();
	test_costs();
	return finish();
}
