/* SPDX-License-Identifier: MIT */
/* What holds for every random case: residuals within LAPACK's threshold, bits that change with the
 * scale alone, nothing written beside the matrix. Each check returns its fault, or NULL. */
#pragma once

#include "property_runs.h"

#include "factor/validation/check.h"

#include <lapacke.h>

/* Whether the matrix has neither NaN nor Inf, and whether no square or product of its elements
 * underflows or overflows. */
static inline bool property_finite(const struct property_case *c)
{
	return c->operation == POTRF ? c->kind < SPD_NAN_FIRST || c->kind == SPD_ZERO
	                             : c->kind == KIND_EXACT || test_kind_finite((int)c->kind);
}

static inline bool property_in_range(const struct property_case *c)
{
	const int64_t k = c->kind;

	if (c->operation == POTRF)
		return k != SPD_NEAR_UNDERFLOW && k != SPD_NEAR_OVERFLOW && k != SPD_STEEP &&
		       k != SPD_SUBNORMAL;
	return k != TEST_NEAR_UNDERFLOW && k != TEST_NEAR_OVERFLOW && k != TEST_SUBNORMAL &&
	       k != MATRIX_TINY;
}

/* The part of an array that is the matrix, in doubles. */
static inline double *property_doubles(const struct property_problem *p, const void *array)
{
	const struct property_case *c = p->of;
	const int64_t at = c->above + c->before * p->ld;

	return to_doubles((const char *)array + at * precision_bytes(p->precision), p->ld, c->m,
	        c->n, p->precision);
}

/* Whether norm1(x) over max(m, n) norm eps is below LAPACK's threshold. Frees x. */
static inline bool property_small(double *x, int64_t m, int64_t n, double norm, double eps)
{
	const double ratio = test_ratio(norm_one(x, m, n), m > n ? m : n, norm, eps);

	free(x);
	return ratio < CHECK_THRESHOLD;
}

/* The same of products of x: frees them, too. */
static inline const char *property_verdict(bool good, const char *fault, double *x, double *y)
{
	free(x);
	free(y);
	return good ? NULL : fault;
}

/* ---- LU ---- */

static inline void property_split(
        const struct property_problem *p, const double *lu, double **l, double **u)
{
	const int64_t m = p->of->m, n = p->of->n, k = p->k;

	*l = xcalloc((size_t)(m * k + 1), sizeof **l);
	*u = xcalloc((size_t)(k * n + 1), sizeof **u);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			if (i > j && j < k)
				(*l)[i + j * m] = lu[i + j * m];
			else if (i <= j)
				(*u)[i + j * k] = lu[i + j * m];
	for (int64_t j = 0; j < k; j++)
		(*l)[j + j * m] = 1;
}

/* Whether the factors are those that the matrix was made of, whatever the order of its rows. */
static inline const char *property_exact(const struct property_problem *p,
        const struct property_result *r, const double *l, const double *u)
{
	const int64_t m = p->of->m, k = p->k;
	const char *wrong = r->info ? "info of factors without rounding" : NULL;
	int64_t *row = xcalloc((size_t)m + 1, sizeof *row),
	        *at = xcalloc((size_t)m + 1, sizeof *at);

	for (int64_t i = 0; i < m; i++)
		row[i] = i;
	for (int64_t i = 0; i < k; i++) {
		const int64_t other = r->ipiv[i] - 1, moved = row[i];
		row[i] = row[other];
		row[other] = moved;
	}
	for (int64_t i = 0; i < m; i++)
		at[p->order[i]] = i;
	for (int64_t i = 0; i < m && !wrong; i++) {
		const int64_t from = at[row[i]]; /* of L's rows, the one that row i must be */
		if (i < k && from != i)
			wrong = "pivots do not follow the order of the rows";
		for (int64_t j = 0; j < k && !wrong; j++)
			if (l[i + j * m] != p->l[from + j * m])
				wrong = "L depends on the order of the rows, or was rounded";
	}
	for (int64_t i = 0; i < k * p->of->n && !wrong; i++)
		if (u[i] != p->u[i])
			wrong = "U depends on the order of the rows, or was rounded";
	free(row);
	free(at);
	return wrong;
}

static inline bool property_lu_residual(
        const struct property_problem *p, const struct property_result *r, double *l, double *u)
{
	const int64_t m = p->of->m, n = p->of->n, k = p->k;
	double *a = property_doubles(p, p->before), norm = norm_one(a, m, n);
	const double eps = roundoff_at(norm_max(a, m * n), p->precision);

	for (int64_t i = 0; i < k; i++)
		cblas_dswap((blasint)n, a + i, (blasint)m, a + r->ipiv[i] - 1, (blasint)m);
	multiply(CblasNoTrans, CblasNoTrans, m, n, k, -1, l, u, 1, a);
	if (p->of->kind == TEST_WILKINSON) /* its elements grow */
		norm = worse(norm, norm_one(u, k, n));
	return property_small(a, m, n, norm, eps);
}

