/* SPDX-License-Identifier: MIT */
/* Test matrices beyond the kinds of factor/validation/matrices.h, and single elements of matrices.
 */
#pragma once

#include "factor/validation/matrices.h"
#include "lib/base/msg.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Continues enum matrix_kind. */
enum test_kind {
	TEST_LAST_HALF_ZERO = MATRIX_KINDS, /* the last n/2 columns */
	TEST_CONDITION_2,                   /* random singular vectors, geometric singular values */
	TEST_CONDITION_ROOT,                /* condition sqrt(0.1/eps) */
	TEST_CONDITION_BAD,                 /* condition 0.1/eps */
	TEST_NEAR_UNDERFLOW,                /* LAPACK's types 10 and 11 */
	TEST_NEAR_OVERFLOW,
	TEST_WILKINSON, /* grows to 2^(n-1) under partial pivoting */
	TEST_KAHAN,
	TEST_ZERO,
	TEST_IDENTITY,
	TEST_INF_FIRST,
	TEST_INF_MIDDLE,
	TEST_INF_LAST,
	TEST_ALL_NAN,
	TEST_KINDS,
	TEST_SUBNORMAL = TEST_KINDS /* random, far below the smallest normal number */
};

static inline const char *test_kind_name(int kind)
{
	static const char *const names[] = {"last-half-zero", "condition-2", "condition-root",
	        "condition-bad", "near-underflow", "near-overflow", "wilkinson", "kahan", "zero",
	        "identity", "inf-first", "inf-middle", "inf-last", "all-nan", "subnormal"};

	return kind < MATRIX_KINDS ? matrix_kind_name[kind] : names[kind - MATRIX_KINDS];
}

static inline bool test_kind_finite(int kind)
{
	return kind < MATRIX_KINDS ? !matrix_has_nan((enum matrix_kind)kind)
	                           : kind < TEST_INF_FIRST || kind == TEST_SUBNORMAL;
}

/* LAPACK's epsilon: half of the distance from 1 to the next number. */
static inline double unit_roundoff(enum precision precision)
{
	return (precision == SINGLE ? (double)FLT_EPSILON : DBL_EPSILON) / 2;
}

/* The smallest subnormal number. */
static inline double test_smallest(enum precision precision)
{
	return precision == SINGLE ? 0x1p-149 : 0x1p-1074;
}

static inline double get(const void *a, int64_t at, enum precision precision)
{
	return precision == SINGLE ? (double)((const float *)a)[at] : ((const double *)a)[at];
}

static inline void put(void *a, int64_t at, enum precision precision, double x)
{
	if (precision == SINGLE)
		((float *)a)[at] = (float)x;
	else
		((double *)a)[at] = x;
}

static inline bool any_nan(
        const void *a, int64_t lda, int64_t m, int64_t n, enum precision precision)
{
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			if (isnan(get(a, i + j * lda, precision)))
				return true;
	return false;
}

/* In (-1, 1); the same arguments give the same number. */
static inline double test_random(uint64_t seed, int64_t i)
{
	uint64_t z = (seed * 1000003 + (uint64_t)i + 1) * 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-52 - 1;
}

/* count random numbers, rounded to the precision. */
static inline double *test_randoms(uint64_t seed, int64_t count, enum precision precision)
{
	double *x = xmalloc((size_t)(count + 1) * sizeof *x);

	for (int64_t i = 0; i < count; i++) {
		const double value = test_random(seed, i);
		x[i] = precision == SINGLE ? (double)(float)value : value;
	}
	return x;
}

/* Random, of Euclidean length sqrt(2): I - x x^T is a reflection. */
static inline double *test_reflector(uint64_t seed, int64_t n)
{
	double *x = test_randoms(seed, n, DOUBLE), squares = 0;

	for (int64_t i = 0; i < n; i++)
		squares += x[i] * x[i];
	for (int64_t i = 0; i < n; i++)
		x[i] *= sqrt(2 / squares);
	return x;
}

/* (I - u u^T) D (I - v v^T), D diagonal from 1 down to 1/condition: dense, with these singular
 * values; u = v for the symmetric matrix with these eigenvalues. Column-major, without padding. */
