/* SPDX-License-Identifier: MIT */
/* Lines that an SM reads once, each load by itself, after another SM has brought them into L2. */
#ifndef FATHOM_POINTER_CHASE_ONCE_CUH
#define FATHOM_POINTER_CHASE_ONCE_CUH

#include "pointer_chase_steps.cuh"
#include "../lib/cluster.cuh"

namespace
{

__global__ void touch_kernel(const struct chase_set set, uint32_t sm, uint32_t *taken)
{
	__shared__ bool first;
	uint64_t seen = 0;
	if (this_sm() != sm)
		return;
	if (threadIdx.x == 0)
		first = atomicExch(taken, 1) == 0;
	__syncthreads();
	for (uint32_t i = threadIdx.x; first && i < set.nodes; i += blockDim.x)
		seen |= follow<CHASE_CG, 0>(place(set, set.base, i));
	if (seen == 1) /* no address is 1; the compiler cannot know */
		*taken = 2;
}

/* The clock once `address` has arrived: what stores it waits for it. */
__device__ __forceinline__ uint32_t clock_after(uint64_t address, uint32_t slot)
{
	uint32_t now;
	asm volatile("st.volatile.shared.u64 [%1], %2;\n\tmov.u32 %0, %%clock;"
	             : "=r"(now)
	             : "r"(slot), "l"(address)
	             : "memory");
	return now;
}

__device__ uint64_t walk_stamped(uint64_t address, uint32_t slot, uint32_t *stamp)
{
	stamp[0] = clock_after(address, slot);
#pragma unroll 1
	for (int i = 1; i <= CHASE_ONCE_NODES; ++i) {
		address = follow<CHASE_CG, 0>(address);
		stamp[i] = clock_after(address, slot);
	}
	return address;
}

/* Reads of lines beside the nodes get their translations first. */
__global__ void once_kernel(const struct chase_set set, uint32_t sm, const uint32_t *touched,
        uint32_t *taken, struct chase_once *result)
{
	__shared__ uint32_t stamp[2][CHASE_ONCE_NODES + 1];
	__shared__ uint64_t arrived;
	if (this_sm() != sm || (touched && *touched == 0) || atomicExch(taken, 1) != 0)
		return;
	volatile uint64_t *kept = &arrived;
	const uint32_t slot = shared_address(&arrived);
	uint64_t address = visited(set, set.base, 0, 0);
	for (uint32_t i = 0; i < set.nodes; i += CHASE_UNROLL)
		*kept = follow<CHASE_CG, 0>(set.base + (i + 1) * set.stride - set.unit);
	struct gpu_span span;
	span_start(&span);
	for (int round = 0; round < 2; ++round)
		address = walk_stamped(address, slot, stamp[round]);
	const uint32_t start = clock_after(address, slot);
	address = walk<CHASE_CG, 1>(address, CHASE_ONCE_NODES);
	result->chained = clock_after(address, slot) - start;
	span_stop(&span);
	for (int i = 0; i < CHASE_ONCE_NODES; ++i) {
		result->first[i] = stamp[0][i + 1] - stamp[0][i];
		result->again[i] = stamp[1][i + 1] - stamp[1][i];
	}
	result->span = span;
}

} // namespace

#endif