static inline const char *property_check_lu(
        const struct property_problem *p, const struct property_result *r)
{
	const struct property_case *c = p->of;
	const char *wrong = NULL;

	for (int64_t j = 0; j < p->k; j++)
		if (r->ipiv[j] <= j || r->ipiv[j] > c->m)
			return "invalid pivots";
	double *lu = property_doubles(p, r->after), *l, *u;
	property_split(p, lu, &l, &u);
	if (!property_finite(c)) {
		if (p->k && !any_not_finite(lu, c->m * c->n))
			wrong = "the NaN or Inf is gone";
	} else if (c->kind != TEST_SUBNORMAL && c->kind != MATRIX_TINY &&
	           !(c->kind == TEST_WILKINSON && c->inverse) &&
	           !property_lu_residual(p, r, l, u)) {
		wrong = "residual of LU";
	} else if (c->kind == KIND_EXACT && !p->inverts) {
		wrong = property_exact(p, r, l, u);
	}
	free(lu);
	free(l);
	free(u);
	return wrong;
}

/* ---- QR ---- */

/* c := op(Q) c or c op(Q), c m x n, of the reflectors in qr, in double precision. */
static inline void property_apply_q(const struct property_problem *p, const double *qr,
        const double *tau, bool right, bool transposed, double *c, int64_t m, int64_t n)
{
	const lapack_int ld = (lapack_int)p->of->m;

	if (m && n && p->k)
		LAPACKE_dormqr(LAPACK_COL_MAJOR, right ? 'R' : 'L', transposed ? 'T' : 'N',
		        (lapack_int)m, (lapack_int)n, (lapack_int)p->k, qr, ld, tau, c,
		        (lapack_int)m);
}

static inline double *property_identity(int64_t m)
{
	double *x = xcalloc((size_t)(m * m + 1), sizeof *x);

	for (int64_t i = 0; i < m; i++)
		x[i + i * m] = 1;
	return x;
}

static inline const char *property_check_qr(
        const struct property_problem *p, const struct property_result *r)
{
	const int64_t m = p->of->m, n = p->of->n;
	double *a = property_doubles(p, p->before), *qr = property_doubles(p, r->after);
	double *tau = to_doubles(r->tau, p->k, p->k, 1, p->precision);
	double norm = norm_one(a, m, n), eps = roundoff_at(norm_max(a, m * n), p->precision);
	double *product = xcalloc((size_t)(m * n + 1), sizeof *product);
	const char *wrong = NULL;

	if (!property_finite(p->of)) {
		if (p->k && !any_not_finite(qr, m * n))
			wrong = "the NaN or Inf is gone";
	} else {
		for (int64_t j = 0; j < n; j++)
			for (int64_t i = 0; i <= j && i < m; i++)
				product[i + j * m] = qr[i + j * m];
		property_apply_q(p, qr, tau, false, false, product, m, n);
		for (int64_t i = 0; i < m * n; i++)
			a[i] -= product[i];
		double *q = property_identity(m), *square = property_identity(m);
		property_apply_q(p, qr, tau, false, false, q, m, m);
		multiply(CblasTrans, CblasNoTrans, m, m, m, -1, q, q, 1, square);
		free(q);
		if (!property_small(square, m, m, 1, unit_roundoff(p->precision)))
			wrong = "Q is not orthogonal";
		if (test_ratio(norm_one(a, m, n), m, norm, eps) >= CHECK_THRESHOLD)
			wrong = "residual of QR";
	}
	free(product);
	free(tau);
	return property_verdict(!wrong, wrong, a, qr);
}

/* ---- Cholesky ---- */

/* Order of the first leading minor that is not positive, 0: none; -1: depends on the library. */
static inline int64_t property_expected_info(const struct property_case *c)
{
	const int64_t n = c->n;

	switch (n ? c->kind : SPD_DIAGONAL) {
	case SPD_ZERO:
	case SPD_ZERO_FIRST:
	case SPD_NAN_FIRST:
		return 1;
	case SPD_ZERO_MIDDLE:
	case SPD_NEGATIVE_MIDDLE:
	case SPD_NAN_MIDDLE:
		return n / 2 + 1;
	case SPD_ZERO_LAST:
	case SPD_NAN_LAST:
	case SPD_NAN_CORNER:
		return n;
	case SPD_INF_MIDDLE:
	case SPD_INF_CORNER:
		return -1;
	default:
		return 0;
	}
}

/* A triangle as the lower one in doubles, zeros above. */
static inline double *property_lower(const struct property_problem *p, const void *array)
{
	const int64_t n = p->of->n;
	double *x = property_doubles(p, array), *lower = xcalloc((size_t)(n * n + 1), sizeof *x);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = j; i < n; i++)
			lower[i + j * n] = p->uplo == LOWER ? x[i + j * n] : x[j + i * n];
	free(x);
	return lower;
}

/* The matrix before, both triangles. */
static inline double *property_symmetric(const struct property_problem *p)
{
	const int64_t n = p->of->n;
	double *a = property_lower(p, p->before);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < j; i++)
			a[i + j * n] = a[j + i * n];
	return a;
}

