/* SPDX-License-Identifier: MIT */
/* Random pointer chains without arithmetic between the loads. Each node holds CHAIN_SLOTS pointers
 * and step t follows slot t mod CHAIN_SLOTS, an immediate offset. A chain of CHAIN_SLOTS * n steps
 * visits each of n nodes CHAIN_SLOTS times at nearly independent places, then repeats. All slots of
 * a node must lie in one sector.
 *
 * A plain cycle (one slot) makes an LRU cache miss always as soon as the set exceeds the cache.
 * Independent uniform accesses would hit with probability size / set in every cache. This chain is
 * close to that: an LRU cache misses with probability (1 - size/set)^(3/4), which lib/stats/levels
 * uses.
 */
#pragma once

#include "lib/base/base.h"

enum { CHAIN_SLOTS = 4 };

/* Uniform in 0 .. below - 1, below > 0. Advances *state, any number (splitmix64). */
uint32_t chain_random(uint64_t *state, uint32_t below);

/* Sattolo's shuffle: next[] is one cycle through all n elements, every such cycle equally likely.
 * n > 0. */
void chain_cycle(uint32_t *next, uint32_t n, uint64_t *random);

/* next[CHAIN_SLOTS * i + slot]: the node after node i in a step of that slot. Each slot is a
 * permutation of the n > 0 nodes. One after the other they are one cycle: the chain from (any node,
 * slot 0) returns after CHAIN_SLOTS * n steps, not before. */
void chain_make(uint32_t *next, uint32_t n, uint64_t *random);

/* place[i]: a random one of `space` places, one in each of `count` equal parts, ascending. 0 <
 * count <= space. */
void chain_places(uint32_t *place, uint32_t count, uint32_t space, uint64_t *random);
