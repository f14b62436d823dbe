/* SPDX-License-Identifier: MIT */
/* From a shape's number to its kernels, which are compiled in several files. */
#ifndef FATHOM_GEMM_LAUNCH_CUH
#define FATHOM_GEMM_LAUNCH_CUH

#include "gemm_kernel.cuh"

/* Starts the kernel of gemm_geometry[shape] on args, whose stage_c is set here. Returns a
 * cudaError_t. */
int gemm_start(int shape, bool ta, bool tb, bool vector, struct gemm_args<float> &args,
        cudaStream_t stream);
int gemm_start_large(int shape, bool ta, bool tb, bool vector, struct gemm_args<float> &args,
        cudaStream_t stream);
int gemm_start_narrow(int shape, bool ta, bool tb, bool vector, struct gemm_args<float> &args,
        cudaStream_t stream);

template <class S, bool TA, bool TB, bool VECTOR>
static int gemm_start_kernel(struct gemm_args<typename S::type> &args, cudaStream_t stream)
{
	typedef gemm_block<S, TA, TB, VECTOR> block;
	const auto kernel = gemm_kernel<S, TA, TB, VECTOR>;
	int device, sm_count, shared_per_sm;
	cudaGetDevice(&device);
	cudaDeviceGetAttribute(&sm_count, cudaDevAttrMultiProcessorCount, device);
	cudaDeviceGetAttribute(&shared_per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);

	/* the system takes 1 KiB of each block's shared memory */
	args.stage_c = args.beta != 0 &&
	               S::RESIDENT * (block::RING_BYTES + block::C_BYTES + 1024) <= shared_per_sm;
	const int bytes = block::RING_BYTES + (args.stage_c ? block::C_BYTES : 0);
	const int error =
	        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	if (error)
		return error;
	const int blocks = args.shared ? args.units : min(args.units, sm_count * S::RESIDENT);
	kernel<<<blocks, S::THREADS, bytes, stream>>>(args);
	return (int)cudaGetLastError();
}

template <class S>
static int gemm_start_shape(bool ta, bool tb, bool vector, struct gemm_args<typename S::type> &args,
        cudaStream_t stream)
{
	if (ta && tb)
		return vector ? gemm_start_kernel<S, true, true, true>(args, stream)
		              : gemm_start_kernel<S, true, true, false>(args, stream);
	if (ta)
		return vector ? gemm_start_kernel<S, true, false, true>(args, stream)
		              : gemm_start_kernel<S, true, false, false>(args, stream);
	if (tb)
		return vector ? gemm_start_kernel<S, false, true, true>(args, stream)
		              : gemm_start_kernel<S, false, true, false>(args, stream);
	return vector ? gemm_start_kernel<S, false, false, true>(args, stream)
	              : gemm_start_kernel<S, false, false, false>(args, stream);
}

#endif
