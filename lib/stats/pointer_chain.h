/* SPDX-License-Identifier: MIT */
/* Random chains as pointer chases without arithmetic between the loads. Each node holds CHAIN_SLOTS
 * successive pointers and step t follows slot t mod CHAIN_SLOTS (an immediate offset), so that a
 * chain of CHAIN_SLOTS * n steps visits each of n nodes CHAIN_SLOTS times at nearly independent
 * places, and then repeats. A plain cycle (one slot) makes an LRU cache miss always as soon as the
 * set is larger than the cache; under independent uniform accesses any replacement policy and any
 * associativity hits with probability size/set. The chain comes close to that: an LRU cache misses
 * with probability (1 - size/set)^(3/4), which lib/stats/levels knows. All slots of a node have to lie in
 * one sector. */
#ifndef FATHOM_POINTER_CHAIN_H
#define FATHOM_POINTER_CHAIN_H

#include "lib/base/base.h"

enum { CHAIN_SLOTS = 4 };

/* Uniform in 0 .. below - 1 (below > 0); state is any number, advanced by each call (splitmix64).
 */
uint32_t chain_random(uint64_t *state, uint32_t below);

/* Sattolo's shuffle: next[] is one cycle through all n elements, every such cycle equally likely.
 * n > 0. */
void chain_cycle(uint32_t *next, uint32_t n, uint64_t *random);

/* next[CHAIN_SLOTS * i + slot]: the node after node i in a step of that slot. Each slot is a
 * permutation of the n > 0 nodes; all of them one after the other are one cycle through all nodes,
 * so that the chain from (any node, slot 0) comes back there after CHAIN_SLOTS * n steps, not before.
 */
void chain_make(uint32_t *next, uint32_t n, uint64_t *random);

/* place[i]: a random one of `space` places, one in each of `count` equal parts, ascending; all
 * places when count == space. 0 < count <= space. */
void chain_places(uint32_t *place, uint32_t count, uint32_t space, uint64_t *random);

#endif
