/* SPDX-License-Identifier: MIT */
/* What executors can do, and from which sizes on an algorithm uses it. */
#pragma once

#include "lib/base/base.h"

enum {
	/* Most columns of the panels of lu_columns, lu_top and lu_rows (but see rows_most), and
	 * most rows for which algorithms use lu_columns. */
	EXECUTOR_LU_COLUMNS = 64,
	EXECUTOR_LU_TOP = 128,
	EXECUTOR_LU_ROWS = 512,
	EXECUTOR_LU_COLUMNS_ROWS = 8192,
	/* Most columns that reflect_columns takes. */
	EXECUTOR_QR_COLUMNS = 64,
	/* The inverse of a triangle replaces substitution up to this product of the largest
	 * magnitudes in the triangle and in its inverse. The error of the inverse is larger by
	 * about this factor. */
	EXECUTOR_INVERSE_GROWTH = 1000,
};

/* Sizes for GPUs: docs/experiments/lu-layout.md. */
enum {
	/* LU in single precision works on the transpose of a matrix of this many columns or more,
	 * and returns to column-major when this many are left. */
	EXECUTOR_ROW_MAJOR = 8000,
	EXECUTOR_COLUMN_MAJOR = 4096,
	/* QR, Cholesky and column-major LU copy an unaligned matrix of this many columns or more to
	 * aligned memory (aligned.h). */
	EXECUTOR_ALIGNED_FROM = 2048,
	/* LU defers the row swaps left of a panel to the end (getrf.c). */
	EXECUTOR_DEFERRED_FROM = 3500,
};

/* Which products use split operands. */
struct split_limits {
	int64_t side, depth;  /* least rows and columns of C, least inner dimension */
	int64_t alignment;    /* of C in bytes */
	int64_t use;          /* least rows or columns of C that read a new stack */
	int64_t together;     /* narrower squares on the diagonal are products of one call */
	int64_t tall, across; /* V^T C without stacks: most columns of V, least of C */
	int64_t apart;        /* least order of matrices whose diagonal Cholesky keeps apart */
	double flops, symmetric, half_symmetric; /* least operations: of products, of symmetric
	                                            updates by 3xTF32 and by 3xFP16 */
	bool half; /* 3xFP16, whose updates are one kernel each, for any alignment of C */
};
