/* SPDX-License-Identifier: MIT */
/* A simulated memory system: levels of cache over a memory, TLBs before it. Caches have any number
 * of sets and ways, lines in sectors, several replacement policies, and pick the set by address
 * bits or by a hash. The real chains of lib/stats/pointer_chain run on it and give noisy latencies.
 */
#pragma once

#include "lib/base/base.h"
#include "lib/stats/pointer_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum replacement { REPLACE_LRU, REPLACE_RANDOM, REPLACE_TREE, REPLACE_FIFO, REPLACEMENTS };
enum { MACHINE_CACHES = 3, MACHINE_TLBS = 2 };

struct cache {
	uint32_t line, sector; /* bytes; a TLB's line is its page */
	uint32_t sets, ways;   /* ways a power of two for REPLACE_TREE */
	enum replacement replacement;
	bool hashed;
	double step; /* seconds that what comes beyond it takes longer */
	uint64_t *tag, *stamp, *valid, *tree;
};

struct machine {
	struct cache cache[MACHINE_CACHES], tlb[MACHINE_TLBS];
	int caches, tlbs;
	double base;  /* seconds of a hit in the first cache */
	double noise; /* standard deviation of one measurement, relative */
	double doubt; /* by what part more than that is stated */
	double drift; /* error that all processes share: each point's, relative */
	double hz;    /* cycles a second of the first process, */
	double ramp;  /* and by what part of that more in each further one */
	uint64_t random, clock;
};

static inline double cache_bytes(const struct cache *cache)
{
	return (double)cache->line * cache->sets * cache->ways;
}

static inline void cache_start(struct cache *cache)
{
	const size_t blocks = (size_t)cache->sets * cache->ways;
	cache->tag = malloc(blocks * sizeof *cache->tag);
	cache->stamp = calloc(blocks, sizeof *cache->stamp);
	cache->valid = calloc(blocks, sizeof *cache->valid);
	cache->tree = calloc(cache->sets, sizeof *cache->tree);
	memset(cache->tag, 0xff, blocks * sizeof *cache->tag);
}

static inline void cache_stop(struct cache *cache)
{
	free(cache->tag);
	free(cache->stamp);
	free(cache->valid);
	free(cache->tree);
}

static inline void machine_each(struct machine *machine, void (*each)(struct cache *cache))
{
	for (int i = 0; i < machine->caches; ++i)
		each(&machine->cache[i]);
	for (int i = 0; i < machine->tlbs; ++i)
		each(&machine->tlb[i]);
}

static inline uint64_t mixed(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Makes the tree's bits on the way to a block point away from it. */
static inline void tree_touch(struct cache *cache, uint32_t set, uint32_t way)
{
	uint32_t node = 1;
	for (uint32_t half = cache->ways / 2; half > 0; half /= 2) {
		const uint32_t right = way / half % 2;
		if (right)
			cache->tree[set] &= ~(1ull << node);
		else
			cache->tree[set] |= 1ull << node;
		node = 2 * node + right;
	}
}

static inline uint32_t cache_victim(
        struct cache *cache, uint32_t set, const uint64_t *stamp, uint64_t *random)
{
	uint32_t victim = 0;
	for (uint32_t way = 0; way < cache->ways; ++way) {
		if (stamp[way] == 0)
			return way;
		if (stamp[way] < stamp[victim])
			victim = way;
	}
	if (cache->replacement == REPLACE_RANDOM)
		return chain_random(random, cache->ways);
	if (cache->replacement != REPLACE_TREE)
		return victim;
	uint32_t node = 1;
	victim = 0;
	for (uint32_t half = cache->ways / 2; half > 0; half /= 2) {
		const uint32_t right = cache->tree[set] >> node & 1;
		victim += right * half;
		node = 2 * node + right;
	}
	return victim;
}

/* Whether it hits; what misses is brought in. */
static inline bool cache_access(struct machine *machine, struct cache *cache, uint64_t address)
{
	const uint64_t line = address / cache->line;
	const uint32_t set = (uint32_t)((cache->hashed ? mixed(line + 0x9e3779b97f4a7c15u) : line) %
	                                cache->sets);
	const uint64_t sector = 1ull << (address % cache->line / cache->sector);
	uint64_t *tag = cache->tag + (size_t)set * cache->ways;
	uint64_t *stamp = cache->stamp + (size_t)set * cache->ways;
	uint64_t *valid = cache->valid + (size_t)set * cache->ways;
	uint32_t way = 0;
	bool hit = false;
	while (way < cache->ways && tag[way] != line)
		++way;
	if (way < cache->ways) {
		hit = valid[way] & sector;
		valid[way] |= sector;
		if (cache->replacement != REPLACE_FIFO)
			stamp[way] = ++machine->clock;
	} else {
		way = cache_victim(cache, set, stamp, &machine->random);
		tag[way] = line;
		valid[way] = sector;
		stamp[way] = ++machine->clock;
	}
	if (cache->replacement == REPLACE_TREE)
		tree_touch(cache, set, way);
	return hit;
}

/* Seconds of the misses before the first hit. */
static inline double machine_misses(
        struct machine *machine, struct cache *cache, int count, uint64_t address)
{
	double seconds = 0;
	for (int i = 0; i < count && !cache_access(machine, &cache[i], address); ++i)
		seconds += cache[i].step;
	return seconds;
}

/* Seconds of a load. */
static inline double machine_access(struct machine *machine, uint64_t address)
{
	const double tlbs = machine_misses(machine, machine->tlb, machine->tlbs, address);
	return machine->base + tlbs +
	       machine_misses(machine, machine->cache, machine->caches, address);
}

/* Standard normal, from the sum of uniform numbers. */
static inline double machine_normal(uint64_t *random)
{
	double sum = -6;
	for (int i = 0; i < 12; ++i)
		sum += chain_random(random, 1u << 30) * 0x1p-30;
	return sum;
}

/* Mean seconds of a step over one round after another: of a cycle (one slot), or of the random
 * chain of CHAIN_SLOTS slots, after all nodes were read once in order. limit: most steps of a
 * round, or 0.
 */
static inline double machine_chain(
        struct machine *machine, const uint64_t *address, uint32_t n, int slots, uint32_t limit)
{
	uint32_t *next = malloc((size_t)n * (size_t)slots * sizeof *next);
	const uint64_t round = (uint64_t)n * (uint64_t)slots;
	const uint64_t steps = limit && limit < round ? limit : round;
	uint32_t at = 0;
	double sum = 0;
	if (slots > 1)
		chain_make(next, n, &machine->random);
	else
		chain_cycle(next, n, &machine->random);
	for (uint32_t i = 0; slots > 1 && i < n; ++i)
		machine_access(machine, address[i]);
	for (uint64_t step = 0; step < 2 * steps; ++step) {
		const double seconds = machine_access(machine, address[at]);
		sum += step >= steps ? seconds : 0;
		at = next[(size_t)at * (size_t)slots + step % (uint64_t)slots];
	}
	free(next);
	return sum / (double)steps;
}
