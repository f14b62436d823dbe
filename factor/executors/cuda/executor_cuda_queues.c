/* SPDX-License-Identifier: MIT */
/* Queues, events, copies between host and device, and host panels in the cuda executor. */
#include "executor_cuda.h"

#include "lib/base/msg.h"
#include "lib/device/current.h"
#include "lib/device/driver.h"
#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/gemv/gemv.h"
#include "factor/kernels/gemm/tf32_tall.h"

#include <stdlib.h>

_Static_assert((int)BLOCK_SCRATCH_BYTES <= (int)LANE_SCRATCH_BYTES, "scratch holds a block's");
_Static_assert((int)TF32_TALL_SCRATCH <= (int)LANE_SCRATCH_BYTES, "and a tall product's");

/* cuBLAS drops its workspace when its stream changes, and counts the whole device's
 * multiprocessors unless told. */
static bool lane_attach(struct cuda *x, struct lane *lane)
{
	return blas_ok(x, cublasSetStream(lane->blas, lane->stream), "set stream") &&
	       blas_ok(x, cublasSetSmCountTarget(lane->blas, gpu_blas_sms(&x->gpu, 0)),
	               "multiprocessors") &&
	       blas_ok(x, cublasSetWorkspace(lane->blas, lane->product_work, GEMM_WORK_BYTES),
	               "workspace");
}

static bool scratch_open(struct cuda *x, struct lane *lane)
{
	if (!cuda_ok(x, cudaMalloc(&lane->counters, GEMV_COUNTERS + LANE_SCRATCH_BYTES),
	            "device memory") ||
	        !cuda_ok(x, cudaMemsetAsync(lane->counters, 0, GEMV_COUNTERS, lane->stream),
	                "clear counters") ||
	        !cuda_ok(x, cudaStreamSynchronize(lane->stream), "clear counters"))
		return false;
	lane->scratch = (char *)lane->counters + GEMV_COUNTERS;
	return true;
}

static bool lane_open(struct cuda *x, struct lane *lane, int priority)
{
	return cuda_ok(x,
	               cudaStreamCreateWithPriority(&lane->stream, cudaStreamNonBlocking, priority),
	               "stream") &&
	       cuda_ok(x, cudaMalloc(&lane->product_work, GEMM_WORK_BYTES), "device memory") &&
	       scratch_open(x, lane) && blas_ok(x, cublasCreate(&lane->blas), "create") &&
	       lane_attach(x, lane);
}

bool lanes_open(struct cuda *x)
{
	int lowest = 0, highest = 0;
	if (!cuda_ok(x, cudaDeviceGetStreamPriorityRange(&lowest, &highest), "stream priorities"))
		return false;
	for (int queue = 0; queue < QUEUE_COUNT; queue++)
		if (!lane_open(x, &x->lanes[queue], queue == QUEUE_PANEL ? highest : lowest))
			return false;
	blas_double_open(&x->doubles, &x->base.tuning, x->lanes[QUEUE_MAIN].blas);
	for (int i = 0; i < EXECUTOR_EVENTS; i++)
		if (!cuda_ok(x, cudaEventCreateWithFlags(&x->events[i], cudaEventDisableTiming),
		            "event"))
			return false;
	for (int i = 0; i < NOTES; i++)
		if (!cuda_ok(x, cudaEventCreateWithFlags(&x->notes[i].sent, cudaEventDisableTiming),
		            "event"))
			return false;
	return true;
}

bool cuda_follow(struct cuda *x, cudaStream_t stream)
{
	struct lane *lane = &x->lanes[QUEUE_MAIN];

	if (!lane->borrowed && !cuda_ok(x, cudaStreamDestroy(lane->stream), "stream"))
		return false;
	lane->borrowed = true;
	lane->stream = stream;
	gpu_limit_sms(driver_stream_sms(stream));
	x->gpu.sm_count = gpu_current()->sm_count;
	cuda_tune(x);
	return lane_attach(x, lane);
}

static void lane_close(struct lane *lane)
{
	bool own = lane->stream && !lane->borrowed;

	if (own)
		cudaStreamSynchronize(lane->stream);
	if (lane->blas)
		cublasDestroy(lane->blas);
	if (own)
		cudaStreamDestroy(lane->stream);
	cudaFree(lane->product_work);
	cudaFree(lane->counters);
}

/* Accepts lanes that lanes_open left incomplete. */
void lanes_close(struct cuda *x)
{
	for (int queue = 0; queue < QUEUE_COUNT; queue++)
		lane_close(&x->lanes[queue]);
	for (int i = 0; i < EXECUTOR_EVENTS; i++)
		if (x->events[i])
			cudaEventDestroy(x->events[i]);
	for (int64_t i = 0; i < x->mark_count; i++)
		cudaEventDestroy(x->marks[i]);
	free(x->marks);
	for (int i = 0; i < NOTES; i++) {
		if (x->notes[i].sent)
			cudaEventDestroy(x->notes[i].sent);
		cudaFreeHost(x->notes[i].buffer.data);
	}
	for (int i = 0; i < EXECUTOR_STAGES; i++)
		cudaFreeHost(x->stages[i].data);
}

/* CUDA, too, treats an event that was never recorded as over. */
static bool event_valid(struct cuda *x, int event)
{
	return (event >= 0 && event < EXECUTOR_EVENTS) ||
	       fault_set(&x->base.fault, "there is no event %d", event);
}

