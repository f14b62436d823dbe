/* SPDX-License-Identifier: MIT */
/* The pointer_chase probe's analysis on simulated machines that run the real walks: a GeForce 8800
 * GTX as LAPACK Working Note 202 describes it, 200 machines drawn at random, some with a divided L2
 * (nothing silently wrong), some of them again with a clock that rises from process to process, a
 * machine without L1, and curves that say nothing. */
#include "tap.h"
#include "cache_machine.h"
#include "../lib/curve.h"
#include "../lib/profile.h"
#include "../probes/pointer_chase.h"

static const char *const columns[] = {
        "bytes", "stride", "nodes", "offset", "sm", "line", "distance"};

enum { PROCESSES = 3 };

static void put(struct machine *machine, struct table *curve, const char *series,
        const struct arg *args, size_t count, double seconds)
{
	const double shared = 1 + machine->drift * machine_normal(&machine->random);
	const double stated = machine->noise * (1 + machine->doubt);
	for (int process = 0; process < PROCESSES; ++process) {
		const double quicker = 1 + machine->ramp * process;
		const double value = seconds / quicker * shared *
		                     (1 + machine->noise * machine_normal(&machine->random));
		const struct measurement m = {
		        .seconds = {value, value * (1 - stated), value * (1 + stated), 10},
		        .hz = machine->hz * quicker};
		curve_add(curve, series, args, count, process, &m, false);
	}
}

/* A walk over n nodes `stride` apart, each in a random line of its part when spread. */
static double walk(
        struct machine *machine, uint32_t n, uint64_t stride, bool spread, uint32_t limit)
{
	uint64_t *address = malloc(n * sizeof *address);
	const uint32_t unit = 128;
	for (uint32_t i = 0; i < n; ++i)
		address[i] =
		        i * stride + (spread ? (uint64_t)unit * walk_random(&machine->random,
		                                                        (uint32_t)(stride / unit))
		                             : 0);
	machine_start(machine);
	const double seconds = machine_walk(machine, address, n, limit);
	machine_stop(machine);
	free(address);
	return seconds;
}

/* Dense sets from `first` to `last` bytes, eight an octave. */
static void put_walks(struct machine *machine, struct table *curve, const char *series,
        uint32_t stride, double first, double last)
{
	for (double bytes = first; bytes <= last; bytes *= 1.13) {
		const uint32_t n = (uint32_t)(bytes / stride);
		const struct arg args[] = {{"bytes", (double)n * stride}, {"stride", stride}};
		put(machine, curve, series, args, 2, walk(machine, n, stride, false, 12000));
	}
}

/* Past the first cache: its hits are not there. */
static struct machine without_first(const struct machine *machine)
{
	struct machine rest = *machine;
	rest.base += rest.cache[0].step;
	for (int i = 1; i < rest.caches; ++i)
		rest.cache[i - 1] = rest.cache[i];
	rest.caches--;
	return rest;
}

static double memory_latency(const struct machine *machine)
{
	double seconds = machine->base;
	for (int i = 0; i < machine->caches; ++i)
		seconds += machine->cache[i].step;
	return seconds;
}

static double last_cache_bytes(const struct machine *machine)
{
	return cache_bytes(&machine->cache[machine->caches - 1]);
}

/* A node in every third line, so that the nodes fill all sets alike; four sizes an octave. */
static void put_entries(struct machine *machine, struct table *curve, const char *series,
        uint32_t line, double first, double last)
{
	for (double nodes = first; nodes <= last; nodes *= 1.19) {
		const struct arg args[] = {{"nodes", floor(nodes)}};
		put(machine, curve, series, args, 1,
		        walk(machine, (uint32_t)nodes, 3 * line, false, 12000));
	}
}

