/* SPDX-License-Identifier: MIT */
/* A matrix of the host whose rows or columns come and go. */
#pragma once

#include "lib/base/msg.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* a (m x n) with the p rows x before row k; NULL: without rows k .. k+p-1. */
static inline double *change_rows(
        double *a, int64_t m, int64_t n, int64_t k, int64_t p, const double *x)
{
	int64_t rows = x ? m + p : m - p;
	double *out = xmalloc((size_t)(rows * n + 1) * sizeof *out);

	for (int64_t j = 0; j < n; j++)
		for (int64_t i = 0; i < rows; i++)
			out[i + j * rows] = i < k       ? a[i + j * m]
			                    : !x        ? a[i + p + j * m]
			                    : i < k + p ? x[i - k + j * p]
			                                : a[i - p + j * m];
	free(a);
	return out;
}

static inline double *change_columns(
        double *a, int64_t m, int64_t n, int64_t k, int64_t p, const double *x)
{
	int64_t columns = x ? n + p : n - p;
	double *out = xmalloc((size_t)(m * columns + 1) * sizeof *out);

	for (int64_t j = 0; j < columns; j++) {
		const double *from = j < k ? a + j * m : x ? a + (j - p) * m : a + (j + p) * m;
		if (x && j >= k && j < k + p)
			from = x + (j - k) * m;
		memcpy(out + j * m, from, (size_t)m * sizeof *out);
	}
	free(a);
	return out;
}
