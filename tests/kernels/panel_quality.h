/* SPDX-License-Identifier: MIT */
/* How good a Householder panel is: residual and orthogonality of every column, R and tau beside
 * those of LAPACK, all in double precision. */
#pragma once

#include "tests/algorithms/matrix_kinds.h"

#include "lib/base/msg.h"

#include <cblas.h>
#include <lapacke.h>

struct shape {
	int64_t m, n, padding;
};

/* One factorization on the host: a (lda x n) and tau. */
struct result {
	char *a, *tau;
	size_t bytes, tau_bytes;
};

/* Exponent of the largest magnitude of column k. */
static inline int column_exponent(
        const void *a, int64_t lda, int64_t k, const struct shape *s, enum precision precision)
{
	double largest = 0;
	int exponent = 0;
	for (int64_t i = 0; i < s->m; i++)
		largest = fmax(largest, fabs(get(a, i + k * lda, precision)));
	frexp(largest, &exponent);
	return exponent;
}

/* Column k times 2^-exponent[k], in double precision without padding. */
static inline double *widen(const void *a, int64_t lda, const struct shape *s,
        enum precision precision, const int *exponent)
{
	double *wide = xmalloc((size_t)(s->m * s->n) * sizeof *wide);
	for (int64_t k = 0; k < s->n; k++)
		for (int64_t i = 0; i < s->m; i++)
			wide[i + k * s->m] = ldexp(get(a, i + k * lda, precision), -exponent[k]);
	return wide;
}

struct quality {
	double residual, orthogonality; /* LAPACK's ratios; the former of the worst column */
	double r_error, tau_error;      /* against LAPACK's, in roundings, relative to the column */
	bool tau_zeros;                 /* zero in the same places */
};

static inline double norm2(const double *x, int64_t m)
{
	return cblas_dnrm2((int)m, x, 1);
}

/* Q R - A with Q out of the vectors and tau; columns scaled to no extreme size. digits: eps, larger
 * for subnormal columns. */
static inline void check_product(const double *a, const double *qr, const double *tau,
        const struct shape *s, double eps, double digits, struct quality *out)
{
	const int m = (int)s->m, n = (int)s->n;
	double *q = xmalloc((size_t)(s->m * n) * sizeof *q);
	double *product = xmalloc((size_t)(s->m * n) * sizeof *product);
	double *gram = xmalloc((size_t)n * (size_t)n * sizeof *gram);

	memcpy(q, qr, (size_t)(s->m * n) * sizeof *q);
	LAPACKE_dorgqr(LAPACK_COL_MAJOR, m, n, n, q, m, tau);
	memcpy(product, q, (size_t)(s->m * n) * sizeof *product);
	cblas_dtrmm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, m, n, 1.0,
	        qr, m, product, m);
	cblas_dgemm(
	        CblasColMajor, CblasTrans, CblasNoTrans, n, n, m, 1.0, q, m, q, m, 0.0, gram, n);

	out->residual = out->orthogonality = 0;
	for (int k = 0; k < n; k++) {
		const double size = norm2(a + k * s->m, m);
		cblas_daxpy(m, -1.0, a + k * s->m, 1, product + k * s->m, 1);
		const double error = norm2(product + k * s->m, m);
		const double ratio = error == 0 ? 0 : error / (size * m * digits);
		gram[k + (int64_t)k * n] -= 1;
		const double loss = cblas_dasum(n, gram + (int64_t)k * n, 1) / (m * eps);
		out->residual = ratio <= out->residual ? out->residual : ratio;
		out->orthogonality = loss <= out->orthogonality ? out->orthogonality : loss;
	}
	free(q);
	free(product);
	free(gram);
}

/* Against LAPACK in double precision on the same numbers. */
static inline void check_factor(const double *a, const double *qr, const double *tau,
        const struct shape *s, double eps, struct quality *out)
{
	const int m = (int)s->m, n = (int)s->n;
	double *want = xmalloc((size_t)(s->m * n) * sizeof *want);
	double *want_tau = xmalloc((size_t)n * sizeof *want_tau);

	memcpy(want, a, (size_t)(s->m * n) * sizeof *want);
	LAPACKE_dgeqrf(LAPACK_COL_MAJOR, m, n, want, m, want_tau);
	out->r_error = out->tau_error = 0;
	out->tau_zeros = true;
	for (int k = 0; k < n; k++) {
		const double size = norm2(a + k * s->m, m);
		for (int64_t i = 0; i <= k; i++) {
			const double error = fabs(qr[i + k * s->m] - want[i + k * s->m]);
			out->r_error = fmax(out->r_error, error == 0 ? 0 : error / (size * eps));
		}
		out->tau_error = fmax(out->tau_error, fabs(tau[k] - want_tau[k]) / eps);
		out->tau_zeros = out->tau_zeros && (tau[k] == 0) == (want_tau[k] == 0);
	}
	free(want);
	free(want_tau);
}

static inline struct quality quality_of(const void *a0, const struct result *r, int64_t lda,
        const struct shape *s, enum precision precision)
{
	int *exponent = xmalloc((size_t)s->n * sizeof *exponent);
	double *tau = xmalloc((size_t)s->n * sizeof *tau);
	const double eps = precision == SINGLE ? FLT_EPSILON / 2 : DBL_EPSILON / 2;
	const int last = precision == SINGLE ? -150 : -1075; /* half the smallest number */
	double digits = eps;
	struct quality quality;

	for (int64_t k = 0; k < s->n; k++) {
		exponent[k] = column_exponent(a0, lda, k, s, precision);
		tau[k] = get(r->tau, k, precision);
		digits = fmax(digits, ldexp(1, last - exponent[k]));
	}
	double *a = widen(a0, lda, s, precision, exponent);
	double *upper = widen(r->a, lda, s, precision, exponent);
	/* the vectors are not scaled */
	for (int64_t k = 0; k < s->n; k++)
		for (int64_t i = k + 1; i < s->m; i++)
			upper[i + k * s->m] = get(r->a, i + k * lda, precision);
	check_product(a, upper, tau, s, eps, digits, &quality);
	check_factor(a, upper, tau, s, digits, &quality);
	free(exponent);
	free(tau);
	free(a);
	free(upper);
	return quality;
}
