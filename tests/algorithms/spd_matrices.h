/* SPDX-License-Identifier: MIT */
/* Symmetric matrices: positive definite ones of every condition and scale, and matrices that an
 * element, a row or a NaN keeps from being positive definite. */
#pragma once

#include "factor_test.h"

enum spd {
	SPD_LAWN,        /* 0.001 I + X^T X, X random: LAWN 202's */
	SPD_CONDITION_2, /* random eigenvectors, geometric eigenvalues */
	SPD_CONDITION_ROOT,
	SPD_CONDITION_BAD,
	SPD_NEAR_UNDERFLOW,
	SPD_NEAR_OVERFLOW,
	SPD_GRADED, /* rows and columns scaled from 1 down to 1e-8 */
	SPD_STEEP,  /* scaled down to the smallest that elements may be */
	SPD_DIAGONAL,
	SPD_SUBNORMAL,  /* diagonal, its elements below the smallest normal number */
	SPD_ZERO_FIRST, /* from here on not positive definite: a row and column of zeros */
	SPD_ZERO_MIDDLE,
	SPD_ZERO_LAST,
	SPD_NEGATIVE_MIDDLE, /* a negative diagonal element */
	SPD_NAN_FIRST,       /* on the diagonal */
	SPD_NAN_MIDDLE,
	SPD_NAN_LAST,
	SPD_NAN_CORNER, /* off the diagonal, in the last row of the first column */
	SPD_INF_MIDDLE, /* on the diagonal */
	SPD_INF_CORNER,
	SPD_ZERO,
	SPD_KINDS,
	SPD_LARGE,   /* quick to make: a random matrix with a large diagonal */
	SPD_DOMINANT /* 32 columns subtract less than the diagonal's last unit */
};

static inline const char *spd_kind_name(int kind)
{
	static const char *const names[] = {"lawn-202", "condition-2", "condition-root",
	        "condition-bad", "near-underflow", "near-overflow", "graded", "steep", "diagonal",
	        "subnormal", "zero-first", "zero-middle", "zero-last", "negative-middle",
	        "nan-first", "nan-middle", "nan-last", "nan-corner", "inf-middle", "inf-corner",
	        "zero", "", "large", "dominant"};

	return names[kind];
}

/* Dense matrices are made as a whole: 0.001 I + X^T X, X random (condition 0), or random
 * eigenvectors with eigenvalues from 1 down to 1/condition. */
static inline double *spd_dense(int64_t n, double condition)
{
	if (condition > 0)
		return test_singular_valued(n, n, condition, true);
	double *x = xmalloc((size_t)(n * n + 1) * sizeof *x);
	double *a = xcalloc((size_t)(n * n + 1), sizeof *a);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < n; i++)
			x[i + j * n] = test_random(3 + (uint64_t)j, i);
	multiply(CblasTrans, CblasNoTrans, n, n, n, 1, x, x, 0, a);
	for (int64_t i = 0; i < n; i++)
		a[i + i * n] += 0.001;
	free(x);
	return a;
}

static inline double spd_condition(int kind, int64_t n, double eps)
{
	return kind == SPD_LAWN             ? 0
	       : kind == SPD_CONDITION_ROOT ? sqrt(0.1 / eps)
	       : kind == SPD_CONDITION_BAD  ? 0.1 / eps / (double)n
	                                    : 2;
}

/* The element at (i,j), i >= j, that makes a positive definite matrix something else. */
static inline bool special(int kind, int64_t i, int64_t j, int64_t n, double *value)
{
	int64_t at = kind == SPD_ZERO_FIRST || kind == SPD_NAN_FIRST ? 0
	             : kind == SPD_ZERO_LAST || kind == SPD_NAN_LAST ? n - 1
	                                                             : n / 2;
	bool on_cross = i == at || j == at, on_diagonal = i == at && j == at;
	bool corner = i == n - 1 && j == 0;

	switch (kind) {
	case SPD_ZERO_FIRST:
	case SPD_ZERO_MIDDLE:
	case SPD_ZERO_LAST:
		*value = 0;
		return on_cross;
	case SPD_NEGATIVE_MIDDLE:
		*value = -1;
		return on_diagonal;
	case SPD_NAN_FIRST:
	case SPD_NAN_MIDDLE:
	case SPD_NAN_LAST:
		*value = NAN;
		return on_diagonal;
	case SPD_NAN_CORNER:
		*value = NAN;
		return corner;
	case SPD_INF_MIDDLE:
		*value = INFINITY;
		return on_diagonal;
	case SPD_INF_CORNER:
		*value = INFINITY;
		return corner;
	default:
		*value = 0;
		return kind == SPD_ZERO ||
		       ((kind == SPD_DIAGONAL || kind == SPD_SUBNORMAL) && i != j);
	}
}

/* `dense`: the element of spd_dense. */
static inline double spd_element(
        int kind, int64_t i, int64_t j, int64_t n, enum precision precision, double dense)
{
	const double normal = precision == SINGLE ? (double)FLT_MIN : DBL_MIN;
	const double smallest = 0.25 * normal / unit_roundoff(precision);
	const double along = n > 1 ? (double)(i + j) / (double)(2 * n - 2) : 0;
	double value;

	if (special(kind, i, j, n, &value))
		return value;
	switch (kind) {
	case SPD_NEAR_UNDERFLOW:
		return smallest * dense;
	case SPD_NEAR_OVERFLOW:
		return dense / smallest;
	case SPD_SUBNORMAL:
		return ldexp((double)(1 + i % 8), -10) * normal;
	case SPD_LARGE:
		return i == j ? 2 * sqrt((double)n) : test_random(3 + (uint64_t)j, i);
	case SPD_DOMINANT:
		return i == j ? 20000 : test_random(3 + (uint64_t)j, i);
	case SPD_STEEP:
		return dense * pow(smallest, along);
	case SPD_GRADED:
		return dense * pow(1e-16, along);
	default:
		return dense;
	}
}

/* One triangle; the other triangle and the padding hold a pattern that is NaN. */
static inline void *spd_matrix(
        enum uplo uplo, int64_t n, int64_t lda, enum precision precision, int kind)
{
	void *a = xmalloc((size_t)(lda * n * precision_bytes(precision)) + 1);
	double *dense = spd_dense(n, spd_condition(kind, n, unit_roundoff(precision)));

	memset(a, 0xff, (size_t)(lda * n * precision_bytes(precision)));
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = j; i < n; i++)
			put(a, uplo == LOWER ? i + j * lda : j + i * lda, precision,
			        spd_element(kind, i, j, n, precision, dense[i + j * n]));
	free(dense);
	return a;
}
