/* SPDX-License-Identifier: MIT */
/* Places and order of a chase's nodes, and the loads that follow them. */
#pragma once

#include "pointer_chase.h"

namespace
{

DEVICE uint64_t mixed(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* A number below `below`. */
DEVICE uint32_t random_below(uint64_t seed, uint64_t i, uint32_t below)
{
	const uint64_t z = mixed(seed + (i + 1) * 0x9e3779b97f4a7c15u);
	return (uint32_t)((z >> 32) * below >> 32);
}

/* A random permutation of 0 .. count - 1: a Feistel network over the smallest even number of bits,
 * repeated while the result lies outside. */
__device__ uint32_t permuted(uint32_t i, uint32_t count, uint64_t seed)
{
	int half = 1;
	while (half < 16 && 1ull << 2 * half < count)
		++half;
	const uint32_t mask = (1u << half) - 1;
	do {
		uint32_t left = i >> half, right = i & mask;
		for (int round = 0; round < 6; ++round) {
			const uint64_t key = seed + (uint64_t)round * 0xd1b54a32d192ed03u;
			const uint32_t f = (uint32_t)(mixed(key ^ (uint64_t)right << 20) >> 40);
			const uint32_t kept = right;
			right = (left ^ f) & mask;
			left = kept;
		}
		i = left << half | right;
	} while (i >= count);
	return i;
}

DEVICE uint64_t place(const struct chase_set &set, uint64_t base, uint32_t i)
{
	return base + i * set.stride + random_below(set.seed, i, set.places) * set.unit;
}

/* The node that this slot visits in the k-th round. */
DEVICE uint64_t repeated_point(const struct chase_set &set, uint64_t base, uint32_t k, int slot)
{
	const uint64_t seed = set.seed ^ mixed((uint64_t)slot + 1);
	return place(set, base, permuted(k, set.nodes, seed));
}

__constant__ uint32_t constant_words[CHASE_CONSTANT_WORDS];

template <int path, int offset> DEVICE uint64_t follow(uint64_t address)
{
	uint64_t next;
	if (path == CHASE_CA)
		asm volatile("ld.global.ca.u64 %0, [%1+%2];"
		             : "=l"(next)
		             : "l"(address), "n"(offset));
	else if (path == CHASE_CG)
		asm volatile("ld.global.cg.u64 %0, [%1+%2];"
		             : "=l"(next)
		             : "l"(address), "n"(offset));
	else if (path == CHASE_CV)
		asm volatile("ld.global.cv.u64 %0, [%1+%2];"
		             : "=l"(next)
		             : "l"(address), "n"(offset));
	else if (path == CHASE_NC)
		asm volatile("ld.global.nc.u64 %0, [%1+%2];"
		             : "=l"(next)
		             : "l"(address), "n"(offset));
	else
		next = *(const uint32_t *)((const char *)constant_words + (uint32_t)address +
		                           offset / 2);
	return next;
}

template <int path, int slots> DEVICE uint64_t chain(uint64_t address, int64_t steps)
{
#pragma unroll 1
	for (int64_t i = 0; i < steps; i += CHASE_UNROLL)
#pragma unroll
		for (int k = 0; k < CHASE_UNROLL / 4; ++k) {
			address = follow<path, 0>(address);
			address = follow < path, slots == 1 ? 0 : 8 > (address);
			address = follow < path, slots == 1 ? 0 : 16 > (address);
			address = follow < path, slots == 1 ? 0 : 24 > (address);
		}
	return address;
}

DEVICE uint32_t this_sm()
{
	uint32_t here;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(here));
	return here;
}

} // namespace
