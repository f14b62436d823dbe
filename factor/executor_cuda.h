/* SPDX-License-Identifier: MIT */
/* Inside of the cuda executor: its state, and what its two files share. */
#ifndef FATHOM_EXECUTOR_CUDA_H
#define FATHOM_EXECUTOR_CUDA_H

#include "executor.h"
#include "../lib/gpu.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

/* Memory that grows to the largest size asked for. */
struct buffer {
	void *data;
	int64_t bytes;
};

struct cuda {
	struct executor base;
	struct gpu gpu;
	cudaStream_t stream;
	cublasHandle_t blas;
	struct executor *host; /* works on the staging memory */
	void *blas_work;
	double *scalar;         /* pinned: one element on its way to the host */
	struct buffer staging;  /* pinned: the panel on the host, or a column of it */
	struct buffer integers; /* pinned: pivots on their way to the device */
	struct buffer exchange; /* device: the resident kernel's slots */
	uint32_t tag;           /* next unused tag of the exchange buffer */
};

static inline struct cuda *self(struct executor *executor)
{
	return (struct cuda *)executor;
}

/* False with the executor's fault filled when a CUDA call failed. */
bool cuda_ok(struct cuda *x, int error, const char *what);
bool cuda_sync(struct executor *executor);

/* executor_cuda_kernels.c: the operations of our own kernels, and whether the last resident panel
 * ended as it should. */
bool cuda_scale_by(struct executor *, struct matrix element, struct matrix v);
int64_t cuda_fused_work(struct executor *, struct matrix a);
bool cuda_fused_begin(struct executor *, struct matrix a, void *work, struct pivots p);
bool cuda_fused_pivot(struct executor *, struct matrix a, int64_t j, void *work, struct pivots p);
bool cuda_fused_update(struct executor *, struct matrix a, int64_t j, void *work, struct pivots p);
bool cuda_resident_fits(struct executor *, struct matrix a);
int64_t cuda_resident_work(struct executor *, struct matrix a);
bool cuda_resident_panel(struct executor *, struct matrix a, void *work, struct pivots p);
bool cuda_exchange_ok(struct cuda *x);

#endif
