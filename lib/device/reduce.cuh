/* SPDX-License-Identifier: MIT */
/* Reductions over a block whose number of threads is a multiple of 32 (at most 1024): largest
 * magnitude with its index, and sum. Cost: two warp reductions and one __syncthreads. Every warp
 * finishes the reduction itself, so every thread has the same bits. Successive reductions alternate
 * between two halves of the scratch area, which saves the second barrier: a warp writes a half
 * again only after all warps passed the reduction in between. */
#pragma once

#include "lib/base/base.h"

/* A candidate. The key orders magnitudes as integers; 0 is "none", with index NO_INDEX. */
template <typename key_type> struct extreme {
	key_type key;
	uint32_t index;
};

#define NO_INDEX 0xffffffffu

/* Increasing in |value|, at least 1; all NaNs have one key, above infinity's. */
static DEVICE uint32_t magnitude_key(float value)
{
	return min(__float_as_uint(value) & 0x7fffffffu, 0x7f800001u) + 1;
}

static DEVICE uint64_t magnitude_key(double value)
{
	const uint64_t bits = (uint64_t)__double_as_longlong(value) & 0x7fffffffffffffffull;
	return min(bits, (uint64_t)0x7ff0000000000001ull) + 1;
}

template <typename key_type>
static DEVICE extreme<key_type> extreme_of(extreme<key_type> a, extreme<key_type> b)
{
	return a.key > b.key || (a.key == b.key && a.index < b.index) ? a : b;
}

static DEVICE uint32_t warp_largest(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
	return __reduce_max_sync(0xffffffffu, value);
#else
	for (int step = 16; step > 0; step /= 2)
		value = max(value, __shfl_xor_sync(0xffffffffu, value, step));
	return value;
#endif
}

static DEVICE uint64_t warp_largest(uint64_t value)
{
	const uint32_t high = warp_largest((uint32_t)(value >> 32));
	const uint32_t low = warp_largest((uint32_t)(value >> 32) == high ? (uint32_t)value : 0);
	return (uint64_t)high << 32 | low;
}

/* The best candidate of a full warp, in all lanes. */
template <typename key_type> static DEVICE extreme<key_type> warp_extreme(extreme<key_type> mine)
{
	const key_type key = warp_largest(mine.key);
	return {key, ~warp_largest(mine.key == key ? ~mine.index : 0u)};
}

template <typename key_type> struct extreme_scratch {
	key_type key[2][32];
	uint32_t index[2][32];
};

/* The best candidate of the block, in all threads. turn alternates between 0 and 1. */
template <typename key_type>
static DEVICE extreme<key_type> block_extreme(
        extreme<key_type> mine, extreme_scratch<key_type> *scratch, int turn)
{
	const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	mine = warp_extreme(mine);
	if (lane == 0) {
		scratch->key[turn][warp] = mine.key;
		scratch->index[turn][warp] = mine.index;
	}
	__syncthreads();
	extreme<key_type> other = {0, NO_INDEX};
	if (lane < blockDim.x / 32)
		other = {scratch->key[turn][lane], scratch->index[turn][lane]};
	return warp_extreme(other);
}

/* In all lanes; pairwise, so the bits are the same in each. */
template <typename real> static DEVICE real warp_sum(real value)
{
	for (int step = 16; step > 0; step /= 2)
		value += __shfl_xor_sync(0xffffffffu, value, step);
	return value;
}

template <typename real> struct sum_scratch {
	real part[2][32];
};

template <typename real>
static DEVICE real block_sum(real mine, sum_scratch<real> *scratch, int turn)
{
	const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	mine = warp_sum(mine);
	if (lane == 0)
		scratch->part[turn][warp] = mine;
	__syncthreads();
	return warp_sum(lane < blockDim.x / 32 ? scratch->part[turn][lane] : real(0));
}
