/* SPDX-License-Identifier: MIT */
/* Householder QR of a panel in one kernel, the panel resident in shared memory. Only in builds with
 * the CUDA Toolkit. */
#ifndef FATHOM_PANEL_GEQRF_H
#define FATHOM_PANEL_GEQRF_H

#include "../lib/base.h"
#include "../lib/precision.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PANEL_GEQRF_COLUMNS = 128 };

/* How a panel is divided over the multiprocessors. blocks is 0 when it does not fit. */
struct panel_geqrf_geometry {
	int blocks, rows_per_block;
	int64_t shared_bytes; /* of a block */
	int64_t work_bytes;   /* what panel_geqrf needs in device memory */
};

/* m >= n, 1 <= n <= PANEL_GEQRF_COLUMNS; sm_count and shared_per_block of the device. */
struct panel_geqrf_geometry panel_geqrf_geometry(
        enum precision precision, int64_t m, int64_t n, int sm_count, int64_t shared_per_block);

/* A = Q R of the m x n panel in place on `stream`: R in the upper triangle, the vectors below it,
 * tau (n values), with LAPACK's signs (geqr2). Column norms come from sums of squares of columns
 * that are scaled by powers of two where they would leave the range. Sums have a fixed order. A NaN
 * propagates; should a block not hear of another for a second, tau becomes NaN. Returns the
 * cudaError_t. */
int panel_geqrf(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n, void *tau,
        const struct panel_geqrf_geometry *geometry, void *work, void *stream);

#ifdef __cplusplus
}
#endif
#endif
