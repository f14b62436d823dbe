/* SPDX-License-Identifier: MIT */
/* FMA with an operand from shared memory or from the constant bank. */
#pragma once

#include "instruction_loop.cuh"

namespace
{

enum { FED_CONSTANTS = 32 };
__constant__ float constant_operand[FED_CONSTANTS];

template <int source, int words> DEVICE void fetch(uint32_t address, float *p)
{
	if (words == 1)
		asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(p[0]) : "r"(address));
	else if (words == 2)
		asm volatile("ld.volatile.shared.v2.f32 {%0,%1}, [%2];"
		             : "=f"(p[0]), "=f"(p[1])
		             : "r"(address));
	else
		asm volatile("ld.volatile.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
		             : "=f"(p[0]), "=f"(p[1]), "=f"(p[2]), "=f"(p[3])
		             : "r"(address));
}

template <int source, int words>
__global__ void __launch_bounds__(1024)
        fed_kernel(int64_t turns, struct gpu_span *span, uint32_t *sink)
{
	__shared__ __align__(16) float memory[32 * 4 * 2];
	for (int i = (int)threadIdx.x; i < 32 * 4 * 2; i += (int)blockDim.x)
		memory[i] = operand((uint32_t)i);
	const uint32_t lane = threadIdx.x % 32;
	const uint32_t place = source == FED_BROADCAST  ? 0
	                       : source == FED_CONFLICT ? 2 * lane
	                                                : lane;
	uint32_t address = (uint32_t)__cvta_generic_to_shared(memory) + place * 4 * words;
	float x[8], p[4], a = -operand(7), b = operand(8);
	struct gpu_span timed;
	for (int c = 0; c < 8; ++c)
		x[c] = operand((uint32_t)c);
	for (int w = 0; w < 4; ++w)
		p[w] = operand((uint32_t)w + 20);
	start_together(&timed);
#pragma unroll 1
	for (int i = 0; i < (int)turns; ++i)
#pragma unroll
		for (int k = 0; k < INSTRUCTION_FED_BODY; ++k) {
			if (source >= FED_LANE && source <= FED_CONFLICT && k % words == 0)
				fetch<source, words>(address, p);
			float factor = source == FED_REGISTER ? a
			               : source == FED_CONSTANT
			                       ? constant_operand[k % FED_CONSTANTS]
			                       : p[k % words];
			x[k % 8] = fmaf(x[k % 8], factor, b);
			asm volatile("" : "+f"(x[k % 8]));
		}
	float sum = 0;
	for (int c = 0; c < 8; ++c)
		sum += x[c];
	stop_together(&timed, span, __float_as_uint(sum), sink);
}

} // namespace
