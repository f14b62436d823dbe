/* SPDX-License-Identifier: MIT */
/* Random numbers, for tests that need none of the factorizations' test matrices. */
#pragma once

#include <stdint.h>

/* The next number in [-1, 1) of a program's one sequence (xorshift64). */
static inline double uniform(void)
{
	static uint64_t state = 88172645463325252u;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) * 0x1p-52 - 1;
}
