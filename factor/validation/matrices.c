/* SPDX-License-Identifier: MIT */
#include "matrices.h"

#include "lib/base/msg.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const matrix_kind_name[MATRIX_KINDS] = {[MATRIX_RANDOM] = "random",
        [MATRIX_GRADED_ROWS] = "graded-rows",
        [MATRIX_GRADED_COLUMNS] = "graded-columns",
        [MATRIX_RANK_DEFICIENT] = "rank-deficient",
        [MATRIX_ZERO_FIRST] = "zero-first",
        [MATRIX_ZERO_MIDDLE] = "zero-middle",
        [MATRIX_ZERO_LAST] = "zero-last",
        [MATRIX_NAN_FIRST] = "nan-first",
        [MATRIX_NAN_MIDDLE] = "nan-middle",
        [MATRIX_NAN_LAST] = "nan-last",
        [MATRIX_DIAGONAL] = "diagonal",
        [MATRIX_LOWER] = "lower",
        [MATRIX_UPPER] = "upper",
        [MATRIX_TIES] = "ties",
        [MATRIX_TINY] = "tiny"};

/* Smaller matrices are faster on one thread. */
enum { PARALLEL_ELEMENTS = 1 << 16 };

static const double smallest_grade = 1e-8;

/* Quiet NaNs with a payload that no arithmetic makes. */
static const uint32_t poison_single = 0x7fc5a5a5;
static const uint64_t poison_double = 0x7ff8a5a5a5a5a5a5;

bool matrix_has_nan(enum matrix_kind kind)
{
	return kind == MATRIX_NAN_FIRST || kind == MATRIX_NAN_MIDDLE || kind == MATRIX_NAN_LAST;
}

bool matrix_pivots_unique(enum matrix_kind kind)
{
	return kind != MATRIX_TIES && kind != MATRIX_RANK_DEFICIENT && kind != MATRIX_LOWER;
}

/* Steele, Lea and Flood's SplitMix64 as a function of its counter. */
static uint64_t mixed(uint64_t counter)
{
	uint64_t z = counter * 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

double matrix_uniform(uint64_t seed, int64_t i, int64_t j)
{
	uint64_t bits = mixed(mixed(mixed(seed + 1) + (uint64_t)j) + (uint64_t)i) >> 40;

	return ((double)bits + 0.5) * 0x1p-23 - 1;
}

static double grade(int64_t i, int64_t m)
{
	return m > 1 ? pow(smallest_grade, (double)i / (double)(m - 1)) : 1;
}

static double element(enum matrix_kind kind, uint64_t seed, int64_t i, int64_t j, int64_t m,
        int64_t n, enum precision precision)
{
	double x = matrix_uniform(seed, i, j);

	switch (kind) {
	case MATRIX_GRADED_ROWS:
		return x * grade(i, m);
	case MATRIX_GRADED_COLUMNS:
		return x * grade(j, n);
	case MATRIX_RANK_DEFICIENT:
		return matrix_uniform(seed, i, j - j % 2);
	case MATRIX_ZERO_FIRST:
		return j == 0 ? 0 : x;
	case MATRIX_ZERO_MIDDLE:
		return j == n / 2 ? 0 : x;
	case MATRIX_ZERO_LAST:
		return j == n - 1 ? 0 : x;
	case MATRIX_NAN_FIRST:
		return i == 0 && j == 0 ? NAN : x;
	case MATRIX_NAN_MIDDLE:
		return i == m / 2 && j == n / 2 ? NAN : x;
	case MATRIX_NAN_LAST:
		return i == m - 1 && j == n - 1 ? NAN : x;
	case MATRIX_DIAGONAL:
		return i == j ? x : 0;
	case MATRIX_LOWER:
		return i >= j ? x : 0;
	case MATRIX_UPPER:
		return i <= j ? x : 0;
	case MATRIX_TIES:
		return x < 0 ? -1 : 1;
	case MATRIX_TINY:
		return x * 4 * (precision == SINGLE ? (double)FLT_MIN : DBL_MIN);
	default:
		return x;
	}
}

void matrix_fill(void *a, int64_t lda, int64_t m, int64_t n, enum precision precision,
        enum matrix_kind kind, uint64_t seed)
{
#pragma omp parallel for if (m * n > PARALLEL_ELEMENTS)
	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < lda; i++) {
			char *at = (char *)a + (i + j * lda) * precision_bytes(precision);
			double x = i < m ? element(kind, seed, i, j, m, n, precision) : 0;
			float single = (float)x;

			if (precision == SINGLE)
				memcpy(at, i < m ? (const void *)&single : &poison_single,
				        sizeof single);
			else
				memcpy(at, i < m ? (const void *)&x : &poison_double, sizeof x);
		}
}

/* x := (I - 2 u u^T / u^T u) x for `count` vectors of `length` words. */
static void reflect(
        double *x, int64_t length, int64_t step, int64_t count, int64_t next, const double *u)
{
	double square = 0;

	for (int64_t i = 0; i < length; i++)
		square += u[i] * u[i];
	for (int64_t k = 0; k < count; k++) {
		double sum = 0;
		for (int64_t i = 0; i < length; i++)
			sum += u[i] * x[k * next + i * step];
		for (int64_t i = 0; i < length; i++)
			x[k * next + i * step] -= 2 * sum / square * u[i];
	}
}

void matrix_fill_conditioned(double *a, int64_t m, int64_t n, double condition, uint64_t seed)
{
	double *u = xmalloc((size_t)(m > n ? m : n) * sizeof *u);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < m; i++)
			a[i + j * m] = i != j  ? 0
			               : n > 1 ? pow(condition, -(double)j / (double)(n - 1))
			                       : 1;
	for (int64_t turn = 0; turn < 4; turn++) {
		const bool rows = turn < 2;
		for (int64_t i = 0; i < (rows ? m : n); i++)
			u[i] = matrix_uniform(seed, i, turn);
		if (rows)
			reflect(a, m, 1, n, m, u);
		else
			reflect(a, n, m, m, 1, u);
	}
	free(u);
}

bool matrix_upload_conditioned(struct executor *e, struct matrix a, double condition, uint64_t seed)
{
	const int64_t count = a.m * a.n;
	double *x = xmalloc((size_t)count * sizeof *x);
	float *single = xmalloc((size_t)count * sizeof *single);

	matrix_fill_conditioned(x, a.m, a.n, condition, seed);
	for (int64_t i = 0; i < count; i++)
		single[i] = (float)x[i];
	bool ok = e->ops->upload(e, a.precision == SINGLE ? (void *)single : x, a.m, a);
	free(single);
	free(x);
	return ok;
}

bool matrix_padding_intact(
        const void *a, int64_t lda, int64_t m, int64_t n, enum precision precision)
{
	int64_t word = precision_bytes(precision);
	const void *poison = precision == SINGLE ? (const void *)&poison_single : &poison_double;

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = m; i < lda; i++)
			if (memcmp((const char *)a + (i + j * lda) * word, poison, (size_t)word) !=
			        0)
				return false;
	return true;
}
