/* SPDX-License-Identifier: MIT */
/* Streams, buffers and first launches of the concurrency probe. */
#include "concurrency_internal.h"

#include <math.h>
#include <stdlib.h>

/* At least; read, and written again, by the memory kernel. */
enum { MEMORY_BYTES = 256 * MIB };

static int attribute(const struct gpu *gpu, enum cudaDeviceAttr name)
{
	int value = 0;
	GPU(cudaDeviceGetAttribute(&value, name, gpu->device));
	return value;
}

/* Passes by the nominal memory bandwidth: the same number in every process. */
static void set_up_memory(struct concurrency *c, bool quick)
{
	size_t unused, total;
	GPU(cudaMemGetInfo(&unused, &total));
	c->memory_bytes = max_int64(MEMORY_BYTES, 4 * c->gpu.l2_bytes / MIB * MIB);
	while (c->memory_bytes > MIB && 2 * c->memory_bytes > (int64_t)(unused / 4))
		c->memory_bytes /= 2;
	if (c->memory_bytes <= 2 * c->gpu.l2_bytes) {
		msg_warn("only %zu bytes of GPU memory are free: nothing is measured beside a "
		         "kernel that copies memory",
		        unused);
		c->memory_bytes = 0;
		return;
	}
	const double rate = 2e3 * attribute(&c->gpu, cudaDevAttrMemoryClockRate) *
	                    attribute(&c->gpu, cudaDevAttrGlobalMemoryBusWidth) / 8;
	const double seconds = quick ? kernel_seconds / 4 : kernel_seconds;
	c->passes = (int)fmax(1, seconds * rate / (2.0 * (double)c->memory_bytes));
	GPU(cudaMalloc((void **)&c->from, (size_t)c->memory_bytes));
	GPU(cudaMalloc((void **)&c->to, (size_t)c->memory_bytes));
	gpu_fill_float((float *)c->from, c->memory_bytes / 4, c->random, c->lead);
}

void concurrency_set_up(struct concurrency *c, bool quick)
{
	const size_t bytes = 2 * (size_t)OVERLAP_BYTES;
	size_t unused, total;
	GPU(cudaMemGetInfo(&unused, &total));
	if (unused < 2 * bytes)
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of GPU memory are free: stop other programs", unused);
	c->timer = gpu_timer_new(&c->gpu);
	c->hold = gpu_hold_new();
	GPU(cudaStreamCreateWithFlags(&c->lead, cudaStreamNonBlocking));
	GPU(cudaEventCreateWithFlags(&c->fork, cudaEventDisableTiming));
	for (int i = 0; i < BRANCHES; i++) {
		GPU(cudaStreamCreateWithFlags(&c->stream[i], cudaStreamNonBlocking));
		GPU(cudaEventCreateWithFlags(&c->done[i], cudaEventDisableTiming));
	}
	c->many = xcalloc(KERNELS_MOST, sizeof(cudaStream_t));
	for (int i = 0; i < KERNELS_MOST; i++)
		GPU(cudaStreamCreateWithFlags(&c->many[i], cudaStreamNonBlocking));
	GPU(cudaMallocHost((void **)&c->span, (KERNELS_MOST + 2) * sizeof *c->span));
	GPU(cudaMallocHost((void **)&c->copied, sizeof *c->copied));
	GPU(cudaMallocHost((void **)&c->host, bytes));
	GPU(cudaMalloc((void **)&c->device, bytes));
	GPU(cudaMalloc((void **)&c->word, sizeof *c->word));
	GPU(cudaMalloc((void **)&c->sink, sizeof *c->sink));
	GPU(cudaMemset(c->word, 0, sizeof *c->word));
	gpu_fill_float((float *)c->device, (int64_t)bytes / 4, ~c->random, c->lead);
	GPU(cudaMemcpyAsync(c->host, c->device, bytes, cudaMemcpyDeviceToHost, c->lead));
	set_up_memory(c, quick);
	finish();
}

void concurrency_clean_up(struct concurrency *c)
{
	void *device[] = {c->device, c->word, c->sink, c->from, c->to};
	void *host[] = {c->span, c->copied, c->host};
	for (int i = 0; i < BRANCHES; i++) {
		GPU(cudaStreamDestroy(c->stream[i]));
		GPU(cudaEventDestroy(c->done[i]));
	}
	for (int i = 0; i < KERNELS_MOST; i++)
		GPU(cudaStreamDestroy(c->many[i]));
	free(c->many);
	GPU(cudaEventDestroy(c->fork));
	GPU(cudaStreamDestroy(c->lead));
	for (size_t i = 0; i < ARRAY_LEN(device); i++)
		GPU(cudaFree(device[i]));
	for (size_t i = 0; i < ARRAY_LEN(host); i++)
		GPU(cudaFreeHost(host[i]));
	gpu_hold_free(c->hold);
	gpu_timer_free(c->timer);
}

/* Everything once, without the hold: loading code waits for the device. */
void concurrency_run_once(struct concurrency *c)
{
	static const enum work works[] = {
	        ARITHMETIC, TO_DEVICE, TO_HOST, ROWS_TO_DEVICE, ROWS_TO_HOST, MEMORY};
	for (size_t i = 0; i < ARRAY_LEN(works); i++) {
		c->branch[0] = (struct branch){works[i], 1, 32, 1e-6, MIB};
		if (works[i] != MEMORY || c->memory_bytes > 0)
			concurrency_put(c, 0);
	}
	concurrency_stay(1, 32, 0, c->span, c->lead);
	concurrency_null(c->word, c->lead);
	GPU(cudaMemcpyAsync(c->copied, c->word, sizeof *c->word, cudaMemcpyDeviceToHost, c->lead));
	gpu_timer_stop(c->timer, c->lead);
	if (!concurrency_busy_start(c, 1))
		msg_die(EXIT_MEASURE_FAILED, "a kernel's data did not reach the host");
	finish();
}
