/* SPDX-License-Identifier: MIT */
/* LU, QR and Cholesky of matrices with more than 2^31 elements, in single precision, by the
 * residual of random vectors. (Leading dimensions beyond that: test_fathom_large_gpu.) */
#include "large_test.h"

#include <inttypes.h>

static void test(struct executor *e, enum operation operation, int64_t m, int64_t n)
{
	const struct whole whole = {.operation = operation, .uplo = LOWER};
	struct memory memory = {.e = e, .good = true};
	struct whole_check check = {.residual = NAN};
	char name[80];

	snprintf(name, sizeof name, "%s of %" PRId64 " x %" PRId64 ", 2^31 elements and more",
	        operation_name[operation], m, n);
	if (!enough_memory(m, n)) {
		skip(name, "too little memory is free");
		return;
	}
	const bool good = factorize(&memory, &whole, m, n, random_fill, &check);
	if (!ok(good && check.passed, "%s: residual %.3g", name, check.residual) && !good)
		diag("%s", e->fault.text);
	release_all(&memory);
}

int main(void)
{
	/* just above 2^31 elements: tall, wide, square */
	static const int64_t shapes[][2] = {
	        {(1 << 21) + 16, 1032}, {1032, (1 << 21) + 16}, {46352, 46352}};
	struct fault fault;
	if (test_small())
		skip_all("a small run has no matrices of 2^31 elements");
	struct executor *e = executor_cuda_new("0", &fault);

	if (!e)
		skip_all(fault.text);
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		test(e, GETRF, shapes[i][0], shapes[i][1]);
		test(e, GEQRF, shapes[i][0], shapes[i][1]);
	}
	test(e, POTRF, shapes[2][0], shapes[2][1]);
	executor_free(e);
	return finish();
}
