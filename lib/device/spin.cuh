/* SPDX-License-Identifier: MIT */
/* Signals between blocks of a running grid: memory operations of the PTX model at device scope, and
 * bounded waiting. */
#pragma once

#include "clock.cuh"

#define SPIN_TIMEOUT_NS 1000000000ull

static DEVICE uint32_t load_relaxed(const uint32_t *word)
{
	uint32_t value;
	asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
	return value;
}

static DEVICE uint32_t load_acquire(const uint32_t *word)
{
	uint32_t value;
	asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
	return value;
}

static DEVICE void store_relaxed(uint32_t *word, uint32_t value)
{
	asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

static DEVICE void store_release(uint32_t *word, uint32_t value)
{
	asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

static DEVICE void add_release(uint32_t *word, uint32_t value)
{
	asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
}

static DEVICE void fence_device(void)
{
	asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/* A spin in progress; starts as {0, 0}. */
struct spin {
	uint32_t turns;
	uint64_t since;
};

/* Called after each unsuccessful poll. False after a timeout or when another block gave up. Clock
 * and error word are read only every 1024 turns, to keep short waits fast. */
static DEVICE bool spin_again(struct spin *spin, uint32_t *error)
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

/* Waits until *word has reached `round` (modulo 2^32), with acquire semantics. */
static DEVICE bool wait_for(const uint32_t *word, uint32_t round, uint32_t *error)
{
	struct spin spin = {0, 0};
	while ((int32_t)(load_acquire(word) - round) < 0)
		if (!spin_again(&spin, error))
			return false;
	return true;
}
