/* SPDX-License-Identifier: MIT */
#include "words.h"

#include "gpu.h"

#include <cuda_runtime.h>

enum { THREADS = 256, FILL_BLOCKS = 1024 };

static __global__ void fill_kernel(uint32_t *data, int64_t words, uint32_t seed)
{
	int64_t step = (int64_t)gridDim.x * blockDim.x;
	for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step)
		data[i] = word_of((uint64_t)i, seed);
}

extern "C" void words_fill(void *data, int64_t bytes, uint32_t seed, void *stream)
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
		uint32_t differing = data[i] ^ word_of((uint64_t)i, seed);
		int64_t left = bytes - 4 * i;
		if (left < 4)
			differing &= (1u << 8 * left) - 1;
		mine += differing != 0;
	}
	if (mine)
		atomicAdd(wrong, mine);
}

extern "C" unsigned long long words_wrong(
        const void *data, int64_t bytes, uint32_t seed, unsigned long long *wrong, void *stream)
{
	const cudaStream_t s = (cudaStream_t)stream;
	unsigned long long count = 0;
	GPU(cudaMemsetAsync(wrong, 0, sizeof *wrong, s));
	compare_kernel<<<FILL_BLOCKS, THREADS, 0, s>>>((const uint32_t *)data, bytes, seed, wrong);
	GPU(cudaGetLastError());
	GPU(cudaMemcpyAsync(&count, wrong, sizeof count, cudaMemcpyDeviceToHost, s));
	GPU(cudaStreamSynchronize(s));
	return count;
}
