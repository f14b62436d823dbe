/* SPDX-License-Identifier: MIT */
/* The repeated operations of bank_conflict's kernels: accesses and atomics in shared memory, as
 * types with prepare(), once() and last(), and atomics in global memory. */
#pragma once

#include "bank_conflict.h"

namespace
{

DEVICE uint32_t random_bits(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

/* Bits of a float in [1, 2). */
DEVICE uint32_t random_float(uint32_t x)
{
	return 0x3f800000u | random_bits(x) >> 9;
}

/* The same value with unknown bits for the compiler, which would else need two instructions to
 * change the last bit. */
DEVICE uint32_t unknown(uint32_t value)
{
	asm volatile("" : "+r"(value));
	return value;
}

DEVICE uint32_t shared_load(uint32_t address)
{
	uint32_t value;
	asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
	return value;
}

DEVICE void shared_store(uint32_t address, uint32_t value)
{
	asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

struct quad {
	uint32_t x, y, z, w;
};

template <int width> DEVICE struct quad load(uint32_t address)
{
	struct quad v = {0, 0, 0, 0};
	if (width == 4)
		asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v.x) : "r"(address));
	else if (width == 8)
		asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];"
		             : "=r"(v.x), "=r"(v.y)
		             : "r"(address));
	else
		asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
		             : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
		             : "r"(address));
	return v;
}

template <int width> DEVICE void store(uint32_t address, struct quad v)
{
	if (width == 4)
		asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(address), "r"(v.x));
	else if (width == 8)
		asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(v.x),
		        "r"(v.y));
	else
		asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address),
		        "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w));
}

template <int width, int access, int step> struct plain {
	uint32_t address, sum;
	struct quad value;

	__device__ void prepare(uint32_t place)
	{
		address = place;
		sum = 0;
		value = {random_float(place), random_float(place + 1), random_float(place + 2),
		        random_float(place + 3)};
		if (access == BANK_CHAIN)
			for (uint32_t c = 0; c < (step ? BANK_UNROLL : 1); ++c)
				shared_store(
				        place + c * step, place + (c + 1) % BANK_UNROLL * step);
	}
	DEVICE void once(uint32_t k)
	{
		if (access == BANK_CHAIN) {
			address = load<width>(address).x;
		} else if (access == BANK_LOAD) {
			const struct quad v = load<width>(address + k * step);
			sum ^= v.x ^ v.y ^ v.z ^ v.w;
		} else {
			store<width>(address + k * step, value);
		}
	}
	/* The last access has ended when this value is known. */
	DEVICE uint32_t last() const
	{
		return access == BANK_STORE ? shared_load(address) : address ^ sum;
	}
};

/* Addition by compare and swap, for operations without hardware. Every success changes the word: of
 * lanes on one word one succeeds at a time. */
DEVICE uint32_t add_by_cas(uint32_t address, uint32_t v)
{
	uint32_t seen = shared_load(address), expected;
	do {
		expected = seen;
		asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;"
		             : "=r"(seen)
		             : "r"(address), "r"(expected), "r"(expected + v)
		             : "memory");
	} while (seen != expected);
	return seen;
}

/* The next operand: integers take the returned value (a Fibonacci sequence modulo 2^32); floats
 * change only their last bit by it, as sums would overflow. */
template <int operation, int atomic> struct shared_atomic {
	uint32_t address, v, top;

	__device__ void prepare(uint32_t place)
	{
		address = place;
		top = unknown(random_float(place + threadIdx.x) & ~1u);
		v = operation == BANK_F32 ? top : random_bits(place + threadIdx.x) | 1;
	}
	DEVICE void once(uint32_t)
	{
		uint32_t old;
		if (operation == BANK_CAS) {
			old = add_by_cas(address, v);
			if (atomic == BANK_DEPENDENT)
				v = old;
		} else if (operation == BANK_U32 && atomic == BANK_DEPENDENT) {
			asm volatile("atom.shared.add.u32 %0, [%1], %2;"
			             : "=r"(v)
			             : "r"(address), "r"(v)
			             : "memory");
		} else if (operation == BANK_U32) {
			asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(address), "r"(v)
			             : "memory");
		} else if (atomic == BANK_DEPENDENT) {
			asm volatile("atom.shared.add.f32 %0, [%1], %2;"
			             : "=r"(old)
			             : "r"(address), "r"(v)
			             : "memory");
			v = top | (old & 1);
		} else {
			asm volatile("red.shared.add.f32 [%0], %1;" ::"r"(address), "r"(v)
			             : "memory");
		}
	}
	DEVICE uint32_t last() const
	{
		return shared_load(address) ^ v;
	}
};

template <int operation> struct word {
	typedef uint32_t type;
};
template <> struct word<BANK_U64> {
	typedef uint64_t type;
};
template <> struct word<BANK_F64> {
	typedef uint64_t type;
};

#define ATOM(type, c)                                                                              \
	asm volatile("atom.global.add." type " %0, [%1], %2;"                                      \
	             : "=" c(old)                                                                  \
	             : "l"(p), c(v)                                                                \
	             : "memory")
#define RED(type, c) asm volatile("red.global.add." type " [%0], %1;" ::"l"(p), c(v) : "memory")

DEVICE uint32_t returned(uint32_t *p, uint32_t v, bool real)
{
	uint32_t old;
	if (real)
		ATOM("f32", "r");
	else
		ATOM("u32", "r");
	return old;
}

DEVICE uint64_t returned(uint64_t *p, uint64_t v, bool real)
{
	uint64_t old;
	if (real)
		ATOM("f64", "l");
	else
		ATOM("u64", "l");
	return old;
}

DEVICE void reduced(uint32_t *p, uint32_t v, bool real)
{
	if (real)
		RED("f32", "r");
	else
		RED("u32", "r");
}

DEVICE void reduced(uint64_t *p, uint64_t v, bool real)
{
	if (real)
		RED("f64", "l");
	else
		RED("u64", "l");
}

} // namespace
