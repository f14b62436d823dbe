/* SPDX-License-Identifier: MIT */
/* The update of a panel that one SM holds in shared memory. One block on every SM runs the resident
 * panel kernel's update (factor/kernels/blocks/shared_update.cuh) over its panel again and again,
 * one thread a row. Both clocks are read before and after all sweeps. It must not compute addresses
 * anew in the loop, nor keep the panel in registers. */
#include "panel_kernel.h"
#include "lib/device/clock.cuh"
#include "factor/kernels/blocks/shared_update.cuh"

namespace
{

__device__ __host__ int odd_pitch(int rows)
{
	return rows | 1;
}

/* The same address, which the compiler now cannot compute anew, from special registers, in a loop.
 */
__device__ __forceinline__ float *kept_in_register(float *shared)
{
	uint32_t address = (uint32_t)__cvta_generic_to_shared(shared);
	asm volatile("" : "+r"(address));
	return (float *)__cvta_shared_to_generic(address);
}

/* The panel kernel's trailing update over a resident panel, one thread a row, again and again. Only
 * the block barrier at the ends: rows are independent. */
__global__ void __launch_bounds__(1024)
        update_kernel(int columns, int64_t sweeps, struct gpu_span *span, float *sink)
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
		*span = timed;
		*sink = sum;
	}
}

size_t update_bytes(int threads, int columns)
{
	return ((size_t)columns + (size_t)columns * (size_t)odd_pitch(threads)) * sizeof(float);
}

} // namespace

extern "C" int update_columns(int threads, int64_t shared_bytes)
{
	int columns = 64;
	while (columns > 0 && (int64_t)update_bytes(threads, columns) > shared_bytes)
		columns -= 4;
	return columns;
}

extern "C" int update_launch(
        int threads, int columns, int64_t sweeps, int sm_count, struct gpu_span *span, float *sink)
{
	const size_t bytes = update_bytes(threads, columns);
	const cudaError_t error = cudaFuncSetAttribute(
	        update_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
	if (error != cudaSuccess)
		return (int)error;
	update_kernel<<<(unsigned)sm_count, (unsigned)threads, bytes>>>(
	        columns, sweeps, span, sink);
	return (int)cudaGetLastError();
}
