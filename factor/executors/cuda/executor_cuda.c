/* SPDX-License-Identifier: MIT */
/* The executor that runs: cuBLAS and our kernels on one device, one stream per queue. This file
 * holds memory and the operations of LU panels. */
#include "executor_cuda.h"

#include "factor/executors/split.h"

#include "factor/kernels/blocks/block_kernels.h"
#include "lib/base/msg.h"
#include "factor/kernels/gemm/half_update.h"
#include "factor/kernels/gemm/tf32_tall.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool cuda_ok(struct cuda *x, int error, const char *what)
{
	if (error == (int)cudaSuccess)
		return true;
	fault_set(&x->base.fault, "%s: CUDA %s: %s", what, cudaGetErrorName((cudaError_t)error),
	        cudaGetErrorString((cudaError_t)error));
	x->base.fault.refused = error == (int)cudaErrorMemoryAllocation;
	return false;
}

bool blas_ok(struct cuda *x, cublasStatus_t status, const char *what)
{
	if (status == CUBLAS_STATUS_SUCCESS)
		return true;
	return fault_set(&x->base.fault, "%s: cuBLAS %s", what, cublasGetStatusString(status));
}

bool grow_pinned(struct cuda *x, struct buffer *buffer, int64_t bytes)
{
	if (bytes <= buffer->bytes)
		return true;
	cudaFreeHost(buffer->data);
	*buffer = (struct buffer){NULL, 0};
	if (!cuda_ok(x, cudaMallocHost(&buffer->data, (size_t)bytes), "pinned host memory"))
		return false;
	buffer->bytes = bytes;
	return true;
}

struct note *note_take(struct cuda *x, int64_t bytes)
{
	struct note *note = &x->notes[x->next_note];
	x->next_note = (x->next_note + 1) % NOTES;
	return cuda_ok(x, cudaEventSynchronize(note->sent), "wait for pinned memory") &&
	                       grow_pinned(x, &note->buffer, bytes)
	               ? note
	               : NULL;
}

bool note_send(struct cuda *x, struct note *note, void *to, int64_t bytes, const char *what)
{
	return cuda_ok(x,
	               cudaMemcpyAsync(to, note->buffer.data, (size_t)bytes, cudaMemcpyHostToDevice,
	                       stream_of(x)),
	               what) &&
	       cuda_ok(x, cudaEventRecord(note->sent, stream_of(x)), what);
}

static bool sync_queue(struct cuda *x)
{
	return cuda_ok(x, cudaStreamSynchronize(stream_of(x)), "synchronize");
}

/* Idle queues are left out because a query costs more than a short operation. */
bool cuda_sync(struct executor *executor)
{
	struct cuda *x = self(executor);
	bool good = true;
	for (int queue = 0; queue < QUEUE_COUNT && good; queue++) {
		struct lane *lane = &x->lanes[queue];
		good = !lane->busy ||
		       cuda_ok(x, cudaStreamSynchronize(lane->stream), "synchronize");
		lane->busy = lane->busy && !good;
	}
	return good;
}

void cuda_destroy(struct executor *executor)
{
	struct cuda *x = self(executor);
	lanes_close(x);
	executor_free(x->host);
	cudaFree(x->exchange.data);
	cudaFreeHost(x->scalar);
	cudaFreeHost(x->staging.data);
	free(x);
}

void cuda_abandon(struct cuda *x)
{
	executor_free(x->host);
	free(x->marks);
	free(x);
}

bool cuda_alloc(struct executor *executor, int64_t bytes, void **data)
{
	*data = NULL;
	return cuda_ok(
	        self(executor), cudaMalloc(data, (size_t)(bytes > 0 ? bytes : 1)), "device memory");
}

void cuda_release(struct executor *executor, void *data)
{
	(void)executor;
	cudaFree(data);
}

/* The library's copy of a rectangle takes pitches below 2 GiB. */
int cuda_copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t bytes,
        size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	int error = cudaSuccess;

	if (to_pitch <= INT_MAX && from_pitch <= INT_MAX)
		return (int)cudaMemcpy2DAsync(
		        to, to_pitch, from, from_pitch, bytes, count, kind, stream);
	for (size_t i = 0; i < count && error == cudaSuccess; i++)
		error = (int)cudaMemcpyAsync((char *)to + i * to_pitch,
		        (const char *)from + i * from_pitch, bytes, kind, stream);
	return error;
}

