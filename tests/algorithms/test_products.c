/* SPDX-License-Identifier: MIT */
/* Products in a row: the hold-out list, their times on the host executor, what the model makes of
 * them. */
#include "tests/tap.h"
#include "tests/model/model_profile.h"

#include "factor/model/predictions/model_product.h"
#include "factor/validation/products.h"

#include <stdlib.h>

static void test_list(void)
{
	struct result *rows;
	const size_t count = cases_products(false, &rows);
	size_t own = 0, repeated = 0, powers = 0, lost = 0;

	for (size_t i = 0; i < count; i++) {
		const struct product p = product_of(&rows[i]);
		own += p.gemv && !p.blas_only;
		powers += (p.m & (p.m - 1)) == 0 || (p.n & (p.n - 1)) == 0;
		lost += p.calls < 1 || p.precision != rows[i].precision ||
		        p.gemv != (rows[i].k == 0) || !results_is_product(&rows[i]);
		struct results earlier = {.row = rows, .count = i};
		repeated += results_find(&earlier, &rows[i]) != NULL;
	}
	ok(own == 24, "our gemv in six shapes, both precisions, plain and transposed");
	ok(powers == 0, "no size is one that the probes use");
	ok(lost == 0, "a row says all of its product");
	ok(repeated == 0, "no case is there twice");
	free(rows);
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
	struct fault fault = {""};
	struct executor *e = executor_host_new(&fault);

	for (size_t i = 0; e && i < ARRAY_LEN(products); i++) {
		struct candidate candidate;
		ok(timing_products(e, &products[i], &plan, &candidate, 1, &fault) &&
		                !candidate.failed && candidate.residual < 30 &&
		                candidate.seconds.value > 0,
		        "%s",
		        candidate.note[0] ? candidate.note : "a product is timed and checked");
	}
	executor_free(e);
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
	ok(made.low < made.seconds && made.seconds < made.high && made.model.surface,
	        "with an interval, from a surface");
	ok(model_product_predict(p, &gemv, 0, &made), "the bound");
	is_real(made.seconds * 1e6, 18e6 / 1e7, 1e-9, "is the slower of arithmetic and traffic");
	profile_free(p);
}

int main(void)
{
	test_list();
	test_times();
	test_costs();
	return finish();
}
