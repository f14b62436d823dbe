/* SPDX-License-Identifier: MIT */
/* Arithmetic in double precision for the checks: norms, products, ratios. Matrices are
 * column-major; their leading dimension is their number of rows. */
#pragma once

#include "matrix_kinds.h"

#include <cblas.h>

/* Column-major with leading dimension m (at least 1). */
static inline double *to_doubles(
        const void *a, int64_t lda, int64_t m, int64_t n, enum precision precision)
{
	double *out = xmalloc((size_t)(m * n + 1) * sizeof *out);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			out[i + j * m] = get(a, i + j * lda, precision);
	return out;
}

/* Larger, and NaN when any is NaN, which fmax would hide. */
static inline double worse(double a, double b)
{
	return b > a || isnan(b) ? b : a;
}

static inline double norm_max(const double *a, int64_t count)
{
	double norm = 0;

	for (int64_t i = 0; i < count; i++)
		norm = worse(norm, fabs(a[i]));
	return norm;
}

/* Unit roundoff for numbers of this norm: larger when they are subnormal. */
static inline double roundoff_at(double norm, enum precision precision)
{
	return norm > 0 ? fmax(unit_roundoff(precision), test_smallest(precision) / norm / 2)
	                : unit_roundoff(precision);
}

static inline double norm_one(const double *a, int64_t m, int64_t n)
{
	double norm = 0;

	for (int64_t j = 0; j < n; j++) {
		double sum = 0;
		for (int64_t i = 0; i < m; i++)
			sum += fabs(a[i + j * m]);
		norm = worse(norm, sum);
	}
	return norm;
}

static inline double norm_frobenius(const double *a, int64_t count)
{
	double sum = 0;

	for (int64_t i = 0; i < count; i++)
		sum += a[i] * a[i];
	return sqrt(sum);
}

static inline bool any_not_finite(const double *a, int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (!isfinite(a[i]))
			return true;
	return false;
}

/* Multiplies by a power of two that makes norms of matrices near overflow possible; the exponent
 * comes from `like`. */
static inline void rescale(double *a, int64_t count, const double *like, int64_t like_count)
{
	double largest = norm_max(like, like_count);
	int exponent = 0;

	if (!isfinite(largest) || largest == 0)
		return;
	frexp(largest, &exponent);
	for (int64_t i = 0; i < count; i++)
		a[i] = ldexp(a[i], -exponent);
}

/* C = alpha op(A) op(B) + beta C; leading dimensions are the rows. */
static inline void multiply(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int64_t m, int64_t n, int64_t k,
        double alpha, const double *a, const double *b, double beta, double *c)
{
	int64_t lda = ta == CblasNoTrans ? m : k, ldb = tb == CblasNoTrans ? k : n;

	if (m && n)
		cblas_dgemm(CblasColMajor, ta, tb, (blasint)m, (blasint)n, (blasint)k, alpha, a,
		        (blasint)(lda ? lda : 1), b, (blasint)(ldb ? ldb : 1), beta, c, (blasint)m);
}

/* x^T y in extended precision; four sums, because each waits for its last addition. */
static inline long double extended_dot(int64_t n, const double *x, const double *y)
{
	long double sum[4] = {0};

	for (int64_t i = 0; i + 4 <= n; i += 4)
		for (int64_t l = 0; l < 4; l++)
			sum[l] += (long double)x[i + l] * y[i + l];
	for (int64_t i = n / 4 * 4; i < n; i++)
		sum[0] += (long double)x[i] * y[i];
	return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* C -= A B, A m x k lower, B k x n upper, in extended precision: a residual of doubles that is
 * computed in double looks smaller for factors that were made by the same multiplication. */
static inline void subtract_product(
        int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c)
{
	double *rows = xmalloc((size_t)(m * k + 1) * sizeof *rows);

	for (int64_t l = 0; l < k; l++)
		for (int64_t i = 0; i < m; i++)
			rows[l + i * k] = a[i + l * m];
#pragma omp parallel for schedule(dynamic, 16)
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			int64_t terms = i < j ? i + 1 : j + 1;
			c[i + j * m] = (double)(c[i + j * m] - extended_dot(terms < k ? terms : k,
			                                               rows + i * k, b + j * k));
		}
	free(rows);
}

/* LAPACK's ratio: residual / (size norm eps), where a zero matrix allows nothing but zero. */
static inline double test_ratio(double residual, int64_t size, double norm, double eps)
{
	if (residual == 0)
		return 0;
	return norm == 0 ? 1 / eps : residual / ((double)size * norm * eps);
}
