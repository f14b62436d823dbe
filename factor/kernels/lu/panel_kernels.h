/* SPDX-License-Identifier: MIT */
/* Launchers of the panel kernels. Column-major device memory, leading dimension lda in elements.
 * stream is a cudaStream_t. Each returns a cudaError_t as an int. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/exchange.cuh"
#include "lib/device/gpu.h"
#include "lib/base/precision.h"
#include "panel_geometry.h"

C_BEGIN

/* x[0..m-1] /= *pivot on the device; nothing if *pivot is zero. */
int panel_scale_by(enum precision precision, const void *pivot, void *x, int64_t m, void *stream);

/* Fused variant, two kernels per column. work holds panel_fused_work bytes. */
int64_t panel_fused_work(int64_t m);
int panel_fused_begin(enum precision precision, const void *a, int64_t m, void *work, void *stream);
int panel_fused_pivot(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        int64_t j, void *work, int *pivots, void *stream);
int panel_fused_update(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        int64_t j, void *work, void *stream);

/* Persistent variant: one cooperative kernel, at most one block per SM, rows in shared memory.
 * exchange is a buffer laid out for the geometry's blocks and panel_resident_words. */
int panel_resident(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        const struct panel_geometry *geometry, struct exchange exchange, int *pivots, void *stream);

/* The same without the update of columns j + 2 and up, which overlaps the exchange. Block 0 writes
 * the time span of its n columns to *span (host memory). For measuring the cost of a column; the
 * result is no factorization. */
int panel_resident_columns(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
        const struct panel_geometry *geometry, struct exchange exchange, int *pivots,
        struct gpu_span *span, void *stream);

/* The panel in the registers of one cluster of multiprocessors (compute capability 9.0 and newer),
 * at most panel_cluster_rows rows. Result and pivots equal panel_resident's bit for bit. *error
 * becomes 1 when a block waits longer than a second. */
bool panel_cluster_fits(enum precision precision, int64_t m, int64_t n);
int panel_cluster(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n, int *pivots,
        int *error, void *stream);

/* The same for taller panels, in the registers of many multiprocessors: one cooperative kernel.
 * work: panel_grid_work bytes, in which no word has a tag of tag .. tag + n - 1 in its upper half
 * (as after a memset to 0, with increasing tags). */
bool panel_grid_fits(enum precision precision, int64_t m, int64_t n);
int64_t panel_grid_work(void);
int panel_grid(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n, int *pivots,
        void *work, uint32_t tag, int *error, void *stream);

C_END
