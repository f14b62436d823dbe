/* SPDX-License-Identifier: MIT */
/* Gram-Schmidt's panel in registers and its blocked update, on columns that are orthonormal
 * already, which takes the same time. The update has as many columns as all multiprocessors take at
 * a time. */
#include "block_kernel_internal.h"

#include <math.h>
#include <stdlib.h>

enum { SHORTEST = 256, TALLEST = 65536, NARROWEST = 16, FEWEST_OUT = 16, MOST_OUT = 64 };

static int panel(struct bench *b)
{
	return gram_schmidt_resident(&b->gram, b->rate.stream);
}

static bool panel_fits(const struct bench *b)
{
	return gram_schmidt_resident_bytes(b->precision, b->m, b->n) >= 0;
}

static void fill_panel(struct bench *b)
{
	b->gram = (struct gram_schmidt){.a = block_kernel_place(b, b->m, b->n),
	        .r = block_kernel_place(b, b->n, b->n),
	        .norms = block_kernel_place(b, b->n, 1),
	        .info = block_kernel_take(b, sizeof *b->gram.info),
	        .work = block_kernel_take(
	                b, gram_schmidt_resident_bytes(b->precision, b->m, b->n))};
	block_kernel_fill_random(b, b->gram.a, 1);
	GPU(panel(b)); /* makes them orthonormal */
}

static double *fetch_column(const struct bench *b, struct matrix a, int64_t j)
{
	return blas_rate_fetch(
	        &b->rate, b->precision, matrix_address(matrix_view(a, 0, j, a.m, 1)), a.m);
}

/* The diagonal of a panel whose blocks gave up waiting for each other is NaN. */
static bool panel_worked(const struct bench *b)
{
	double *column = fetch_column(b, b->gram.r, b->n - 1);
	const double last = column[b->n - 1];

	free(column);
	return fabs(last - 1) < 1e-3;
}

/* ---- the blocked update: x taken out of c, r the coefficients ---- */

static int apply(struct bench *b)
{
	return gram_schmidt_apply(b->x, b->r, b->c, b->columns == 1, b->rate.stream);
}

static double dot(const struct bench *b, struct matrix a, int64_t i, struct matrix c, int64_t j)
{
	double *x = fetch_column(b, a, i), *y = fetch_column(b, c, j), sum = 0;
	for (int64_t k = 0; k < a.m; k++)
		sum += x[k] * y[k];
	free(x);
	free(y);
	return sum;
}

/* The last column's coefficient for x's first column is the host's, and the others are finite,
 * written over NaN. */
static void check_apply(struct bench *b)
{
	const double bound = b->precision == SINGLE ? 1e-5 : 1e-13;
	const double want = dot(b, b->x, 0, b->c, b->n - 1);
	GPU(cudaMemset(b->r.data, 0xff, (size_t)(b->k * b->n * precision_bytes(b->precision))));
	GPU(apply(b));
	double *got = fetch_column(b, b->r, b->n - 1);
	bool right = fabs(got[0] - want) < bound;
	for (int64_t i = 0; i < b->k; i++)
		right = right && isfinite(got[i]);
	free(got);
	if (!right)
		msg_die(EXIT_MEASURE_FAILED, "Gram-Schmidt's blocked update of %lld x %lld failed",
		        (long long)b->m, (long long)b->n);
}

/* Columns of x shorter than 1 leave a part of the columns that they are taken out of, and let none
 * grow. */
static void fill_apply(struct bench *b)
{
	const double norm = 0.5;
	b->n = b->rate.gpu.sm_count * b->columns;
	b->x = block_kernel_place(b, b->m, b->k);
	b->r = block_kernel_place(b, b->k, b->n);
	b->c = block_kernel_place(b, b->m, b->n);
	block_kernel_fill_random(b, b->x, norm * sqrt(3 / (double)b->m));
	block_kernel_fill_random(b, b->c, 1);
	check_apply(b);
}

void block_kernel_gram(struct bench *b)
{
	const int64_t held = gram_schmidt_apply_rows(b->precision), most = GRAM_RESIDENT_COLUMNS;
	const struct range m = {"m", &b->m, SHORTEST, TALLEST, b->step, NULL},
	                   n = {"n", &b->n, NARROWEST, most, 2, NULL},
	                   rows = {"m", &b->m, held / 4, held, 4, NULL},
	                   k = {"k", &b->k, FEWEST_OUT, MOST_OUT, 4, NULL},
	                   columns = {"columns", &b->columns, GRAM_APPLY_COLUMNS, 1,
	                           GRAM_APPLY_COLUMNS, NULL};
	const struct kernel kernels[] = {
	        {"gram", panel, fill_panel, panel_worked, {m, n}, .fits = panel_fits},
	        {"gram_apply", apply, fill_apply, NULL, {rows, k, columns}, .has = NULL}};

	block_kernel_measure(b, kernels, ARRAY_LEN(kernels));
}
