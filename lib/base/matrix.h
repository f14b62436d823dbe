/* SPDX-License-Identifier: MIT */
/* Matrices and the words of the BLAS and LAPACK for them. */
#pragma once

#include "base.h"
#include "precision.h"

/* A view of a column-major matrix: element (i,j) at data + (offset + i + j*ld) elements. The model
 * executor's data is NULL. */
struct matrix {
	void *data;
	int64_t offset, m, n, ld;
	enum precision precision;
};

/* The m x n view whose top left element is (i,j) of a. */
static inline struct matrix matrix_view(struct matrix a, int64_t i, int64_t j, int64_t m, int64_t n)
{
	return (struct matrix){a.data, a.offset + i + j * a.ld, m, n, a.ld, a.precision};
}

static inline void *matrix_address(struct matrix a)
{
	return a.data ? (char *)a.data + a.offset * precision_bytes(a.precision) : NULL;
}

/* Whether every column starts at a multiple of 16 bytes; without data, those of the whole do. */
static inline bool matrix_is_aligned(struct matrix a)
{
	const int64_t bytes = precision_bytes(a.precision);

	return ((uintptr_t)a.data + (uintptr_t)(a.offset * bytes)) % 16 == 0 &&
	       a.ld * bytes % 16 == 0;
}

/* Pivots and info of a panel: n 1-based row indices (LAPACK's ipiv), then info. */
struct pivots {
	int *data; /* n + 1 integers; NULL for the model */
	int64_t n;
};

enum side { LEFT, RIGHT };
enum uplo { LOWER, UPPER, WHOLE };
enum trans { PLAIN, TRANSPOSED };
enum diag { NON_UNIT, UNIT };
