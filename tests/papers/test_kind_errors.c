/* SPDX-License-Identifier: MIT */
/* Errors by kind of matrix: the matrices, and the table beside LAWN 202's. */
#include "factor/validation/papers/lawn_errors.h"
#include "factor/validation/matrices.h"
#include "tests/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, SEED = 5 };

static void test_fill(void)
{
	struct fault fault;
	struct executor *e = executor_host_new(&fault);
	static float data[N * N], want[N * N];
	const struct matrix a = {data, 0, N, N, N, SINGLE};
	double squares = 0;

	matrix_fill(want, N, N, N, SINGLE, MATRIX_GRADED_ROWS, SEED);
	ok(kind_errors_fill(e, "graded-rows", a, SEED) && memcmp(data, want, sizeof data) == 0,
	        "a kind of matrices.h");
	for (int k = 0; k < KIND_ERRORS; k++) {
		bool finite = kind_errors_fill(e, kind_errors_name[k], a, SEED);
		for (int i = 0; i < N * N; i++)
			finite = finite && isfinite(data[i]);
		ok(finite, "%s", kind_errors_name[k]);
	}
	kind_errors_fill(e, "condition-2", a, SEED);
	for (int i = 0; i < N * N; i++)
		squares += (double)data[i] * data[i];
	ok(squares > N / 4. && squares < N, "singular values from 1 to a half");
	ok(!kind_errors_fill(e, "round", a, SEED) && strstr(e->fault.text, "'round'"),
	        "no such kind: %s", e->fault.text);
	executor_free(e);
}

static const char inverse[] = "inverse"; /* in place of a kind */

static void add(struct results *results, const char *variant, enum math math, const char *kind,
        double error)
{
	struct result row = result_new(RESULTS_ERROR "getrf", variant, "cuda", SINGLE, 2048, 2048);

	row.math = math;
	row.seconds = (struct estimate){NAN, NAN, NAN, 0};
	row.residual = error;
	if (kind)
		results_option_add(row.options, kind == inverse ? "with" : "kind", kind);
	results_add(results, &row);
}

static char *printed(const struct results *results, void (*print)(const struct results *, FILE *))
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print(results, out);
	fclose(out);
	return text;
}

static void test_print(void)
{
	struct results *results = results_new();
	char kind[KIND_ERRORS_NAME];

	add(results, "gpu", MATH_FP32, "ties", 30);
	add(results, "gpu", MATH_3XTF32, "ties", 60);
	add(results, "cusolver", MATH_FP32, "ties", 40);
	add(results, "gpu", MATH_FP32, NULL, 7);
	add(results, "gpu", MATH_FP32, inverse, 9);
	ok(kind_errors_of(&results->row[0], kind) && strcmp(kind, "ties") == 0 &&
	                !kind_errors_of(&results->row[3], kind),
	        "a row's kind");
	char *kinds = printed(results, kind_errors_print),
	     *lawn = printed(results, lawn_errors_print);
	ok(strstr(kinds, "ties") && strstr(kinds, "0.75") && strstr(kinds, "1.50"),
	        "over the vendor's");
	ok(!strstr(strstr(kinds, "ties") + 4, "error_getrf"), "one line of a kind, none without");
	ok(strstr(lawn, " 7 ") && strstr(strstr(lawn, " 7 "), " 9 ") && !strstr(lawn, "30") &&
	                !strstr(lawn, "60"),
	        "LAWN 202's table has its own alone");
	free(kinds);
	free(lawn);
	results_free(results);
}

int main(void)
{
	test_fill();
	test_print();
	return finish();
}
