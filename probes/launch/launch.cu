/* SPDX-License-Identifier: MIT */
/* Kernels and launchers of the launch probe; see launch.h. */
#include "launch.h"

#include <cuda_runtime.h>

static DEVICE void count_launch(unsigned *word)
{
	if (blockIdx.x == 0 && threadIdx.x == 0)
		*word += 1;
}

static __global__ void null_kernel(unsigned *word)
{
	count_launch(word);
}

extern "C" void launch_null(unsigned *word, int blocks, void *stream)
{
	null_kernel<<<blocks, LAUNCH_THREADS, 0, (cudaStream_t)stream>>>(word);
}

extern "C" const void *launch_null_symbol(void)
{
	return (const void *)null_kernel;
}

static __global__ void cooperative_kernel(unsigned *word)
{
	count_launch(word);
}

extern "C" void launch_cooperative(unsigned *word, int blocks, void *stream)
{
	void *arguments[] = {&word};
	cudaLaunchCooperativeKernel((const void *)cooperative_kernel, dim3(blocks),
	        dim3(LAUNCH_THREADS), arguments, 0, (cudaStream_t)stream);
}

/* ---- blocks after one another ---- */

/* The count never has the value compared with. */
static __global__ void turn_kernel(unsigned *word)
{
	extern __shared__ unsigned kept[];
	kept[threadIdx.x] = __ldcg(word);
	__syncthreads();
	if (kept[threadIdx.x ^ 1] == ~0u)
		*word = 0;
	count_launch(word);
}

extern "C" void launch_turns(unsigned *word, int blocks, int threads, void *stream)
{
	static int bytes; /* more than half of a multiprocessor's */
	if (bytes == 0) {
		int device = 0;
		cudaGetDevice(&device);
		cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
		cudaFuncSetAttribute((const void *)turn_kernel,
		        cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	}
	turn_kernel<<<blocks, threads, (size_t)bytes, (cudaStream_t)stream>>>(word);
}

/* ---- argument bytes ---- */

template <int bytes> struct argument {
	unsigned *word;
	char rest[bytes - sizeof(unsigned *)];
};

template <int bytes> static __global__ void argument_kernel(argument<bytes> argument)
{
	count_launch(argument.word);
}

template <int bytes> static void launch_sized(unsigned *word, cudaStream_t stream)
{
	static argument<bytes> argument;
	argument.word = word;
	argument_kernel<bytes><<<1, LAUNCH_THREADS, 0, stream>>>(argument);
}

extern "C" void launch_argument(unsigned *word, int bytes, void *stream)
{
	if (bytes == 8)
		launch_null(word, 1, stream);
	else if (bytes == 256)
		launch_sized<256>(word, (cudaStream_t)stream);
	else if (bytes == 1024)
		launch_sized<1024>(word, (cudaStream_t)stream);
	else
		launch_sized<4000>(word, (cudaStream_t)stream);
}

/* ---- programmatic dependent launch ---- */

/* Lets the next kernel be scheduled at once, then waits for the previous kernel and its memory:
 * only the launch itself overlaps. */
static __global__ void overlapped_kernel(unsigned *word)
{
#if __CUDA_ARCH__ >= 900
	cudaTriggerProgrammaticLaunchCompletion();
	cudaGridDependencySynchronize();
#endif
	count_launch(word);
}

extern "C" void launch_overlapped(unsigned *word, void *stream)
{
	cudaLaunchAttribute attribute = {};
	attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
	attribute.val.programmaticStreamSerializationAllowed = 1;
	cudaLaunchConfig_t config = {};
	config.gridDim = dim3(1);
	config.blockDim = dim3(LAUNCH_THREADS);
	config.stream = (cudaStream_t)stream;
	config.attrs = &attribute;
	config.numAttrs = 1;
	void *arguments[] = {&word};
	cudaLaunchKernelExC(&config, (const void *)overlapped_kernel, arguments);
}

/* ---- dependent accesses ---- */

/* Node (block, thread) leads to the next thread's node in a distant block, so always to a node that
 * another multiprocessor wrote. */
static DEVICE unsigned next_node(unsigned blocks, unsigned block, unsigned thread)
{
	return (block + blocks / 2 + 1) % blocks * LAUNCH_THREADS + (thread + 1) % LAUNCH_THREADS;
}

static __global__ void access_start_kernel(unsigned *nodes)
{
	nodes[blockIdx.x * LAUNCH_THREADS + threadIdx.x] =
	        next_node(gridDim.x, blockIdx.x, threadIdx.x);
}

/* The lanes of a warp stay on neighbouring words: every access is one transaction. The value
 * written depends on the value read, though it is always the same. */
static __global__ void access_kernel(unsigned *word, unsigned *nodes, int accesses)
{
	unsigned here = blockIdx.x * LAUNCH_THREADS + threadIdx.x, node = here;
	for (int i = 0; i < accesses; i++)
		node = nodes[node];
	unsigned wrong = node >= gridDim.x * LAUNCH_THREADS;
	nodes[here] = next_node(gridDim.x, blockIdx.x, threadIdx.x) + wrong;
	count_launch(word);
}

extern "C" void launch_access_start(unsigned *nodes, int blocks, void *stream)
{
	access_start_kernel<<<blocks, LAUNCH_THREADS, 0, (cudaStream_t)stream>>>(nodes);
}

extern "C" void launch_access(
        unsigned *word, unsigned *nodes, int blocks, int accesses, void *stream)
{
	access_kernel<<<blocks, LAUNCH_THREADS, 0, (cudaStream_t)stream>>>(word, nodes, accesses);
}

/* ---- flag ---- */

static __global__ void flag_kernel(volatile unsigned *flag, unsigned value)
{
	*flag = value;
	__threadfence_system();
}

extern "C" void launch_flag(volatile unsigned *flag, unsigned value, void *stream)
{
	flag_kernel<<<1, 1, 0, (cudaStream_t)stream>>>(flag, value);
}