/* Copies a matrix between two places on the current queue, then waits. */
static bool copy_matrix(struct cuda *x, void *to, int64_t to_ld, const void *from, int64_t from_ld,
        struct matrix shape, enum cudaMemcpyKind kind, const char *what)
{
	size_t w = (size_t)precision_bytes(shape.precision);
	return cuda_ok(x,
	               cuda_copy_2d(to, (size_t)to_ld * w, from, (size_t)from_ld * w,
	                       (size_t)shape.m * w, (size_t)shape.n, kind, stream_of(x)),
	               what) &&
	       sync_queue(x);
}

/* Untimed copies wait for every queue, so they may follow any operation. */
bool cuda_upload(struct executor *executor, const void *host, int64_t host_ld, struct matrix a)
{
	return cuda_sync(executor) && copy_matrix(self(executor), matrix_address(a), a.ld, host,
	                                      host_ld, a, cudaMemcpyHostToDevice, "upload");
}

bool cuda_download(struct executor *executor, struct matrix a, void *host, int64_t host_ld)
{
	return cuda_sync(executor) && copy_matrix(self(executor), host, host_ld, matrix_address(a),
	                                      a.ld, a, cudaMemcpyDeviceToHost, "download");
}

bool cuda_duplicate(struct executor *executor, struct matrix from, struct matrix to)
{
	return cuda_sync(executor) &&
	       copy_matrix(self(executor), matrix_address(to), to.ld, matrix_address(from), from.ld,
	               from, cudaMemcpyDeviceToDevice, "duplicate");
}

bool cuda_read_pivots(struct executor *executor, struct pivots p, int *host_ipiv, int *info)
{
	struct cuda *x = self(executor);
	size_t bytes = (size_t)(p.n + 1) * sizeof(int);
	int *all = xmalloc(bytes);
	bool ok = cuda_sync(executor) &&
	          cuda_ok(x,
	                  cudaMemcpyAsync(all, p.data, bytes, cudaMemcpyDeviceToHost, stream_of(x)),
	                  "read the pivots") &&
	          sync_queue(x) && cuda_exchange_ok(x);
	if (ok) {
		memcpy(host_ipiv, all, (size_t)p.n * sizeof(int));
		*info = all[p.n];
	}
	free(all);
	return ok;
}

bool cuda_iamax(struct executor *executor, struct matrix v, int64_t *index)
{
	int64_t one_based = 0;
	const bool ok = BLAS(self(executor), v.precision, "iamax", cublasIsamax_64, cublasIdamax_64,
	        v.m, matrix_address(v), 1, &one_based);
	/* cuBLAS may find no maximum in a vector with a NaN. Any row will do. */
	*index = one_based > 0 ? one_based - 1 : 0;
	return ok;
}

bool cuda_iamax_host(struct executor *executor, struct matrix v, int64_t *index)
{
	struct cuda *x = self(executor);
	size_t bytes = (size_t)(v.m * precision_bytes(v.precision));
	if (!grow_pinned(x, &x->staging, (int64_t)bytes) ||
	        !cuda_ok(x,
	                cudaMemcpyAsync(x->staging.data, matrix_address(v), bytes,
	                        cudaMemcpyDeviceToHost, stream_of(x)),
	                "column to the host") ||
	        !sync_queue(x))
		return false;
	struct matrix column = {x->staging.data, 0, v.m, 1, v.m, v.precision};
	return x->host->ops->iamax(x->host, column, index);
}

bool cuda_get(struct executor *executor, struct matrix element, double *value)
{
	struct cuda *x = self(executor);
	if (!cuda_ok(x,
	            cudaMemcpyAsync(x->scalar, matrix_address(element),
	                    (size_t)precision_bytes(element.precision), cudaMemcpyDeviceToHost,
	                    stream_of(x)),
	            "element to the host") ||
	        !sync_queue(x))
		return false;
	*value = element.precision == SINGLE ? (double)*(float *)(void *)x->scalar : *x->scalar;
	return true;
}

bool cuda_swap(struct executor *executor, struct matrix a, struct matrix b)
{
	return BLAS(self(executor), a.precision, "swap", cublasSswap_64, cublasDswap_64, a.n,
	        matrix_address(a), a.ld, matrix_address(b), b.ld);
}

