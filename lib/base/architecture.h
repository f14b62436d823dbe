/* SPDX-License-Identifier: MIT */
/* What a multiprocessor holds by compute capability, `code` = 10 x major + minor (CUDA C++
 * Programming Guide, technical specifications per compute capability; 7.5 and newer). For constant
 * expressions in kernels, and for a profile that does not have the device's own statement. */
#pragma once

#include <stdint.h>

/* As 8.0 and 9.0: 2048 threads. */
#define ARCHITECTURE_IS_LARGE(code) ((code) == 80 || ((code) >= 90 && (code) < 110))

/* Threads, blocks of threads, and registers of 32 bits, the same number everywhere. */
#define ARCHITECTURE_THREADS(code) ((code) < 80 ? 1024 : ARCHITECTURE_IS_LARGE(code) ? 2048 : 1536)
#define ARCHITECTURE_BLOCKS(code)                                                                  \
	((code) < 80 ? 16 : ARCHITECTURE_IS_LARGE(code) ? 32 : (code) < 89 ? 16 : 24)
enum { ARCHITECTURE_REGISTERS = 65536 };

/* The oldest capability whose blocks have that much shared memory. */
static inline int architecture_with_shared(int64_t per_block)
{
	enum { KIB = 1024 };

	return per_block > 163 * KIB  ? 90
	       : per_block > 99 * KIB ? 80
	       : per_block > 64 * KIB ? 86
	                              : 75;
}
