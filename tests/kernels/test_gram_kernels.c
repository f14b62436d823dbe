/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt's kernels in a row: the lists, their times on the host executor, which result is not
 * right; and how a form stands in a row. */
#include "tests/tap.h"

#include "factor/validation/papers/gram_cases.h"
#include "factor/validation/papers/gram_kernels.h"

#include <stdlib.h>
#include <string.h>

static void test_list(struct result *rows, size_t count, const char *name, size_t wanted)
{
	size_t repeated = 0, lost = 0;

	for (size_t i = 0; i < count; i++) {
		const struct gram_kernel k = gram_kernel_of(&rows[i]);
		const bool shaped = k.shape.access != GRAM_OWN;
		lost += !results_is_gram_kernel(&rows[i]) || k.calls < 2 || k.m != rows[i].m ||
		        k.n != rows[i].n || k.k != rows[i].k ||
		        shaped != (strstr(rows[i].options, "shape=") != NULL) ||
		        (shaped && !gram_shape_allowed(k.shape));
		struct results earlier = {.row = rows, .count = i};
		repeated += results_find(&earlier, &rows[i]) != NULL;
	}
	ok(count == wanted, "%s: %zu cases", name, count);
	ok(lost == 0, "%s: a row says all of its kernel", name);
	ok(repeated == 0, "%s: no case is there twice", name);
	free(rows);
}

/* 21 shapes, three accesses, two kernels; three passes of ours; the blocked update. */
static void test_lists(void)
{
	struct result *rows;
	size_t count = gram_kernels_documented(8192, 8192, true, &rows);

	test_list(rows, count, "the square", 21 * 3 * 2 + 3 + 3 * 2);
	count = gram_kernels_documented(8192, 64, false, &rows);
	test_list(rows, count, "fewer columns", 9 + 3);
	count = gram_kernels_held_out(false, &rows);
	test_list(rows, count, "held out", 2 * (9 * 3 * 2 + 3 + 2));
}

static void test_times(void)
{
	static const volatile sig_atomic_t go = 0;
	const struct timing_plan plan = {
	        .warm_seconds = 1e-4, .max_seconds = 1e-2, .target = 0.5, .seed = 7, .stop = &go};
	const struct gram_kernel kernels[] = {
	        {.step = GRAM_DOTS, .precision = SINGLE, .m = 90, .n = 17, .calls = 3},
	        {.step = GRAM_UPDATE, .precision = DOUBLE, .m = 90, .n = 17, .calls = 2},
	        {.step = GRAM_FUSED, .precision = SINGLE, .m = 301, .n = 150, .calls = 2},
	        {.step = GRAM_UPDATE, .k = 5, .precision = SINGLE, .m = 70, .n = 9, .calls = 2}};
	struct fault fault = {""};
	struct executor *e = executor_host_new(&fault);

	for (size_t i = 0; e && i < ARRAY_LEN(kernels); i++) {
		struct candidate candidate;
		bool good = timing_gram_kernels(e, &kernels[i], &plan, &candidate, 1, &fault) &&
		            !candidate.failed && candidate.residual < 30 &&
		            candidate.seconds.value > 0;
		ok(good, "%s",
		        candidate.note[0] ? candidate.note : "a kernel is timed and checked");
	}
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

int main(void)
{
	test_lists();
	test_times();
	test_forms();
	return finish();
}
