/* SPDX-License-Identifier: MIT */
/* From the number of a shape to its kernels, which are compiled in several files. */
#pragma once

#include "gemm_kernel.cuh"
#include "lib/device/current.h"

/* Starts the kernel of gemm_geometry[shape] on args; sets args.stage_c. Returns a cudaError_t. */
int gemm_start(
        int shape, bool ta, bool tb, bool vector, gemm_args<float> &args, cudaStream_t stream);
int gemm_start(
        int shape, bool ta, bool tb, bool vector, gemm_args<double> &args, cudaStream_t stream);
int gemm_start_large(
        int shape, bool ta, bool tb, bool vector, gemm_args<float> &args, cudaStream_t stream);
int gemm_start_narrow(
        int shape, bool ta, bool tb, bool vector, gemm_args<float> &args, cudaStream_t stream);

/* Shared: a block takes units for the time of SHARED_DEPTH of k, to let other kernels in. The last
 * SHARED_ROUNDS units per resident block are dealt one by one, so that all blocks end together. */
enum { SHARED_DEPTH = 256, SHARED_ROUNDS = 2 };

/* Deals the units out to blocks, `places` of which run at a time; returns their number. C's last
 * tiles take longest. Shared, they come first. Otherwise they go, in the first round, to blocks
 * that have no tile in the last round. */
template <typename T> static int gemm_deal(gemm_args<T> &args, int places)
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
static int gemm_start_kernel(gemm_args<typename S::type> &args, cudaStream_t stream)
{
	typedef gemm_block<S, TA, TB, VECTOR> block;
	const auto kernel = gemm_kernel<S, TA, TB, VECTOR>;
	const struct current *current = gpu_current();

	/* the system reserves 1 KiB of shared memory per block */
	const int c_bytes = tile_c<S, VECTOR>::BYTES;
	args.stage_c = (args.beta != 0 || !VECTOR) &&
	               S::RESIDENT * (block::RING_BYTES + c_bytes + 1024) <= current->shared_per_sm;
	const int bytes = block::RING_BYTES + (args.stage_c ? c_bytes : 0);
	const int error = kernel_allow_shared((const void *)kernel);
	if (error)
		return error;
	const int blocks = gemm_deal(args, current->sm_count * S::RESIDENT);
	kernel<<<blocks, S::THREADS, bytes, stream>>>(args);
	return (int)cudaGetLastError();
}

template <class S, bool VECTOR>
static int gemm_start_transposed(
        bool ta, bool tb, gemm_args<typename S::type> &args, cudaStream_t stream)
{
	if (ta)
		return tb ? gemm_start_kernel<S, true, true, VECTOR>(args, stream)
		          : gemm_start_kernel<S, true, false, VECTOR>(args, stream);
	return tb ? gemm_start_kernel<S, false, true, VECTOR>(args, stream)
	          : gemm_start_kernel<S, false, false, VECTOR>(args, stream);
}

/* ALL: the shape also takes unaligned operands. */
template <class S, bool ALL>
static int gemm_start_shape(
        bool ta, bool tb, bool vector, gemm_args<typename S::type> &args, cudaStream_t stream)
{
	if (vector)
		return gemm_start_transposed<S, true>(ta, tb, args, stream);
	if constexpr (ALL)
		return gemm_start_transposed<S, false>(ta, tb, args, stream);
	return (int)cudaErrorInvalidValue;
}