static inline double *test_singular_valued(int64_t m, int64_t n, double condition, bool symmetric)
{
	const int64_t k = m < n ? m : n;
	double *u = test_reflector(1, m), *v = test_reflector(symmetric ? 1 : 2, n);
	double *d = xcalloc((size_t)(k + 1), sizeof *d);
	double *a = xmalloc((size_t)(m * n + 1) * sizeof *a), middle = 0;

	for (int64_t l = 0; l < k; l++) {
		d[l] = k > 1 ? pow(condition, -(double)l / (double)(k - 1)) : 1;
		middle += u[l] * d[l] * v[l];
	}
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++) {
			const double left = j < k ? d[j] * u[j] : 0,
			             right = i < k ? d[i] * v[i] : 0;
			a[i + j * m] = (i == j ? d[i] : 0) - u[i] * left - right * v[j] +
			               u[i] * middle * v[j];
		}
	free(u);
	free(v);
	free(d);
	return a;
}

/* The condition of kinds with geometric singular values, 0 of other kinds; *scale multiplies the
 * matrix. */
static inline double test_condition(int kind, enum precision precision, double *scale)
{
	const double eps = unit_roundoff(precision);
	const double smallest = 0.25 * (precision == SINGLE ? (double)FLT_MIN : DBL_MIN) / eps;

	*scale = kind == TEST_NEAR_UNDERFLOW  ? smallest
	         : kind == TEST_NEAR_OVERFLOW ? 1 / smallest
	                                      : 1;
	switch (kind) {
	case TEST_CONDITION_ROOT:
		return sqrt(0.1 / eps);
	case TEST_CONDITION_BAD:
		return 0.1 / eps;
	case TEST_CONDITION_2:
	case TEST_NEAR_UNDERFLOW:
	case TEST_NEAR_OVERFLOW:
		return 2;
	default:
		return 0;
	}
}

/* Of kinds without singular values. */
static inline double test_element(
        int kind, int64_t i, int64_t j, int64_t m, int64_t n, enum precision precision)
{
	const double random = test_random(3 + (uint64_t)j, i);

	switch (kind) {
	case TEST_LAST_HALF_ZERO:
		return j >= n - n / 2 ? 0 : random;
	case TEST_SUBNORMAL:
		return random * 0x1p20 * test_smallest(precision);
	case TEST_WILKINSON:
		return i == j || j == n - 1 ? 1 : i > j ? -1 : 0;
	case TEST_KAHAN:
		return pow(sin(1.2), (double)i) * (i == j ? 1 : i < j ? -cos(1.2) : 0);
	case TEST_IDENTITY:
		return i == j;
	case TEST_INF_FIRST:
		return i == 0 && j == 0 ? INFINITY : random;
	case TEST_INF_MIDDLE:
		return i == m / 2 && j == n / 2 ? INFINITY : random;
	case TEST_INF_LAST:
		return i == m - 1 && j == n - 1 ? INFINITY : random;
	case TEST_ALL_NAN:
		return NAN;
	default:
		return 0;
	}
}

/* As matrix_fill, of all kinds. */
static inline void test_fill(
        void *a, int64_t lda, int64_t m, int64_t n, enum precision precision, int kind)
{
	double scale, condition = test_condition(kind, precision, &scale), *dense = NULL;

	matrix_fill(a, lda, m, n, precision,
	        kind < MATRIX_KINDS ? (enum matrix_kind)kind : MATRIX_RANDOM, 7);
	if (kind < MATRIX_KINDS)
		return;
	if (condition > 0)
		dense = test_singular_valued(m, n, condition, false);
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			put(a, i + j * lda, precision,
			        dense ? scale * dense[i + j * m]
			              : test_element(kind, i, j, m, n, precision));
	free(dense);
}

static inline void *test_matrix(
        int64_t lda, int64_t m, int64_t n, enum precision precision, int kind)
{
	void *a = xmalloc((size_t)(lda * n * precision_bytes(precision)) + 1);

	test_fill(a, lda, m, n, precision, kind);
	return a;
}

static inline void *test_copy(const void *a, int64_t lda, int64_t n, enum precision precision)
{
	size_t bytes = (size_t)(lda * n * precision_bytes(precision));
	void *copy = xmalloc(bytes + 1);

	memcpy(copy, a, bytes);
	return copy;
}