bool cuda_scal(struct executor *executor, double alpha, struct matrix v)
{
	const union scalar factor = scalar_of(v.precision, alpha);
	return BLAS(self(executor), v.precision, "scal", cublasSscal_64, cublasDscal_64, v.m * v.n,
	        (const void *)&factor, matrix_address(v), v.n == 1 ? 1 : v.ld);
}

bool cuda_ger(struct executor *executor, struct matrix v, struct matrix w, struct matrix a)
{
	const union scalar minus = scalar_of(a.precision, -1);
	return a.m == 0 || a.n == 0 ||
	       BLAS(self(executor), a.precision, "ger", cublasSger_64, cublasDger_64, a.m, a.n,
	               (const void *)&minus, matrix_address(v), 1, matrix_address(w), w.ld,
	               matrix_address(a), a.ld);
}

bool cuda_zero_pivot(struct executor *executor, struct matrix a, int *info)
{
	struct cuda *x = self(executor);
	size_t w = (size_t)precision_bytes(a.precision);
	if (!grow_pinned(x, &x->staging, (int64_t)w * a.n) ||
	        !cuda_ok(x,
	                cuda_copy_2d(x->staging.data, w, matrix_address(a), (size_t)(a.ld + 1) * w,
	                        w, (size_t)a.n, cudaMemcpyDeviceToHost, stream_of(x)),
	                "diagonal to the host") ||
	        !sync_queue(x))
		return false;
	*info = 0;
	for (int64_t j = a.n; j-- > 0;) {
		double d = a.precision == SINGLE ? (double)((float *)x->staging.data)[j]
		                                 : ((double *)x->staging.data)[j];
		if (d == 0)
			*info = (int)j + 1;
	}
	return true;
}

bool cuda_store_pivots(struct executor *executor, const int *ipiv, int info, struct pivots p)
{
	struct cuda *x = self(executor);
	int64_t bytes = (p.n + 1) * (int64_t)sizeof(int);
	struct note *note = note_take(x, bytes);
	if (!note)
		return false;
	int *all = note->buffer.data;
	memcpy(all, ipiv, (size_t)p.n * sizeof(int));
	all[p.n] = info;
	return note_send(x, note, p.data, bytes, "pivots to the device");
}

void cuda_tune(struct cuda *x)
{
	executor_tune(&x->base, tuning_device_of(&x->gpu), x->gpu.code >= 80, x->gpu.warpgroups);
}

static const struct executor_ops operations = {
#define FUNCTION(type, name, parameters) .name = cuda_##name,
#include "factor/executors/operations.h"
};

bool cuda_host(struct cuda *x)
{
	if (!x->host)
		x->host = executor_host_new(&x->base.fault);
	return x->host != NULL;
}

struct cuda *cuda_new(const char *device, struct fault *fault)
{
	struct cuda *x = calloc(1, sizeof *x);

	if (!x) {
		fault_set(fault, "out of host memory");
		return NULL;
	}
	x->base.ops = &operations;
	x->base.name = "cuda";
	if (!gpu_open(&x->gpu, device, fault)) {
		free(x);
		return NULL;
	}
	cuda_tune(x);
	x->base.deferred_most[0] = deferred_swaps_most(SINGLE, x->gpu.shared_per_block);
	x->base.deferred_most[1] = deferred_swaps_most(DOUBLE, x->gpu.shared_per_block);
	x->base.rows_most[0] = block_lu_rows_most(SINGLE, x->gpu.shared_per_block);
	x->base.rows_most[1] = block_lu_rows_most(DOUBLE, x->gpu.shared_per_block);
	bool ok = cuda_ok(x, cudaMallocHost((void **)&x->scalar, sizeof *x->scalar),
	                  "pinned memory") &&
	          lanes_open(x);
	if (ok)
		return x;
	*fault = x->base.fault;
	cuda_destroy(&x->base);
	return NULL;
}

struct executor *executor_cuda_new(const char *device, struct fault *fault)
{
	struct cuda *x = cuda_new(device, fault);

	if (!x || cuda_host(x))
		return x ? &x->base : NULL;
	*fault = x->base.fault;
	cuda_destroy(&x->base);
	return NULL;
}
