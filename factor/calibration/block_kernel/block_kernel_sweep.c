/* SPDX-License-Identifier: MIT */
/* Sweeps of one kernel. Added rows that are small beside the triangle go into it again and again
 * and enlarge it by a millionth each time. A band below the triangle is filled again before every
 * sweep, in less than a hundredth of the sweep's time. Half the columns show the cost of a window
 * alone. With one tile of Q, block 0 limits the sweep; with several tiles for every other block,
 * those do. */
#include "block_kernel_internal.h"

#include "factor/kernels/update/sweep_kernel.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS = 1024, TILES_EACH = 4, SWEEP_ROWS_MOST = 256 };
static const double small = 1e-3;

struct sweep_bench {
	struct blas_rate *rate;
	struct system of, added;
	struct band band;
	void *work;
};

static void put(void *context)
{
	const struct sweep_bench *b = context;
	if (!b->band.added)
		GPU(block_fill(WHOLE, small, 1, b->band.of.r, b->rate->stream));
	GPU(sweep_kernel(&b->band, b->work, b->rate->stream));
}

/* Rows of Q with which every block but the first has as many tiles, R's included. */
static int64_t most_rows(const struct blas_rate *rate)
{
	const int64_t width = SWEEP_KERNEL_COLUMNS;
	return (TILES_EACH * (rate->gpu.sm_count - 1) - COLUMNS / width) * width;
}

static struct matrix room(int64_t m, int64_t n, enum precision precision)
{
	void *data = blas_rate_room(m * n * precision_bytes(precision));

	return (struct matrix){data, 0, m, n, m, precision};
}

static struct sweep_bench open_bench(struct blas_rate *rate, enum precision precision)
{
	const int64_t n = COLUMNS, p = SWEEP_ROWS_MOST, rows = most_rows(rate);
	struct sweep_bench b = {.rate = rate};
	b.of = (struct system){.r = room(n, n, precision),
	        .d = room(n, 1, precision),
	        .q = room(rows, n, precision)};
	b.added = (struct system){.r = room(p, n, precision),
	        .d = room(p, 1, precision),
	        .q = room(rows, p, precision)};
	b.band = (struct band){b.of, &b.added, 0, p};
	int64_t bytes = 0;
	for (b.band.p = 1; sweep_kernel_rows(precision, b.band.p) > 0; b.band.p *= 2)
		bytes = max_int64(bytes, sweep_kernel_work(&b.band));
	b.work = blas_rate_room(bytes);
	return b;
}

static void close_bench(struct sweep_bench *b)
{
	void *pieces[] = {b->of.r.data, b->of.d.data, b->of.q.data, b->added.r.data,
	        b->added.d.data, b->added.q.data, b->work};

	blas_rate_release(b->rate, pieces, ARRAY_LEN(pieces));
}

static void fill_random(const struct sweep_bench *b, const struct matrix *a, double scale)
{
	block_kernel_random(b->rate, a->precision, a->data, a->m * a->n, scale);
}

/* Q and d only turn: they stay as large as they are. */
static void fill(const struct sweep_bench *b)
{
	GPU(block_fill(WHOLE, 0, 0, b->of.r, b->rate->stream));
	GPU(block_fill(UPPER, small, 1, b->of.r, b->rate->stream));
	fill_random(b, &b->added.r, small);
	fill_random(b, &b->of.d, 1);
	fill_random(b, &b->of.q, 1);
	fill_random(b, &b->added.d, 1);
	fill_random(b, &b->added.q, 1);
}

/* A block that gave up waiting leaves NaN, too many sweeps a large number. */
static void check(const struct sweep_bench *b)
{
	double *r = blas_rate_fetch(b->rate, b->of.r.precision, b->of.r.data, 1);
	const double first = r[0];

	free(r);
	if (!(fabs(first) > 0.5 && fabs(first) < 10))
		msg_die(EXIT_MEASURE_FAILED, "a sweep over %lld columns with %lld rows failed",
		        (long long)b->of.r.n, (long long)b->band.p);
}

static void measure(struct sweep_bench *b, int64_t p, int64_t n, int64_t rows, bool slides)
{
	const struct arg args[] = {{"p", (double)p}, {"n", (double)n}, {"rows", (double)rows}};
	struct system added = {.r = matrix_view(b->added.r, 0, 0, p, n),
	        .d = matrix_view(b->added.d, 0, 0, p, 1),
	        .q = matrix_view(b->added.q, 0, 0, rows, p)};
	fill(b);
	b->band = (struct band){.of = {.r = matrix_view(b->of.r, 0, 0, n, n),
	                                .d = matrix_view(b->of.d, 0, 0, n, 1),
	                                .q = matrix_view(b->of.q, 0, 0, rows, n)},
	        .added = slides ? NULL : &added,
	        .p = p};
	blas_rate_point(b->rate, put, b, slides ? "slide" : "sweep", b->of.r.precision, args,
	        ARRAY_LEN(args));
	check(b);
}

void block_kernel_sweeps(struct blas_rate *rate, enum precision precision)
{
	const int64_t step = rate->run->common.quick ? 8 : 2;
	struct sweep_bench b = open_bench(rate, precision);
	for (int64_t p = sweep_kernel_rows(precision, 1); p > 0;
	        p = sweep_kernel_rows(precision, step * p))
		for (int64_t n = COLUMNS / 2; n <= COLUMNS && sweep_kernel_fits(precision, p);
		        n *= 2) {
			for (int slides = 0; slides < 2; slides++) {
				measure(&b, p, n, SWEEP_KERNEL_COLUMNS, slides);
				measure(&b, p, n, most_rows(rate), slides);
			}
		}
	close_bench(&b);
}
