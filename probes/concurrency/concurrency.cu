/* SPDX-License-Identifier: MIT */
/* Kernels of the concurrency probe. None waits for another kernel, and all end by themselves. */
#include "concurrency.h"

#include "lib/device/clock.cuh"

#include <cuda_runtime.h>

enum { MEMORY_THREADS = 512, NULL_THREADS = 256 };

/* A value that the compiler cannot foresee and that never equals the one compared with. */
static DEVICE float calculate(float a, float b)
{
#pragma unroll
	for (int i = 0; i < CONCURRENCY_FMAS; i++)
		a = fmaf(a, b, 0.5f);
	return a;
}

static __global__ void arithmetic_kernel(int64_t rounds, float *sink)
{
	float a = (float)threadIdx.x;
	const float b = 0.999f - 1e-6f * (float)blockIdx.x;
#pragma unroll 1
	for (int64_t i = 0; i < rounds; i++)
		a = calculate(a, b);
	if (a == -1.0f)
		*sink = a;
}

extern "C" void concurrency_arithmetic(
        int blocks, int threads, int64_t rounds, float *sink, void *stream)
{
	arithmetic_kernel<<<blocks, threads, 0, (cudaStream_t)stream>>>(rounds, sink);
}

static __global__ void __launch_bounds__(MEMORY_THREADS)
        memory_kernel(uint4 *to, const uint4 *from, int64_t vectors, int passes)
{
	const int64_t step = (int64_t)gridDim.x * blockDim.x;
	const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	for (int pass = 0; pass < passes; pass++)
		for (int64_t i = first; i < vectors; i += step)
			__stcs(to + i, __ldcs(from + i));
}

extern "C" void concurrency_memory(
        void *to, const void *from, int64_t bytes, int passes, int blocks, void *stream)
{
	memory_kernel<<<blocks, MEMORY_THREADS, 0, (cudaStream_t)stream>>>(
	        (uint4 *)to, (const uint4 *)from, bytes / 16, passes);
}

static __global__ void stay_kernel(uint64_t ns, struct gpu_span *span)
{
	if (threadIdx.x == 0) {
		const bool first = blockIdx.x == 0;
		struct gpu_span mine;
		span_start(&mine);
		if (first)
			*(volatile uint64_t *)&span->ns0 = mine.ns0;
		while (device_ns() - mine.ns0 < ns)
			;
		span_stop(&mine);
		if (first)
			*span = mine;
	}
	__syncthreads();
}

extern "C" void concurrency_stay(
        int blocks, int threads, uint64_t ns, struct gpu_span *span, void *stream)
{
	stay_kernel<<<blocks, threads, 0, (cudaStream_t)stream>>>(ns, span);
}

/* Uses no memory: only the multiprocessors are busy. */
static __global__ void busy_kernel(uint64_t ns, struct gpu_span *span)
{
	const bool first = blockIdx.x == 0 && threadIdx.x == 0;
	float a = (float)threadIdx.x;
	struct gpu_span mine;
	span_start(&mine);
	if (first)
		*(volatile uint64_t *)&span->ns0 = mine.ns0;
	while (device_ns() - mine.ns0 < ns)
#pragma unroll 1
		for (int i = 0; i < 8; i++)
			a = calculate(a, 0.999f);
	span_stop(&mine);
	if (first || a == -1.0f)
		*span = mine;
}

extern "C" void concurrency_busy(
        int blocks, int threads, uint64_t ns, struct gpu_span *span, void *stream)
{
	busy_kernel<<<blocks, threads, 0, (cudaStream_t)stream>>>(ns, span);
}

static __global__ void null_kernel(unsigned *word)
{
	if (threadIdx.x == 0)
		*word += 1;
}

extern "C" void concurrency_null(unsigned *word, void *stream)
{
	null_kernel<<<1, NULL_THREADS, 0, (cudaStream_t)stream>>>(word);
}
