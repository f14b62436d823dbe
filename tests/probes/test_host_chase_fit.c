/* SPDX-License-Identifier: MIT */
/* The host_chase probe's fit on made-up machines: caches, TLBs, lines, a far node; without huge
 * pages, with small pages below them, with kinks that are no caches, with a shared last cache, one
 * cache more or none, and impossible times. */
#include "host_chase_machine.h"

static void test_usual(void)
{
	struct profile *profile = FIT_NEAR(&usual, {"host.l1.size", usual.l1, 0.06},
	        {"host.l2.size", usual.l2, 0.06}, {"host.l3.size", usual.l3, 0.08},
	        {"host.l1.latency", 1.25e-9, 0.01}, {"host.l2.latency", 4.00e-9, 0.03},
	        {"host.l3.latency", 19.0e-9, 0.04}, {"host.dram.latency[node=0]", 106.5e-9, 0.03},
	        {"host.dram.latency[node=1]", 166.5e-9, 0.04},
	        {"host.tlb.entries[level=1,page=4096]", 96, 0.08},
	        {"host.tlb.entries[level=2,page=4096]", 2048, 0.08},
	        {"host.tlb.reach[level=1,page=4096]", 96 * 4096, 0.08},
	        {"host.tlb.penalty[level=1,page=4096]", 1.875e-9, 0.05},
	        {"host.tlb.entries[level=1,page=2097152]", 32, 0.1}, {"host.line.size", 64, 0},
	        {"host.l2.stated", 1 << 21, 0}, {"host.l4.size", 0, -1}, {"host.l4.stated", 0, -1});
	const char *not_reached = "host.tlb.entries[level=2,page=2097152]";

	is_status(profile, not_reached, "bounded");
	ok(row_of(profile, not_reached)->estimate.low > 200, "by the pages in the chain");
	profile_free(profile);
}

/* The TLBs show in the chain, too, and are no caches. */
static void test_small_pages(void)
{
	struct made_up m = usual;

	m.huge = false;
	profile_free(FIT_NEAR(&m, {"host.l1.size", m.l1, 0.06}, {"host.l2.size", m.l2, 0.06},
	        {"host.tlb.entries[level=1,page=4096]", 96, 0.08},
	        {"host.tlb.entries[level=1,page=2097152]", 0, -1}));
}

/* A last cache as large as a TLB's reach is a cache. */
static void test_cache_at_reach(void)
{
	struct made_up m = usual;

	m.l3 = m.stated[2] = m.tlb1_huge * huge_page;
	profile_free(FIT_NEAR(&m, {"host.l3.size", m.l3, 0.08}, {"host.l3.latency", 19.0e-9, 0.04},
	        {"host.dram.latency[node=0]", 106.5e-9, 0.04},
	        {"host.tlb.entries[level=1,page=2097152]", 32, 0.1}));
}

/* Where the pages below are small, the TLBs' kinks are no caches, and a cache's latency is that
 * without their misses. */
static void test_small_below(void)
{
	struct made_up m = usual;

	m.small_below = true;
	struct profile *profile = FIT_NEAR(&m, {"host.l1.size", m.l1, 0.06},
	        {"host.l2.latency", 4.00e-9, 0.05}, {"host.dram.latency[node=0]", 106.5e-9, 0.04},
	        {"host.dram.latency[node=1]", 166.5e-9, 0.05}, {"host.l4.size", 0, -1});
	holds(profile, "host.l2.size", m.l2);
	holds(profile, "host.l3.size", m.l3);
	profile_free(profile);
}

/* A kink far below the stated size of the next cache is no cache. */
static void test_kink(void)
{
	struct made_up m = usual;

	m.kink = 200 << 10;
	profile_free(FIT_NEAR(&m, {"host.l2.size", m.l2, 0.06}, {"host.l3.size", m.l3, 0.08},
	        {"host.l4.size", 0, -1}));
}

/* ---- caches and their stated sizes ---- */

/* Other users leave a sixth of a shared cache: the measured size stands beside the stated one. */
static void test_shared_cache(void)
{
	struct made_up m = usual;

	m.l3 = 50 << 20;
	m.stated[2] = 300 << 20;
	profile_free(FIT_NEAR(&m, {"host.l2.size", m.l2, 0.06}, {"host.l3.size", m.l3, 0.08},
	        {"host.l3.stated", 300 << 20, 0}, {"host.l3.latency", 19.0e-9, 0.04},
	        {"host.dram.latency[node=0]", 106.5e-9, 0.04}, {"host.l4.size", 0, -1}));
}

/* The same with a kink of unknown nature: the last level is the cache, and its latency's bounds
 * hold that on either side of the kink. */
static void test_shared_cache_after_kink(void)
{
	struct made_up m = usual;

	m.l3 = 50 << 20;
	m.stated[2] = 300 << 20;
	m.kink = 9 << 20;
	m.seconds = 2e-9; /* the kink shows */
	m.far_way = 0;
	struct profile *profile = FIT_NEAR(&m, {"host.l4.size", 0, -1});
	holds(profile, "host.l3.size", m.l3);
	holds(profile, "host.l3.latency", 30.4e-9);
	profile_free(profile);
}

