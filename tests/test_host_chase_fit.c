/* SPDX-License-Identifier: MIT */
/* The host_chase probe's fit on a machine made up: caches, TLBs, lines, a far node; then without
 * huge pages, without caches, and with impossible times. */
#include "../probes/host_chase.h"
#include "../lib/curve.h"
#include "../lib/profile_row.h"
#include "tap.h"

static const char *const columns[] = {"bytes", "nodes", "stride", "node"};
static const double line_bytes = 64, small_page = 4096, huge_page = 2 << 20;

struct made_up {
	double seconds;                        /* of the first cache; the rest in proportion */
	double l1, l2, l3;                     /* bytes */
	double tlb1, tlb2, tlb1_huge, far_way; /* entries; seconds of the far node in addition */
	bool huge;
	bool small_below; /* the hypervisor's pages: the TLBs of small ones show in huge ones */
	double kink;      /* bytes, where a load begins to take a little longer; 0: nowhere */
};
static const struct made_up usual = {
        1.25e-9, 48 << 10, 2 << 20, 32 << 20, 96, 2048, 32, 60e-9, true, false, 0};

/* Of independent uniform accesses. */
static double miss(double size, double set)
{
	return set > size ? 1 - size / set : 0;
}

static double walk(const struct made_up *m, double bytes, double far_way)
{
	return m->seconds * (1 + 2.2 * miss(m->l1, bytes) + 12 * miss(m->l2, bytes) +
	                            70 * miss(m->l3, bytes)) +
	       far_way * miss(m->l3, bytes);
}

static double pages(const struct made_up *m, double n)
{
	return m->seconds * (1.5 * miss(m->tlb1, n) + 7 * miss(m->tlb2, n));
}

/* What a set of so many bytes has besides its caches. */
static double besides(const struct made_up *m, double bytes)
{
	return (m->small_below ? pages(m, bytes / small_page) : 0) +
	       (m->kink > 0 ? 0.3 * m->seconds * miss(m->kink, bytes) : 0);
}

/* Three processes that agree within a percent. */
static void add(struct table *curve, const char *series, const struct arg *args, size_t count,
        double seconds)
{
	for (int process = 0; process < 3; process++) {
		const double value = seconds * (1 + 0.001 * (process - 1));
		const struct measurement measurement = {
		        {value, 0.999 * value, 1.001 * value, 20}, 0, 4e9, 0};
		curve_add(curve, series, args, count, process, &measurement, false);
	}
}

static void add_pages(struct table *curve, const struct made_up *m)
{
	for (double n = 8; n <= 16384; n = ceil(n * 1.19)) {
		const struct arg small[] = {{"nodes", n}, {"stride", small_page}};
		const struct arg huge[] = {{"nodes", n}, {"stride", huge_page}};
		const struct arg packed[] = {{"nodes", n}, {"stride", line_bytes}};
		const double lines = walk(m, n * line_bytes, 0);
		add(curve, "packed", packed, 2, lines);
		add(curve, "pages_small", small, 2, lines + pages(m, n));
		if (m->huge && n <= 300)
			add(curve, "pages_huge", huge, 2,
			        lines + m->seconds * 1.5 * miss(m->tlb1_huge, n));
	}
}

static struct table *make(const struct made_up *m)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	table_meta_set(curve, "stated_l2", "%d", 1 << 21);
	for (double bytes = 4096; bytes <= 512 << 20; bytes = ceil(bytes / 64 * 1.19) * 64) {
		const struct arg args[] = {{"bytes", bytes}};
		add(curve, m->huge ? "walk_huge" : "walk_small", args, 1,
		        walk(m, bytes, 0) + besides(m, bytes));
	}
	for (int node = 0; node < 2; node++) {
		const struct arg args[] = {{"bytes", 512 << 20}, {"node", node}};
		add(curve, "walk_node", args, 2, walk(m, 512 << 20, node * m->far_way));
	}
	for (double apart = 0; apart <= 256; apart = apart > 0 ? 2 * apart : 16) {
		const struct arg args[] = {{"stride", apart}};
		add(curve, "line", args, 1, m->seconds * (apart < line_bytes ? 2.1 : 3.2));
	}
	add_pages(curve, m);
	return curve;
}

static struct profile *fit(struct table *curve)
{
	struct profile *profile = profile_new();

	host_chase_fit(curve, profile);
	table_free(curve);
	return profile;
}

static const struct parameter *row_of(const struct profile *profile, const char *written)
{
	char *text = strdup(written);
	struct parameter like;
	const struct parameter *found = NULL;

	if (!profile_parse_name(text, &like))
		found = profile_find_row(profile, &like);
	free(text);
	return found;
}

/* Within this of what it was made from, and inside its own interval (give or take a percent). */
static void is_near(const struct profile *profile, const char *name, double want, double within)
{
	const struct parameter *row = row_of(profile, name);

	if (!ok(row != NULL, "%s is there", name))
		return;
	is_real(row->estimate.value, want, within, name);
	ok(row->estimate.low <= 1.01 * want && row->estimate.high >= 0.99 * want,
	        "%s: its interval holds the truth", name);
}

