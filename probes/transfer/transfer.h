/* SPDX-License-Identifier: MIT */
/* The transfer probe: its fit, its data and its kernels. A counter-based generator gives the data's
 * words, on host and device alike: either side can check them. */
#pragma once

#include "lib/base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Word number `index` of the data with this seed. */
#ifdef __CUDACC__
__host__ __device__
#endif
        static inline uint32_t
        transfer_word(uint64_t index, uint32_t seed)
{
	uint32_t x = (uint32_t)index + seed * 0x9e3779b9u;
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

/* Fills device memory, in whole words, with the data of this seed. stream is a cudaStream_t. */
void transfer_fill(void *data, int64_t bytes, uint32_t seed, void *stream);

/* Adds to *wrong (device memory) the number of words that are not the seed's; the last word may be
 * partial. */
void transfer_compare(
        const void *data, int64_t bytes, uint32_t seed, unsigned long long *wrong, void *stream);

/* Copies with 16-byte accesses from `blocks` blocks; from or to may be mapped host memory. Both lie
 * at multiples of 16 bytes. Errors stay in cudaGetLastError, as this is timed. */
void transfer_copy(void *to, const void *from, int64_t bytes, int blocks, void *stream);

#ifdef __cplusplus
}
#endif
