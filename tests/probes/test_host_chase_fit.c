/* SPDX-License-Identifier: MIT */
/* The host_chase probe's fit on a machine made up: caches, TLBs, lines, a far node; then without
 * huge pages, with small ones below, kinks that are no caches, a last cache of which others leave a
 * part, one cache more, stated or not, without caches, and with impossible times; machines drawn at
 * random (nothing silently wrong). */
#include "probes/host_chase/host_chase.h"
#include "lib/probe/curve.h"
#include "lib/profile/profile_row.h"
#include "tests/tap.h"

static const char *const columns[] = {"bytes", "nodes", "stride", "node"};
static const double kink_step = 0.3; /* of a load */
static const double line_bytes = 64, small_page = 4096, huge_page = 2 << 20;

struct made_up {
	double seconds;                        /* of the first cache; the rest in proportion */
	double l1, l2, l3;                     /* bytes */
	double tlb1, tlb2, tlb1_huge, far_way; /* entries; seconds of the far node in addition */
	bool huge;
	bool small_below; /* the hypervisor's pages: the TLBs of small ones show in huge ones */
	double kink;      /* bytes, where a load begins to take a little longer; 0: nowhere */
	double noise;     /* of each process's values, a part of them */
	double l4;        /* bytes; 0: none */
	double largest;   /* bytes that are walked */
	double stated[4]; /* of each cache, bytes; 0: nothing */
};
static const struct made_up usual = {.seconds = 1.25e-9,
        .l1 = 48 << 10,
        .l2 = 2 << 20,
        .l3 = 32 << 20,
        .tlb1 = 96,
        .tlb2 = 2048,
        .tlb1_huge = 32,
        .far_way = 60e-9,
        .huge = true,
        .largest = 512 << 20,
        .stated = {48 << 10, 2 << 20, 32 << 20}};

/* Of independent uniform accesses. */
static double miss(double size, double set)
{
	return set > size ? 1 - size / set : 0;
}

static double chain(const struct made_up *m, double bytes, double far_way)
{
	const double last = m->l4 > 0 ? m->l4 : m->l3;

	return m->seconds * (1 + 2.2 * miss(m->l1, bytes) + 12 * miss(m->l2, bytes) +
	                            20 * miss(m->l3, bytes) + 50 * miss(last, bytes)) +
	       far_way * miss(last, bytes);
}

static double pages(const struct made_up *m, double n)
{
	return m->seconds * (1.5 * miss(m->tlb1, n) + 7 * miss(m->tlb2, n));
}

/* What a set of so many bytes has besides its caches. */
static double besides(const struct made_up *m, double bytes)
{
	return (m->small_below ? pages(m, bytes / small_page) : 0) +
	       (m->kink > 0 ? kink_step * m->seconds * miss(m->kink, bytes) : 0);
}

static double noise; /* of each process's values, a part of them; 0: they agree within a percent */

static double any(double low, double high)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return low * pow(high / low, (double)(state >> 40) / (double)(1 << 24));
}

/* By three processes. */
static void add(struct table *curve, const char *series, const struct arg *args, size_t count,
        double seconds)
{
	for (int process = 0; process < 3; process++) {
		const double off =
		        noise > 0 ? noise * log(any(1, M_E * M_E) / M_E) : 0.001 * (process - 1);
		const double value = seconds * (1 + off), half = fmax(0.001, noise);
		const struct measurement measurement = {
		        {value, (1 - half) * value, (1 + half) * value, 20}, 0, 4e9, 0, false};
		curve_add(curve, series, args, count, process, &measurement, false);
	}
}

static void add_pages(struct table *curve, const struct made_up *m)
{
	for (double n = 8; n <= 16384; n = ceil(n * 1.19)) {
		const struct arg small[] = {{"nodes", n}, {"stride", small_page}};
		const struct arg huge[] = {{"nodes", n}, {"stride", huge_page}};
		const struct arg packed[] = {{"nodes", n}, {"stride", line_bytes}};
		const double lines = chain(m, n * line_bytes, 0);
		add(curve, "packed", packed, 2, lines);
		add(curve, "pages_small", small, 2, lines + pages(m, n));
		if (m->huge && n <= 300)
			add(curve, "pages_huge", huge, 2,
			        lines + (m->small_below ? pages(m, n)
			                                : m->seconds * 1.5 *
			                                          miss(m->tlb1_huge, n)));
	}
}

