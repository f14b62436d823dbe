/* SPDX-License-Identifier: MIT */
/* What an operation moves and computes: the column `work` of factor/executors/operations.h. Level 1
 * estimates most operations from their work alone, and level 2 those that only move data. The
 * column `cost` names the function of struct cost_model that knows more. A model without that
 * function (NULL), and the column BY_WORK, leave the operation to the model's by_work. */
#pragma once

#include "factor/executors/executor.h"

enum work_kind {
	WORK_READ,     /* bytes read */
	WORK_WRITE,    /* bytes written */
	WORK_COPY,     /* bytes read and written, both counted */
	WORK_BLAS1,    /* bytes of a call of the BLAS, level 1 */
	WORK_BLAS2,    /* the same, level 2 */
	WORK_FLOPS,    /* operations of floating-point arithmetic, at the rate of gemm or `rate` */
	WORK_FETCH,    /* bytes from the device to the host */
	WORK_SEND,     /* bytes from the host to the device */
	WORK_INTEGERS, /* bytes of a few integers in executor memory */
};

struct operation_work {
	enum work_kind kind;
	double amount;
	enum precision precision; /* of flops */
	const char *rate;         /* flops a second on the device; NULL: of the largest gemm */
};

#define WORK(kind, ...) ((struct operation_work){kind, __VA_ARGS__})
#define READS(bytes) WORK(WORK_READ, (bytes), SINGLE, NULL)
#define WRITES(bytes) WORK(WORK_WRITE, (bytes), SINGLE, NULL)
#define COPIES(bytes) WORK(WORK_COPY, (bytes), SINGLE, NULL)
#define BLAS1(bytes) WORK(WORK_BLAS1, (bytes), SINGLE, NULL)
#define BLAS2(bytes) WORK(WORK_BLAS2, (bytes), SINGLE, NULL)
#define FLOPS(flops, precision) WORK(WORK_FLOPS, (flops), (precision), NULL)
#define FLOPS_AT(flops, rate) WORK(WORK_FLOPS, (flops), SINGLE, (rate))
#define FETCHES(bytes) WORK(WORK_FETCH, (bytes), SINGLE, NULL)
#define SENDS(bytes) WORK(WORK_SEND, (bytes), SINGLE, NULL)
#define INTEGERS(count) WORK(WORK_INTEGERS, (double)(count) * sizeof(int), SINGLE, NULL)

/* Bytes of an element. */
static inline double word_bytes(struct matrix a)
{
	return (double)precision_bytes(a.precision);
}

/* Bytes of a matrix; of a triangle of the matrix, or of all of it (WHOLE); of columns from .. to-1.
 */
static inline double cost_bytes(struct matrix a)
{
	return (double)a.m * (double)a.n * word_bytes(a);
}

static inline double cost_part(enum uplo uplo, struct matrix a)
{
	return cost_bytes(a) / (uplo == WHOLE ? 1 : 2);
}

static inline double cost_columns(struct matrix a, int64_t from, int64_t to)
{
	return cost_bytes(matrix_view(a, 0, from, a.m, to - from));
}

/* Bytes that splits read and write. */
double cost_splits(const struct splits *);

/* Multiply-adds of a matrix product. */
static inline double product_steps(int64_t m, int64_t n, int64_t k)
{
	return (double)m * (double)n * (double)k;
}

/* Multiply-adds of a product with an inner dimension of k into a triangle and what is behind it. */
static inline double trapezoid_steps(struct matrix c, int64_t k)
{
	double n = (double)(c.m < c.n ? c.m : c.n), rest = (double)(c.m + c.n) - 2 * n;

	return (n * n / 2 + n * rest) * (double)k;
}
