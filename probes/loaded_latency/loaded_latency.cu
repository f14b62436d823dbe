/* SPDX-License-Identifier: MIT */
/* Kernels of the loaded_latency probe; loaded_latency.c has the method. */
#include "loaded_latency_streams.cuh"
#include "lib/device/spin.cuh"

#include <cooperative_groups.h>

namespace
{

DEVICE uint64_t follow(uint64_t address)
{
	uint64_t next;
	asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(address));
	return next;
}

__device__ void chase(const struct loaded_chase &c)
{
	struct gpu_span span;
	uint32_t error = 0;
	volatile uint64_t *last = c.last;
	uint64_t address = *last;
	wait_for(&c.shared->ready, gridDim.x - 1, &error);
	const uint64_t since = device_ns(); /* by then the streams have filled their queues */
	while (gridDim.x > 1 && device_ns() - since < 20000)
		;
	for (int k = 0; k < LOADED_UNROLL; ++k)
		address = follow(address);
	*last = address;
	span_start(&span);
#pragma unroll 1
	for (int64_t i = 0; i < c.steps; i += LOADED_UNROLL)
#pragma unroll
		for (int k = 0; k < LOADED_UNROLL; ++k)
			address = follow(address);
	*last = address;
	span_stop(&span);
	store_release(&c.shared->stop, 1);
	c.block[0].span = span;
}

/* One megabyte after the other, of all blocks interleaved; a piece is 4 loads of each thread. */
__device__ void stream_beside(const struct loaded_chase &c)
{
	enum { PIECE = LOADED_THREADS * 16 * 4 };
	const char *region = (const char *)c.region;
	const int64_t pieces = c.region_bytes / PIECE, blocks = gridDim.x - 1;
	int64_t piece = (int64_t)(blockIdx.x - 1) * pieces / blocks;
	struct gpu_span span;
	uint32_t seen = 0;
	uint64_t bytes = 0;
	uint32_t stop = 0;
	if (threadIdx.x == 0)
		add_release(&c.shared->ready, 1);
	__syncthreads();
	span_start(&span);
	while (device_ns() - span.ns0 < 100000000ull) {
		const char *at = region + piece * PIECE + threadIdx.x * 16;
#pragma unroll
		for (int k = 0; k < 4; ++k)
			seen ^= load16(at + k * (PIECE / 4));
		bytes += PIECE;
		piece = piece + 1 < pieces ? piece + 1 : 0;
		if (c.pause > 0) {
			const int64_t from = clock64();
			if (seen == 0x9e3779b9u) /* the pause starts after the loads */
				*c.sink = seen;
			while (clock64() - from < c.pause)
				;
		}
		if (threadIdx.x == 0)
			stop = load_relaxed(&c.shared->stop);
		if (__syncthreads_or(stop != 0))
			break;
	}
	span_stop(&span);
	if (seen == 0x9e3779b9u)
		*c.sink = seen;
	if (threadIdx.x == 0) {
		c.block[blockIdx.x].span = span;
		c.block[blockIdx.x].bytes = bytes;
	}
}

__global__ void __launch_bounds__(LOADED_THREADS) chase_kernel(struct loaded_chase c)
{
	if (blockIdx.x > 0)
		stream_beside(c);
	else if (threadIdx.x == 0)
		chase(c);
}

__global__ void build_kernel(
        char *nodes, const uint32_t *place, const uint32_t *next, int64_t count)
{
	const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		*(uint64_t *)(nodes + (int64_t)place[i] * LOADED_NODE_BYTES) =
		        (uint64_t)(nodes + (int64_t)place[next[i]] * LOADED_NODE_BYTES);
}

typedef void (*stream_kernel)(struct loaded_stream);

template <int depth> stream_kernel pick(enum loaded_engine engine)
{
	return engine == ENGINE_PLAIN   ? plain_kernel<depth>
	       : engine == ENGINE_ASYNC ? async_kernel<depth>
	                                : store_kernel<depth>;
}

int launch_bulk(const struct loaded_stream *s)
{
	const int stage = loaded_piece_bytes(s), shared = stage * LOADED_STAGES * s->issuers;
	const cudaError_t error = cudaFuncSetAttribute(
	        bulk_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
	if (error != cudaSuccess)
		return (int)error;
	bulk_kernel<<<(unsigned)s->blocks, 32u * (unsigned)s->issuers, (size_t)shared>>>(*s, stage);
	return (int)cudaGetLastError();
}

} // namespace

extern "C" int loaded_chase_launch(const struct loaded_chase *chase)
{
	void *arguments[] = {(void *)chase};
	return (int)cudaLaunchCooperativeKernel((const void *)chase_kernel,
	        dim3((unsigned)chase->blocks), dim3(LOADED_THREADS), arguments, 0, NULL);
}

extern "C" int loaded_build(void *nodes, const uint32_t *place, const uint32_t *next, int64_t count)
{
	build_kernel<<<(unsigned)((count + 255) / 256), 256>>>((char *)nodes, place, next, count);
	return (int)cudaGetLastError();
}

extern "C" int loaded_stream_launch(const struct loaded_stream *s)
{
	if (s->engine == ENGINE_BULK)
		return launch_bulk(s);
	const stream_kernel kernel = s->depth == 1   ? pick<1>(s->engine)
	                             : s->depth == 2 ? pick<2>(s->engine)
	                             : s->depth == 4 ? pick<4>(s->engine)
	                                             : pick<8>(s->engine);
	const size_t shared =
	        s->engine == ENGINE_ASYNC ? (size_t)s->threads * 16 * (size_t)s->depth : 0;
	const cudaError_t error = cudaFuncSetAttribute(
	        (const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
	if (error != cudaSuccess)
		return (int)error;
	kernel<<<(unsigned)s->blocks, (unsigned)s->threads, shared>>>(*s);
	return (int)cudaGetLastError();
}
