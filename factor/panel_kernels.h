/* SPDX-License-Identifier: MIT */
/* Launchers of the panel kernels. Column-major device memory, leading dimension lda in elements; each returns a cudaError_t as an
 * int. stream is a cudaStream_t. */
#ifndef FATHOM_PANEL_KERNELS_H
#define FATHOM_PANEL_KERNELS_H


#include "../lib/exchange.cuh"
#include "executor.h"
#include "panel_geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

/* x[0..m-1] /= *pivot on the device, nothing when it is zero. */
int panel_scale_by(
	enum precision precision, const void *pivot, void *x, int64_t m, void *stream);

/* Fused variant, two kernels a column. work holds panel_fused_work bytes. */
int64_t panel_fused_work(int64_t m);
int panel_fused_begin(enum precision precision, const void *a, int64_t m, void *work, void *stream);
int panel_fused_pivot(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
	int64_t j, void *work, int *pivots, void *stream);
int panel_fused_update(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
	int64_t j, void *work, void *stream);

/* Persistent variant: one cooperative kernel, one block an SM at most, rows resident in shared memory. exchange is a buffer laid
 * out for the geometry's blocks and n elements of words. */
int panel_resident_prepare(enum precision precision, int64_t shared_bytes);
int panel_resident(enum precision precision, void *a, int64_t lda, int64_t m, int64_t n,
	const struct panel_geometry *geometry, struct exchange exchange, int *pivots, void *stream);

#ifdef __cplusplus
}
#endif
#endif