static void test_usual(void)
{
	struct profile *profile = fit(make(&usual));

	is_near(profile, "host.l1.size", usual.l1, 0.06);
	is_near(profile, "host.l2.size", usual.l2, 0.06);
	is_near(profile, "host.l3.size", usual.l3, 0.08);
	is_near(profile, "host.l1.latency", 1.25e-9, 0.01);
	is_near(profile, "host.l2.latency", 4.00e-9, 0.03);
	is_near(profile, "host.l3.latency", 19.0e-9, 0.04);
	is_near(profile, "host.dram.latency[node=0]", 106.5e-9, 0.03);
	is_near(profile, "host.dram.latency[node=1]", 166.5e-9, 0.04);
	is_near(profile, "host.tlb.entries[level=1,page=4096]", 96, 0.08);
	is_near(profile, "host.tlb.entries[level=2,page=4096]", 2048, 0.08);
	is_near(profile, "host.tlb.reach[level=1,page=4096]", 96 * 4096, 0.08);
	is_near(profile, "host.tlb.penalty[level=1,page=4096]", 1.875e-9, 0.05);
	is_near(profile, "host.tlb.entries[level=1,page=2097152]", 32, 0.1);
	is_near(profile, "host.line.size", 64, 0);
	is_near(profile, "host.l2.stated", 1 << 21, 0);
	ok(!row_of(profile, "host.l4.size"), "no cache more");
	ok(!row_of(profile, "host.l1.stated"), "what is not stated is absent");
	const struct parameter *next = row_of(profile, "host.tlb.entries[level=2,page=2097152]");
	is_text(next ? next->status : NULL, "bounded", "a TLB not reached is bounded");
	ok(next && next->estimate.low > 200, "by the pages that were walked");
	profile_free(profile);
}

/* The TLBs show in the walk, too, and are no caches. */
static void test_small_pages(void)
{
	struct made_up m = usual;
	m.huge = false;
	struct profile *profile = fit(make(&m));

	is_near(profile, "host.l1.size", m.l1, 0.06);
	is_near(profile, "host.l2.size", m.l2, 0.06);
	is_near(profile, "host.tlb.entries[level=1,page=4096]", 96, 0.08);
	ok(!row_of(profile, "host.tlb.entries[level=1,page=2097152]"), "no huge pages, no row");
	profile_free(profile);
}

/* A last cache as large as a TLB's reach is a cache. */
static void test_cache_at_reach(void)
{
	struct made_up m = usual;
	m.l3 = m.tlb1_huge * huge_page;
	struct profile *profile = fit(make(&m));

	is_near(profile, "host.l3.size", m.l3, 0.08);
	is_near(profile, "host.l3.latency", 19.0e-9, 0.04);
	is_near(profile, "host.dram.latency[node=0]", 106.5e-9, 0.04);
	is_near(profile, "host.tlb.entries[level=1,page=2097152]", 32, 0.1);
	profile_free(profile);
}

/* Where the pages below are small, the TLBs' kinks are no caches, and a cache's latency is that
 * without their misses. */
static void test_small_below(void)
{
	struct made_up m = usual;
	m.small_below = true;
	struct profile *profile = fit(make(&m));
	const struct parameter *l2 = row_of(profile, "host.l2.size"),
	                       *l3 = row_of(profile, "host.l3.size");

	is_near(profile, "host.l1.size", m.l1, 0.06);
	is_near(profile, "host.l2.latency", 4.00e-9, 0.05);
	ok(l2 && l2->estimate.low < m.l2 && l2->estimate.high > m.l2, "L2 is where it is");
	ok(l3 && l3->estimate.low < m.l3 && l3->estimate.high > m.l3, "and L3");
	ok(!row_of(profile, "host.l4.size"), "no TLB is a cache");
	profile_free(profile);
}

/* A kink far below what is stated of the next cache is none. */
static void test_kink(void)
{
	struct made_up m = usual;
	m.kink = 200 << 10;
	struct profile *profile = fit(make(&m));

	is_near(profile, "host.l2.size", m.l2, 0.06);
	is_near(profile, "host.l3.size", m.l3, 0.08);
	ok(!row_of(profile, "host.l4.size"), "a kink before the second cache is no cache");
	profile_free(profile);
}

static void test_odd(void)
{
	struct made_up none = usual, impossible = usual;
	none.l1 = none.l2 = none.l3 = 1e12;
	impossible.seconds = 1e-12;
	impossible.far_way = 0;

	struct profile *profile = fit(make(&none));
	const struct parameter *memory = row_of(profile, "host.dram.latency[node=0]");
	ok(!row_of(profile, "host.l1.size"), "a flat curve has no cache");
	is_text(memory ? memory->status : NULL, "bounded", "and memory is not resolved");
	profile_free(profile);

	profile = fit(make(&impossible));
	const struct parameter *l1 = row_of(profile, "host.l1.latency");
	is_text(l1 ? l1->status : NULL, "failed", "a picosecond a load is implausible");
	profile_free(profile);

	profile = fit(curve_new(columns, ARRAY_LEN(columns)));
	ok(profile->count == 0, "an empty curve gives no parameters");
	profile_free(profile);
}

int main(void)
{
	test_usual();
	test_small_pages();
	test_cache_at_reach();
	test_small_below();
	test_kink();
	test_odd();
	return finish();
}