static void put_caches(struct machine *machine, struct table *curve, uint32_t stride)
{
	const double l1 = cache_bytes(&machine->cache[0]), l2 = last_cache_bytes(machine);
	const double through_l1 = fmin(9 * l1, 0.8 * cache_bytes(&machine->cache[1]));
	struct machine past = without_first(machine);
	put_walks(machine, curve, "walk_ca", stride, l1 / 60, through_l1);
	put_walks(&past, curve, "walk_cg", stride, l2 / 30, 8 * l2);
	put_entries(machine, curve, "entries_ca", stride, l1 / stride / 8, 8 * l1 / stride);
	put_entries(&past, curve, "entries_cg", stride, l2 / stride / 4, 8 * l2 / stride);
	machine->random = past.random;
	for (double bytes = 4 * l2; bytes <= 16 * l2; bytes *= 2) {
		const struct arg cold[] = {{"bytes", bytes}};
		put(machine, curve, "cold", cold, 1, memory_latency(machine));
	}
}

/* One node at a random line of each stride. */
static void put_pages(struct machine *machine, struct table *curve, uint64_t stride, uint32_t nodes)
{
	const struct arg args[] = {{"stride", (double)stride}, {"nodes", nodes}};
	put(machine, curve, "pages", args, 2, walk(machine, nodes, stride, true, 20000));
}

/* The first row of that name, or (level > 0) the one of that level. */
static const struct parameter *row_of(const struct profile *profile, const char *name, double level)
{
	static const struct parameter none = {.status = "absent"};
	for (size_t i = 0; i < profile->count; ++i)
		if (strcmp(profile->row[i].name, name) == 0 &&
		        (level == 0 || profile->row[i].arg[0] == level))
			return &profile->row[i];
	return &none;
}

static const struct parameter *row(const struct profile *profile, const char *name)
{
	return row_of(profile, name, 0);
}

/* Whether a parameter is resolved; *wrong is set when it is and `truth` lies outside its interval
 * by more than a hair. */
static bool told(const struct parameter *p, double truth, bool *wrong)
{
	if (!p->status || strcmp(p->status, "absent") == 0 || strcmp(p->status, "bounded") == 0) {
		if (p->status && strcmp(p->status, "bounded") == 0 &&
		        (truth < p->estimate.low * 0.999 || truth > p->estimate.high * 1.001))
			*wrong = true;
		return false;
	}
	if (strcmp(p->status, "failed") == 0 || truth < p->estimate.low * 0.999 ||
	        truth > p->estimate.high * 1.001)
		*wrong = true;
	return true;
}

static bool resolved(const struct profile *profile, const char *name, double truth, bool *wrong)
{
	return told(row(profile, name), truth, wrong);
}

/* ---- the machine of the paper ---- */

