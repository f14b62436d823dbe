/* SPDX-License-Identifier: MIT */
/* TLB levels of chains whose kinks are given: the page is reach over entries, and a power of two.
 */
#include "tests/tap.h"

#include "lib/stats/tlb.h"

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
	test_together();
	test_one_fits();
	test_none_fits();
	test_several_fit();
	return finish();
}
