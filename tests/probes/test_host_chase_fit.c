/* SPDX-License-Identifier: MIT */
/* The host_chase probe's fit on made-up machines: caches, TLBs, lines, a far node; without huge
 * pages, with small pages below them, with kinks that are no caches, with a shared last cache, one
 * cache more or none, impossible times, and machines drawn at random. */
#include "tests/fit_test.h"

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
	double largest;   /* bytes of the longest chain */
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

	return low * pow(high / low, random_unit(&state));
}

/* By three processes. */
PRINTF_LIKE(3, 4) static void add(struct table *curve, double seconds, const char *format, ...)
{
	char point[64];
	va_list args;

	va_start(args, format);
	vsnprintf(point, sizeof point, format, args);
	va_end(args);
	for (int process = 0; process < FIT_PROCESSES; process++) {
		const double off =
		        noise > 0 ? noise * log(any(1, M_E * M_E) / M_E) : 0.001 * (process - 1);
		add_process(curve, point, process, seconds * (1 + off), fmax(0.001, noise), 4e9);
	}
}

static void add_pages(struct table *curve, const struct made_up *m)
{
	for (double n = 8; n <= 16384; n = ceil(n * 1.19)) {
		const double lines = chain(m, n * line_bytes, 0);
		const double huge =
		        m->small_below ? pages(m, n) : m->seconds * 1.5 * miss(m->tlb1_huge, n);
		add(curve, lines, "packed[nodes=%.0f,stride=%.0f]", n, line_bytes);
		add(curve, lines + pages(m, n), "pages_small[nodes=%.0f,stride=%.0f]", n,
		        small_page);
		if (m->huge && n <= 300)
			add(curve, lines + huge, "pages_huge[nodes=%.0f,stride=%.0f]", n,
			        huge_page);
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
	for (double bytes = 4096; bytes <= m->largest; bytes = ceil(bytes / 64 * 1.19) * 64)
		if (m->huge)
			add(curve, chain(m, bytes, 0) + besides(m, bytes), "chain_huge[bytes=%.0f]",
			        bytes);
	for (double bytes = 4096; bytes <= m->largest; bytes *= m->huge ? M_SQRT2 : 1.19) {
		const double whole = 64 * round(bytes / 64);
		struct made_up small = *m;
		small.small_below = true;
		if (!m->huge || bytes <= 128 << 20)
			add(curve, chain(m, whole, 0) + besides(&small, whole),
			        "chain_small[bytes=%.0f]", whole);
	}
	for (int node = 0; node < 2; node++)
		add(curve, chain(m, m->largest, node * m->far_way) + besides(m, m->largest),
		        "chain_node[bytes=%.0f,node=%d]", m->largest, node);
	for (double apart = 0; apart <= 256; apart = apart > 0 ? 2 * apart : 16)
		add(curve, m->seconds * (apart < line_bytes ? 2.1 : 3.2), "line[stride=%.0f]",
		        apart);
	add_pages(curve, m);
	return curve;
}

static struct profile *fit(const struct made_up *m)
{
	return profile_of(host_chase_fit, make(m));
}

/* A row that is expected: within `within` of its value, its interval around that but for a percent.
 * within < 0: the row is absent. */
struct near {
	const char *name;
	double want, within;
};

static void is_near(const struct profile *profile, const struct near *near, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct parameter *row = row_of(profile, near[i].name);
		if (near[i].within < 0) {
			is_status(profile, near[i].name, "absent");
			continue;
		}
		is_real(row->estimate.value, near[i].want, near[i].within, near[i].name);
		ok(row->estimate.low <= 1.01 * near[i].want &&
		                row->estimate.high >= 0.99 * near[i].want,
		        "%s: its interval holds the value", near[i].name);
	}
}

static void holds(const struct profile *profile, const char *name, double value)
{
	const struct estimate e = row_of(profile, name)->estimate;

	ok(e.low < value && e.high > value, "%s: its interval holds the value", name);
}

/* Fits a machine and compares the rows; the profile is the caller's. */
static struct profile *fit_near(const struct made_up *m, const struct near *near, size_t count)
{
	struct profile *profile = fit(m);

	is_near(profile, near, count);
	return profile;
}
#define FIT_NEAR(m, ...)                                                                           \
	fit_near(m, (const struct near[]){__VA_ARGS__},                                            \
	        ARRAY_LEN(((const struct near[]){__VA_ARGS__})))

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

/* A row that is ok, or bounded, and does not hold its true value. */
static bool is_wrong(const struct profile *profile, const char *name, double least, double most)
{
	const struct parameter *row = row_of(profile, name);

	if (strcmp(row->status, "ok") != 0 && strcmp(row->status, "bounded") != 0)
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
	struct profile *profile = fit(m);
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
	int wrong = !(m->stated[3] > 0) &&
	            strcmp(row_of(profile, "host.l4.size")->status, "absent") != 0;

	for (size_t k = 0; k < ARRAY_LEN(all); k++) {
		*resolved += strcmp(row_of(profile, all[k].name)->status, "ok") == 0;
		wrong += is_wrong(profile, all[k].name, all[k].least, all[k].most);
	}
	profile_free(profile);
	return wrong;
}

static void test_random(void)
{
	const int machines = test_full() ? 60 : 15;
	int all = 0, resolved = 0;

	for (int i = 0; i < machines; i++) {
		const struct made_up m = draw_machine();
		const int wrong = count_wrong(&m, &resolved);
		all += wrong;
		if (wrong)
			diag("machine %d", i);
	}
	ok(all == 0 && resolved > 10 * machines,
	        "%d machines drawn at random: %d values resolved, %d wrong", machines, resolved,
	        all);
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
	        test_short_chain, test_fourth, test_missed, test_nothing_stated, test_random,
	        test_odd, test_missing_rows, test_no_clock};

	for (size_t i = 0; i < ARRAY_LEN(tests); i++)
		tests[i]();
	return finish();
}
