/* SPDX-License-Identifier: MIT */
/* Kernels that launch kernels. The Makefile compiles this file as relocatable code and links it
 * with the device's runtime. */
#include "device_launch.h"

#include <cuda_runtime.h>

/* The toolkit has no device's runtime for these compute capabilities: there no kernel launches
 * one, the count shows it, and the probe says so. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 880)
#define LAUNCHES 0
#else
#define LAUNCHES 1
#endif

/* Kernels that run at once count, too. */
static __global__ void count_kernel(unsigned *word)
{
	if (blockIdx.x == 0 && threadIdx.x == 0)
		atomicAdd(word, 1u);
}

static __global__ void tail_kernel(unsigned *word, int count)
{
#if LAUNCHES
	for (int i = 0; i < count; i++)
		count_kernel<<<1, LAUNCH_THREADS, 0, cudaStreamTailLaunch>>>(word);
#endif
}

static __global__ void fire_kernel(unsigned *word, int count)
{
#if LAUNCHES
	for (int i = 0; i < count; i++)
		count_kernel<<<1, LAUNCH_THREADS, 0, cudaStreamFireAndForget>>>(word);
#endif
}

static __global__ void chain_kernel(unsigned *word, int left)
{
	if (blockIdx.x != 0 || threadIdx.x != 0)
		return;
	atomicAdd(word, 1u);
#if LAUNCHES
	if (left > 1)
		chain_kernel<<<1, LAUNCH_THREADS, 0, cudaStreamTailLaunch>>>(word, left - 1);
#endif
}

extern "C" void device_launch_tail(unsigned *word, int count, void *stream)
{
	tail_kernel<<<1, 1, 0, (cudaStream_t)stream>>>(word, count);
}

extern "C" void device_launch_fire(unsigned *word, int count, void *stream)
{
	fire_kernel<<<1, 1, 0, (cudaStream_t)stream>>>(word, count);
}

extern "C" void device_launch_chain(unsigned *word, int count, void *stream)
{
	for (int i = 0; i < count; i += CHAIN)
		chain_kernel<<<1, LAUNCH_THREADS, 0, (cudaStream_t)stream>>>(word, CHAIN);
}

extern "C" void device_launch_host(unsigned *word, int count, void *stream)
{
	for (int i = 0; i < count; i++)
		count_kernel<<<1, LAUNCH_THREADS, 0, (cudaStream_t)stream>>>(word);
}
