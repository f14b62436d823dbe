/* SPDX-License-Identifier: MIT */
/* The pause between the calls that block_kernel times beside products. */
#include "block_kernel.h"
#include "lib/device/clock.cuh"

namespace
{

__global__ void pause_kernel(int64_t cycles, struct gpu_span *span)
{
	struct gpu_span here;
	span_start(&here);
	do
		span_stop(&here);
	while (here.cycles1 - here.cycles0 < cycles);
	*span = here;
}

} // namespace

extern "C" int block_kernel_pause(int64_t cycles, struct gpu_span *span, void *stream)
{
	pause_kernel<<<1, 1, 0, (cudaStream_t)stream>>>(cycles, span);
	return (int)cudaGetLastError();
}
