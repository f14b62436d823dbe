/* SPDX-License-Identifier: MIT */
/* Warps of a block with different work (compute capability 9.0): barriers of some of them, barriers
 * in shared memory that count arrivals and bytes, and copies of contiguous memory that complete
 * such a barrier. On older devices the functions do nothing; no such kernel is launched there. */
#ifndef FATHOM_BULK_COPY_CUH
#define FATHOM_BULK_COPY_CUH

#include "cluster.cuh"

/* Barrier of `threads` threads, whole warps; ID is not 0, which is __syncthreads'. */
template <int ID, int THREADS> static __device__ __forceinline__ void part_barrier(void)
{
	asm volatile("barrier.sync %0, %1;" ::"n"(ID), "n"(THREADS) : "memory");
}

/* The same; whether any of them said so. */
template <int ID, int THREADS> static __device__ __forceinline__ bool part_barrier_or(bool mine)
{
	int any;
	asm volatile("{.reg .pred p, q;\n\t"
	             "setp.ne.s32 p, %1, 0;\n\t"
	             "barrier.red.or.pred q, %2, %3, p;\n\t"
	             "selp.s32 %0, 1, 0, q;}"
	             : "=r"(any)
	             : "r"((int)mine), "n"(ID), "n"(THREADS)
	             : "memory");
	return any != 0;
}

/* A phase ends when `arrivals` have arrived and all expected bytes have come. */
static __device__ __forceinline__ void phase_init(uint64_t *barrier, unsigned arrivals)
{
	IN_CLUSTER(asm volatile(
	        "mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
	        "r"(arrivals)
	        : "memory"));
}

static __device__ __forceinline__ void phase_arrive(uint64_t *barrier)
{
	IN_CLUSTER(asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(
	        shared_address(barrier))
	                        : "memory"));
}

static __device__ __forceinline__ void phase_arrive_expecting(uint64_t *barrier, unsigned bytes)
{
	IN_CLUSTER(asm volatile(
	        "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(
	                shared_address(barrier)),
	        "r"(bytes)
	        : "memory"));
}

/* Whether the phase of that parity has ended; waits a little for it. */
static __device__ __forceinline__ bool phase_over(uint64_t *barrier, uint32_t parity)
{
	uint32_t over = 1;
	IN_CLUSTER(
	        asm volatile("{.reg .pred p;\n\t"
	                     "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n\t"
	                     "selp.u32 %0, 1, 0, p;}"
	                     : "=r"(over)
	                     : "r"(shared_address(barrier)), "r"(parity)
	                     : "memory"));
	return over != 0;
}

/* Orders this thread's plain accesses and the bulk copies of whoever learns of them. */
static __device__ __forceinline__ void bulk_fence(void)
{
	IN_CLUSTER(asm volatile("fence.proxy.async;" ::: "memory"));
}

/* Both addresses and bytes are multiples of 16. */
static __device__ __forceinline__ void bulk_copy(
        void *to, const void *from, unsigned bytes, uint64_t *barrier)
{
	IN_CLUSTER(asm volatile(
	        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
	        "[%3];" ::"r"(shared_address(to)),
	        "l"(from), "r"(bytes), "r"(shared_address(barrier))
	        : "memory"));
}

/* Registers from warps that need few to those that need many; all of a group of four warps. */
template <int N> static __device__ __forceinline__ void more_registers(void)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
	asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
#endif
}

template <int N> static __device__ __forceinline__ void fewer_registers(void)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
	asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
#endif
}

#endif
