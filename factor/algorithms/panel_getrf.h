/* SPDX-License-Identifier: MIT */
/* LU factorization with partial pivoting of an m x n panel, m >= n >= 1, with the pivots and info
 * of LAPACK's getf2 (Volkov and Demmel, LAWN 202, section 3.8). */
#pragma once

#include "factor/executors/executor.h"

/* The variants, each written once against the executor:
 *   blas        LAPACK getf2's sequence of BLAS calls ("naive")
 *   optimized   ger split at an aligned row, host search for short columns, pivot not fetched
 *   fused       two kernels a column
 *   persistent  one kernel with the panel on chip, one exchange a column
 *   host        copy to the host, LAPACKE getrf, copy back */
extern const char *const panel_getrf_variants[]; /* NULL-terminated */

/* Bytes of workspace of a variant, or -1 with executor->fault when it refuses the panel: unknown
 * variant, wrong shape (n < 1, m < n, ld < m), or the panel does not fit. */
int64_t panel_getrf_work(struct executor *executor, const char *variant, struct matrix a);

/* Factorizes a in place. pivots->data: n 1-based pivots, then info: j+1 for the first exactly zero
 * pivot of column j, else 0. work: panel_getrf_work bytes of executor memory. In variants with our
 * own kernels the search takes a NaN for the largest number, which makes it propagate. False with
 * executor->fault on failure. The call may return before the work is done. */
bool panel_getrf(struct executor *executor, const char *variant, struct matrix a, void *work,
        struct pivots pivots);

/* optimized searches columns below this many rows on the host. */
enum { PANEL_HOST_SEARCH_ROWS = 4096 };
