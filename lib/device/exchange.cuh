/* SPDX-License-Identifier: MIT */
/* All-to-all exchange between co-resident blocks: every block publishes a key and a record, and
 * every block gets the record of the largest key. It replaces "barrier, then read" by one trip
 * through L2: each 8-byte word carries a 32-bit value and a 32-bit tag in one atomic access. A
 * reader that sees the tag has the value; no fence is needed.
 *
 * Slots alternate between two sets by the parity of the tag. A block publishes round t + 2 after it
 * has every key of round t + 1, and round t + 1 after it has read the record of round t. So no slot
 * is overwritten while a block may read it. Tags grow by one per round and never repeat within a
 * buffer (the host clears it first), so stale words are never accepted.
 *
 * Cost of a round: one store to L2, one poll after it, one dependent L2 read of the record. Blocks
 * must be co-resident (cooperative launch). Every wait is bounded. */
#pragma once

#include "lib/base/base.h"

enum {
	EXCHANGE_HEADS = 2,      /* words of a key: one for 32-bit keys, two for 64-bit ones */
	EXCHANGE_LANE_SLOTS = 6, /* heads that a lane polls: a warp, those of 192 blocks */
	EXCHANGE_LANE_WORDS = 9, /* words of a record that a lane has in flight: 128 columns in
	                            double precision */
	EXCHANGE_SPINS = 2000000 /* polls until a wait gives up: about a second */
};

/* A buffer in global memory, exchange_bytes() long, zeroed once. */
struct exchange {
	uint64_t *head;   /* [2][EXCHANGE_HEADS][blocks] */
	uint64_t *record; /* [2][blocks + 1][words]; the last record is block 0's extra one */
	int *error;       /* set when a wait timed out */
	int blocks, words;
	uint32_t tag; /* tag of round 0; later rounds add one */
};

static inline int64_t exchange_bytes(int blocks, int words)
{
	return 2 * ((int64_t)blocks * EXCHANGE_HEADS + (int64_t)(blocks + 1) * words) * 8 + 16;
}

/* Divides the buffer up for a launch. */
static inline struct exchange exchange_layout(void *buffer, int blocks, int words, uint32_t tag)
{
	struct exchange x;
	x.head = (uint64_t *)buffer;
	x.record = x.head + 2 * (int64_t)blocks * EXCHANGE_HEADS;
	x.error = (int *)(x.record + 2 * (int64_t)(blocks + 1) * words);
	x.blocks = blocks;
	x.words = words;
	x.tag = tag;
	return x;
}

#ifdef __CUDACC__

#include "reduce.cuh"

static DEVICE void exchange_store(uint64_t *slot, uint32_t value, uint32_t tag)
{
	uint64_t word = (uint64_t)tag << 32 | value;
	asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(slot), "l"(word) : "memory");
}

static DEVICE uint64_t exchange_load(const uint64_t *slot)
{
	uint64_t word;
	asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(word) : "l"(slot) : "memory");
	return word;
}

/* One word of every block's key. */
static DEVICE uint64_t *exchange_heads(const struct exchange &x, uint32_t tag, int word)
{
	return x.head + ((int)(tag & 1) * EXCHANGE_HEADS + word) * x.blocks;
}

/* The record of a block; the extra record of block 0 for block == x.blocks. */
static DEVICE uint64_t *exchange_record_slot(const struct exchange &x, uint32_t tag, int block)
{
	return x.record + ((int64_t)(tag & 1) * (x.blocks + 1) + block) * x.words;
}

/* By one lane: publishes its block's key for the round with this tag. The largest key wins, then
 * the lowest block. */
template <typename key_type>
static DEVICE void exchange_publish(const struct exchange &x, uint32_t tag, key_type key)
{
	if (sizeof key == 8)
		exchange_store(exchange_heads(x, tag, 1) + blockIdx.x,
		        (uint32_t)((uint64_t)key >> 32), tag);
	exchange_store(exchange_heads(x, tag, 0) + blockIdx.x, (uint32_t)key, tag);
}

