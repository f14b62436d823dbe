/* SPDX-License-Identifier: MIT */
/* From a shape's number to its kernels, which are compiled in several files. */
#ifndef FATHOM_GEMM_LAUNCH_CUH
#define FATHOM_GEMM_LAUNCH_CUH

#include "gemm_kernel.cuh"

/* Starts the kernel of gemm_geometry[shape] on args, whose stage_c is set here. Returns a
 * cudaError_t. */
int gemm_start(int shape, bool ta, bool tb, bool vector, struct gemm_args<float> &args,
        cudaStream_t stream);
int gemm_start(int shape, bool ta, bool tb, bool vector, struct gemm_args<double> &args,
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
	const int c_bytes = tile_c<S, VECTOR>::BYTES;
	args.stage_c = (args.beta != 0 || !VECTOR) &&
	               S::RESIDENT * (block::RING_BYTES + c_bytes + 1024) <= shared_per_sm;
	const int bytes = block::RING_BYTES + (args.stage_c ? c_bytes : 0);
	const int error =
	        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	if (error)
		return error;
	const int blocks = args.shared ? args.units : min(args.units, sm_count * S::RESIDENT);
	kernel<<<blocks, S::THREADS, bytes, stream>>>(args);
	return (int)cudaGetLastError();
}

template <class S, bool VECTOR>
static int gemm_start_transposed(
        bool ta, bool tb, struct gemm_args<typename S::type> &args, cudaStream_t stream)
{
	if (ta)
		return tb ? gemm_start_kernel<S, true, true, VECTOR>(args, stream)
		          : gemm_start_kernel<S, true, false, VECTOR>(args, stream);
	return tb ? gemm_start_kernel<S, false, true, VECTOR>(args, stream)
	          : gemm_start_kernel<S, false, false, VECTOR>(args, stream);
}

/* ALL: operands that are not aligned come to this shape too. */
template <class S, bool ALL>
static int gemm_start_shape(bool ta, bool tb, bool vector, struct gemm_args<typename S::type> &args,
        cudaStream_t stream)
{
	if (vector)
		return gemm_start_transposed<S, true>(ta, tb, args, stream);
	if constexpr (ALL)
		return gemm_start_transposed<S, false>(ta, tb, args, stream);
	return (int)cudaErrorInvalidValue;
}

#endif
