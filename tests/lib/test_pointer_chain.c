/* SPDX-License-Identifier: MIT */
/* Random chains: every slot a permutation, one cycle through all states, returns to a node at
 * nearly geometric distances, and the miss rate of an LRU cache that lib/stats/levels expects. The
 * sizes of a sweep. TLB levels of chains whose kinks are given: the page is reach over entries, and
 * a power of two. */
#include "tests/tap.h"

#include "lib/stats/log_spaced.h"
#include "lib/stats/pointer_chain.h"
#include "lib/stats/tlb.h"

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

static void test_sizes(void)
{
	ok(log_spaced_size(1024, 4096, 2, 0, 1) == 1024, "the first size is the lowest");
	ok(log_spaced_size(1024, 4096, 2, 1, 1) == 1448, "two in an doubling");
	ok(log_spaced_size(1024, 4096, 2, 1, 128) == 1408, "in whole units");
	ok(log_spaced_size(1024, 4096, 2, 4, 1) == 4096, "the highest is there");
	ok(log_spaced_size(1024, 4096, 2, 5, 1) == 0, "and none beyond it");
	ok(log_spaced_size(1, 64, 6, 0, 64) == 64, "at least one unit");
}

static void test_counts(void)
{
	const int64_t first[] = {4, 5, 6, 7, 8, 10, 12, 14, 16};
	bool right = true;
	for (int k = 0; k < (int)ARRAY_LEN(first); ++k)
		right = right && log_spaced_count(k) == first[k];
	ok(right, "four whole numbers in an doubling");
}

/* ---- TLB levels ---- */

static const double MIB = 1 << 20;
enum { STRIDES = 3 };

/* Kinks of one level at so many nodes, each to a part of itself. */
static struct tlb_walk chain_of(double stride, double nodes, double part)
{
	struct tlb_walk chain = {.stride = stride, .largest = 1e9};

	chain.levels.count = 1;
	chain.levels.level[0] =
	        (struct level){.size = {nodes, nodes * (1 - part), nodes * (1 + part), 9},
	                .resolved = true,
	                .step = {5e-9, 4.9e-9, 5.1e-9, 9},
	                .step_resolved = true};
	return chain;
}

/* Of strides of 2, 32 and 64 MiB; the last two are those of pages or more. */
static struct tlb_level level_of(double reach, double entries, double part)
{
	const struct tlb_walk chain[STRIDES] = {chain_of(2 * MIB, reach / (2 * MIB), part),
	        chain_of(32 * MIB, entries, part), chain_of(64 * MIB, entries, part)};
	struct tlb_level level[LEVELS_MAX];

	ok(tlb_find(chain, STRIDES, level) == 1, "one level");
	return level[0];
}

static void test_one_fits(void)
{
	const struct tlb_level level = level_of(270e6, 15.2, 0.08);

	is_real(level.page.value, 16 * MIB, 1e-12, "a page of 16 MiB where only that fits");
	is_real(level.entries.value, 15.2, 1e-12, "entries as they are seen");
}

static void test_none_fits(void)
{
	const struct tlb_level level = level_of(280e6, 14.2, 0.08);

	ok(isnan(level.page.value), "a page of 19.7 MB is none");
	is_real(level.page.low, 16 * MIB, 1e-12, "it has 16 MiB or more");
	is_real(level.page.high, 32 * MIB, 1e-12, "and 32 at most");
	is_real(level.entries.value, 14.2, 1e-12, "entries stay what they are");
}

static void test_several_fit(void)
{
	const struct tlb_level level = level_of(300e6, 14, 0.7);

	is_real(level.page.value, 300e6 / 14, 1e-12, "of several that fit none is taken");
	ok(level.page.low < 16 * MIB && level.page.high > 32 * MIB, "the interval tells");
}

/* Strides of 2, 8, 32 and 64 MiB, pages of 16: the first two see the reach, the others the entries,
 * each 3 percent too much or too little. */
static void test_together(void)
{
	const double reach = 256 * MIB, off = 0.03;
	const struct tlb_walk chain[] = {chain_of(2 * MIB, (1 + off) * reach / (2 * MIB), 0.08),
	        chain_of(8 * MIB, reach / (1 + off) / (8 * MIB), 0.08),
	        chain_of(32 * MIB, (1 + off) * 16, 0.08), chain_of(64 * MIB, 16 / (1 + off), 0.04)};
	struct tlb_level level[LEVELS_MAX];

	ok(tlb_find(chain, ARRAY_LEN(chain), level) == 1, "one level of two strides each");
	is_real(level[0].reach.value, reach, 1e-3, "the reach is what both say");
	ok(level[0].reach.low < 0.95 * reach && level[0].reach.high > 1.05 * reach,
	        "with the interval of one");
	ok(level[0].entries.value < 16 && level[0].entries.value > 16 / (1 + off),
	        "the surer sighting of the entries says more");
	is_real(level[0].page.value, 16 * MIB, 1e-12, "and the page is 16 MiB");
}

int main(void)
{
	static const uint32_t sizes[] = {1, 2, 3, 5, 64, 1000, 4097};
	for (size_t i = 0; i < ARRAY_LEN(sizes); ++i)
		check_structure(sizes[i], 11 + i);
	check_returns();
	check_cycle_and_places();
	test_sizes();
	test_counts();
	test_together();
	test_one_fits();
	test_none_fits();
	test_several_fit();
	return finish();
}
