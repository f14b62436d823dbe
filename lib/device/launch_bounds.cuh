/* SPDX-License-Identifier: MIT */
/* Launch bounds that every architecture can keep: multiprocessors hold 1024 to 2048 threads in 16
 * to 32 blocks (CUDA C++ Programming Guide, technical specifications by compute capability). */
#pragma once

/* Threads and blocks on a multiprocessor of the architecture that is compiled for. */
#if !defined(__CUDA_ARCH__)
enum { SM_THREADS = 2048, SM_BLOCKS = 32 };
#elif __CUDA_ARCH__ < 800
enum { SM_THREADS = 1024, SM_BLOCKS = 16 };
#elif __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1100)
enum { SM_THREADS = 2048, SM_BLOCKS = 32 };
#elif __CUDA_ARCH__ < 890
enum { SM_THREADS = 1536, SM_BLOCKS = 16 };
#else
enum { SM_THREADS = 1536, SM_BLOCKS = 24 };
#endif

/* The second argument of __launch_bounds__: `wanted` blocks of that many threads, or as many
 * as a multiprocessor holds, at least 1. */
static __host__ __device__ constexpr int sm_blocks(int threads, int wanted)
{
	const int held = SM_THREADS / threads < SM_BLOCKS ? SM_THREADS / threads : SM_BLOCKS;
	return held < 1 ? 1 : wanted < held ? wanted : held;
}
