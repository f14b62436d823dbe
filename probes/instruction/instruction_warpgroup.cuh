/* SPDX-License-Identifier: MIT */
/* Products of a warpgroup on the tensor cores, operands in shared memory. */
#pragma once

#include "instruction_loop.cuh"

namespace
{

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HAVE_WGMMA 1

DEVICE uint64_t describe(const void *shared)
{
	/* no swizzle; core matrices of 8 rows x 16 bytes follow one another */
	const uint64_t address = __cvta_generic_to_shared(shared);
	return (address & 0x3ffff) >> 4 | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32;
}

#define SIXTEEN(i)                                                                                 \
	"+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]),                \
	        "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7]), "+f"(d[i + 8]), "+f"(d[i + 9]),    \
	        "+f"(d[i + 10]), "+f"(d[i + 11]), "+f"(d[i + 12]), "+f"(d[i + 13]),                \
	        "+f"(d[i + 14]), "+f"(d[i + 15])
#define WGMMA(shape, flags)                                                                        \
	asm volatile("wgmma.mma_async.sync.aligned." shape                                         \
	             " {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,"    \
	             "%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,"    \
	             "%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,"    \
	             "%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65, " flags ";"                      \
	             : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)                           \
	             : "l"(a), "l"(b))

template <int kind> DEVICE void product(float *d, uint64_t a, uint64_t b)
{
	if (kind == WGMMA_TF32)
		WGMMA("m64n128k8.f32.tf32.tf32", "1, 1, 1");
	else
		WGMMA("m64n128k16.f32.bf16.bf16", "1, 1, 1, 0, 0");
}
#endif

template <int kind>
__global__ void __launch_bounds__(256, 1)
        wgmma_kernel(int64_t turns, struct gpu_span *span, uint32_t *sink)
{
#ifdef HAVE_WGMMA
	__shared__ __align__(128) uint32_t memory[(64 + 128) * 8];
	for (int i = (int)threadIdx.x; i < (64 + 128) * 8; i += (int)blockDim.x)
		memory[i] = kind == WGMMA_TF32 ? __float_as_uint(operand((uint32_t)i) - 0.75f)
		                               : bf16_pair_of(operand((uint32_t)i) - 0.75f);
	const uint64_t a = describe(memory), b = describe(memory + 64 * 8);
	float d[64];
	for (int i = 0; i < 64; ++i)
		d[i] = operand((uint32_t)i);
	struct gpu_span timed;
	asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
	start_together(&timed);
#pragma unroll 1
	for (int i = 0; i < (int)turns; ++i) {
		asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
		for (int k = 0; k < INSTRUCTION_MMA_BODY; ++k)
			product<kind>(d, a, b);
		asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
		asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
	}
	float sum = 0;
	for (int i = 0; i < 64; ++i)
		sum += d[i];
	stop_together(&timed, span, __float_as_uint(sum), sink);
#endif
}

} // namespace