static DEVICE bool exchange_tagged(uint64_t word, uint32_t tag)
{
	return (uint32_t)(word >> 32) == tag;
}

/* By a whole warp: waits for the keys of all blocks. Returns the winning block, the same in every
 * lane of every block, or -1 on a timeout. Each poll issues all loads of a lane before it checks
 * one. */
template <typename key_type> static DEVICE int exchange_wait(const struct exchange &x, uint32_t tag)
{
	const int lane = threadIdx.x & 31;
	const uint64_t *low = exchange_heads(x, tag, 0), *high = exchange_heads(x, tag, 1);
	const bool wide = sizeof(key_type) == 8;
	key_type key[EXCHANGE_LANE_SLOTS];
	bool ready = false;
	for (int spin = 0; !ready && spin < EXCHANGE_SPINS; spin++) {
		ready = true;
#pragma unroll
		for (int i = 0; i < EXCHANGE_LANE_SLOTS; i++) {
			int block = min(lane + 32 * i, x.blocks - 1);
			if (32 * i >= x.blocks)
				break;
			uint64_t word = exchange_load(low + block);
			uint64_t upper = wide ? exchange_load(high + block) : word;
			ready = ready && exchange_tagged(word, tag) && exchange_tagged(upper, tag);
			key[i] = (key_type)((wide ? upper << 32 : 0) | (uint32_t)word);
		}
	}
	if (!__all_sync(0xffffffffu, ready)) {
		*x.error = 1;
		return -1;
	}
	extreme<key_type> best = {0, NO_INDEX};
#pragma unroll
	for (int i = 0; i < EXCHANGE_LANE_SLOTS; i++) {
		if (32 * i >= x.blocks)
			break;
		best = extreme_of(best, {key[i], (uint32_t)min(lane + 32 * i, x.blocks - 1)});
	}
	return (int)warp_extreme(best).index;
}

/* By a whole warp: waits for a block's record and, unless extra is NULL, for the extra record, and
 * writes their words to shared memory. All loads of a pass are in flight together. False on a
 * timeout. */
static DEVICE bool exchange_read(
        const struct exchange &x, uint32_t tag, int block, uint32_t *destination, uint32_t *extra)
{
	const int SLOTS = EXCHANGE_LANE_WORDS;
	const int lane = threadIdx.x & 31;
	const uint64_t *record = exchange_record_slot(x, tag, block);
	const uint64_t *other = extra ? exchange_record_slot(x, tag, x.blocks) : record;
	for (int base = 0; base < x.words; base += 32 * SLOTS) {
		uint64_t word[SLOTS], second[SLOTS];
		bool ready = false;
		for (int spin = 0; !ready && spin < EXCHANGE_SPINS; spin++) {
			ready = true;
#pragma unroll
			for (int i = 0; i < SLOTS; i++) {
				if (base + 32 * i >= x.words)
					break;
				int at = min(base + 32 * i + lane, x.words - 1);
				word[i] = exchange_load(record + at);
				if (extra)
					second[i] = exchange_load(other + at);
			}
#pragma unroll
			for (int i = 0; i < SLOTS; i++) {
				if (base + 32 * i >= x.words)
					break;
				ready = ready && exchange_tagged(word[i], tag) &&
				        (!extra || exchange_tagged(second[i], tag));
			}
		}
		if (!__all_sync(0xffffffffu, ready)) {
			*x.error = 1;
			return false;
		}
#pragma unroll
		for (int i = 0; i < SLOTS; i++) {
			int at = base + 32 * i + lane;
			if (base + 32 * i >= x.words)
				break;
			if (at < x.words) {
				destination[at] = (uint32_t)word[i];
				if (extra)
					extra[at] = (uint32_t)second[i];
			}
		}
	}
	return true;
}

#endif