/* The chain ends before the stated size: its end is not known to be memory. */
static void test_short_chain(void)
{
	struct made_up m = usual;

	m.stated[2] = 600 << 20;
	struct profile *profile = FIT_NEAR(
	        &m, {"host.l3.latency", 19.0e-9, 0.04}, {"host.dram.latency[node=1]", 0, -1});
	const struct estimate memory = row_of(profile, "host.dram.latency[node=0]")->estimate;

	is_status(profile, "host.l3.size", "bounded");
	is_status(profile, "host.dram.latency[node=0]", "bounded");
	ok(memory.low < 106.5e-9 && isnan(memory.high),
	        "the level after the kink is a lower bound of memory's latency");
	profile_free(profile);
}

/* A fourth cache; hwloc may not know it: then the level has no number. */
static void test_fourth(void)
{
	struct made_up m = usual;

	m.l3 = m.stated[2] = 16 << 20;
	m.l4 = m.stated[3] = 96 << 20;
	profile_free(FIT_NEAR(&m, {"host.l3.size", m.l3, 0.08}, {"host.l3.latency", 19.0e-9, 0.04},
	        {"host.l4.size", m.l4, 0.08}, {"host.l4.latency", 44.0e-9, 0.05},
	        {"host.l4.stated", m.l4, 0}, {"host.dram.latency[node=0]", 106.5e-9, 0.04}));

	m.stated[3] = 0;
	profile_free(FIT_NEAR(&m, {"host.l3.size", m.l3, 0.08}, {"host.l4.size", 0, -1},
	        {"host.l4.latency", 0, -1}, {"host.dram.latency[node=0]", 106.5e-9, 0.04}));
}

/* A cache that hwloc knows does not show: the next one keeps its number. */
static void test_missed(void)
{
	struct made_up m = usual;

	m.l2 = m.l3;
	profile_free(FIT_NEAR(&m, {"host.l2.size", 0, -1}, {"host.l2.latency", 0, -1},
	        {"host.l3.size", m.l3, 0.08}, {"host.l3.latency", 4e-9, 0.05}));
}

/* Without stated sizes the levels are counted. */
static void test_nothing_stated(void)
{
	struct made_up m = usual;

	memset(m.stated, 0, sizeof m.stated);
	profile_free(FIT_NEAR(&m, {"host.l2.size", m.l2, 0.06}, {"host.l3.size", m.l3, 0.08},
	        {"host.l1.stated", 0, -1}));
}

/* A flat curve has no cache; a picosecond a load is implausible. */
static void test_odd(void)
{
	struct made_up none = usual, impossible = usual;
	none.l1 = none.l2 = none.l3 = 1e12;
	impossible.seconds = 1e-12;
	impossible.far_way = 0;

	struct profile *profile = FIT_NEAR(&none, {"host.l1.size", 0, -1});
	is_status(profile, "host.dram.latency[node=0]", "bounded");
	profile_free(profile);

	profile = fit(&impossible);
	is_status(profile, "host.l1.latency", "failed");
	profile_free(profile);
	is_empty_fit(host_chase_fit, columns, ARRAY_LEN(columns));
}

/* The curve without the rows of one series that have this argument. */
static struct table *make_without(const char *series, const char *argument, double value)
{
	struct table *all = make(&usual), *rest = curve_new(columns, ARRAY_LEN(columns));

	table_meta_add(rest, all);
	for (size_t row = 0; row < all->row_count; row++)
		if (strcmp(table_text(all, row, "series"), series) != 0 ||
		        table_real(all, row, argument) != value)
			table_copy_row(rest, all, row);
	table_free(all);
	return rest;
}

/* Without the chain in the near memory the caches' share is unknown, without the pair on one line
 * the line: no value is made of what is left. */
static void test_missing_rows(void)
{
	static const char far[] = "host.dram.latency[node=1]";
	struct profile *profile = profile_of(host_chase_fit, make_without("chain_node", "node", 0));

	is_near(profile, &(struct near){"host.dram.latency[node=0]", 106.5e-9, 0.03}, 1);
	is_status(profile, far, "bounded");
	ok(row_of(profile, far)->estimate.low < 166.5e-9, "far memory: a lower bound");
	profile_free(profile);

	profile = profile_of(host_chase_fit, make_without("line", "stride", 0));
	is_status(profile, "host.line.size", "bounded");
	ok(isnan(row_of(profile, "host.line.size")->estimate.low), "the line: no bound either");
	profile_free(profile);
}

/* A row whose clock is 0 keeps its seconds. */
static void test_no_clock(void)
{
	struct table *curve = make(&usual);

	for (size_t row = 0; row < curve->row_count; row++)
		if (row % 4 == 0)
			table_set_text(curve, row, "sm_hz", "0");
	struct profile *profile = profile_of(host_chase_fit, curve);

	is_near(profile, &(struct near){"host.l1.latency", 1.25e-9, 0.01}, 1);
	is_near(profile, &(struct near){"host.dram.latency[node=1]", 166.5e-9, 0.04}, 1);
	profile_free(profile);
}

int main(void)
{
	static void (*const tests[])(void) = {test_usual, test_small_pages, test_cache_at_reach,
	        test_small_below, test_kink, test_shared_cache, test_shared_cache_after_kink,
	        test_short_chain, test_fourth, test_missed, test_nothing_stated, test_odd,
	        test_missing_rows, test_no_clock};

	for (size_t i = 0; i < ARRAY_LEN(tests); i++)
		tests[i]();
	return finish();
}