static struct table *make(const struct made_up *m)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));

	noise = m->noise;
	for (size_t i = 0; i < ARRAY_LEN(m->stated); i++) {
		char key[] = "stated_l1";
		key[sizeof key - 2] = (char)('1' + i);
		if (m->stated[i] > 0)
			table_meta_set(curve, key, "%.0f", m->stated[i]);
	}
	for (double bytes = 4096; bytes <= m->largest; bytes = ceil(bytes / 64 * 1.19) * 64) {
		const struct arg args[] = {{"bytes", bytes}};
		if (m->huge)
			add(curve, "chain_huge", args, 1, chain(m, bytes, 0) + besides(m, bytes));
	}
	for (double bytes = 4096; bytes <= m->largest; bytes *= m->huge ? M_SQRT2 : 1.19) {
		const double whole = 64 * round(bytes / 64);
		const struct arg args[] = {{"bytes", whole}};
		struct made_up small = *m;
		small.small_below = true;
		if (!m->huge || bytes <= 128 << 20)
			add(curve, "chain_small", args, 1,
			        chain(m, whole, 0) + besides(&small, whole));
	}
	for (int node = 0; node < 2; node++) {
		const struct arg args[] = {{"bytes", m->largest}, {"node", node}};
		add(curve, "chain_node", args, 2,
		        chain(m, m->largest, node * m->far_way) + besides(m, m->largest));
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
	ok(!row_of(profile, "host.l4.stated"), "what is not stated is absent");
	const struct parameter *next = row_of(profile, "host.tlb.entries[level=2,page=2097152]");
	is_text(next ? next->status : NULL, "bounded", "a TLB not reached is bounded");
	ok(next && next->estimate.low > 200, "by the pages that were walked");
	profile_free(profile);
}

/* The TLBs show in the chain, too, and are no caches. */
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
	m.l3 = m.stated[2] = m.tlb1_huge * huge_page;
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
	is_near(profile, "host.dram.latency[node=0]", 106.5e-9, 0.04);
	is_near(profile, "host.dram.latency[node=1]", 166.5e-9, 0.05);
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

/* ---- caches and what is stated of them ---- */

static void is_status(const struct profile *profile, const char *name, const char *status)
{
	const struct parameter *row = row_of(profile, name);

	is_text(row ? row->status : "absent", status, name);
}

/* Others leave a sixth of a shared cache: it is measured, and what is stated stands beside it. */
static void test_left(void)
{
	struct made_up m = usual;
	m.l3 = 50 << 20;
	m.stated[2] = 300 << 20;
	struct profile *profile = fit(make(&m));

	is_near(profile, "host.l2.size", m.l2, 0.06);
	is_near(profile, "host.l3.size", m.l3, 0.08);
	is_near(profile, "host.l3.stated", 300 << 20, 0);
	is_near(profile, "host.l3.latency", 19.0e-9, 0.04);
	is_near(profile, "host.dram.latency[node=0]", 106.5e-9, 0.04);
	ok(!row_of(profile, "host.l4.size"), "what is left is not the next cache");
	profile_free(profile);
}

/* With a kink on the way, whose nature nobody knows: the last level is the cache, its latency on
 * one side of the kink or the other. */
static void test_left_after_kink(void)
{
	struct made_up m = usual;
	m.l3 = 50 << 20;
	m.stated[2] = 300 << 20;
	m.kink = 9 << 20;
	m.seconds = 2e-9; /* and a kink that shows */
	m.far_way = 0;
	struct profile *profile = fit(make(&m));
	const struct parameter *l3 = row_of(profile, "host.l3.size"),
	                       *latency = row_of(profile, "host.l3.latency");

	ok(l3 && l3->estimate.low < m.l3 && l3->estimate.high > m.l3, "L3 is the last level");
	ok(latency && latency->estimate.low < 30.4e-9 && latency->estimate.high > 30.4e-9,
	        "its latency's bounds hold that before the kink");
	ok(!row_of(profile, "host.l4.size"), "and a kink makes no cache more");
	profile_free(profile);
}