static void test_8800gtx(void)
{
	struct machine machine = {.caches = 2,
	        .tlbs = 0,
	        .base = 280 / 1.35e9,
	        .noise = 0.002,
	        .hz = 1.35e9,
	        .random = 8800};
	machine.cache[0] = (struct cache){
	        .line = 32, .sector = 32, .sets = 8, .ways = 20, .step = 110 / 1.35e9};
	machine.cache[1] = (struct cache){
	        .line = 32, .sector = 32, .sets = 256, .ways = 24, .step = 100 / 1.35e9};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	table_meta_set(curve, "gpu_l2_bytes", "196608");
	put_caches(&machine, curve, 32);
	/* pages: loads hit the last cache, translations do not */
	struct machine pages = {.caches = 0,
	        .tlbs = 1,
	        .base = 390 / 1.35e9,
	        .noise = 0.002,
	        .hz = 1.35e9,
	        .random = 512};
	pages.tlb[0] = (struct cache){.line = 512 << 10,
	        .sector = 512 << 10,
	        .sets = 1,
	        .ways = 16,
	        .step = 250 / 1.35e9};
	for (uint64_t stride = 64 << 10; stride <= 8 << 20; stride *= 2)
		for (double nodes = 4; nodes * (double)stride <= 96e6 || nodes < 200; nodes *= 1.19)
			put_pages(&pages, curve, stride, (uint32_t)nodes);
	pointer_chase_fit(curve, profile);

	bool wrong = false;
	ok(resolved(profile, "gpu.l1.size", 5120, &wrong) && !wrong, "8800 GTX: 5 KB of L1");
	diag("gpu.l1.size %g, want 5120", row(profile, "gpu.l1.size")->estimate.value);
	ok(resolved(profile, "gpu.l2.size", 196608, &wrong) && !wrong, "8800 GTX: 192 KB of L2");
	diag("gpu.l2.size %g, want 196608", row(profile, "gpu.l2.size")->estimate.value);
	ok(resolved(profile, "gpu.l1.line", 32, &wrong) && !wrong, "8800 GTX: lines of 32 bytes");
	ok(resolved(profile, "gpu.tlb.entries", 16, &wrong) && !wrong, "8800 GTX: 16 TLB entries");
	ok(resolved(profile, "gpu.tlb.page", 512 << 10, &wrong) && !wrong,
	        "8800 GTX: pages of 512 KB");
	diag("entries %g, page %g, reach %g", row(profile, "gpu.tlb.entries")->estimate.value,
	        row(profile, "gpu.tlb.page")->estimate.value,
	        row(profile, "gpu.tlb.reach")->estimate.value);
	is_real(row(profile, "gpu.l1.latency")->estimate.value, 280 / 1.35e9, 0.02,
	        "8800 GTX: 280 cycles of L1 latency");
	is_real(row(profile, "gpu.clock.sm")->estimate.value, 1.35e9, 1e-3, "8800 GTX: its clock");
	profile_free(profile);
	table_free(curve);
}

/* ---- a machine with two levels of TLB, of little penalty ---- */

enum { STRIDE_2M = 2 << 20, SMS = 132, OF_A_GROUP = 16 };

/* All SMs, each with a set of its own: a group's share the second level, and each has so many ways
 * of the first. */
static void put_all(struct machine *machine, struct table *curve, uint32_t nodes, uint32_t ways)
{
	const struct arg args[] = {{"bytes", (double)nodes * STRIDE_2M}};
	struct machine each = *machine;
	each.tlb[0].ways = ways;
	each.tlb[1].sets /= OF_A_GROUP;
	put(&each, curve, "all_pages", args, 1, walk(&each, nodes, STRIDE_2M, true, 20000));
	machine->random = each.random;
}

static struct table *two_tlbs(uint32_t ways)
{
	const uint64_t memory = (uint64_t)111 << 30;
	struct machine machine = {.tlbs = 2,
	        .base = 141.6e-9,
	        .noise = 0.001,
	        .doubt = 4,
	        .hz = 1.98e9,
	        .random = 200};
	machine.tlb[0] = (struct cache){.line = 16 << 20,
	        .sector = 16 << 20,
	        .sets = 1,
	        .ways = 16,
	        .replacement = REPLACE_RANDOM,
	        .step = 5.1e-9};
	machine.tlb[1] = (struct cache){
	        .line = 32 << 20, .sector = 32 << 20, .sets = 128, .ways = 16, .step = 43e-9};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	table_meta_set(curve, "gpu_sms", "%d", SMS);
	for (uint64_t stride = 2 << 20; stride <= 64 << 20; stride *= stride == 8 << 20 ? 4 : 2) {
		const uint32_t most = (uint32_t)(memory / stride);
		for (uint32_t k = 0, nodes = 0; nodes < most; ++k) {
			nodes = (4 + k % 4) << k / 4;
			nodes = nodes < most ? nodes : most;
			put_pages(&machine, curve, stride, nodes);
			const struct arg args[] = {{"nodes", nodes}};
			if (stride == 2 << 20)
				put(&machine, curve, "packed", args, 1, machine.base);
		}
	}
	for (uint32_t k = 0; (4 + k % 4) << k / 4 <= memory / STRIDE_2M / SMS; k += 2)
		put_all(&machine, curve, (4 + k % 4) << k / 4, ways);
	return curve;
}

