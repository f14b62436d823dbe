/* SPDX-License-Identifier: MIT */
#include "pointer_chain.h"

#include <stdlib.h>

#include "lib/base/msg.h"

uint32_t chain_random(uint64_t *state, uint32_t below)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)(((z ^ z >> 31) >> 32) * below >> 32);
}

static void exchange(uint32_t *a, uint32_t *b)
{
	const uint32_t kept = *a;

	*a = *b;
	*b = kept;
}

void chain_cycle(uint32_t *next, uint32_t n, uint64_t *random)
{
	for (uint32_t i = 0; i < n; i++)
		next[i] = i;
	for (uint32_t i = n - 1; i > 0; i--)
		exchange(&next[i], &next[chain_random(random, i)]);
}

/* A uniformly random permutation in one slot (Fisher and Yates). */
static void shuffle_slot(uint32_t *next, int slot, uint32_t n, uint64_t *random)
{
	for (uint32_t i = 0; i < n; i++)
		next[(size_t)i * CHAIN_SLOTS + (size_t)slot] = i;
	for (uint32_t i = n - 1; i > 0; i--)
		exchange(&next[(size_t)i * CHAIN_SLOTS + (size_t)slot],
		        &next[(size_t)chain_random(random, i + 1) * CHAIN_SLOTS + (size_t)slot]);
}

void chain_make(uint32_t *next, uint32_t n, uint64_t *random)
{
	enum { LAST = CHAIN_SLOTS - 1 };
	uint32_t *cycle = xmalloc(n * sizeof *cycle);

	for (int slot = 0; slot < LAST; slot++)
		shuffle_slot(next, slot, n, random);
	chain_cycle(cycle, n, random);
	/* where the other slots lead from node i, the last slot goes on to the node after i */
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i;
		for (int slot = 0; slot < LAST; slot++)
			at = next[(size_t)at * CHAIN_SLOTS + (size_t)slot];
		next[(size_t)at * CHAIN_SLOTS + LAST] = cycle[i];
	}
	free(cycle);
}

void chain_places(uint32_t *place, uint32_t count, uint32_t space, uint64_t *random)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t first = (uint32_t)((uint64_t)i * space / count);
		const uint32_t end = (uint32_t)((uint64_t)(i + 1) * space / count);
		place[i] = first + chain_random(random, end - first);
	}
}