static inline const char *property_check_cholesky(
        const struct property_problem *p, const struct property_result *r)
{
	const int64_t n = p->of->n, expected = property_expected_info(p->of);

	if (expected >= 0 && r->info != expected)
		return "info of Cholesky";
	if (r->info || expected < 0)
		return NULL;
	double *a = property_symmetric(p), *l = property_lower(p, r->after);
	const double norm = norm_one(a, n, n), eps = roundoff_at(norm, p->precision);
	multiply(CblasNoTrans, CblasTrans, n, n, n, -1, l, l, 1, a);
	free(l);
	return property_small(a, n, n, norm, eps) ? NULL : "residual of Cholesky";
}

/* ---- solves ---- */

/* norm1(B - op(A) X) over norm1(A) norm1(X). */
static inline const char *property_check_solution(
        const struct property_problem *p, const struct property_result *r)
{
	const int64_t n = p->of->n;
	const bool cholesky = p->of->operation == POTRF;
	double *x = to_doubles(r->x, n, n, p->rhs, p->precision), *rest = NULL;

	if (any_not_finite(x, n * p->rhs)) /* nearly singular */
		return property_verdict(true, NULL, x, NULL);
	double *a = cholesky ? property_symmetric(p) : property_doubles(p, p->before);
	rest = to_doubles(p->right, n, n, p->rhs, p->precision);
	multiply(!cholesky && p->of->transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, n,
	        p->rhs, n, -1, a, x, 1, rest);
	const double norm = norm_one(a, n, n) * norm_one(x, n, p->rhs);
	return property_verdict(property_small(rest, n, p->rhs, norm, unit_roundoff(p->precision)),
	        "residual of a solution", a, x);
}

/* Q's columns, or the product with Q, by LAPACK in double precision from the same reflectors. */
static inline const char *property_check_q(
        const struct property_problem *p, const struct property_result *r)
{
	const bool forms = p->of->solve == SOLVE_ORGQR;
	double *qr = property_doubles(p, r->after), *want;
	double *tau = to_doubles(r->tau, p->k, p->k, 1, p->precision);
	double *got = to_doubles(r->x, p->rows, p->rows, p->rhs, p->precision);

	want = forms ? property_identity(p->of->m)
	             : to_doubles(p->right, p->rows, p->rows, p->rhs, p->precision);
	property_apply_q(p, qr, tau, !forms && p->of->right, !forms && p->of->transposed, want,
	        p->rows, p->rhs);
	const double norm = norm_one(want, p->rows, p->rhs);
	for (int64_t i = 0; i < p->rows * p->rhs; i++)
		got[i] -= want[i];
	free(tau);
	return property_verdict(
	        property_small(got, p->rows, p->rhs, norm, unit_roundoff(p->precision)),
	        forms ? "orgqr" : "ormqr", qr, want);
}

/* Least squares of well-conditioned matrices, by LAPACK in double precision. */
static inline const char *property_check_gels(
        const struct property_problem *p, const struct property_result *r)
{
	const struct property_case *c = p->of;
	const int64_t rows = c->transposed ? c->m : c->n; /* of the solution */

	if (c->kind != TEST_CONDITION_2)
		return NULL;
	if (r->solve_info)
		return "info of gels";
	double *a = property_doubles(p, p->before);
	double *want = to_doubles(p->right, p->rows, p->rows, p->rhs, p->precision);
	double *got = to_doubles(r->x, p->rows, rows, p->rhs, p->precision);
	if (p->k)
		LAPACKE_dgels(LAPACK_COL_MAJOR, c->transposed ? 'T' : 'N', (lapack_int)c->m,
		        (lapack_int)c->n, (lapack_int)p->rhs, a, (lapack_int)c->m, want,
		        (lapack_int)p->rows);
	for (int64_t j = 0; j < p->rhs; j++)
		for (int64_t i = 0; i < rows; i++)
			got[i + j * rows] -= p->k ? want[i + j * p->rows] : 0;
	const double norm = norm_one(want, p->rows, p->rhs);
	return property_verdict(
	        property_small(got, rows, p->rhs, norm, unit_roundoff(p->precision)), "gels", a,
	        want);
}

/* ---- all checks of one run ---- */

static inline const char *property_check(
        const struct property_problem *p, const struct property_result *r)
{
	const struct property_case *c = p->of;
	const char *wrong = c->operation == GETRF   ? property_check_lu(p, r)
	                    : c->operation == GEQRF ? property_check_qr(p, r)
	                                            : property_check_cholesky(p, r);

	if (wrong || p->rows == 0 || r->info || !property_finite(c) || !property_in_range(c))
		return wrong;
	if (c->operation != GEQRF)
		return c->kind == TEST_WILKINSON && c->operation == GETRF
		               ? NULL
		               : property_check_solution(p, r);
	return c->solve == SOLVE_GELS ? property_check_gels(p, r) : property_check_q(p, r);
}
