/* SPDX-License-Identifier: MIT */
/* Sweeps of one kernel over added rows, for every number of rows that has a kernel. Added rows that
 * are small beside the triangle go into it again and again and enlarge it by a millionth each time.
 * A band below the triangle is filled again before every sweep, in less than a hundredth of the
 * sweep's time. Half the columns show the cost of a window alone. With one tile of Q, block 0
 * limits the sweep; with several tiles for every other block, those do. */
#include "block_kernel_internal.h"

#include <math.h>
#include <stdlib.h>

enum { COLUMNS = 1024, TILES_EACH = 4, ADDED_MOST = 256 };
static const double small = 1e-3;

/* A band slides where no rows are added. */
static int sweep(struct bench *b)
{
	if (!b->band.added)
		GPU(block_fill(WHOLE, small, 1, b->band.of.r, b->rate.stream));
	return sweep_kernel(&b->band, b->scratch, b->rate.stream);
}

/* Rows of Q with which every block but the first has as many tiles, R's included. */
static int64_t most_rows(const struct bench *b)
{
	const int64_t width = SWEEP_KERNEL_COLUMNS;
	return (TILES_EACH * (b->rate.gpu.sm_count - 1) - COLUMNS / width) * width;
}

static struct matrix random_part(
        struct bench *b, int64_t most_m, int64_t most_n, int64_t m, int64_t n, double scale)
{
	const struct matrix whole = block_kernel_place(b, most_m, most_n);

	block_kernel_fill_random(b, whole, scale);
	return matrix_view(whole, 0, 0, m, n);
}

/* Q and d only turn: they stay as large as they are. */
static void fill(struct bench *b)
{
	const int64_t n = b->n, p = b->p, most = most_rows(b);
	const struct matrix whole = block_kernel_place(b, COLUMNS, COLUMNS);
	GPU(block_fill(UPPER, small, 1, whole, b->rate.stream));
	b->band = (struct band){.of = {.r = matrix_view(whole, 0, 0, n, n),
	                                .d = random_part(b, COLUMNS, 1, n, 1, 1),
	                                .q = random_part(b, most, COLUMNS, b->rows, n, 1)},
	        .added = b->kernel->form ? &b->added : NULL,
	        .p = p};
	b->added = (struct system){.r = random_part(b, ADDED_MOST, COLUMNS, p, n, small),
	        .d = random_part(b, ADDED_MOST, 1, p, 1, 1),
	        .q = random_part(b, most, ADDED_MOST, b->rows, p, 1)};
	b->scratch = block_kernel_take(b, sweep_kernel_work(&b->band));
}

/* A block that gave up waiting leaves NaN, too many sweeps a large number. */
static bool check(const struct bench *b)
{
	double *r = blas_rate_fetch(&b->rate, b->precision, b->band.of.r.data, 1);
	const double first = fabs(r[0]);

	free(r);
	return first > 0.5 && first < 10;
}

static int64_t next_p(const struct bench *b, int64_t p)
{
	const int64_t rows = sweep_kernel_rows(b->precision, b->step * p);

	return rows > 0 ? rows : INT64_MAX;
}

static bool fits(const struct bench *b)
{
	return sweep_kernel_fits(b->precision, b->p);
}

static int64_t all_rows(const struct bench *b, int64_t rows)
{
	return rows < most_rows(b) ? most_rows(b) : INT64_MAX;
}

void block_kernel_sweeps(struct bench *b)
{
	const int64_t first = sweep_kernel_rows(b->precision, 1), most = most_rows(b);
	const struct range p = {"p", &b->p, first, ADDED_MOST, 0, next_p},
	                   n = {"n", &b->n, COLUMNS / 2, COLUMNS, 2, NULL},
	                   rows = {"rows", &b->rows, SWEEP_KERNEL_COLUMNS, most, 0, all_rows};
	const struct kernel kernels[] = {
	        {"sweep", sweep, fill, check, {p, n, rows}, .fits = fits, .form = true},
	        {"slide", sweep, fill, check, {p, n, rows}, .fits = fits}};

	block_kernel_measure(b, kernels, ARRAY_LEN(kernels));
}