/* The chain ends before the stated size: nobody knows what is there. */
static void test_not_followed(void)
{
	struct made_up m = usual;
	m.stated[2] = 600 << 20;
	struct profile *profile = fit(make(&m));
	const struct parameter *memory = row_of(profile, "host.dram.latency[node=0]");

	is_status(profile, "host.l3.size", "bounded");
	is_near(profile, "host.l3.latency", 19.0e-9, 0.04);
	is_status(profile, "host.dram.latency[node=0]", "bounded");
	ok(memory && memory->estimate.low < 106.5e-9 && isnan(memory->estimate.high),
	        "what follows the kink is the least that memory takes");
	is_status(profile, "host.dram.latency[node=1]", "absent");
	profile_free(profile);
}

static void test_fourth(void)
{
	struct made_up m = usual;
	m.l3 = m.stated[2] = 16 << 20;
	m.l4 = m.stated[3] = 96 << 20;
	struct profile *profile = fit(make(&m));

	is_near(profile, "host.l3.size", m.l3, 0.08);
	is_near(profile, "host.l3.latency", 19.0e-9, 0.04);
	is_near(profile, "host.l4.size", m.l4, 0.08);
	is_near(profile, "host.l4.latency", 44.0e-9, 0.05);
	is_near(profile, "host.l4.stated", m.l4, 0);
	is_near(profile, "host.dram.latency[node=0]", 106.5e-9, 0.04);
	profile_free(profile);

	m.stated[3] = 0;
	profile = fit(make(&m));
	is_near(profile, "host.l3.size", m.l3, 0.08);
	ok(!row_of(profile, "host.l4.size") && !row_of(profile, "host.l4.latency"),
	        "a level that hwloc does not know is not numbered");
	is_near(profile, "host.dram.latency[node=0]", 106.5e-9, 0.04);
	profile_free(profile);
}

/* What hwloc knows may not show: the one behind it keeps its number. */
static void test_missed(void)
{
	struct made_up m = usual;
	m.l2 = m.l3;
	struct profile *profile = fit(make(&m));

	ok(!row_of(profile, "host.l2.size") && !row_of(profile, "host.l2.latency"),
	        "a cache that does not show is absent");
	is_near(profile, "host.l3.size", m.l3, 0.08);
	is_near(profile, "host.l3.latency", 4e-9, 0.05);
	profile_free(profile);
}

static void test_nothing_stated(void)
{
	struct made_up m = usual;
	memset(m.stated, 0, sizeof m.stated);
	struct profile *profile = fit(make(&m));
	const struct parameter *l3 = row_of(profile, "host.l3.size");

	is_near(profile, "host.l2.size", m.l2, 0.06);
	is_near(profile, "host.l3.size", m.l3, 0.08);
	ok(l3 && strstr(l3->method, "counted"), "where nothing is stated levels are counted");
	ok(!row_of(profile, "host.l1.stated"), "and nothing is said to be");
	profile_free(profile);
}

/* ---- machines at random ---- */

static struct made_up draw_machine(void)
{
	struct made_up m = usual;

	m.seconds = any(0.8e-9, 2e-9);
	m.l1 = 1024 * round(any(16, 128));
	m.l2 = 1024 * round(any(256, 4096));
	m.l3 = 1024 * round(any(8192, 131072));
	m.tlb1 = round(any(32, 160));
	m.tlb2 = round(any(512, 4096));
	m.tlb1_huge = round(any(16, 128));
	m.huge = any(1, 16) > 2;
	m.small_below = any(1, 16) < 2;
	m.kink = any(1, 16) < 2 ? m.l1 * any(1.5, 4) : 0;
	m.noise = any(0.0005, 0.02);
	m.stated[0] = m.l1;
	m.stated[1] = m.l2;
	m.stated[2] = any(1, 16) < 4 ? m.l3 * any(2.5, 12) : m.l3;
	m.l4 = m.l3 == m.stated[2] && m.l3 < 32 << 20 && any(1, 16) < 4 ? 5 * m.l3 : 0;
	m.stated[3] = any(1, 16) < 4 ? m.l4 : 0;
	return m;
}

