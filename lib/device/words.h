/* SPDX-License-Identifier: MIT */
/* Data that either side of a transfer can check: a counter-based generator gives the words, on host
 * and device alike. stream is a cudaStream_t. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

/* Word number `index` of the data with this seed. */
HOST_DEVICE static inline uint32_t word_of(uint64_t index, uint32_t seed)
{
	uint32_t x = (uint32_t)index + seed * 0x9e3779b9u;
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

/* Fills device memory, in whole words, with the data of this seed. */
void words_fill(void *data, int64_t bytes, uint32_t seed, void *stream);

/* The number of words in device memory that are not the seed's; the last word may be partial.
 * wrong: a word on the device. Synchronizes. */
unsigned long long words_wrong(
        const void *data, int64_t bytes, uint32_t seed, unsigned long long *wrong, void *stream);

C_END