bool cuda_record(struct executor *executor, int event)
{
	struct cuda *x = self(executor);
	return event_valid(x, event) &&
	       cuda_ok(x, cudaEventRecord(x->events[event], stream_of(x)), "record");
}

bool cuda_mark(struct executor *executor, int64_t index)
{
	struct cuda *x = self(executor);
	for (; x->mark_count <= index; x->mark_count++) {
		x->marks = xrealloc(x->marks, (size_t)(x->mark_count + 1) * sizeof *x->marks);
		if (!cuda_ok(x, cudaEventCreate(&x->marks[x->mark_count]), "mark"))
			return false;
	}
	return cuda_ok(x, cudaEventRecord(x->marks[index], stream_of(x)), "mark");
}

bool cuda_elapsed(struct executor *executor, int64_t from, int64_t to, double *seconds)
{
	struct cuda *x = self(executor);
	float milliseconds = 0;
	bool ok = cuda_ok(x, cudaEventSynchronize(x->marks[to]), "wait for a mark") &&
	          cuda_ok(x, cudaEventElapsedTime(&milliseconds, x->marks[from], x->marks[to]),
	                  "time between marks");
	*seconds = (double)milliseconds * 1e-3;
	return ok;
}

bool cuda_wait(struct executor *executor, int event)
{
	struct cuda *x = self(executor);
	return event_valid(x, event) &&
	       cuda_ok(x, cudaStreamWaitEvent(stream_of(x), x->events[event], 0), "wait");
}

bool cuda_wait_host(struct executor *executor, int event)
{
	struct cuda *x = self(executor);
	return event_valid(x, event) && cuda_ok(x, cudaEventSynchronize(x->events[event]), "wait");
}

bool cuda_stage(struct executor *executor, int stage, int64_t m, int64_t n,
        enum precision precision, struct matrix *host)
{
	struct cuda *x = self(executor);
	if (stage < 0 || stage >= EXECUTOR_STAGES)
		return fault_set(&x->base.fault, "there is no stage %d", stage);
	struct buffer *buffer = &x->stages[stage];
	int64_t bytes = m * n * precision_bytes(precision);
	if (bytes > buffer->bytes &&
	        !cuda_sync(executor)) /* copies may still use the smaller buffer */
		return false;
	if (!grow_pinned(x, buffer, bytes))
		return false;
	*host = (struct matrix){buffer->data, 0, m, n, m > 0 ? m : 1, precision};
	return true;
}

static bool copy_async(struct cuda *x, struct matrix from, struct matrix to,
        enum cudaMemcpyKind kind, const char *what)
{
	size_t w = (size_t)precision_bytes(from.precision);
	if (from.m == 0 || from.n == 0)
		return true;
	return cuda_ok(x,
	        cuda_copy_2d(matrix_address(to), (size_t)to.ld * w, matrix_address(from),
	                (size_t)from.ld * w, (size_t)from.m * w, (size_t)from.n, kind,
	                stream_of(x)),
	        what);
}

bool cuda_to_host(struct executor *executor, struct matrix from, struct matrix host)
{
	return copy_async(self(executor), from, host, cudaMemcpyDeviceToHost, "copy to the host");
}

bool cuda_to_device(struct executor *executor, struct matrix host, struct matrix to)
{
	return copy_async(self(executor), host, to, cudaMemcpyHostToDevice, "copy to the device");
}

static bool host_ok(struct cuda *x, bool good)
{
	if (!good)
		x->base.fault = x->host->fault;
	return good;
}

bool cuda_host_panel_getrf(
        struct executor *executor, struct matrix host, struct pivots p, int *ipiv)
{
	struct cuda *x = self(executor);
	int64_t bytes = (p.n + 1) * (int64_t)sizeof(int);
	struct note *note = note_take(x, bytes);
	if (!note)
		return false;
	struct pivots noted = {note->buffer.data, p.n};
	return host_ok(x, x->host->ops->host_panel_getrf(x->host, host, noted, ipiv)) &&
	       note_send(x, note, p.data, bytes, "pivots to the device");
}

bool cuda_host_panel_geqrf(struct executor *executor, struct matrix host, struct matrix tau)
{
	struct cuda *x = self(executor);
	int64_t bytes = tau.m * precision_bytes(tau.precision);
	struct note *note = note_take(x, bytes);
	if (!note)
		return false;
	struct matrix noted = {note->buffer.data, 0, tau.m, 1, tau.m, tau.precision};
	return host_ok(x, x->host->ops->host_panel_geqrf(x->host, host, noted)) &&
	       note_send(x, note, matrix_address(tau), bytes, "tau to the device");
}

bool cuda_host_reflect(
        struct executor *executor, struct matrix v, struct matrix tau, struct matrix c)
{
	struct cuda *x = self(executor);

	return host_ok(x, x->host->ops->host_reflect(x->host, v, tau, c));
}

/* A failure travels as a kernel argument, because info in device memory may hold an earlier one. */
bool cuda_host_panel_potrf(
        struct executor *executor, enum uplo uplo, struct matrix host, int64_t first, int *info)
{
	struct cuda *x = self(executor);
	int failed = 0;
	if (!host_ok(x, x->host->ops->host_panel_potrf(x->host, uplo, host, first, &failed)))
		return false;
	return failed == 0 || cuda_ok(x, block_raise_info(failed, info, stream_of(x)), "info");
}
