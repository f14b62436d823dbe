/* SPDX-License-Identifier: MIT */
/* Kernels of the transfer probe. */
#include "transfer.h"

#include "lib/device/gpu.h"

#include <cuda_runtime.h>

enum { THREADS = 256, FILL_BLOCKS = 1024, COPY_THREADS = 512 };

static __global__ void fill_kernel(uint32_t *data, int64_t words, uint32_t seed)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step)
		data[i] = transfer_word((uint64_t)i, seed);
}

extern "C" void transfer_fill(void *data, int64_t bytes, uint32_t seed, void *stream)
{
	fill_kernel<<<FILL_BLOCKS, THREADS, 0, (cudaStream_t)stream>>>(
	        (uint32_t *)data, bytes / 4, seed);
	GPU(cudaGetLastError());
}

/* Reads the last word whole, as buffers are longer than a transfer. */
static __global__ void compare_kernel(
        const uint32_t *data, int64_t bytes, uint32_t seed, unsigned long long *wrong)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	unsigned long long mine = 0;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; 4 * i < bytes; i += step) {
		uint32_t differing = data[i] ^ transfer_word((uint64_t)i, seed);
		int64_t left = bytes - 4 * i;
		if (left < 4)
			differing &= (1u << 8 * left) - 1;
		mine += differing != 0;
	}
	if (mine)
		atomicAdd(wrong, mine);
}

extern "C" void transfer_compare(
        const void *data, int64_t bytes, uint32_t seed, unsigned long long *wrong, void *stream)
{
	compare_kernel<<<FILL_BLOCKS, THREADS, 0, (cudaStream_t)stream>>>(
	        (const uint32_t *)data, bytes, seed, wrong);
	GPU(cudaGetLastError());
}

/* Loads bypass the caches: every byte crosses the link in every launch. */
static __global__ void __launch_bounds__(COPY_THREADS)
        copy_kernel(uint4 *to, const uint4 *from, int64_t bytes)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	int64_t vectors = bytes / 16;
	for (int64_t i = first; i < vectors; i += step)
		to[i] = __ldcv(from + i);
	if (first < bytes % 16) {
		int64_t i = 16 * vectors + first;
		((char *)to)[i] = __ldcv((const char *)from + i);
	}
}

extern "C" void transfer_copy(void *to, const void *from, int64_t bytes, int blocks, void *stream)
{
	int64_t needed = (bytes / 16 + COPY_THREADS - 1) / COPY_THREADS;
	int64_t grid = needed < 1 ? 1 : needed < blocks ? needed : blocks;
	copy_kernel<<<(unsigned)grid, COPY_THREADS, 0, (cudaStream_t)stream>>>(
	        (uint4 *)to, (const uint4 *)from, bytes);
}
