/* SPDX-License-Identifier: MIT */
/* Question: how long does a load take whose address is the result of the load before?
 * Method: one thread follows absolute pointers around a random cycle of 128-byte nodes, 32 loads
 * unrolled with nothing between them, both clocks read around the whole chain; L1 is warmed by the
 * same loads in the same kernel. What can fool it: arithmetic between the loads, a cache level
 * smaller or larger than thought (carve-out 0 makes L1 as large as it gets), sectors still cold, a
 * clock read before the last load returned (its value is stored first). Unit: seconds per load; for
 * the update sweep seconds per sweep. */
#include "load_latency.h"
#include "../lib/clock.cuh"
#include "../lib/shared_update.cuh"

namespace
{

template <int path> __device__ __forceinline__ uint64_t follow(uint64_t address)
{
	uint64_t next;
	if (path == CHASE_L1)
		asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(address));
	else
		asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(address));
	return next;
}

/* 32-bit addresses suffice in shared memory. */
template <> __device__ __forceinline__ uint64_t follow<CHASE_SHARED>(uint64_t address)
{
	uint32_t next;
	asm volatile("ld.shared.u32 %0, [%1];" : "=r"(next) : "r"((uint32_t)address));
	return next;
}

template <int path> __device__ __forceinline__ uint64_t walk(uint64_t address, int64_t steps)
{
#pragma unroll 1
	for (int64_t i = 0; i < steps; i += CHASE_UNROLL)
#pragma unroll
		for (int k = 0; k < CHASE_UNROLL; ++k)
			address = follow<path>(address);
	return address;
}

template <int path>
__device__ void chase(uint64_t start, int64_t warm, int64_t steps, struct chase_result *result)
{
	volatile uint64_t *last = &result->last;
	struct gpu_span whole, timed;
	span_start(&whole);
	uint64_t address = walk<path>(start, warm);
	*last = address;
	span_start(&timed);
	address = walk<path>(address, steps);
	*last = address;
	span_stop(&timed);
	span_stop(&whole);
	result->timed = timed;
	result->whole = whole;
}

template <int path>
__global__ void chase_kernel(
        uint64_t start, int64_t warm, int64_t steps, struct chase_result *result)
{
	chase<path>(start, warm, steps, result);
}

__global__ void chase_shared_kernel(
        const uint32_t *next, int64_t warm, int64_t steps, struct chase_result *result)
{
	__shared__ uint32_t node[CHASE_SHARED_NODES];
	const uint32_t base = (uint32_t)__cvta_generic_to_shared(node);
	for (uint32_t i = 0; i < CHASE_SHARED_NODES; ++i)
		node[i] = base + next[i] * (uint32_t)sizeof node[0];
	chase<CHASE_SHARED>(base, warm, steps, result);
}

__global__ void build_kernel(
        char *nodes, const uint32_t *place, const uint32_t *next, int64_t count)
{
	const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		*(uint64_t *)(nodes + (int64_t)place[i] * CHASE_NODE_BYTES) =
		        (uint64_t)(nodes + (int64_t)place[next[i]] * CHASE_NODE_BYTES);
}

/* Never writes; the compiler cannot know. */
__global__ void __launch_bounds__(1024)
        touch_kernel(const char *nodes, int64_t bytes, uint32_t *sink)
{
	uint64_t seen = 0;
	for (int64_t i = (int64_t)threadIdx.x * CHASE_NODE_BYTES; i < bytes;
	        i += (int64_t)blockDim.x * CHASE_NODE_BYTES)
		seen |= follow<CHASE_L2>((uint64_t)(nodes + i));
	if (seen == 1)
		*sink = 1;
}

__device__ __host__ int odd_pitch(int rows)
{
	return rows | 1;
}

/* The same address, which the compiler cannot compute anew inside a loop (it would, from special
 * registers). */
