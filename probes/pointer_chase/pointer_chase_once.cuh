/* SPDX-License-Identifier: MIT */
/* Lines that an SM reads once, each load timed, after another SM has brought them into L2 or into a
 * shared cache for constants. */
#pragma once

#include "pointer_chase_steps.cuh"
#include "lib/device/cluster.cuh"

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
	if (seen == 1) /* no address is 1, but the compiler does not know it */
		*taken = 2;
}

/* The clock after `address` has arrived: the store waits for it. */
DEVICE uint32_t clock_after(uint64_t address, uint32_t slot)
{
	uint32_t now;
	asm volatile("st.volatile.shared.u64 [%1], %2;\n\tmov.u32 %0, %%clock;"
	             : "=r"(now)
	             : "r"(slot), "l"(address)
	             : "memory");
	return now;
}

template <int path>
__device__ uint64_t chain_stamped(uint64_t address, int nodes, uint32_t slot, uint32_t *stamp)
{
	stamp[0] = clock_after(address, slot);
#pragma unroll 1
	for (int i = 1; i <= nodes; ++i) {
		address = follow<path, 0>(address);
		stamp[i] = clock_after(address, slot);
	}
	return address;
}

/* The first and second round, and a third that reads the clock only at its ends. */
template <int path>
__device__ void time_loads(uint64_t address, int nodes, struct chase_once *result)
{
	__shared__ uint32_t stamp[2][CHASE_ONCE_NODES + 1];
	__shared__ uint64_t arrived;
	const uint32_t slot = shared_address(&arrived);
	struct gpu_span span;
	span_start(&span);
	for (int round = 0; round < 2; ++round)
		address = chain_stamped<path>(address, nodes, slot, stamp[round]);
	const uint32_t start = clock_after(address, slot);
	address = chain<path, 1>(address, nodes);
	result->chained = clock_after(address, slot) - start;
	span_stop(&span);
	for (int i = 0; i < nodes; ++i) {
		result->first[i] = stamp[0][i + 1] - stamp[0][i];
		result->again[i] = stamp[1][i + 1] - stamp[1][i];
	}
	result->span = span;
}

/* Lines beside the nodes are read first for their address translations. */
__global__ void once_kernel(const struct chase_set set, uint32_t sm, const uint32_t *touched,
        uint32_t *taken, struct chase_once *result)
{
	__shared__ uint64_t read;
	if (this_sm() != sm || (touched && *touched == 0) || atomicExch(taken, 1) != 0)
		return;
	volatile uint64_t *kept = &read;
	for (uint32_t i = 0; i < set.nodes; i += CHASE_UNROLL)
		*kept = follow<CHASE_CG, 0>(set.base + (i + 1) * set.stride - set.unit);
	time_loads<CHASE_CG>(repeated_point(set, set.base, 0, 0), CHASE_ONCE_NODES, result);
}

/* The reader gives up when no SM reads before. */
__global__ void constant_kernel(
        int before, uint32_t reader, uint32_t *turn, struct chase_once *result)
{
	const uint32_t here = this_sm();
	volatile uint32_t *read = turn;
	if ((int)here == before && atomicCAS(turn, 0, 1) == 0) {
		const uint64_t address = chain<CHASE_CONSTANT, 1>(0, CHASE_CONSTANT_NODES);
		__threadfence();
		*read = 2 + (uint32_t)address; /* 0, back at the cycle's start */
		return;
	}
	if (here != reader || atomicExch(turn + 1, 1) != 0)
		return;
	for (int looks = 0; before >= 0 && *read != 2; ++looks)
		if (looks == 1 << 14)
			return;
	time_loads<CHASE_CONSTANT>(0, CHASE_CONSTANT_NODES, result);
}

} // namespace
