/* SPDX-License-Identifier: MIT */
/* Launch bounds that every architecture can keep. */
#pragma once

#include "lib/base/architecture.h"

/* Threads and blocks on a multiprocessor of the architecture that is compiled for. */
#if defined(__CUDA_ARCH__)
enum { SM_CODE = __CUDA_ARCH__ / 10 };
#else
enum { SM_CODE = 90 };
#endif
enum { SM_THREADS = ARCHITECTURE_THREADS(SM_CODE), SM_BLOCKS = ARCHITECTURE_BLOCKS(SM_CODE) };

/* The second argument of __launch_bounds__: `wanted` blocks of that many threads, or as many
 * as a multiprocessor holds, at least 1. */
static __host__ __device__ constexpr int sm_blocks(int threads, int wanted)
{
	const int held = SM_THREADS / threads < SM_BLOCKS ? SM_THREADS / threads : SM_BLOCKS;
	return held < 1 ? 1 : wanted < held ? wanted : held;
}
