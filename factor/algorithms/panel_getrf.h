/* SPDX-License-Identifier: MIT */
/* LU factorization with partial pivoting of an m x n panel, m >= n >= 1: LAPACK's getf2 answer
 * (same pivots, same info). */
#ifndef FATHOM_PANEL_GETRF_H
#define FATHOM_PANEL_GETRF_H

#include "factor/executors/executor.h"

/* The variants, each written once against the executor:
 *   blas        LAPACK getf2's sequence of BLAS calls (LAWN 202 section 3.8, "naive")
 *   optimized   LAWN 202's second: ger split at an aligned row, host search for short columns,
 * pivot never fetched for scaling fused       two custom kernels a column persistent  one kernel,
 * panel resident on chip, one exchange a column host        copy out, LAPACKE getrf, copy back
 */
extern const char *const panel_getrf_variants[]; /* NULL-terminated */

/* Scratch memory a variant needs, bytes, or -1 with executor->fault when the variant refuses this
 * panel (unknown variant, does not fit). Shape errors (n < 1, m < n, ld < m) are refused too. */
int64_t panel_getrf_work(struct executor *executor, const char *variant, struct matrix a);

/* Factorizes a in place; pivots->data holds n pivots and info afterwards (info = j+1 for the first
 * exactly zero pivot of column j, else 0). A NaN counts as larger than any number in the search of
 * the variants with own kernels, so it propagates. work holds panel_getrf_work bytes of executor
 * memory. False with executor->fault on failure. The call may return before it is done. */
bool panel_getrf(struct executor *executor, const char *variant, struct matrix a, void *work,
        struct pivots pivots);

/* Columns below this many rows are searched on the host by `optimized`. */
enum { PANEL_HOST_SEARCH_ROWS = 4096 };

#endif
