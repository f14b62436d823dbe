/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt's panel in registers and its blocked update, on columns that are orthonormal
 * already, which takes the same time. The update has as many columns as all multiprocessors take at
 * a time. */
#include "block_kernel_internal.h"

#include "factor/kernels/gram_schmidt/gram_schmidt_kernels.h"

#include <math.h>
#include <stdlib.h>

enum { SHORTEST = 256, TALLEST = 65536, NARROWEST = 16 };

struct gram_bench {
	struct blas_rate *rate;
	struct gram_schmidt g;
};

static void put(void *context)
{
	const struct gram_bench *b = context;
	GPU(gram_schmidt_resident(&b->g, b->rate->stream));
}

static int64_t work_bytes(enum precision precision)
{
	int64_t most = 16;
	for (int64_t m = SHORTEST; m <= TALLEST; m *= 2)
		for (int64_t n = NARROWEST; n <= GRAM_RESIDENT_COLUMNS; n *= 2)
			most = max_int64(most, gram_schmidt_resident_bytes(precision, m, n));
	return most;
}

static struct gram_bench open_bench(struct blas_rate *rate, enum precision precision)
{
	const int64_t word = precision_bytes(precision), n = GRAM_RESIDENT_COLUMNS;
	struct gram_bench b = {.rate = rate};
	b.g.a = (struct matrix){
	        blas_rate_room(TALLEST * n * word), 0, TALLEST, n, TALLEST, precision};
	b.g.r = (struct matrix){blas_rate_room(n * n * word), 0, n, n, n, precision};
	b.g.norms = (struct matrix){blas_rate_room(n * word), 0, n, 1, n, precision};
	b.g.info = blas_rate_room(sizeof *b.g.info);
	b.g.work = blas_rate_room(work_bytes(precision));
	block_kernel_random(rate, precision, b.g.a.data, TALLEST * n, 1);
	return b;
}

static void close_bench(struct gram_bench *b)
{
	void *pieces[] = {b->g.a.data, b->g.r.data, b->g.norms.data, b->g.info, b->g.work};

	blas_rate_release(b->rate, pieces, ARRAY_LEN(pieces));
}

static double *fetch_column(const struct blas_rate *rate, const struct matrix *a, int64_t j)
{
	const struct matrix column = matrix_view(*a, 0, j, a->m, 1);

	return blas_rate_fetch(rate, a->precision, matrix_address(column), a->m);
}

/* The diagonal of a panel whose blocks gave up waiting for each other is NaN. */
static void check(const struct gram_bench *b)
{
	const int64_t n = b->g.a.n;
	double *column = fetch_column(b->rate, &b->g.r, n - 1);
	const double last = column[n - 1];
	free(column);
	if (!(fabs(last - 1) < 1e-3))
		msg_die(EXIT_MEASURE_FAILED,
		        "Gram-Schmidt's panel of %lld x %lld failed: %g is to be 1",
		        (long long)b->g.a.m, (long long)n, last);
}

void block_kernel_gram(struct blas_rate *rate, enum precision precision, int64_t step)
{
	struct gram_bench b = open_bench(rate, precision);
	for (int64_t m = SHORTEST; m <= TALLEST; m *= step)
		for (int64_t n = NARROWEST; n <= GRAM_RESIDENT_COLUMNS; n *= 2) {
			const struct arg args[] = {{"m", (double)m}, {"n", (double)n}};
			b.g.a.m = b.g.a.ld = m;
			b.g.a.n = b.g.r.n = b.g.r.m = b.g.r.ld = b.g.norms.m = n;
			if (gram_schmidt_resident_bytes(precision, m, n) < 0 ||
			        !blas_rate_wants(rate, "gram", precision, args, ARRAY_LEN(args)))
				continue;
			put(&b); /* makes them orthonormal */
			put(&b);
			check(&b);
			blas_rate_point(rate, put, &b, "gram", precision, args, ARRAY_LEN(args));
		}
	close_bench(&b);
}

/* ---- the blocked update ---- */

struct apply_bench {
	struct blas_rate *rate;
	struct matrix q, r, a;
	bool single;
};

static void put_apply(void *context)
{
	const struct apply_bench *b = context;
	GPU(gram_schmidt_apply(b->q, b->r, b->a, b->single, b->rate->stream));
}

static double dot(const struct blas_rate *rate, const struct matrix *a, int64_t i,
        const struct matrix *b, int64_t j)
{
	double *x = fetch_column(rate, a, i), *y = fetch_column(rate, b, j), sum = 0;
	for (int64_t k = 0; k < a->m; k++)
		sum += x[k] * y[k];
	free(x);
	free(y);
	return sum;
}

/* The last column's coefficient for q's first column is the host's, and the others are finite,
 * written over NaN. */
static void check_apply(struct apply_bench *b)
{
	const double bound = b->r.precision == SINGLE ? 1e-5 : 1e-13;
	const double want = dot(b->rate, &b->q, 0, &b->a, b->a.n - 1);
	GPU(cudaMemsetAsync(b->r.data, 0xff,
	        (size_t)(b->r.m * b->r.n * precision_bytes(b->r.precision)), b->rate->stream));
	put_apply(b);
	double *got = fetch_column(b->rate, &b->r, b->r.n - 1);
	bool right = fabs(got[0] - want) < bound;
	for (int64_t i = 0; i < b->r.m; i++)
		right = right && isfinite(got[i]);
	free(got);
	if (!right)
		msg_die(EXIT_MEASURE_FAILED, "Gram-Schmidt's blocked update of %lld x %lld failed",
		        (long long)b->a.m, (long long)b->a.n);
}

/* Columns of q shorter than 1 leave a part of the columns that they are taken out of, and let none
 * grow. */
static void measure_apply(struct apply_bench *b, double columns)
{
	const double norm = 0.5;
	const struct arg args[] = {
	        {"m", (double)b->a.m}, {"k", (double)b->q.n}, {"columns", columns}};
	if (!blas_rate_wants(b->rate, "gram_apply", b->q.precision, args, ARRAY_LEN(args)))
		return;
	block_kernel_random(b->rate, b->q.precision, b->q.data, b->q.m * b->q.n,
	        norm * sqrt(3 / (double)b->q.m));
	block_kernel_random(b->rate, b->a.precision, b->a.data, b->a.m * b->a.n, 1);
	check_apply(b);
	blas_rate_point(b->rate, put_apply, b, "gram_apply", b->q.precision, args, ARRAY_LEN(args));
}

void block_kernel_gram_apply(struct blas_rate *rate, enum precision precision, int64_t sms)
{
	enum { MOST = 64, FEWEST = 16 };
	const int64_t word = precision_bytes(precision), tallest = GRAM_APPLY_BYTES / word;
	void *q = blas_rate_room(tallest * MOST * word),
	     *r = blas_rate_room(MOST * sms * GRAM_APPLY_COLUMNS * word),
	     *a = blas_rate_room(tallest * sms * GRAM_APPLY_COLUMNS * word);
	for (int64_t m = tallest / 4; m <= tallest; m *= 4)
		for (int64_t k = FEWEST; k <= MOST; k *= 4)
			for (int single = 0; single < 2; single++) {
				const int64_t columns = single ? 1 : GRAM_APPLY_COLUMNS,
				              n = sms * columns;
				struct apply_bench b = {rate, {q, 0, m, k, m, precision},
				        {r, 0, k, n, k, precision}, {a, 0, m, n, m, precision},
				        single};
				measure_apply(&b, (double)columns);
			}
	blas_rate_release(rate, (void *const[]){q, r, a}, 3);
}
