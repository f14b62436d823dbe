/* SPDX-License-Identifier: MIT */
#include "lib/base/base.h"
#include "barrier_check.h"
#include "barrier.cuh"
#include "gpu.h"
#include "resident.h"

extern "C" {
const char *const barrier_name[BARRIER_KINDS] = {
        "warp", "block", "cluster", "master", "counter", "grid"};
}

namespace
{

__device__ uint32_t mixed(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t h = a * 0x9e3779b1u ^ b * 0x85ebca6bu ^ (c + 1) * 0xc2b2ae35u;
	h = (h ^ h >> 16) * 0x7feb352du;
	h = (h ^ h >> 15) * 0x846ca68bu;
	return h ^ h >> 16;
}

/* Delays about every fourth caller by up to two microseconds. */
__device__ void delay(uint32_t random)
{
	if (random % 4 == 0)
		__nanosleep(random / 4 % 2048);
}

struct ring {
	uint32_t *work, *slot; /* slot[2][threads of the grid] */
	unsigned long long *wrong;
	uint32_t rounds, seed;
};

/* Threads that one barrier synchronizes, and the unit of threads that runs in lockstep with it. */
template <int kind> __device__ uint32_t group_size(void)
{
	switch (kind) {
	case BARRIER_WARP:
		return 32;
	case BARRIER_BLOCK:
		return blockDim.x;
	case BARRIER_CLUSTER:
		return blockDim.x * cluster_blocks();
	default:
		return blockDim.x * gridDim.x;
	}
}

template <int kind> __device__ uint32_t unit_size(void)
{
	return kind == BARRIER_WARP ? 1 : kind == BARRIER_BLOCK ? 32 : blockDim.x;
}

template <int kind, bool sound>
__global__ void __launch_bounds__(1024) ring_kernel(struct ring ring)
{
	struct grid_barrier barrier = barrier_start(ring.work);
	const uint32_t me = blockIdx.x * blockDim.x + threadIdx.x, all = blockDim.x * gridDim.x;
	const uint32_t size = group_size<kind>(), unit = unit_size<kind>();
	const uint32_t first = me / size * size;
	const uint32_t neighbour = first + (me - first + unit) % size;
	unsigned long long wrong = 0;
	for (uint32_t round = 0; round < ring.rounds; ++round) {
		uint32_t *slot = ring.slot + round % 2 * all;
		delay(mixed(ring.seed, round, me / unit));
		slot[me] = mixed(~ring.seed, round, me);
		if (sound && !barrier_any<kind>(&barrier))
			break;
		const uint32_t other = first + mixed(ring.seed + 1, round, me) % size;
		wrong += slot[neighbour] != mixed(~ring.seed, round, neighbour);
		wrong += slot[other] != mixed(~ring.seed, round, other);
	}
	if (wrong > 0)
		atomicAdd(ring.wrong, wrong);
}

__global__ void __launch_bounds__(1024) mail_kernel(struct ring ring)
{
	__shared__ struct mailbox box;
	mailbox_start(&box);
	const uint32_t rank = cluster_rank(), part = 4 * (threadIdx.x % RECORD_PIECES);
	const uint32_t words = 4 * RECORD_PIECES * cluster_blocks();
	unsigned long long wrong = 0;
	for (uint32_t round = 0; round < ring.rounds; ++round) {
		const uint32_t r = ring.seed + round;
		delay(mixed(ring.seed, round, blockIdx.x));
		uint4 piece = {mixed(r, rank, part), mixed(r, rank, part + 1),
		        mixed(r, rank, part + 2), mixed(r, rank, part + 3)};
		const uint32_t *record =
		        (const uint32_t *)cluster_exchange(&box, round, piece, ring.work);
		if (record == NULL)
			break;
		for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
			wrong += record[i] != mixed(r, i / 32, i % 32);
	}
	mailbox_stop();
	if (wrong > 0)
		atomicAdd(ring.wrong, wrong);
}

typedef void (*ring_function)(struct ring);

ring_function ring_find(enum barrier_kind kind, bool sound)
{
#define RING(kind)                                                                                 \
	{                                                                                          \
		ring_kernel<kind, false>, ring_kernel<kind, true>                                  \
	}
	static const ring_function ring[BARRIER_KINDS][2] = {RING(BARRIER_WARP),
	        RING(BARRIER_BLOCK), RING(BARRIER_CLUSTER), RING(BARRIER_MASTER),
	        RING(BARRIER_COUNTER), RING(BARRIER_GRID)};
	return ring[kind][sound];
}

/* Runs a kernel on clusters of `cluster` blocks, or cooperatively when cluster is 0. */
void run_ring(ring_function kernel, int blocks, int cluster, int threads, uint32_t rounds,
        uint32_t seed, struct barrier_check *check)
{
	const uint64_t all = (uint64_t)blocks * (uint64_t)threads;
	struct ring ring = {NULL, NULL, NULL, rounds, seed};
	*check = {false, false, 2 * all * rounds, 0};
	if (cluster > 0 ? cluster_resident((const void *)kernel, cluster, threads, 0) == 0
	                : blocks > grid_resident((const void *)kernel, threads, 0))
		return;
	check->possible = true;
	GPU(cudaMalloc((void **)&ring.work, barrier_bytes(blocks)));
	GPU(cudaMalloc((void **)&ring.slot, 2 * all * sizeof(uint32_t)));
	GPU(cudaMalloc((void **)&ring.wrong, sizeof *ring.wrong));
	GPU(cudaMemset(ring.work, 0, barrier_bytes(blocks)));
	GPU(cudaMemset(ring.slot, 0, 2 * all * sizeof(uint32_t)));
	GPU(cudaMemset(ring.wrong, 0, sizeof *ring.wrong));
	GPU(resident_launch((const void *)kernel, blocks, cluster, threads, 0, &ring, NULL));
	uint32_t error = 0;
	GPU(cudaMemcpy(&error, ring.work, sizeof error, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(&check->wrong, ring.wrong, sizeof check->wrong, cudaMemcpyDeviceToHost));
	check->timed_out = error != 0;
	GPU(cudaFree(ring.work));
	GPU(cudaFree(ring.slot));
	GPU(cudaFree(ring.wrong));
}

} // namespace

/* Two clusters side by side, to find barriers that mix clusters up. */
extern "C" void barrier_check_ring(enum barrier_kind kind, bool sound, int blocks, int threads,
        uint32_t rounds, uint32_t seed, struct barrier_check *check)
{
	const bool clustered = kind == BARRIER_CLUSTER;
	run_ring(ring_find(kind, sound), clustered ? 2 * blocks : blocks, clustered ? blocks : 0,
	        threads, rounds, seed, check);
}

extern "C" void barrier_check_exchange(
        int blocks, int threads, uint32_t rounds, uint32_t seed, struct barrier_check *check)
{
	run_ring(mail_kernel, 2 * blocks, blocks, threads, rounds, seed, check);
	check->checks = 2ull * (uint64_t)blocks * rounds * 4 * RECORD_PIECES * (uint64_t)blocks;
}
