/* SPDX-License-Identifier: MIT */
/* LU, QR and Cholesky of matrices with more than 2^31 elements, in single precision, by the
 * residual of random vectors. (Leading dimensions beyond that: test_fathom_large_gpu.) */
#include "factor_test.h"

#include "factor/validation/check_whole.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>
#include <inttypes.h>

enum { MOST_MEMORY = 6 };

struct memory {
	struct executor *e;
	void *data[MOST_MEMORY];
	int count;
	bool good;
};

static void *take(struct memory *memory, int64_t bytes)
{
	void **data = &memory->data[memory->count];

	memory->good = memory->good && bytes >= 0 && memory->e->ops->alloc(memory->e, bytes, data);
	memory->count += memory->good;
	return memory->good ? *data : NULL;
}

static struct matrix matrix(struct memory *memory, int64_t m, int64_t n)
{
	void *data = take(memory, m * n * (int64_t)sizeof(float));

	return (struct matrix){data, 0, m, n, m, SINGLE};
}

/* The matrix before and after, and the check's copy in double precision. */
static bool enough_memory(int64_t m, int64_t n)
{
	const size_t needed = (size_t)(m * n) * (2 * sizeof(float) + sizeof(double)) * 5 / 4;
	size_t available, total;

	GPU(cudaMemGetInfo(&available, &total));
	return available >= needed;
}

/* False with the executor's fault. */
static bool factorize(struct memory *memory, const struct whole *whole, int64_t m, int64_t n,
        struct whole_check *check)
{
	struct executor *e = memory->e;
	const int64_t k = min_int64(m, n);
	struct default_plan plan;
	struct matrix before = matrix(memory, m, n), a = matrix(memory, m, n),
	              tau = matrix(memory, k, 1);
	struct pivots pivots = {take(memory, (k + 1) * (int64_t)sizeof(int)), k};

	plan_default(e, whole->operation, m, n, SINGLE, false, &plan);
	void *work = take(memory, whole_work(e, whole, &plan.plan, a));
	/* the same numbers twice instead of a copy */
	return memory->good && whole_fill(e, whole, before, 1) && whole_fill(e, whole, a, 1) &&
	       whole_run(e, whole, &plan.plan, a, work, pivots, tau, NULL) && e->ops->sync(e) &&
	       check_whole(e, whole, before, a, pivots, tau, check);
}

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
	const bool good = factorize(&memory, &whole, m, n, &check);
	if (!ok(good && check.passed, "%s: residual %.3g", name, check.residual) && !good)
		diag("%s", e->fault.text);
	while (memory.count > 0)
		e->ops->release(e, memory.data[--memory.count]);
}

int main(void)
{
	/* just above 2^31 elements: tall, wide, square */
	static const int64_t shapes[][2] = {
	        {(1 << 21) + 16, 1032}, {1032, (1 << 21) + 16}, {46352, 46352}};
	struct fault fault;
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
