/* SPDX-License-Identifier: MIT */
/* Barriers between all blocks of a grid: one-dimensional grids of one-dimensional blocks, all
 * resident (cooperative launch). Writes before the barrier, by any thread of any block, are visible
 * to plain loads after it. Every spin is bounded: after SPIN_TIMEOUT_NS the grid's error word is
 * set, and the barrier returns false in all threads of all blocks. The kernel must then return. */
#pragma once

#include <cooperative_groups.h>
#include "barrier_check.h"
#include "cluster.cuh"
#include "spin.cuh"

/* Words of a 128-byte line. Words that different blocks write often are in different lines. */
enum { BARRIER_LINE = 32 };

struct grid_barrier {
	uint32_t *error;            /* set when a wait timed out */
	uint32_t *counter;          /* counter barrier: arrivals since the start */
	uint32_t *arrival, *wakeup; /* master/slave barrier: one word of each per block */
	uint32_t round;             /* barriers begun */
};

/* Bytes of device memory for a grid's barriers. They must be zero when the kernel starts. */
static inline size_t barrier_bytes(int blocks)
{
	const size_t lines = ((size_t)blocks + BARRIER_LINE - 1) / BARRIER_LINE;
	return (2 + 2 * lines) * BARRIER_LINE * sizeof(uint32_t);
}

static DEVICE struct grid_barrier barrier_start(uint32_t *work)
{
	const uint32_t lines = (gridDim.x + BARRIER_LINE - 1) / BARRIER_LINE;
	struct grid_barrier barrier;
	barrier.error = work;
	barrier.counter = work + BARRIER_LINE;
	barrier.arrival = barrier.counter + BARRIER_LINE;
	barrier.wakeup = barrier.arrival + lines * BARRIER_LINE;
	barrier.round = 0;
	return barrier;
}

/* The master/slave barrier of LAWN 202, section 3.6, without atomic operations. Every block but the
 * master (block 0) writes its arrival word and spins on its wakeup word. Each of the master's
 * threads watches one block, then wakes it. Words of neighbouring blocks are contiguous, so a warp
 * of the master reads and writes 32 of them in one access. The fence is needed: the master passes
 * on data that other threads acquired before __syncthreads. */
static DEVICE bool barrier_master(struct grid_barrier *barrier)
{
	const uint32_t round = ++barrier->round;
	bool good = true;
	if (blockIdx.x == 0) {
		for (uint32_t i = 1 + threadIdx.x; i < gridDim.x && good; i += blockDim.x)
			good = wait_for(barrier->arrival + i, round, barrier->error);
		good = __syncthreads_and(good);
		if (1 + threadIdx.x < gridDim.x && good) {
			fence_device();
			for (uint32_t i = 1 + threadIdx.x; i < gridDim.x; i += blockDim.x)
				store_relaxed(barrier->wakeup + i, round);
		}
		return good;
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		store_release(barrier->arrival + blockIdx.x, round);
		good = wait_for(barrier->wakeup + blockIdx.x, round, barrier->error);
	}
	return __syncthreads_and(good);
}

static DEVICE bool barrier_counter(struct grid_barrier *barrier)
{
	const uint32_t round = ++barrier->round;
	bool good = true;
	__syncthreads();
	if (threadIdx.x == 0) {
		add_release(barrier->counter, 1);
		good = wait_for(barrier->counter, round * gridDim.x, barrier->error);
	}
	return __syncthreads_and(good);
}

template <int kind> static DEVICE bool barrier_any(struct grid_barrier *barrier)
{
	if constexpr (kind == BARRIER_WARP)
		__syncwarp();
	if constexpr (kind == BARRIER_BLOCK)
		__syncthreads();
	if constexpr (kind == BARRIER_CLUSTER)
		cluster_barrier();
	if constexpr (kind == BARRIER_MASTER)
		return barrier_master(barrier);
	if constexpr (kind == BARRIER_COUNTER)
		return barrier_counter(barrier);
	if constexpr (kind == BARRIER_GRID)
		cooperative_groups::this_grid().sync();
	return true;
}
