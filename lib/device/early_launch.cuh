/* SPDX-License-Identifier: MIT */
/* Launches of short dependent kernels: the next kernel's blocks occupy multiprocessors early and
 * wait there for the end of this kernel (programmatic dependent launch, compute capability 9.0).
 * Older devices, and code for older ones, get plain launches. */
#pragma once

#include "lib/base/base.h"
#include "current.h"

#include <cuda_runtime.h>

/* By every thread, before it reads or writes memory that the kernel before uses. */
static DEVICE void early_wait(void)
{
#if __CUDA_ARCH__ >= 900
	cudaGridDependencySynchronize();
#endif
}

/* Lets the next kernel's blocks start; the end of a block does the same. They occupy space while
 * they wait, so long kernels call this near their end. */
static DEVICE void early_release(void)
{
#if __CUDA_ARCH__ >= 900
	cudaTriggerProgrammaticLaunchCompletion();
#endif
}

static DEVICE void early_begin(void)
{
	early_release();
	early_wait();
}

/* kernel<<<blocks, threads, bytes, stream>>>(argument) */
template <typename A>
static cudaError_t early_launch(void (*kernel)(const A), int64_t blocks, int threads, int64_t bytes,
        const A &argument, void *stream)
{
	const int error = bytes > 0 ? kernel_allow_shared((const void *)kernel) : 0;
	if (error)
		return (cudaError_t)error;
	cudaLaunchAttribute attribute = {};
	cudaLaunchConfig_t config = {};
	config.gridDim = dim3((unsigned)blocks);
	config.blockDim = dim3((unsigned)threads);
	config.dynamicSmemBytes = (size_t)bytes;
	config.stream = (cudaStream_t)stream;
	config.attrs = &attribute;
	config.numAttrs = gpu_current()->code >= 90;
	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	return cudaLaunchKernelEx(&config, kernel, argument);
}