/* Between a whole number and the next there is no count. */
static void test_no_count(void)
{
	struct table *curve = two_tlbs(13);
	struct profile *profile = profile_new();

	pointer_chase_fit(curve, profile);
	const struct parameter *shared = row_of(profile, "gpu.tlb.shared_by", 1);
	is_text(shared->status, "bounded", "1.2 SMs that share a TLB are not a count");
	ok(shared->estimate.low == 1 && shared->estimate.high == 2, "but between 1 and 2");
	profile_free(profile);
	table_free(curve);
}

static void test_two_tlbs(void)
{
	struct table *curve = two_tlbs(16);
	struct profile *profile = profile_new();

	pointer_chase_fit(curve, profile);
	bool wrong = false;
	static const struct {
		const char *name;
		double level, truth;
		const char *what;
	} found[] = {{"gpu.tlb.reach", 1, 256 << 20, "two TLBs: 256 MiB of the first"},
	        {"gpu.tlb.entries", 1, 16, "its 16 entries"},
	        {"gpu.tlb.page", 1, 16 << 20, "its pages of 16 MiB"},
	        {"gpu.tlb.penalty", 1, 5.1e-9, "what missing it costs"},
	        {"gpu.tlb.shared_by", 1, 1, "every SM has its own"},
	        {"gpu.tlb.reach", 2, 64.0 * (1 << 30), "64 GiB of the second"},
	        {"gpu.tlb.entries", 2, 2048, "its 2048 entries"},
	        {"gpu.tlb.page", 2, 32 << 20, "its pages of 32 MiB"},
	        {"gpu.tlb.penalty", 2, 43e-9, "what missing it, too, costs"}};
	for (size_t i = 0; i < ARRAY_LEN(found); ++i)
		ok(told(row_of(profile, found[i].name, found[i].level), found[i].truth, &wrong) &&
		                !wrong,
		        "%s", found[i].what);
	const struct parameter *shared = row_of(profile, "gpu.tlb.shared_by", 2);
	is_text(shared->status, "bounded", "that not all SMs share it is seen, not how many do");
	ok(shared->estimate.high >= OF_A_GROUP && shared->estimate.high < SMS, "up to %g",
	        shared->estimate.high);
	for (size_t i = 0; i < profile->count; ++i)
		if (strncmp(profile->row[i].name, "gpu.tlb", 7) == 0)
			diag("%s[%g] %g, %g to %g", profile->row[i].name, profile->row[i].arg[0],
			        profile->row[i].estimate.value, profile->row[i].estimate.low,
			        profile->row[i].estimate.high);
	profile_free(profile);
	table_free(curve);
}

/* ---- machines at random ---- */

static uint32_t pick(struct machine *machine, uint32_t low, uint32_t high)
{
	return low + walk_random(&machine->random, high - low + 1);
}

/* Half of L2 is near: what misses it takes longer, and memory longer still. A measurement's
 * interval is stated as twice its deviation. */
static void divide(struct machine *m)
{
	m->doubt = 1;
	m->cache[1].sets /= 2;
	m->cache[m->caches] = m->cache[1];
	m->cache[m->caches].sets *= 2;
	m->cache[1].step = 1e-9 * pick(m, 60, 150);
	m->caches++;
}

