/* SPDX-License-Identifier: MIT */
/* A linear congruential sequence that any number begins: quick, the same everywhere, and random
 * enough for data and tests. */
#pragma once

#include "base.h"

/* The next 64 bits, of which the upper ones are the random ones. */
static inline uint64_t random_next(uint64_t *state)
{
	return *state = *state * 6364136223846793005u + 1442695040888963407u;
}

/* Uniform in [0, 1). */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}
