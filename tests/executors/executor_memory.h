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

enum { MARGIN_ROWS = 3, MARGIN_COLUMNS = 4, MOST_KEPT = 64 };

/* What a check has allocated in the executor's memory and on the host, for blocks_free. */
static struct {
	void *data, *host;
} kept_memory[MOST_KEPT];
static int kept_count;

/* The next number of one sequence in [-1, 1], exact in single precision. */
static inline double next_uniform(void)
{
	static int64_t drawn;

	return (double)(float)test_random(411, drawn++);
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

/* Executor memory and host memory (either may be NULL) that blocks_free frees. */
static inline void keep(struct executor *e, int64_t bytes, void **data, void *host)
{
	must(e, kept_count < MOST_KEPT && (!data || e->ops->alloc(e, bytes, data)));
	kept_memory[kept_count].data = data ? *data : NULL;
	kept_memory[kept_count++].host = host;
}

/* Frees blocks, pivots and what else is kept, but for the first `but`. */
static inline void blocks_free_but(struct executor *e, int but)
{
	while (kept_count > but) {
		e->ops->release(e, kept_memory[--kept_count].data);
		free(kept_memory[kept_count].host);
	}
}

static inline void blocks_free(struct executor *e)
{
	blocks_free_but(e, 0);
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
        struct executor *e, enum precision precision, int64_t m, int64_t n)
{
	int64_t ld = m + 2 * MARGIN_ROWS, columns = n + 2 * MARGIN_COLUMNS;
	struct block b = {.all = {NULL, 0, ld, columns, ld, precision}};

	b.x = xmalloc((size_t)(ld * columns) * sizeof *b.x);
	keep(e, ld * columns * precision_bytes(precision), &b.all.data, b.x);
	b.a = matrix_view(b.all, MARGIN_ROWS, MARGIN_COLUMNS, m, n);
	for (int64_t i = 0; i < ld * columns; i++)
		b.x[i] = NAN;
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			*element(&b, i, j) = next_uniform();
	block_upload(e, &b);
	return b;
}

/* Where a block's matrix begins: in an odd row of columns of any length; at 16 bytes, or one
 * element off them, with columns of multiples of 16 bytes; the same two with odd columns. */
enum place { ANYWHERE, ALIGNED, CUT, ODD_COLUMNS, CUT_ODD_COLUMNS, PLACES };
static const char *const place_name[] = {
        "", ", aligned", ", not aligned", ", odd columns", ", odd columns, not aligned"};

static inline struct block block_placed(
        struct executor *e, enum precision p, int64_t m, int64_t n, enum place place)
{
	enum { LINE = 4 };
	_Static_assert(MARGIN_ROWS % LINE == 3 && MARGIN_COLUMNS % LINE == 0,
	        "one more row begins a line");
	const int64_t ld = m + 1 + 2 * MARGIN_ROWS;
	const int64_t pad = place >= ODD_COLUMNS ? 1 - ld % 2 : (LINE - ld % LINE) % LINE;

	if (place == ANYWHERE)
		return block_new(e, p, m, n);
	struct block b = block_new(e, p, m + 1 + pad, n);
	b.a = matrix_view(b.a, place == ALIGNED || place == ODD_COLUMNS, 0, m, n);
	return b;
}

/* Sets the inner matrix on the host. */
static inline void block_set(struct block *b, double value)
{
	for (int64_t j = 0; j < b->a.n; j++)
		for (int64_t i = 0; i < b->a.m; i++)
			*element(b, i, j) = value;
}

/* C := alpha op(A) op(B) + beta C of the elements on the host. */
static inline void block_product(double alpha, const struct block *a, enum trans ta,
        const struct block *b, enum trans tb, double beta, struct block *c)
{
	const int64_t k = ta ? a->a.m : a->a.n;

	if (beta == 0)
		block_set(c, 0);
	if (c->a.m && c->a.n)
		cblas_dgemm(CblasColMajor, ta ? CblasTrans : CblasNoTrans,
		        tb ? CblasTrans : CblasNoTrans, (blasint)c->a.m, (blasint)c->a.n,
		        (blasint)k, alpha, element(a, 0, 0), (blasint)a->a.ld, element(b, 0, 0),
		        (blasint)b->a.ld, beta, element(c, 0, 0), (blasint)c->a.ld);
}

/* The inner matrix is NaN: an operation has to overwrite it. */
static inline struct block block_poisoned(
        struct executor *e, enum precision precision, int64_t m, int64_t n)
{
	struct block b = block_new(e, precision, m, n);

	block_set(&b, NAN);
	block_upload(e, &b);
	return b;
}

/* The product of the operands' magnitudes, on the host: rounding is relative to it. */
static inline void block_magnitude(
        const struct block *a, enum trans ta, const struct block *b, enum trans tb, struct block *c)
{
	struct block x = *a, y = *b;

	x.x = test_copy(a->x, a->all.m, a->all.n, DOUBLE);
	y.x = test_copy(b->x, b->all.m, b->all.n, DOUBLE);
	for (int64_t i = 0; i < a->all.m * a->all.n; i++)
		x.x[i] = fabs(x.x[i]);
	for (int64_t i = 0; i < b->all.m * b->all.n; i++)
		y.x[i] = fabs(y.x[i]);
	block_product(1, &x, ta, &y, tb, 0, c);
	free(x.x);
	free(y.x);
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

/* The largest error of `got`, all of c's memory after c := alpha exact + beta c in a part, relative
 * to the sum of magnitudes. Infinite where NaNs are at other places or where c changed elsewhere;
 * beta = 0 overwrites NaN. */
static inline double block_error(const struct block *c, enum uplo part, double alpha,
        const struct block *exact, const struct block *size, double beta, const double *got)
{
	double worst = 0;

	for (int64_t at = 0; at < c->all.m * c->all.n; at++) {
		const int64_t i = (at - c->a.offset) % c->a.ld, j = (at - c->a.offset) / c->a.ld;
		double want = c->x[at], sum = 0;
		if (at >= c->a.offset && i < c->a.m && j < c->a.n &&
		        (part == WHOLE || (part == LOWER ? i >= j : i <= j))) {
			const double old = beta == 0 ? 0 : beta * want;
			want = alpha * *element(exact, i, j) + old;
			sum = fabs(alpha) * *element(size, i, j) + fabs(old);
		}
		const double off = fabs(got[at] - want);
		if (isnan(want) != isnan(got[at]))
			return INFINITY;
		if (off > 0)
			worst = fmax(worst, sum > 0 ? off / sum : INFINITY);
	}
	return worst;
}

/* Integers in the executor's memory, as pivots with an info behind them. */
static inline struct pivots pivots_new(struct executor *e, int64_t n, const int *ipiv, int info)
{
	struct pivots p = {NULL, n};
	void *data;

	keep(e, (n + 1) * (int64_t)sizeof(int), &data, NULL);
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
