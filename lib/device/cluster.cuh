/* SPDX-License-Identifier: MIT */
/* Block clusters (compute capability 9.0 and newer): barrier, access to other blocks' shared
 * memory, and an exchange of 128-byte records between all blocks of a cluster. On older devices the
 * functions do nothing and no cluster is launched. */
#pragma once

#include "spin.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define IN_CLUSTER(...) __VA_ARGS__
#else
#define IN_CLUSTER(...)
#endif

enum {
	CLUSTER_MAX = 16, /* blocks of the largest cluster */
	RECORD_BYTES = 128,
	RECORD_PIECES = 8, /* of 16 bytes, one thread each */
	MAILBOX_TURNS = 3
};

static DEVICE uint32_t cluster_rank(void)
{
	uint32_t rank = 0;
	IN_CLUSTER(asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank)));
	return rank;
}

static DEVICE uint32_t cluster_blocks(void)
{
	uint32_t blocks = 1;
	IN_CLUSTER(asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks)));
	return blocks;
}

/* By every thread of every block of the cluster. Orders memory as a grid barrier does, shared
 * memory included. */
static DEVICE void cluster_barrier(void)
{
	IN_CLUSTER(asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"));
	IN_CLUSTER(asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"));
}

/* Address of a variable in this block's shared memory, and of the same variable in the block with
 * that rank. */
static DEVICE uint32_t shared_address(const void *variable)
{
	return (uint32_t)__cvta_generic_to_shared(variable);
}

static DEVICE uint32_t cluster_address(uint32_t address, uint32_t rank)
{
	uint32_t remote = address;
	IN_CLUSTER(asm("mapa.shared::cluster.u32 %0, %1, %2;"
	               : "=r"(remote)
	               : "r"(address), "r"(rank)));
	return remote;
}

/* A block's mailbox in its shared memory: record[turn][r] comes from the block of rank r. Three
 * turns are needed: a block that is one exchange ahead may fill the next turn while a slow thread
 * still reads this one. */
struct mailbox {
	uint4 record[MAILBOX_TURNS][CLUSTER_MAX][RECORD_PIECES];
	uint64_t full[MAILBOX_TURNS]; /* mbarriers: completed when all bytes of the turn have
	                                 arrived */
};

/* Initializes mbarriers that complete after `threads` arrivals (or announcements) and all announced
 * bytes. By one thread of a block, followed by a cluster barrier before any send. */
static DEVICE void arrivals_set(uint64_t *full, int count, uint32_t threads)
{
	for (int i = 0; i < count; ++i)
		IN_CLUSTER(asm volatile(
		        "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&full[i])),
		        "r"(threads)
		        : "memory"));
	IN_CLUSTER(asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"));
}

/* By one of the threads, once per phase. */
static DEVICE void arrivals_arrive(uint32_t full)
{
	IN_CLUSTER(asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(full)
	                        : "memory"));
}

/* By one thread of a block, once per phase: announces `bytes`. */
static DEVICE void arrivals_expect(uint32_t full, uint32_t bytes)
{
	IN_CLUSTER(asm volatile(
	        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(full),
	        "r"(bytes)
	        : "memory"));
}

/* Sends 16 bytes to `slot`, counted by the mbarrier `full` of the same block. */
static DEVICE void send_piece(const uint4 &piece, uint32_t slot, uint32_t full)
{
	IN_CLUSTER(asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
	                        "[%0], {%1, %2, %3, %4}, [%5];" ::"r"(slot),
	                        "r"(piece.x), "r"(piece.y), "r"(piece.z), "r"(piece.w), "r"(full)
	                        : "memory"));
}

/* Before the first exchange, by all threads of all blocks of the cluster. */
static DEVICE void mailbox_start(struct mailbox *box)
{
	if (threadIdx.x == 0)
		arrivals_set(box->full, MAILBOX_TURNS, 1);
	cluster_barrier();
}

/* After the last exchange: no block may exit while others write into its mailbox. */
static DEVICE void mailbox_stop(void)
{
	cluster_barrier();
}

/* The data is in this block's shared memory. Acquiring at a wider scope would only add an
 * invalidation of L1. */
static DEVICE bool mailbox_is_full(uint32_t full, uint32_t parity)
{
	uint32_t done = 1;
	IN_CLUSTER(asm volatile("{\n\t.reg .pred p;\n\t"
	                        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\t"
	                        "selp.u32 %0, 1, 0, p;\n\t}"
	                        : "=r"(done)
	                        : "r"(full), "r"(parity)
	                        : "memory"));
	return done != 0;
}

/* Waits for the phase of that parity of an mbarrier, unless a block has given up. False when this
 * thread did not see it complete. */
static DEVICE bool thread_waits(const uint64_t *full, uint32_t parity, uint32_t *error)
{
	const uint32_t address = shared_address(full);
	bool good = mailbox_is_full(address, parity);
	if (!good && load_relaxed(error) == 0) {
		struct spin spin = {0, 0};
		while (!(good = mailbox_is_full(address, parity)) && spin_again(&spin, error))
			;
	}
	return good;
}

/* By a whole warp; all lanes poll and continue together. False in all lanes after a timeout: the
 * kernel must not wait again then. */
static DEVICE bool warp_waits(const uint64_t *full, uint32_t parity, uint32_t *error)
{
	const uint32_t address = shared_address(full);
	struct spin spin = {0, 0};
	bool good = true;
	while (good && !__all_sync(0xffffffffu, mailbox_is_full(address, parity)))
		good = __all_sync(0xffffffffu, spin_again(&spin, error));
	__syncwarp();
	return good;
}

/* Exchange number `round` (0, 1, ...): every block sends its record to every block of the cluster,
 * itself included, and waits for all records. Called by all threads (at least RECORD_PIECES for
 * each block of the cluster) with the record's 16-byte piece number threadIdx.x % RECORD_PIECES.
 * Returns the records by rank, readable until the thread's next exchange; after SPIN_TIMEOUT_NS,
 * NULL in all threads of the block, with *error set. Includes one __syncthreads. */
static DEVICE uint4 (*cluster_exchange(
        struct mailbox *box, uint32_t round, uint4 piece, uint32_t *error))[RECORD_PIECES]
{
	const uint32_t turn = round % MAILBOX_TURNS, parity = round / MAILBOX_TURNS % 2;
	const uint32_t full = shared_address(&box->full[turn]), blocks = cluster_blocks();
	const uint32_t to = threadIdx.x / RECORD_PIECES;
	if (threadIdx.x == 0)
		arrivals_expect(full, blocks * RECORD_BYTES);
	if (to < blocks) {
		const uint32_t slot = shared_address(
		        &box->record[turn][cluster_rank()][threadIdx.x % RECORD_PIECES]);
		send_piece(piece, cluster_address(slot, to), cluster_address(full, to));
	}
	struct spin spin = {0, 0};
	bool good = true;
	while (good && !mailbox_is_full(full, parity))
		good = spin_again(&spin, error);
	return __syncthreads_and(good) ? box->record[turn] : NULL;
}
