/* SPDX-License-Identifier: MIT */
#include "check.h"

#include "lib/base/msg.h"
#include "matrices.h"

#include <math.h>
#include <stdlib.h>

/* Smaller panels are faster on one thread. */
enum { PARALLEL_ELEMENTS = 1 << 16 };

/* The panel as doubles with leading dimension m. */
static double *to_double(const void *a, int64_t lda, int64_t m, int64_t n, enum precision precision)
{
	double *out = xmalloc((size_t)(m * n) * sizeof *out);

#pragma omp parallel for if (m * n > PARALLEL_ELEMENTS)
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			out[i + j * m] = matrix_get(a, precision, i + j * lda);
	return out;
}

static bool valid_pivots(const int *ipiv, int64_t m, int64_t n)
{
	for (int64_t j = 0; j < n; j++)
		if (ipiv[j] <= j || ipiv[j] > m)
			return false;
	return true;
}

static double sum_of(const double *x, int64_t m)
{
	double sum = 0;

	for (int64_t i = 0; i < m; i++)
		sum += fabs(x[i]);
	return sum;
}

/* Column c of P A - L U, in place of column c of A. */
static void subtract_product(
        double *x, const double *lu, int64_t m, int64_t n, int64_t c, const int *ipiv)
{
	for (int64_t j = 0; j < n; j++) {
		double *other = x + ipiv[j] - 1, kept = x[j];
		x[j] = *other;
		*other = kept;
	}
	for (int64_t k = 0; k <= c; k++) {
		const double *l = lu + k * m;
		double u = lu[k + c * m];

		x[k] -= u;
#pragma omp simd
		for (int64_t i = k + 1; i < m; i++)
			x[i] -= l[i] * u;
	}
}

struct column {
	double norm, error, largest_l;
};

static struct column check_column(
        double *x, const double *lu, int64_t m, int64_t n, int64_t c, const int *ipiv)
{
	struct column column = {.norm = sum_of(x, m)};

	subtract_product(x, lu, m, n, c, ipiv);
	column.error = sum_of(x, m);
	for (int64_t i = c + 1; i < m; i++)
		column.largest_l = check_worse(column.largest_l, fabs(lu[i + c * m]));
	return column;
}

/* As sget01: of a zero matrix only a zero residual is right. */
static double scaled(double residual, double norm, int64_t n, double eps)
{
	if (norm == 0)
		return residual == 0 ? 0 : 1 / eps;
	return residual / ((double)n * norm * eps);
}

void check_panel(const void *a0, int64_t lda, const void *lu, int64_t ldlu, int64_t m, int64_t n,
        const int *ipiv, enum precision precision, struct panel_check *check)
{
	*check = (struct panel_check){
	        .ratio = NAN, .max_l = NAN, .pivots_valid = valid_pivots(ipiv, m, n)};
	if (!check->pivots_valid)
		return;

	double *a = to_double(a0, lda, m, n, precision);
	double *factors = to_double(lu, ldlu, m, n, precision);
	struct column *column = xmalloc((size_t)(n + 1) * sizeof *column), all = {0, 0, 0};

#pragma omp parallel for schedule(dynamic) if (m * n > PARALLEL_ELEMENTS)
	for (int64_t c = 0; c < n; c++)
		column[c] = check_column(a + c * m, factors, m, n, c, ipiv);
	for (int64_t c = 0; c < n; c++)
		all = (struct column){check_worse(all.norm, column[c].norm),
		        check_worse(all.error, column[c].error),
		        check_worse(all.largest_l, column[c].largest_l)};
	check->ratio = scaled(all.error, all.norm, n, check_eps(precision));
	check->max_l = all.largest_l;
	check->passed = check->ratio < CHECK_THRESHOLD && check->max_l <= 1;
	free(column);
	free(factors);
	free(a);
}
