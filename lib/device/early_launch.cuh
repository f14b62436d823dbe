/* SPDX-License-Identifier: MIT */
/* Kernels that follow one another in a stream, each after a few microseconds: the next one's blocks
 * come to the multiprocessors while this one works and wait there for its end, where devices have
 * such launches (compute capability 9.0); elsewhere they are launched as always. */
#ifndef FATHOM_EARLY_LAUNCH_CUH
#define FATHOM_EARLY_LAUNCH_CUH

#include <cuda_runtime.h>
#include <stdint.h>

/* Until here such a kernel reads and writes nothing of the one before. In every thread. */
static __device__ __forceinline__ void early_wait(void)
{
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
#endif
}

/* The next one's blocks may come from here on; in every block, whose end means the same. They keep
 * their places from then on, so that kernels that take long say it at their end. */
static __device__ __forceinline__ void early_release(void)
{
#if __CUDA_ARCH__ >= 900
	cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* The first thing that a short one does. */
static __device__ __forceinline__ void early_begin(void)
{
	early_release();
	early_wait();
}

/* kernel<<<blocks, threads, bytes, stream>>>(argument) */
template <typename A>
static cudaError_t early_launch(void (*kernel)(const A), int64_t blocks, int threads, int64_t bytes,
        const A &argument, void *stream)
{
	int device, major;
	cudaError_t error = cudaGetDevice(&device);
	if (error == cudaSuccess)
		error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
	if (error == cudaSuccess && bytes > 0)
		error = cudaFuncSetAttribute((const void *)kernel,
		        cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (error != cudaSuccess)
		return error;
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};
	config.gridDim = dim3((unsigned)blocks);
	config.blockDim = dim3((unsigned)threads);
	config.dynamicSmemBytes = (size_t)bytes;
	config.stream = (cudaStream_t)stream;
	config.attrs = &attribute;
	config.numAttrs = major >= 9;
	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	return cudaLaunchKernelEx(&config, kernel, argument);
}

#endif