static struct machine draw(uint64_t seed)
{
	static const uint32_t ways[] = {2, 4, 8, 16, 32};
	struct machine m = {.caches = 2, .random = seed * 7919 + 13, .hz = 1.5e9};
	m.noise = 0.0005 + 0.00002 * pick(&m, 0, 150);
	m.drift = 0.00001 * pick(&m, 0, 100);
	m.base = 1e-9 * pick(&m, 8, 40);
	for (int i = 0; i < 2; ++i) {
		struct cache *c = &m.cache[i];
		*c = (struct cache){.line = 128,
		        .sector = 32,
		        .ways = ways[pick(&m, i ? 2 : 0, 4)],
		        .replacement = (enum replacement)pick(&m, 0, REPLACEMENTS - 1),
		        .hashed = pick(&m, 0, 1)};
		const uint32_t lines = i == 0 ? pick(&m, 96, 900) : pick(&m, 4000, 9000);
		c->sets = lines / c->ways > 0 ? lines / c->ways : 1;
		c->step = 1e-9 * pick(&m, 60, 250);
	}
	if (seed % 3 == 0)
		divide(&m);
	return m;
}

static double beyond_near(const struct machine *m)
{
	return m->base + m->cache[0].step + m->cache[1].step;
}

/* Whether L2's size is told. Two steps that one law fits as well are taken for one: that size is
 * not sure, and said to be noisy. */
static bool l2_told(const struct profile *profile, const struct machine *m, bool *wrong)
{
	const struct parameter *size = row(profile, "gpu.l2.size");
	const bool taken_for_one = m->caches > 2 && strcmp(size->status, "noisy") == 0;
	return !taken_for_one && told(size, last_cache_bytes(m), wrong);
}

/* How many of a divided L2's two are told. */
static int near_part(
        const struct profile *profile, const struct machine *m, double quicker, bool *wrong)
{
	return resolved(profile, "gpu.l2.near.size", cache_bytes(&m->cache[1]), wrong) +
	       resolved(profile, "gpu.l2.beyond_near.latency", beyond_near(m) / quicker, wrong);
}

struct tally {
	int answers, questions, lines, parts, divided, wrong;
};

/* What the fit says of one machine, against the truth at the clock of the middle process. */
static void ask(struct machine *m, int number, struct tally *tally)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	const double quicker = 1 + m->ramp * (PROCESSES / 2);
	const double l1 = m->base / quicker, l2 = (m->base + m->cache[0].step) / quicker,
	             memory = memory_latency(m) / quicker;
	bool wrong = false;
	table_meta_set(curve, "gpu_l2_bytes", "%.0f", last_cache_bytes(m));
	put_caches(m, curve, 128);
	pointer_chase_fit(curve, profile);
	tally->answers += resolved(profile, "gpu.l1.size", cache_bytes(&m->cache[0]), &wrong);
	tally->answers += l2_told(profile, m, &wrong);
	tally->answers += resolved(profile, "gpu.l1.latency", l1, &wrong);
	tally->answers += resolved(profile, "gpu.l2.latency", l2, &wrong);
	tally->answers += resolved(profile, "gpu.dram.latency", memory, &wrong);
	tally->questions += 5;
	if (m->caches > 2) {
		tally->divided++;
		tally->parts += near_part(profile, m, quicker, &wrong);
	}
	tally->lines += resolved(profile, "gpu.l1.line", 128, &wrong);
	tally->lines += resolved(profile, "gpu.l2.line", 128, &wrong);
	if (m->ramp > 0 && !resolved(profile, "gpu.clock.sm", m->hz * quicker, &wrong))
		wrong = true;
	tally->wrong += wrong;
	if (wrong)
		diag("machine %d: lines %g %g, L1 %g of %g (%s), L2 %g of %g (%s), "
		     "latencies %g %g %g, near part %g of %g (%s), beyond it %g",
		        number, row(profile, "gpu.l1.line")->estimate.value,
		        row(profile, "gpu.l2.line")->estimate.value,
		        row(profile, "gpu.l1.size")->estimate.value, cache_bytes(&m->cache[0]),
		        row(profile, "gpu.l1.size")->status,
		        row(profile, "gpu.l2.size")->estimate.value, last_cache_bytes(m),
		        row(profile, "gpu.l2.size")->status,
		        row(profile, "gpu.l1.latency")->estimate.value / l1,
		        row(profile, "gpu.l2.latency")->estimate.value / l2,
		        row(profile, "gpu.dram.latency")->estimate.value / memory,
		        row(profile, "gpu.l2.near.size")->estimate.value, cache_bytes(&m->cache[1]),
		        row(profile, "gpu.l2.near.size")->status,
		        row(profile, "gpu.l2.beyond_near.latency")->estimate.value * quicker /
		                beyond_near(m));
	profile_free(profile);
	table_free(curve);
}

