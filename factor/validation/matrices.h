/* SPDX-License-Identifier: MIT */
/* Test matrices made from a seed and the element's position alone: the same on every machine and in
 * every order. */
#pragma once

#include "factor/executors/executor.h"

enum matrix_kind {
	MATRIX_RANDOM,         /* uniform in (-1, 1) */
	MATRIX_GRADED_ROWS,    /* random, rows scaled from 1 down to 1e-8 */
	MATRIX_GRADED_COLUMNS, /* random, columns scaled alike */
	MATRIX_RANK_DEFICIENT, /* every second column repeats the one before */
	MATRIX_ZERO_FIRST,     /* random with a zero column: the first, the middle, the last */
	MATRIX_ZERO_MIDDLE,
	MATRIX_ZERO_LAST,
	MATRIX_NAN_FIRST, /* random with one NaN: at (0,0), in the middle, at (m-1,n-1) */
	MATRIX_NAN_MIDDLE,
	MATRIX_NAN_LAST,
	MATRIX_DIAGONAL,
	MATRIX_LOWER,
	MATRIX_UPPER,
	MATRIX_TIES, /* entries are -1 and 1: every search is a tie */
	MATRIX_TINY, /* random, scaled so that pivots are near underflow */
	MATRIX_KINDS
};
extern const char *const matrix_kind_name[MATRIX_KINDS];

/* Whether the kind has a NaN: then no residual exists. */
bool matrix_has_nan(enum matrix_kind kind);

/* Whether exact and rounded arithmetic take the same pivots and info. False for ties, repeated
 * columns, and a random lower triangle, whose condition grows exponentially with n. */
bool matrix_pivots_unique(enum matrix_kind kind);

/* In (-1, 1), never 0: the middles of 2^24 equal steps, exact in single precision. */
double matrix_uniform(uint64_t seed, int64_t i, int64_t j);

/* Fills the m x n matrix with leading dimension lda on the host. The lda - m elements below every
 * column get a NaN of a certain pattern; matrix_padding_intact tests whether all still hold it. */
void matrix_fill(void *a, int64_t lda, int64_t m, int64_t n, enum precision precision,
        enum matrix_kind kind, uint64_t seed);
bool matrix_padding_intact(
        const void *a, int64_t lda, int64_t m, int64_t n, enum precision precision);

/* Dense columns in double precision (lda = m) of a matrix with singular values from 1 down to 1 /
 * condition, evenly spaced by their ratio: a diagonal between two reflections on either side. */
void matrix_fill_conditioned(double *a, int64_t m, int64_t n, double condition, uint64_t seed);

/* The same matrix, rounded to a's precision, into executor memory. */
bool matrix_upload_conditioned(
        struct executor *e, struct matrix a, double condition, uint64_t seed);

/* Element i of an array of numbers. */
static inline double matrix_get(const void *a, enum precision precision, int64_t i)
{
	return precision == SINGLE ? (double)((const float *)a)[i] : ((const double *)a)[i];
}

static inline void matrix_put(void *a, enum precision precision, int64_t i, double x)
{
	if (precision == SINGLE)
		((float *)a)[i] = (float)x;
	else
		((double *)a)[i] = x;
}
