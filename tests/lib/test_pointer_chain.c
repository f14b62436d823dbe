/* SPDX-License-Identifier: MIT */
/* Random chains: every slot a permutation, one cycle through all states, returns to a node at
 * nearly geometric distances, and the miss rate of an LRU cache that lib/stats/levels expects. */
#include "tests/tap.h"
#include "lib/stats/pointer_chain.h"

static bool slot_is_permutation(const uint32_t *next, uint32_t n, int slot)
{
	unsigned char *seen = calloc(n, 1);
	uint32_t distinct = 0;
	for (uint32_t i = 0; i < n; ++i) {
		const uint32_t to = next[(size_t)i * CHAIN_SLOTS + (size_t)slot];
		if (to >= n)
			break;
		distinct += !seen[to];
		seen[to] = 1;
	}
	free(seen);
	return distinct == n;
}

/* Steps until the chain from node 0, slot 0 is there again, at most one more than all states. */
static uint64_t period(const uint32_t *next, uint32_t n)
{
	uint32_t at = 0;
	for (uint64_t step = 0; step <= (uint64_t)CHAIN_SLOTS * n; ++step) {
		if (step > 0 && step % CHAIN_SLOTS == 0 && at == 0)
			return step;
		at = next[(size_t)at * CHAIN_SLOTS + step % CHAIN_SLOTS];
	}
	return 0;
}

static void check_structure(uint32_t n, uint64_t seed)
{
	uint32_t *next = malloc((size_t)n * CHAIN_SLOTS * sizeof *next);
	bool permutations = true;
	chain_make(next, n, &seed);
	for (int slot = 0; slot < CHAIN_SLOTS; ++slot)
		permutations = permutations && slot_is_permutation(next, n, slot);
	ok(permutations, "n = %u: every slot is a permutation", n);
	ok(period(next, n) == (uint64_t)CHAIN_SLOTS * n,
	        "n = %u: all slots together are one cycle through all nodes", n);
	free(next);
}

/* Share of the returns to a node that come after more than limit[] times n steps, over one whole
 * chain. The four visits lie at random on a circle of 4 n steps, so that a gap is longer than t
 * with probability (1 - t / 4n)^3, close to exp(-t / n). */
static void check_returns(void)
{
	enum { N = 20000, LIMITS = 4 };
	static const double limit[LIMITS] = {0.1, 0.5, 1, 2};
	uint32_t *next = malloc((size_t)N * CHAIN_SLOTS * sizeof *next);
	int64_t *last = malloc(N * sizeof *last);
	uint64_t seed = 7;
	uint32_t at = 0, returns = 0, longer[LIMITS] = {0};
	chain_make(next, N, &seed);
	for (uint32_t i = 0; i < N; ++i)
		last[i] = -1;
	for (int64_t step = 0; step < 2 * CHAIN_SLOTS * N; ++step) {
		if (step >=
		        CHAIN_SLOTS * N) { /* the second time round every node has a last visit */
			++returns;
			for (int k = 0; k < LIMITS; ++k)
				longer[k] += (double)(step - last[at]) > limit[k] * N;
		}
		last[at] = step;
		at = next[(size_t)at * CHAIN_SLOTS + (size_t)(step % CHAIN_SLOTS)];
	}
	for (int k = 0; k < LIMITS; ++k) {
		const double share = (double)longer[k] / returns;
		const double law = pow(1 - limit[k] / CHAIN_SLOTS, 3);
		ok(fabs(share - law) < 0.01, "returns after more than %g n steps: (1 - t/4n)^3",
		        limit[k]);
		ok(fabs(share - exp(-limit[k])) < 0.08, "... and near exp(-t/n)");
	}
	free(last);
	free(next);
}

static void check_cycle_and_places(void)
{
	enum { N = 1000, SPACE = 2503 };
	uint32_t next[N], place[N], at = 0, steps = 0;
	uint64_t seed = 3;
	chain_cycle(next, N, &seed);
	do
		at = next[at];
	while (++steps < 2 * N && at != 0);
	ok(steps == N, "a cycle passes through all nodes");
	chain_places(place, N, SPACE, &seed);
	bool apart = true;
	for (uint32_t i = 0; i < N; ++i)
		apart = apart && place[i] >= i * SPACE / N && place[i] < (i + 1) * SPACE / N;
	ok(apart, "one place in each part of the space");
	chain_places(place, N, N, &seed);
	ok(place[0] == 0 && place[N - 1] == N - 1, "all places when there are no more");
	uint32_t largest = 0, smallest = 7;
	for (int i = 0; i < 1000; ++i) {
		const uint32_t r = chain_random(&seed, 7);
		largest = r > largest ? r : largest;
		smallest = r < smallest ? r : smallest;
	}
	ok(smallest == 0 && largest == 6, "random numbers fill their range");
}

int main(void)
{
	static const uint32_t sizes[] = {1, 2, 3, 5, 64, 1000, 4097};
	for (size_t i = 0; i < ARRAY_LEN(sizes); ++i)
		check_structure(sizes[i], 11 + i);
	check_returns();
	check_cycle_and_places();
	return finish();
}
