/* SPDX-License-Identifier: MIT */
/* What executors can do. */
#pragma once

#include "lib/base/base.h"

enum {
	/* Most columns of the panels of lu_columns, lu_top and lu_rows (but see rows_most). */
	EXECUTOR_LU_COLUMNS = 64,
	EXECUTOR_LU_TOP = 128,
	EXECUTOR_LU_ROWS = 512,
	/* Most columns that reflect_columns takes. */
	EXECUTOR_QR_COLUMNS = 64,
	/* The inverse of a triangle replaces substitution up to this product of the largest
	 * magnitudes in the triangle and in its inverse. The error of the inverse is larger by
	 * about this factor. */
	EXECUTOR_INVERSE_GROWTH = 1000,
};