__device__ __forceinline__ float *kept_in_register(float *shared)
{
	uint32_t address = (uint32_t)__cvta_generic_to_shared(shared);
	asm volatile("" : "+r"(address));
	return (float *)__cvta_shared_to_generic(address);
}

/* The panel kernel's trailing update over a resident panel, one thread a row, again and again. Only
 * the block barrier at the ends: rows are independent. */
__global__ void __launch_bounds__(1024)
        update_kernel(int columns, int64_t sweeps, struct chase_result *result)
{
	extern __shared__ __align__(16) float memory[];
	float *panel = kept_in_register(memory), *row = panel + columns + threadIdx.x;
	const int rows = (int)blockDim.x, pitch = odd_pitch(rows), me = (int)threadIdx.x;
	struct gpu_span timed;
	for (int c = me; c < columns; c += rows)
		panel[c] = 1e-3f * (float)((c * 37 + 11) % 64 - 31);
	for (int c = 0; c < columns; ++c)
		row[c * pitch] = (float)((me * 131 + c * 71) % 1021) * 1e-3f - 0.5f;
	const float l = (float)(me * 53 % 127 - 63) * 1e-3f;
	__syncthreads();
	if (me == 0)
		span_start(&timed);
	__syncthreads();
#pragma unroll 1
	for (int64_t i = 0; i < sweeps; ++i) {
		shared_update(row, pitch, panel, l, 0, columns, 0, 1);
		asm volatile("" ::: "memory"); /* the next sweep reads shared memory again */
	}
	__syncthreads();
	if (me == 0)
		span_stop(&timed);
	float sum = 0;
	for (int c = 0; c < columns; ++c)
		sum += row[c * pitch];
	if (blockIdx.x == 0 && me == 0) {
		result->timed = timed;
		result->whole = timed;
		result->last = __float_as_uint(sum);
	}
}

size_t update_bytes(int threads, int columns)
{
	return ((size_t)columns + (size_t)columns * (size_t)odd_pitch(threads)) * sizeof(float);
}

} // namespace

extern "C" int chase_build(void *nodes, const uint32_t *place, const uint32_t *next, int64_t count)
{
	build_kernel<<<(unsigned)((count + 255) / 256), 256>>>((char *)nodes, place, next, count);
	return (int)cudaGetLastError();
}

extern "C" int chase_launch(enum chase_path path, uint64_t start, const uint32_t *next,
        int64_t warm, int64_t steps, struct chase_result *result)
{
	if (path == CHASE_SHARED) {
		chase_shared_kernel<<<1, 1>>>(next, warm, steps, result);
		return (int)cudaGetLastError();
	}
	const void *kernel = path == CHASE_L1 ? (const void *)chase_kernel<CHASE_L1>
	                                      : (const void *)chase_kernel<CHASE_L2>;
	const cudaError_t error =
	        cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 0);
	if (error != cudaSuccess)
		return (int)error;
	void *arguments[] = {&start, &warm, &steps, &result};
	return (int)cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, NULL);
}

extern "C" int chase_touch(const void *nodes, int64_t bytes, int sm_count, uint32_t *sink)
{
	touch_kernel<<<(unsigned)(2 * sm_count), 1024>>>((const char *)nodes, bytes, sink);
	return (int)cudaGetLastError();
}

extern "C" int update_columns(int threads, int64_t shared_bytes)
{
	int columns = 64;
	while (columns > 0 && (int64_t)update_bytes(threads, columns) > shared_bytes)
		columns -= 4;
	return columns;
}

extern "C" int update_launch(
        int threads, int columns, int64_t sweeps, int sm_count, struct chase_result *result)
{
	const size_t bytes = update_bytes(threads, columns);
	const cudaError_t error = cudaFuncSetAttribute(
	        update_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (error != cudaSuccess)
		return (int)error;
	update_kernel<<<(unsigned)sm_count, (unsigned)threads, bytes>>>(columns, sweeps, result);
	return (int)cudaGetLastError();
}
