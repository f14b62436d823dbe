/* SPDX-License-Identifier: MIT */
/* The executor that runs: cuBLAS and our kernels on one device, a stream for each
 * queue. This file: memory, and the operations of LU panels. */
#include "executor_cuda.h"

#include "factor/executors/split.h"

#include "factor/kernels/blocks/block_kernels.h"
#include "lib/base/msg.h"
#include "factor/kernels/gemm/half_update.h"
#include "factor/kernels/gemm/tf32_tall.h"

#include <stdlib.h>
#include <string.h>

bool cuda_ok(struct cuda *x, int error, const char *what)
{
	if (error == (int)cudaSuccess)
		return true;
	return fault_set(&x->base.fault, "%s: CUDA %s: %s", what,
	        cudaGetErrorName((cudaError_t)error), cudaGetErrorString((cudaError_t)error));
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

/* Waits for the current queue alone. */
static bool sync_queue(struct cuda *x)
{
	return cuda_ok(x, cudaStreamSynchronize(stream_of(x)), "synchronize");
}

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

/* ---- memory ---- */

static void cuda_destroy(struct executor *executor)
{
	struct cuda *x = self(executor);
	lanes_close(x);
	executor_free(x->host);
	cudaFree(x->exchange.data);
	cudaFreeHost(x->scalar);
	cudaFreeHost(x->staging.data);
	free(x);
}

static bool cuda_alloc(struct executor *executor, int64_t bytes, void **data)
{
	*data = NULL;
	return cuda_ok(
	        self(executor), cudaMalloc(data, (size_t)(bytes > 0 ? bytes : 1)), "device memory");
}

static void cuda_release(struct executor *executor, void *data)
{
	(void)executor;
	cudaFree(data);
}

/* Copies a matrix between two places on the current queue, then waits. */
static bool copy_matrix(struct cuda *x, void *to, int64_t to_ld, const void *from, int64_t from_ld,
        struct matrix shape, enum cudaMemcpyKind kind, const char *what)
{
	size_t w = (size_t)precision_bytes(shape.precision);
	return cuda_ok(x,
	               cudaMemcpy2DAsync(to, (size_t)to_ld * w, from, (size_t)from_ld * w,
	                       (size_t)shape.m * w, (size_t)shape.n, kind, stream_of(x)),
	               what) &&
	       sync_queue(x);
}

/* What is not timed waits for every queue, so that it may follow any operation. */
static bool cuda_upload(
        struct executor *executor, const void *host, int64_t host_ld, struct matrix a)
{
	return cuda_sync(executor) && copy_matrix(self(executor), matrix_address(a), a.ld, host,
	                                      host_ld, a, cudaMemcpyHostToDevice, "upload");
}

static bool cuda_download(struct executor *executor, struct matrix a, void *host, int64_t host_ld)
{
	return cuda_sync(executor) && copy_matrix(self(executor), host, host_ld, matrix_address(a),
	                                      a.ld, a, cudaMemcpyDeviceToHost, "download");
}

static bool cuda_duplicate(struct executor *executor, struct matrix from, struct matrix to)
{
	return cuda_sync(executor) &&
	       copy_matrix(self(executor), matrix_address(to), to.ld, matrix_address(from), from.ld,
	               from, cudaMemcpyDeviceToDevice, "duplicate");
}

static bool cuda_read_pivots(struct executor *executor, struct pivots p, int *host_ipiv, int *info)
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

/* ---- BLAS operations ---- */

static bool cuda_iamax(struct executor *executor, struct matrix v, int64_t *index)
{
	struct cuda *x = self(executor);
	int64_t one_based = 0;
	cublasStatus_t status =
	        v.precision == SINGLE
	                ? cublasIsamax_64(lane_of(x)->blas, v.m, matrix_address(v), 1, &one_based)
	                : cublasIdamax_64(lane_of(x)->blas, v.m, matrix_address(v), 1, &one_based);
	/* with a NaN the vendor may find no maximum: the first row is as good as any */
	*index = one_based > 0 ? one_based - 1 : 0;
	return blas_ok(x, status, "iamax");
}

static bool cuda_iamax_host(struct executor *executor, struct matrix v, int64_t *index)
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

static bool cuda_get(struct executor *executor, struct matrix element, double *value)
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

static bool cuda_swap(struct executor *executor, struct matrix a, struct matrix b)
{
	struct cuda *x = self(executor);
	cublasStatus_t status = a.precision == SINGLE
	                                ? cublasSswap_64(lane_of(x)->blas, a.n, matrix_address(a),
	                                          a.ld, matrix_address(b), b.ld)
	                                : cublasDswap_64(lane_of(x)->blas, a.n, matrix_address(a),
	                                          a.ld, matrix_address(b), b.ld);
	return blas_ok(x, status, "swap");
}

static bool cuda_scal(struct executor *executor, double alpha, struct matrix v)
{
	struct cuda *x = self(executor);
	float alpha_single = (float)alpha;
	const int64_t count = v.m * v.n, step = v.n == 1 ? 1 : v.ld;
	cublasStatus_t status =
	        v.precision == SINGLE
	                ? cublasSscal_64(
	                          lane_of(x)->blas, count, &alpha_single, matrix_address(v), step)
	                : cublasDscal_64(lane_of(x)->blas, count, &alpha, matrix_address(v), step);
	return blas_ok(x, status, "scal");
}

static bool cuda_ger(struct executor *executor, struct matrix v, struct matrix w, struct matrix a)
{
	struct cuda *x = self(executor);
	if (a.m == 0 || a.n == 0)
		return true;
	const float minus_single = -1;
	const double minus = -1;
	cublasStatus_t status =
	        a.precision == SINGLE
	                ? cublasSger_64(lane_of(x)->blas, a.m, a.n, &minus_single,
	                          matrix_address(v), 1, matrix_address(w), w.ld, matrix_address(a),
	                          a.ld)
	                : cublasDger_64(lane_of(x)->blas, a.m, a.n, &minus, matrix_address(v), 1,
	                          matrix_address(w), w.ld, matrix_address(a), a.ld);
	return blas_ok(x, status, "ger");
}

static bool cuda_zero_pivot(struct executor *executor, struct matrix a, int *info)
{
	struct cuda *x = self(executor);
	size_t w = (size_t)precision_bytes(a.precision);
	if (!grow_pinned(x, &x->staging, (int64_t)w * a.n) ||
	        !cuda_ok(x,
	                cudaMemcpy2DAsync(x->staging.data, w, matrix_address(a),
	                        (size_t)(a.ld + 1) * w, w, (size_t)a.n, cudaMemcpyDeviceToHost,
	                        stream_of(x)),
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

static bool cuda_store_pivots(struct executor *executor, const int *ipiv, int info, struct pivots p)
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

static const struct executor_ops cuda_ops = {
        .destroy = cuda_destroy,
        .alloc = cuda_alloc,
        .release = cuda_release,
        .upload = cuda_upload,
        .download = cuda_download,
        .duplicate = cuda_duplicate,
        .read_pivots = cuda_read_pivots,
        .sync = cuda_sync,
        .mark = cuda_mark,
        .elapsed = cuda_elapsed,
        .iamax = cuda_iamax,
        .iamax_host = cuda_iamax_host,
        .get = cuda_get,
        .nrm2 = cuda_nrm2,
        .swap = cuda_swap,
        .scal = cuda_scal,
        .scale_by = cuda_scale_by,
        .ger = cuda_ger,
        .zero_pivot = cuda_zero_pivot,
        .store_pivots = cuda_store_pivots,
        .fused_work = cuda_fused_work,
        .fused_begin = cuda_fused_begin,
        .fused_pivot = cuda_fused_pivot,
        .fused_update = cuda_fused_update,
        .resident_fits = cuda_resident_fits,
        .resident_work = cuda_resident_work,
        .resident_panel = cuda_resident_panel,
        .column_norms = cuda_column_norms,
        .gram_work = cuda_gram_work,
        .gram_dots = cuda_gram_dots,
        .gram_update = cuda_gram_update,
        .gram_scale = cuda_gram_scale,
        .gram_fused = cuda_gram_fused,
        .gram_panel = cuda_gram_panel,
        .gram_apply = cuda_gram_apply,
        .record = cuda_record,
        .wait = cuda_wait,
        .wait_host = cuda_wait_host,
        .stage = cuda_stage,
        .to_host = cuda_to_host,
        .to_device = cuda_to_device,
        .host_panel_getrf = cuda_host_panel_getrf,
        .host_panel_geqrf = cuda_host_panel_geqrf,
        .host_panel_potrf = cuda_host_panel_potrf,
        .gemm = cuda_gemm,
        .split = cuda_split,
        .gemm_tf32 = cuda_gemm_tf32,
        .half_update = cuda_half_update,
        .gemm_tall = cuda_gemm_tall,
        .add_triangles = cuda_add_triangles,
        .syrk = cuda_syrk,
        .trsm = cuda_trsm,
        .trsm_guard = cuda_trsm_guard,
        .gemv = cuda_gemv,
        .make_rotations = cuda_make_rotations,
        .rotate = cuda_rotate,
        .trtri = cuda_trtri,
        .laswp = cuda_laswp,
        .lu_columns = cuda_lu_columns,
        .lu_rows = cuda_lu_rows,
        .lu_top = cuda_lu_top,
        .record_swaps = cuda_record_swaps,
        .apply_swaps = cuda_apply_swaps,
        .offset_pivots = cuda_offset_pivots,
        .join_halves = cuda_join_halves,
        .clear_info = cuda_clear_info,
        .zero_diagonal = cuda_zero_diagonal,
        .potrf_block = cuda_potrf_block,
        .geqrf_work = cuda_geqrf_work,
        .panel_geqrf = cuda_panel_geqrf,
        .explicit_v = cuda_explicit_v,
        .larft = cuda_larft,
        .panel_reflects = cuda_panel_reflects,
        .panel_reflectors = cuda_panel_reflectors,
        .band_fits = cuda_band_fits,
        .band_work = cuda_band_work,
        .band_sweep = cuda_band_sweep,
        .reflects_columns = cuda_reflects_columns,
        .reflect_columns = cuda_reflect_columns,
        .transpose = cuda_transpose,
        .copy = cuda_copy,
        .fill = cuda_fill,
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
	x->base.ops = &cuda_ops;
	x->base.name = "cuda";
	if (!gpu_open(&x->gpu, device, fault)) {
		free(x);
		return NULL;
	}
	x->base.row_major = EXECUTOR_ROW_MAJOR;
	x->base.column_major = EXECUTOR_COLUMN_MAJOR;
	x->base.aligned_from = EXECUTOR_ALIGNED_FROM;
	x->base.deferred_from = EXECUTOR_DEFERRED_FROM;
	x->base.deferred_most[0] = deferred_swaps_most(SINGLE, x->gpu.shared_per_block);
	x->base.deferred_most[1] = deferred_swaps_most(DOUBLE, x->gpu.shared_per_block);
	x->base.rows_most[0] = block_lu_rows_most(SINGLE, x->gpu.shared_per_block);
	x->base.rows_most[1] = block_lu_rows_most(DOUBLE, x->gpu.shared_per_block);
	x->base.splits = half_update_built() ? &split_limits_cuda_half
	                 : x->gpu.major >= 8 ? &split_limits_cuda
	                                     : NULL;
	x->has_tall = tf32_tall_built();
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
