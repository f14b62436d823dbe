/* SPDX-License-Identifier: MIT */
/* Updates by split operands lose no more than a bit: the error of LU, QR and Cholesky is at most
 * twice that in fp32, also at orders where sums of one sign once lost more, and with the dominant
 * diagonal that made them so. */
#include "large_test.h"

#include <inttypes.h>

enum { ORDERS = 2 };
static const int64_t orders[ORDERS] = {9001, 12345};

/* Symmetric, uniform(-1, 1), with 2 n added to the diagonal: all sums of Cholesky's updates on it
 * have one sign. */
static bool dominant_fill(struct executor *e, const struct whole *whole, struct matrix a)
{
	const int64_t n = a.n;
	float *host = xmalloc((size_t)(n * n) * sizeof *host);

	(void)whole;
#pragma omp parallel for schedule(dynamic, 64)
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++)
			host[i + j * n] =
			        (float)(matrix_uniform(7, min_int64(i, j), max_int64(i, j)) +
			                (i == j ? 2.0 * (double)n : 0));
	const bool ok = e->ops->upload(e, host, n, a) && e->ops->sync(e);
	free(host);
	return ok;
}

/* The residual in that math; NaN with a diagnosis. */
static double residual(
        struct executor *e, enum operation operation, int64_t n, fill *numbers, enum math math)
{
	const struct whole whole = {.operation = operation, .uplo = LOWER, .math = math};
	struct memory memory = {.e = e, .good = true};
	struct whole_check check = {.residual = NAN};

	if (!factorize(&memory, &whole, n, n, numbers, &check))
		diag("%s", e->fault.text);
	release_all(&memory);
	return check.residual;
}

static void test(
        struct executor *e, enum operation operation, int64_t n, fill *numbers, const char *kind)
{
	double strict = NAN;

	for (int i = 0; i < MATHS; i++) {
		const enum math math = (enum math)i;
		char name[96];

		snprintf(name, sizeof name, "%s of order %" PRId64 ", %s, in %s",
		        operation_name[operation], n, kind, math_name[math]);
		if (!math_possible(e, math)) {
			skip(name, "the GPU or the build lacks this math");
			continue;
		}
		const double error = residual(e, operation, n, numbers, math);
		if (math == MATH_FP32)
			strict = error;
		ok(error <= 2 * strict, "%s: residual %.3g, at most twice %.3g", name, error,
		        strict);
	}
}

int main(void)
{
	struct fault fault;
	if (test_small())
		skip_all("a small run has no orders of thousands");
	struct executor *e = executor_cuda_new("0", &fault);

	if (!e)
		skip_all(fault.text);
	for (int i = 0; i < ORDERS; i++) {
		if (!enough_memory(orders[i], orders[i])) {
			skip("orders of thousands", "too little memory is free");
			continue;
		}
		test(e, GETRF, orders[i], random_fill, "random");
		test(e, GEQRF, orders[i], random_fill, "random");
		test(e, POTRF, orders[i], random_fill, "random");
		test(e, POTRF, orders[i], dominant_fill, "dominant diagonal");
	}
	executor_free(e);
	return finish();
}
