/* SPDX-License-Identifier: MIT */
/* Shared by the tests of large matrices on the GPU, in single precision: memory, a factorization,
 * its residual by random vectors. */
#pragma once

#include "factor_test.h"

#include "factor/validation/check_whole.h"
#include "lib/device/gpu.h"

#include <cuda_runtime_api.h>

enum { MOST_MEMORY = 6 };

struct memory {
	struct executor *e;
	void *data[MOST_MEMORY];
	int count;
	bool good;
};

static inline void *take(struct memory *memory, int64_t bytes)
{
	void **data = &memory->data[memory->count];

	memory->good = memory->good && bytes >= 0 && memory->e->ops->alloc(memory->e, bytes, data);
	memory->count += memory->good;
	return memory->good ? *data : NULL;
}

static inline struct matrix matrix(struct memory *memory, int64_t m, int64_t n)
{
	void *data = take(memory, m * n * (int64_t)sizeof(float));

	return (struct matrix){data, 0, m, n, m, SINGLE};
}

/* The matrix before and after, and the check's copy in double precision. */
static inline bool enough_memory(int64_t m, int64_t n)
{
	const size_t needed = (size_t)(m * n) * (2 * sizeof(float) + sizeof(double)) * 5 / 4;
	size_t available, total;

	GPU(cudaMemGetInfo(&available, &total));
	return available >= needed;
}

/* Fills a matrix, always with the same numbers. */
typedef bool fill(struct executor *, const struct whole *, struct matrix);

static inline bool random_fill(struct executor *e, const struct whole *whole, struct matrix a)
{
	return whole_fill(e, whole, a, 1);
}

/* Factorizes by the default plan and checks it. False with the executor's fault. */
static inline bool factorize(struct memory *memory, const struct whole *whole, int64_t m, int64_t n,
        fill *numbers, struct whole_check *check)
{
	struct executor *e = memory->e;
	const int64_t k = min_int64(m, n);
	struct default_plan plan;
	struct matrix before = matrix(memory, m, n), a = matrix(memory, m, n),
	              tau = matrix(memory, k, 1);
	struct pivots pivots = {take(memory, (k + 1) * (int64_t)sizeof(int)), k};

	e->math = whole->math;
	plan_default(e, whole->operation, m, n, SINGLE, false, &plan);
	e->math = MATH_FP32;
	void *work = take(memory, whole_work(e, whole, &plan.plan, a));
	/* the same numbers twice instead of a copy */
	return memory->good && numbers(e, whole, before) && numbers(e, whole, a) &&
	       whole_run(e, whole, &plan.plan, a, work, pivots, tau, NULL) && e->ops->sync(e) &&
	       check_whole(e, whole, before, a, pivots, tau, check);
}

static inline void release_all(struct memory *memory)
{
	while (memory->count > 0)
		memory->e->ops->release(memory->e, memory->data[--memory->count]);
}
