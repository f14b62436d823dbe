/* SPDX-License-Identifier: MIT */
/* Kernels of the peer probe. */
#include "peer.h"

#include "lib/device/clock.cuh"

#include <cuda_runtime.h>

enum { MOVE_THREADS = 512 };

/* A load of system scope: the owner's L2 answers, no cache of this device. */
static DEVICE uint64_t follow(uint64_t address)
{
	uint64_t next;
	asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(next) : "l"(address) : "memory");
	return next;
}

static __global__ void chase_kernel(uint64_t start, int64_t steps, struct peer_result *result)
{
	volatile uint64_t *last = &result->last;
	uint64_t address = start;
	struct gpu_span timed;
	span_start(&timed);
#pragma unroll 1
	for (int64_t i = 0; i < steps; i += PEER_UNROLL)
#pragma unroll
		for (int k = 0; k < PEER_UNROLL; k++)
			address = follow(address);
	*last = address; /* the last load returns before the clock is read */
	span_stop(&timed);
	result->timed = timed;
}

extern "C" void peer_chase(uint64_t start, int64_t steps, struct peer_result *result, void *stream)
{
	chase_kernel<<<1, 1, 0, (cudaStream_t)stream>>>(start, steps, result);
}

/* No data are used twice; every thread has a load in flight. */
static __global__ void __launch_bounds__(MOVE_THREADS)
        move_kernel(uint4 *to, const uint4 *from, int64_t vectors)
{
	const int64_t step = (int64_t)gridDim.x * blockDim.x;
	const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	for (int64_t i = first; i < vectors; i += step)
		__stcs(to + i, __ldcs(from + i));
}

extern "C" void peer_move(void *to, const void *from, int64_t bytes, int blocks, void *stream)
{
	move_kernel<<<blocks, MOVE_THREADS, 0, (cudaStream_t)stream>>>(
	        (uint4 *)to, (const uint4 *)from, bytes / 16);
}