static void test_random(int count)
{
	struct tally tally = {0};
	for (int i = 0; i < count; ++i) {
		struct machine m = draw((uint64_t)i + 1);
		ask(&m, i, &tally);
	}
	ok(tally.wrong == 0, "%d machines at random: nothing silently wrong (%d are)", count,
	        tally.wrong);
	ok(tally.answers > 0.7 * tally.questions, "and most is resolved (%d of %d)", tally.answers,
	        tally.questions);
	ok(tally.lines > 0.7 * 2 * count, "and most lines (%d of %d)", tally.lines, 2 * count);
	ok(tally.parts > 0.4 * 2 * tally.divided, "and near parts and what lies beyond (%d of %d)",
	        tally.parts, 2 * tally.divided);
}

/* The clock is higher in each further process, and its loads are quicker. */
static void test_ramp(int count, double ramp)
{
	struct tally tally = {0};
	for (int i = 0; i < count; ++i) {
		struct machine m = draw((uint64_t)i + 1);
		m.ramp = ramp;
		ask(&m, i, &tally);
	}
	ok(tally.wrong == 0,
	        "a clock %g %% higher in each process: nothing silently wrong (%d are)", 100 * ramp,
	        tally.wrong);
	ok(tally.answers > 0.7 * tally.questions && tally.lines > 0.7 * 2 * count,
	        "and most is resolved (%d of %d, lines %d of %d)", tally.answers, tally.questions,
	        tally.lines, 2 * count);
}

/* An L2 of two partitions as an H200's, of which walks meet a mixture only, and single lines that
 * are read again and again, and so always near. */
static void test_divided(void)
{
	struct machine m = {
	        .caches = 2, .base = 16e-9, .noise = 0.001, .doubt = 1, .hz = 1.98e9, .random = 31};
	m.cache[0] =
	        (struct cache){.line = 128, .sector = 32, .sets = 32, .ways = 16, .step = 126e-9};
	m.cache[1] = (struct cache){.line = 128, .sector = 32, .sets = 521, .ways = 32};
	divide(&m);
	m.cache[1].step = 130e-9;
	m.cache[2].step = 78e-9;
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	table_meta_set(curve, "gpu_l2_bytes", "%.0f", last_cache_bytes(&m));
	put_caches(&m, curve, 128);
	for (int sm = 0; sm < 16; ++sm)
		for (int line = 0; line < 12; ++line) {
			const struct arg args[] = {{"sm", sm}, {"line", line}};
			const bool closer = (sm < 8) == (line % 3 == 0);
			put(&m, curve, "slice", args, 2, closer ? 135e-9 : 150e-9);
		}
	pointer_chase_fit(curve, profile);
	const struct parameter *beyond = row(profile, "gpu.l2.beyond_near.latency");
	bool wrong = false;
	ok(resolved(profile, "gpu.l2.near.size", cache_bytes(&m.cache[1]), &wrong) && !wrong,
	        "a divided L2: its near part");
	ok(resolved(profile, "gpu.l2.beyond_near.latency", 272e-9, &wrong) && !wrong,
	        "what misses it takes 272 ns");
	ok(beyond->estimate.high - beyond->estimate.low < 0.2 * 272e-9, "known to 10 %%: %g to %g",
	        beyond->estimate.low, beyond->estimate.high);
	is_real(row(profile, "gpu.l2.slice.closer.latency")->estimate.value, 135e-9, 0.01,
	        "lines in slices closer by");
	is_real(row(profile, "gpu.l2.slice.farther.latency")->estimate.value, 150e-9, 0.01,
	        "and in slices farther away, both near");
	is_text(row(profile, "gpu.l2.far.latency")->status, "absent",
	        "which says nothing of the other partition");
	profile_free(profile);
	table_free(curve);
}

