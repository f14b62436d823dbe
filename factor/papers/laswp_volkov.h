/* SPDX-License-Identifier: MIT */
/* The pivoting kernel of LAPACK Working Note 202, section 5, kept for study. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

/* Most interchanges of one call. */
enum { LASWP_VOLKOV_MOST = 64 };

/* Exchanges rows i and ipiv[i]-1 of a matrix of n columns for i = 0 .. count-1. Element (i, j) is
 * a[i * row_step + j * column_step]: row_step = 1 is column-major, column_step = 1 row-major. a is
 * device memory, ipiv host memory; single precision. stream is a cudaStream_t. Returns a
 * cudaError_t as an int. */
int laswp_volkov(float *a, int64_t n, int64_t row_step, int64_t column_step, const int *ipiv,
        int count, void *stream);

C_END
