/* SPDX-License-Identifier: MIT */
/* Shared by the tests of executor operations: matrices inside larger ones whose every element is
 * known, so that the tests see writes to wrong places as well as wrong values. The host keeps the
 * elements as double, rounded to the matrix's precision. */
#pragma once

#include "tests/algorithms/factor_test.h"

#include "factor/executors/executor.h"
#include "lib/base/msg.h"

#include <inttypes.h>

/* An m x n matrix with rows and columns around it. */
struct block {
	struct matrix all, a; /* in the executor's memory: the surroundings and the matrix */
	double *x;            /* the elements of all */
};

enum { MARGIN_ROWS = 3, MARGIN_COLUMNS = 2 };

static inline uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Uniform in (-1, 1), exact in single precision. */
static inline double next_uniform(uint64_t *state)
{
	return (double)((int64_t)(next_random(state) >> 41) - (1 << 22)) / (1 << 22);
}

/* The place of element (i,j) of the inner matrix in x. */
static inline double *element(const struct block *b, int64_t i, int64_t j)
{
	return b->x + b->a.offset + i + j * b->a.ld;
}

static inline double rounded(double value, enum precision precision)
{
	return precision == SINGLE ? (double)(float)value : value;
}

static inline void must(struct executor *e, bool good)
{
	if (good)
		return;
	printf("Bail out! %s\n", e->fault.text);
	exit(1);
}

static inline void block_upload(struct executor *e, const struct block *b)
{
	int64_t count = b->all.m * b->all.n;
	float *single = b->all.precision == SINGLE ? xmalloc((size_t)count * sizeof(float)) : NULL;

	for (int64_t i = 0; single && i < count; i++)
		single[i] = (float)b->x[i];
	must(e, e->ops->upload(e, single ? (void *)single : b->x, b->all.ld, b->all));
	free(single);
}

/* Everything random, the surroundings NaN. */
static inline struct block block_new(
        struct executor *e, enum precision precision, int64_t m, int64_t n, uint64_t *state)
{
	int64_t ld = m + 2 * MARGIN_ROWS, columns = n + 2 * MARGIN_COLUMNS;
	struct block b = {.all = {NULL, 0, ld, columns, ld, precision}};

	must(e, e->ops->alloc(e, ld * columns * precision_bytes(precision), &b.all.data));
	b.a = matrix_view(b.all, MARGIN_ROWS, MARGIN_COLUMNS, m, n);
	b.x = xmalloc((size_t)(ld * columns) * sizeof *b.x);
	for (int64_t i = 0; i < ld * columns; i++)
		b.x[i] = NAN;
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			*element(&b, i, j) = next_uniform(state);
	block_upload(e, &b);
	return b;
}

/* The inner matrix is NaN: an operation has to overwrite it. */
static inline struct block block_poisoned(
        struct executor *e, enum precision precision, int64_t m, int64_t n)
{
	uint64_t state = 0;
	struct block b = block_new(e, precision, m, n, &state);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			*element(&b, i, j) = NAN;
	block_upload(e, &b);
	return b;
}

static inline void block_free(struct executor *e, struct block *b)
{
	e->ops->release(e, b->all.data);
	free(b->x);
}

/* The elements of all in the executor's memory. */
static inline double *block_download(struct executor *e, const struct block *b)
{
	int64_t count = b->all.m * b->all.n;
	double *x = xmalloc((size_t)count * sizeof *x);
	float *single = b->all.precision == SINGLE ? xmalloc((size_t)count * sizeof(float)) : NULL;

	must(e, e->ops->sync(e));
	must(e, e->ops->download(e, b->all, single ? (void *)single : x, b->all.ld));
	for (int64_t i = 0; single && i < count; i++)
		x[i] = (double)single[i];
	free(single);
	return x;
}

/* Whether the executor's memory holds b.x within `error`, with NaNs at the same places. */
static inline bool block_holds(struct executor *e, const struct block *b, double error)
{
	double *x = block_download(e, b);
	int64_t wrong = 0, first = 0;

	for (int64_t i = 0; i < b->all.m * b->all.n; i++) {
		bool same = isnan(b->x[i]) ? isnan(x[i])
		                           : x[i] == b->x[i] || fabs(x[i] - b->x[i]) <= error;
		if (!same && wrong++ == 0)
			first = i;
	}
	if (wrong)
		diag("%" PRId64 " elements differ by more than %.3g; first (%" PRId64 ",%" PRId64
		     "): got %.9g want %.9g",
		        wrong, error, first % b->all.ld - MARGIN_ROWS,
		        first / b->all.ld - MARGIN_COLUMNS, x[first], b->x[first]);
	free(x);
	return wrong == 0;
}

/* Integers in the executor's memory, as pivots with an info behind them. */
static inline struct pivots pivots_new(struct executor *e, int64_t n, const int *ipiv, int info)
{
	struct pivots p = {NULL, n};
	void *data;

	must(e, e->ops->alloc(e, (n + 1) * (int64_t)sizeof(int), &data));
	p.data = data;
	must(e, e->ops->store_pivots(e, ipiv, info, p) && e->ops->sync(e));
	return p;
}

static inline int read_info(struct executor *e, int *info)
{
	int ipiv[1], value = -1;

	must(e, e->ops->read_pivots(e, (struct pivots){info, 0}, ipiv, &value));
	return value;
}

/* The first GPU's executor; without one the program is skipped, with the reason. */
static inline struct executor *cuda_or_skip(void)
{
	struct fault fault;
	struct executor *e = executor_cuda_new("0", &fault);

	if (!e)
		skip_all(fault.text);
	return e;
}