/* A cycle over all of `bytes` at a stride. */
static void put_cycle(struct machine *machine, struct table *curve, const char *series,
        uint32_t bytes, uint32_t stride)
{
	const uint32_t n = bytes / stride;
	const struct arg args[] = {{"bytes", bytes}, {"stride", stride}};
	uint64_t *address = malloc(n * sizeof *address);
	for (uint32_t i = 0; i < n; ++i)
		address[i] = (uint64_t)i * stride;
	machine_start(machine);
	put(machine, curve, series, args, 2, machine_cycle(machine, address, n));
	machine_stop(machine);
	free(address);
}

/* Read-only loads through L1, an octave apart, and volatile ones past it, some over few lines that
 * happen to lie close by and some over more than L2. */
static void test_other_paths(void)
{
	struct machine m = draw(31), past = without_first(&m), close = past;
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	table_meta_set(curve, "gpu_l2_bytes", "%.0f", last_cache_bytes(&m));
	for (uint32_t bytes = 2048; bytes <= 1 << 20; bytes *= 2) {
		const struct arg args[] = {{"bytes", bytes}, {"stride", 128}};
		put(&m, curve, "walk_nc", args, 2, walk(&m, bytes / 128, 128, false, 12000));
	}
	close.base *= 0.95;
	put_cycle(&close, curve, "cycle_cv", 4096, 512);
	put_cycle(&past, curve, "cycle_cv", 262144, 512);
	put_cycle(&past, curve, "cycle_cv", 16 << 20, 512);
	pointer_chase_fit(curve, profile);
	bool wrong = false;
	ok(resolved(profile, "gpu.readonly.latency", m.base, &wrong) && !wrong,
	        "read-only loads: hits in L1");
	ok(resolved(profile, "gpu.l2.volatile.latency", past.base, &wrong) && !wrong,
	        "volatile loads: hits in L2");
	profile_free(profile);
	table_free(curve);
}

static void test_no_l1(void)
{
	struct machine m = draw(4711);
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	const double l2 = cache_bytes(&m.cache[1]);
	struct machine past = without_first(&m);
	const struct arg cold[] = {{"bytes", 16 * l2}};
	table_meta_set(curve, "gpu_l2_bytes", "%.0f", l2);
	put_walks(&past, curve, "walk_ca", 128, l2 / 200, l2 / 2);
	put_walks(&past, curve, "walk_cg", 128, l2 / 30, 8 * l2);
	put(&m, curve, "cold", cold, 1, memory_latency(&m));
	pointer_chase_fit(curve, profile);
	is_text(row(profile, "gpu.l1.size")->status, "bounded",
	        "without L1 its size is not resolved");
	is_text(row(profile, "gpu.l1.latency")->status, "bounded", "nor is its latency");
	bool wrong = false;
	ok(resolved(profile, "gpu.l2.size", l2, &wrong) && !wrong, "L2 is found all the same");
	profile_free(profile);
	table_free(curve);
}

int main(void)
{
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	struct profile *profile = profile_new();
	pointer_chase_fit(curve, profile);
	ok(profile->count == 0, "an empty curve gives no parameters");
	profile_free(profile);
	table_free(curve);

	test_8800gtx();
	test_two_tlbs();
	test_no_count();
	test_no_l1();
	test_divided();
	test_other_paths();
	test_random(200);
	test_ramp(20, 0.005);
	test_ramp(20, 0.03);
	test_ramp(30, 0.15);
	return finish();
}
