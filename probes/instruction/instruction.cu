/* SPDX-License-Identifier: MIT */
/* Kernels of the instruction probe; instruction.c has the method. A warp runs 1 to 8 independent
 * chains of one instruction, unrolled in a loop; every block reads both clocks around its loop. All
 * instructions are volatile, and their results are stored on a condition that never holds. */
#include "instruction_fed.cuh"
#include "instruction_matrix.cuh"
#include "instruction_warpgroup.cuh"

#include <cuda_runtime.h>

namespace
{

template <class Op, int chains, int body>
__global__ void __launch_bounds__(body == INSTRUCTION_MMA_BODY ? 512 : 1024)
        chain_kernel(int64_t turns, struct gpu_span *span, uint32_t *sink)
{
	typename Op::value x[chains], a = Op::start(101), b = Op::start(102);
	struct gpu_span timed;
	for (int c = 0; c < chains; ++c)
		x[c] = Op::start((uint32_t)c);
	start_together(&timed);
#pragma unroll 1
	for (int i = 0; i < (int)turns; ++i)
#pragma unroll
		for (int k = 0; k < body / chains; ++k)
#pragma unroll
			for (int c = 0; c < chains; ++c)
				Op::step(x[c], a, b);
	uint32_t bits = 0;
	for (int c = 0; c < chains; ++c)
		bits ^= Op::bits(x[c]);
	stop_together(&timed, span, bits, sink);
}

typedef void (*chain)(int64_t, struct gpu_span *, uint32_t *);

struct entry {
	struct instruction instruction;
	chain kernel[4]; /* 1, 2, 4, 8 chains */
};

#define KERNELS(op, body)                                                                          \
	{                                                                                          \
		chain_kernel<op, 1, body>, chain_kernel<op, 2, body>, chain_kernel<op, 4, body>,   \
		        chain_kernel<op, 8, body>                                                  \
	}
#define ENTRY(name, op, flops, body, capability)                                                   \
	{                                                                                          \
		{name, flops, body, capability}, KERNELS(op, body)                                 \
	}
#define PLAIN(name, op, flops, capability) ENTRY(name, op, flops, INSTRUCTION_BODY, capability)
#define SLOW(name, op) ENTRY(name, op, 0, INSTRUCTION_SLOW_BODY, 0)
#define MATRIX(name, op, flops, capability) ENTRY(name, op, flops, INSTRUCTION_MMA_BODY, capability)

const struct entry entries[] = {
        PLAIN("fma.s", fma_s, 64, 0),
        PLAIN("fma.d", fma_d, 64, 0),
        PLAIN("fma.h", fma_h, 128, 0),
        PLAIN("fma.bf16", fma_bf16, 128, 80),
        PLAIN("int.mad", mad_i, 0, 0),
        PLAIN("int.shift", shift_i, 0, 0),
        PLAIN("int.logic", logic_i, 0, 0),
        PLAIN("special.rsqrt", special_rsqrt, 0, 0),
        PLAIN("special.ex2", special_exp2, 0, 0),
        PLAIN("special.sin", special_sine, 0, 0),
        PLAIN("special.lg2", special_lg2, 0, 0),
        SLOW("divide.s", divide_s),
        SLOW("divide.d", divide_d),
        SLOW("sqrt.s", root_s),
        SLOW("sqrt.d", root_d),
        PLAIN("warp.shuffle", shuffle, 0, 0),
        PLAIN("warp.ballot", ballot, 0, 0),
        PLAIN("warp.redux", redux, 0, 80),
        MATRIX("mma.d", mma_d, 512, 80),
        MATRIX("mma.d16", mma_d16, 4096, 90),
        MATRIX("mma.tf32", mma_tf32, 2048, 80),
        MATRIX("mma.bf16", mma_bf16, 4096, 80),
        MATRIX("mma.h", mma_h, 4096, 80),
};

enum { ENTRIES = sizeof entries / sizeof entries[0] };

struct instruction listed[ENTRIES];

template <int source> chain fed_width(int width)
{
	return width == 4   ? fed_kernel<source, 1>
	       : width == 8 ? fed_kernel<source, 2>
	                    : fed_kernel<source, 4>;
}

chain kernel_of(const struct instruction_launch *l)
{
	const int column = l->chains == 1 ? 0 : l->chains == 2 ? 1 : l->chains == 4 ? 2 : 3;
	if (l->kind == CHAIN)
		return entries[l->index].kernel[column];
	if (l->kind == SHORT_CHAIN)
		return l->chains == 1 ? chain_kernel<fma_s, 1, INSTRUCTION_SHORT_BODY>
		                      : chain_kernel<fma_s, 8, INSTRUCTION_SHORT_BODY>;
	if (l->kind == WARPGROUP)
		return l->index == WGMMA_TF32 ? wgmma_kernel<WGMMA_TF32> : wgmma_kernel<WGMMA_BF16>;
	return l->index == FED_REGISTER    ? fed_width<FED_REGISTER>(l->width)
	       : l->index == FED_LANE      ? fed_width<FED_LANE>(l->width)
	       : l->index == FED_BROADCAST ? fed_width<FED_BROADCAST>(l->width)
	       : l->index == FED_CONFLICT  ? fed_width<FED_CONFLICT>(l->width)
	                                   : fed_width<FED_CONSTANT>(l->width);
}

int set_constants()
{
	float value[FED_CONSTANTS];
	for (int i = 0; i < FED_CONSTANTS; ++i)
		value[i] = 0.6f + 0.01f * (float)i;
	return (int)cudaMemcpyToSymbol(constant_operand, value, sizeof value);
}

} // namespace

extern "C" const struct instruction *instruction_table(size_t *count)
{
	for (int i = 0; i < ENTRIES; ++i)
		listed[i] = entries[i].instruction;
	*count = ENTRIES;
	return listed;
}

extern "C" int instruction_launch(const struct instruction_launch *l)
{
	const int error = l->kind == FED ? set_constants() : 0;
	if (error != 0)
		return error;
	kernel_of(l)<<<(unsigned)(l->blocks * l->sm_count), 32u * (unsigned)l->warps>>>(
	        l->turns, l->span, l->sink);
	return (int)cudaGetLastError();
}
