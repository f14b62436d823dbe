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

/* Shared, a block stays for as many units as take the time of SHARED_DEPTH, so that other kernels
 * find room, and the last SHARED_ROUNDS for each place of a block are dealt out one by one, so that
 * all end together. H200, fp32, n = 8192, k = 64 and 128: a unit for each block 31.4 and 38.6, so
 * 35.3 and 41.4, not shared 38.0 and 43.5 Tflop/s. */
enum { SHARED_DEPTH = 256, SHARED_ROUNDS = 2 };

/* Deals the units out to the blocks of which `places` work at a time; how many blocks these are.
 * C's last tiles take longest. Shared, they come first; else they go, in the first round, to blocks
 * without a tile in the last one, as far as there are such (H200, C 5520 x 5520, k = 64, 128, 256:
 * 128, 207, 369 us; from the first tile on, where all of the cut row can be a few blocks', 142,
 * 225, 390; a triangle of 5504 by 128 121 and 136). */
template <typename T> static int gemm_deal(struct gemm_args<T> &args, int places)
{
	const int rows = args.tiles.rows, columns = args.tiles.columns;
	const int longest = args.tiles.part == GEMM_WHOLE ? columns : min(rows, columns);
	if (!args.shared) {
		args.many = min(args.units, places);
		args.end = args.units;
		args.start = args.units - 1;
		args.start += min(args.units % args.many, max(args.many - longest, 0));
		return args.many;
	}
	const int turns = args.k < SHARED_DEPTH ? (int)(SHARED_DEPTH / args.k) : 1;
	const int several = args.units - SHARED_ROUNDS * places;
	args.many = turns > 1 && several > 0 ? several / turns : 0;
	args.end = args.many * turns;
	args.start = args.units - 1;
	return args.many + args.units - args.end;
}

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
	const int blocks = gemm_deal(args, sm_count * S::RESIDENT);
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
