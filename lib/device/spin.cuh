/* SPDX-License-Identifier: MIT */
/* Words that blocks of a running grid signal each other by: memory operations of the PTX model at
 * the scope of the device, and waiting that always ends. */
#ifndef FATHOM_SPIN_CUH
#define FATHOM_SPIN_CUH

#include "clock.cuh"

#define SPIN_TIMEOUT_NS 1000000000ull

/* ---- memory operations of the PTX model, at the scope of the device ---- */

static __device__ __forceinline__ uint32_t load_relaxed(const uint32_t *word)
{
	uint32_t value;
	asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
	return value;
}

static __device__ __forceinline__ uint32_t load_acquire(const uint32_t *word)
{
	uint32_t value;
	asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
	return value;
}

static __device__ __forceinline__ void store_relaxed(uint32_t *word, uint32_t value)
{
	asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

static __device__ __forceinline__ void store_release(uint32_t *word, uint32_t value)
{
	asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

static __device__ __forceinline__ void add_release(uint32_t *word, uint32_t value)
{
	asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

static __device__ __forceinline__ void fence_device(void)
{
	asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/* ---- bounded waiting ---- */

/* A spin in progress; starts as {0, 0}. */
struct spin {
	uint32_t turns;
	uint64_t since;
};

/* Called after each unsuccessful look. False when it took too long or another block gave up. The
 * clock and the error word are read every 1024 turns only, so that a short wait pays for neither.
 */
static __device__ __forceinline__ bool spin_again(struct spin *spin, uint32_t *error)
{
	if (++spin->turns % 1024 != 0)
		return true;
	if (load_relaxed(error) != 0)
		return false;
	const uint64_t now = device_ns();
	if (spin->since == 0)
		spin->since = now;
	if (now - spin->since < SPIN_TIMEOUT_NS)
		return true;
	store_relaxed(error, 1);
	return false;
}

/* Waits until *word has reached `round` (modulo 2^32) and acquires what was released with it. */
static __device__ __forceinline__ bool wait_for(
        const uint32_t *word, uint32_t round, uint32_t *error)
{
	struct spin spin = {0, 0};
	while ((int32_t)(load_acquire(word) - round) < 0)
		if (!spin_again(&spin, error))
			return false;
	return true;
}

#endif
