/* SPDX-License-Identifier: MIT */
/* Streams of the loaded_latency probe: every block moves pieces of a region by plain loads or
 * stores, by asynchronous copies, or by the bulk copy engine. */
#pragma once

#include "loaded_latency.h"
#include "lib/device/clock.cuh"

namespace
{

DEVICE uint32_t load16(const char *address)
{
	uint32_t a, b, c, d;
	asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
	             : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
	             : "l"(address));
	return a ^ b ^ c ^ d;
}

/* The pieces of a mover (a block, or one of its warps): one in every round over all movers, around
 * the region. */
struct chain {
	char *at, *end;
	int64_t step, size;
};

DEVICE struct chain chain_from(
        const struct loaded_stream &s, int64_t bytes, uint32_t mover, uint32_t movers)
{
	const int64_t pieces = s.region_bytes / bytes, size = pieces * bytes;
	return {s.region + (s.offset + mover) % pieces * bytes, s.region + size,
	        (int64_t)movers % pieces * bytes, size};
}

DEVICE char *next_piece(struct chain *chain)
{
	char *at = chain->at;
	chain->at =
	        at + chain->step < chain->end ? at + chain->step : at + chain->step - chain->size;
	return at;
}

DEVICE void finish(
        const struct loaded_stream &s, struct gpu_span *span, uint32_t seen, int64_t bytes)
{
	__syncthreads();
	if (seen == 0x9e3779b9u)
		*s.sink = seen;
	if (threadIdx.x == 0) {
		span_stop(span);
		s.block[blockIdx.x].span = *span;
		s.block[blockIdx.x].bytes = (uint64_t)bytes;
	}
}

template <int depth> __global__ void __launch_bounds__(1024) plain_kernel(struct loaded_stream s)
{
	const int64_t bytes = (int64_t)blockDim.x * 16 * depth;
	struct chain chain = chain_from(s, bytes, blockIdx.x, gridDim.x);
	struct gpu_span span;
	uint32_t seen = 0;
	span_start(&span);
#pragma unroll 1
	for (int64_t t = 0; t < s.turns; ++t) {
		const char *at = next_piece(&chain) + threadIdx.x * 16;
		uint32_t x[depth];
#pragma unroll
		for (int k = 0; k < depth; ++k)
			x[k] = load16(at + k * blockDim.x * 16);
#pragma unroll
		for (int k = 0; k < depth; ++k)
			seen = seen * 3 + x[k];
	}
	finish(s, &span, seen, s.turns * bytes);
}

template <int depth> __global__ void __launch_bounds__(1024) store_kernel(struct loaded_stream s)
{
	const int64_t bytes = (int64_t)blockDim.x * 16 * depth;
	struct chain chain = chain_from(s, bytes, blockIdx.x, gridDim.x);
	struct gpu_span span;
	const uint32_t v = threadIdx.x * 2654435761u + blockIdx.x;
	span_start(&span);
#pragma unroll 1
	for (int64_t t = 0; t < s.turns; ++t) {
		char *at = next_piece(&chain) + threadIdx.x * 16;
#pragma unroll
		for (int k = 0; k < depth; ++k)
			*(uint4 *)(at + k * blockDim.x * 16) = make_uint4(v, v + 1, v + 2, v + 3);
	}
	__threadfence();
	finish(s, &span, 0, s.turns * bytes);
}

/* Every thread waits for its own copies only, and reads its own words. */
template <int depth> __global__ void __launch_bounds__(1024) async_kernel(struct loaded_stream s)
{
#if __CUDA_ARCH__ >= 800
	extern __shared__ __align__(128) char memory[];
	const int64_t bytes = (int64_t)blockDim.x * 16;
	struct chain chain = chain_from(s, bytes, blockIdx.x, gridDim.x);
	const uint32_t mine = (uint32_t)__cvta_generic_to_shared(memory) + threadIdx.x * 16;
	struct gpu_span span;
	uint32_t seen = 0;
	span_start(&span);
#pragma unroll 1
	for (int64_t t = 0; t < s.turns * depth; ++t) {
		const uint32_t slot = mine + (uint32_t)(t % depth * bytes);
		if (t >= depth) {
			uint32_t word;
			asm volatile("cp.async.wait_group %0;" ::"n"(depth - 1) : "memory");
			asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(word) : "r"(slot));
			seen = seen * 3 + word;
		}
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(slot),
		             "l"(next_piece(&chain) + threadIdx.x * 16)
		             : "memory");
		asm volatile("cp.async.commit_group;" ::: "memory");
	}
	asm volatile("cp.async.wait_group 0;" ::: "memory");
	finish(s, &span, seen, s.turns * depth * bytes);
#endif
}

#if __CUDA_ARCH__ >= 900
enum { STAGES = LOADED_STAGES };

DEVICE void wait_for_stage(uint32_t arrived, uint32_t parity)
{
	uint32_t done = 0;
	while (!done)
		asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; "
		             "selp.u32 %0, 1, 0, p; }"
		             : "=r"(done)
		             : "r"(arrived), "r"(parity)
		             : "memory");
}

/* One thread keeps its stages, in shared memory from `base` on, under way. */
__device__ uint32_t copy_in_stages(
        int64_t turns, uint32_t stage_bytes, uint32_t base, uint32_t arrived, struct chain chain)
{
	uint32_t seen = 0;
#pragma unroll 1
	for (int64_t t = 0; t < turns + STAGES; ++t) {
		const uint32_t k = (uint32_t)(t % STAGES), stage = base + k * stage_bytes;
		if (t >= STAGES) {
			uint32_t word;
			wait_for_stage(arrived + 8 * k, (uint32_t)(t / STAGES - 1) & 1);
			asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(word) : "r"(stage));
			seen = seen * 3 + word;
		}
		if (t >= turns)
			continue;
		asm volatile(
		        "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(arrived + 8 * k),
		        "r"(stage_bytes)
		        : "memory");
		asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
		             "[%0], [%1], %2, [%3];" ::"r"(stage),
		             "l"(next_piece(&chain)), "r"(stage_bytes), "r"(arrived + 8 * k)
		             : "memory");
	}
	return seen;
}
#endif

/* The first thread of every warp has stages of its own. */
__global__ void __launch_bounds__(1024) bulk_kernel(struct loaded_stream s, int stage_bytes)
{
#if __CUDA_ARCH__ >= 900
	extern __shared__ __align__(128) char memory[];
	__shared__ __align__(8) uint64_t arrived[32][STAGES];
	const uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
	const uint32_t base = (uint32_t)__cvta_generic_to_shared(memory) +
	                      warp * (uint32_t)(STAGES * stage_bytes),
	               bar = (uint32_t)__cvta_generic_to_shared(arrived[warp]);
	struct gpu_span span;
	uint32_t seen = 0;
	if (threadIdx.x % 32 == 0)
		for (int k = 0; k < STAGES; ++k)
			asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar + 8 * k)
			             : "memory");
	asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
	__syncthreads();
	span_start(&span);
	if (threadIdx.x % 32 == 0)
		seen = copy_in_stages(s.turns, (uint32_t)stage_bytes, base, bar,
		        chain_from(s, stage_bytes, blockIdx.x * warps + warp, gridDim.x * warps));
	finish(s, &span, seen, s.turns * stage_bytes * warps);
#endif
}

} // namespace