/* A row that is ok, or bounded, and does not hold what it should. */
static bool is_wrong(const struct profile *profile, const char *name, double least, double most)
{
	const struct parameter *row = row_of(profile, name);

	if (!row || (strcmp(row->status, "ok") != 0 && strcmp(row->status, "bounded") != 0))
		return false;
	if (!(row->estimate.low > 1.03 * most) && !(row->estimate.high < least / 1.03))
		return false;
	diag("%s is %g .. %g, was made %g .. %g", name, row->estimate.low, row->estimate.high,
	        least, most);
	return true;
}

/* How many of a machine's values are wrong; those that are resolved are counted. */
static int count_wrong(const struct made_up *m, int *resolved)
{
	struct profile *profile = fit(make(m));
	const double huge = m->small_below ? m->tlb1 : m->tlb1_huge;
	const double l2 = 3.2 * m->seconds, l3 = 15.2 * m->seconds, l4 = 35.2 * m->seconds,
	             dram = 85.2 * m->seconds;
	/* a load on a side of the kink */
	const double more = m->kink > 0 ? kink_step * m->seconds : 0;
	const double first = 1.5 * m->seconds, second = 7 * m->seconds;
	const struct {
		const char *name;
		double least, most;
	} all[] = {{"host.l1.size", m->l1, m->l1}, {"host.l2.size", m->l2, m->l2},
	        {"host.l3.size", m->l3, m->l3}, {"host.l4.size", m->l4, m->l4},
	        {"host.l4.latency", l4, l4 + more}, {"host.l1.latency", m->seconds, m->seconds},
	        {"host.l2.latency", l2, l2 + more}, {"host.l3.latency", l3, l3 + more},
	        {"host.dram.latency[node=0]", dram, dram + more},
	        {"host.tlb.penalty[level=1,page=4096]", first, first},
	        {"host.tlb.penalty[level=2,page=4096]", second, second},
	        {"host.tlb.entries[level=1,page=4096]", m->tlb1, m->tlb1},
	        {"host.tlb.entries[level=2,page=4096]", m->tlb2, m->tlb2},
	        {"host.tlb.entries[level=1,page=2097152]", huge, huge}};
	int wrong = 0;

	if (!(m->stated[3] > 0) && row_of(profile, "host.l4.size"))
		wrong++;
	for (size_t k = 0; k < ARRAY_LEN(all); k++) {
		const struct parameter *row = row_of(profile, all[k].name);
		*resolved += row && strcmp(row->status, "ok") == 0;
		wrong += is_wrong(profile, all[k].name, all[k].least, all[k].most);
	}
	profile_free(profile);
	return wrong;
}

static void test_random(void)
{
	enum { MACHINES = 60 };
	int all = 0, resolved = 0;

	for (int i = 0; i < MACHINES; i++) {
		const struct made_up m = draw_machine();
		const int wrong = count_wrong(&m, &resolved);
		all += wrong;
		if (wrong)
			diag("machine %d: l1 %g l2 %g l3 %g of %g l4 %g of %g tlb %g %g huge %g "
			     "below %d kink %g noise %g",
			        i, m.l1, m.l2, m.l3, m.stated[2], m.l4, m.stated[3], m.tlb1, m.tlb2,
			        m.tlb1_huge, m.small_below, m.kink, m.noise);
	}
	ok(all == 0 && resolved > 10 * MACHINES,
	        "%d machines drawn at random: %d values resolved, %d wrong", MACHINES, resolved,
	        all);
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
	test_left();
	test_left_after_kink();
	test_not_followed();
	test_fourth();
	test_missed();
	test_nothing_stated();
	test_random();
	test_odd();
	return finish();
}
