/* SPDX-License-Identifier: MIT */
#include "check.h"

#include "lib/base/msg.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Below this many elements a panel is not worth waking threads for. */
enum { PARALLEL_ELEMENTS = 1 << 16 };

/* The panel as doubles with leading dimension m. */
static double *to_double(const void *a, int64_t lda, int64_t m, int64_t n, enum precision precision)
{
	double *out = xmalloc((size_t)(m * n) * sizeof *out);

#pragma omp parallel for if (m * n > PARALLEL_ELEMENTS)
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			out[i + j * m] = precision == SINGLE
			                         ? (double)((const float *)a)[i + j * lda]
			                         : ((const double *)a)[i + j * lda];
	return out;
}

static bool valid_pivots(const int *ipiv, int64_t m, int64_t n)
{
	for (int64_t j = 0; j < n; j++)
		if (ipiv[j] <= j || ipiv[j] > m)
			return false;
	return true;
}

static void swap_rows(double *a, int64_t m, int64_t n, const int *ipiv)
{
#pragma omp parallel for if (m * n > PARALLEL_ELEMENTS)
	for (int64_t c = 0; c < n; c++)
		for (int64_t j = 0; j < n; j++) {
			double *x = a + c * m + j, *y = a + c * m + ipiv[j] - 1, kept = *x;
			*x = *y;
			*y = kept;
		}
}

/* Largest and NaN when any is NaN, which fmax would hide. */
static double worse(double a, double b)
{
	return b > a || isnan(b) ? b : a;
}

static double column_sum(const double *x, int64_t m)
{
	double sum = 0;

	for (int64_t i = 0; i < m; i++)
		sum += fabs(x[i]);
	return sum;
}

static double norm1(const double *a, int64_t m, int64_t n)
{
	double *sum = xmalloc((size_t)(n + 1) * sizeof *sum), norm = 0;

#pragma omp parallel for if (m * n > PARALLEL_ELEMENTS)
	for (int64_t c = 0; c < n; c++)
		sum[c] = column_sum(a + c * m, m);
	for (int64_t c = 0; c < n; c++)
		norm = worse(norm, sum[c]);
	free(sum);
	return norm;
}

/* residual = (P A - L U)(:,c), in place of P A's column. */
static void subtract_product(double *residual, const double *lu, int64_t m, int64_t c)
{
	for (int64_t k = 0; k <= c; k++) {
		const double *l = lu + k * m;
		double u = lu[k + c * m];

		residual[k] -= u;
#pragma omp simd
		for (int64_t i = k + 1; i < m; i++)
			residual[i] -= l[i] * u;
	}
}

static double largest_of(const double *x, int64_t first, int64_t m)
{
	double largest = 0;

	for (int64_t i = first; i < m; i++)
		largest = worse(largest, fabs(x[i]));
	return largest;
}

static double largest_l(const double *lu, int64_t m, int64_t n)
{
	double *all = xmalloc((size_t)(n + 1) * sizeof *all);

#pragma omp parallel for if (m * n > PARALLEL_ELEMENTS)
	for (int64_t c = 0; c < n; c++)
		all[c] = largest_of(lu + c * m, c + 1, m);
	const double largest = largest_of(all, 0, n);
	free(all);
	return largest;
}

/* As sget01 does for a zero matrix: nothing is right but a zero residual. */
static double scaled(double residual, double norm, int64_t n, double eps)
{
	if (norm == 0)
		return residual == 0 ? 0 : 1 / eps;
	return residual / ((double)n * norm * eps);
}

void check_panel(const void *a0, int64_t lda, const void *lu, int64_t ldlu, int64_t m, int64_t n,
        const int *ipiv, enum precision precision, struct panel_check *check)
{
	/* LAPACK's epsilon: half of the distance from 1 to the next number */
	double eps = (precision == SINGLE ? (double)FLT_EPSILON : DBL_EPSILON) / 2;

	*check = (struct panel_check){
	        .ratio = NAN, .max_l = NAN, .pivots_valid = valid_pivots(ipiv, m, n)};
	if (!check->pivots_valid)
		return;

	double *a = to_double(a0, lda, m, n, precision);
	double *factors = to_double(lu, ldlu, m, n, precision);
	double norm = norm1(a, m, n);

	swap_rows(a, m, n, ipiv);
#pragma omp parallel for schedule(dynamic) if (m * n > PARALLEL_ELEMENTS)
	for (int64_t c = 0; c < n; c++)
		subtract_product(a + c * m, factors, m, c);
	check->ratio = scaled(norm1(a, m, n), norm, n, eps);
	check->max_l = largest_l(factors, m, n);
	check->passed = check->ratio < CHECK_THRESHOLD && check->max_l <= 1;
	free(factors);
	free(a);
}
