/* SPDX-License-Identifier: MIT */
/* The pointer_chase probe's analysis on simulated machines: a GeForce 8800 GTX as LAPACK Working
 * Note 202 describes it, two levels of TLBs, a machine without L1, a divided L2, and curves that
 * say nothing. (test_pointer_chase_random.c: machines drawn at random.) */
#include "chase_curves.h"

static void test_papers_gpu(void)
{
	struct machine machine = {.caches = 2,
	        .tlbs = 0,
	        .base = 280 / 1.35e9,
	        .noise = 0.002,
	        .hz = 1.35e9,
	        .random = 0x2260};
	machine.cache[0] = (struct cache){
	        .line = 32, .sector = 32, .sets = 8, .ways = 20, .step = 110 / 1.35e9};
	machine.cache[1] = (struct cache){
	        .line = 32, .sector = 32, .sets = 256, .ways = 24, .step = 100 / 1.35e9};
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
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
	struct profile *profile = profile_of(pointer_chase_fit, curve);

	HOLD(profile, {"gpu.l1.size", 5120, "the paper: 5 KB of L1"},
	        {"gpu.l2.size", 196608, "the paper: 192 KB of L2"},
	        {"gpu.l1.line", 32, "the paper: lines of 32 bytes"},
	        {"gpu.tlb.entries", 16, "the paper: 16 TLB entries"},
	        {"gpu.tlb.page", 512 << 10, "the paper: pages of 512 KB"});
	is_real(row_of(profile, "gpu.l1.latency")->estimate.value, 280 / 1.35e9, 0.02,
	        "the paper: 280 cycles of L1 latency");
	is_real(row_of(profile, "gpu.clock.sm")->estimate.value, 1.35e9, 1e-3,
	        "the paper: the clock");
	profile_free(profile);
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
	put(&each, curve, "all_pages", args, 1, chain(&each, nodes, STRIDE_2M, true, 20000));
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
	table_meta_set(curve, "gpu_compute_capability", "9.0");
	table_meta_set(curve, "gpu_sms", "%d", SMS);
	table_meta_set(curve, "gpu_threads_per_sm", "1536");
	table_meta_set(curve, "gpu_blocks_per_sm", "16");
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
	struct profile *profile = profile_of(pointer_chase_fit, two_tlbs(13));
	const struct parameter *shared = row_of(profile, "gpu.tlb.shared_by[level=1]");
	is_text(shared->status, "bounded", "1.2 SMs that share a TLB are not a count");
	ok(shared->estimate.low == 1 && shared->estimate.high == 2, "but between 1 and 2");
	profile_free(profile);
}

static void test_two_tlbs(void)
{
	struct profile *profile = profile_of(pointer_chase_fit, two_tlbs(16));

	HOLD(profile, {"gpu.tlb.reach[level=1]", 256 << 20, "two TLBs: 256 MiB of the first"},
	        {"gpu.tlb.entries[level=1]", 16, "its 16 entries"},
	        {"gpu.tlb.page[level=1]", 16 << 20, "its pages of 16 MiB"},
	        {"gpu.tlb.penalty[level=1]", 5.1e-9, "what missing it costs"},
	        {"gpu.tlb.shared_by[level=1]", 1, "every SM has its own"},
	        {"gpu.tlb.reach[level=2]", 64.0 * (1 << 30), "64 GiB of the second"},
	        {"gpu.tlb.entries[level=2]", 2048, "its 2048 entries"},
	        {"gpu.tlb.page[level=2]", 32 << 20, "its pages of 32 MiB"},
	        {"gpu.tlb.penalty[level=2]", 43e-9, "what missing it, too, costs"},
	        {"gpu.compute_capability", 9.0, "the device's compute capability"},
	        {"gpu.sm.count", SMS, "its multiprocessors"},
	        {"gpu.sm.threads", 1536, "the threads that one of them holds"},
	        {"gpu.sm.blocks", 16, "and the blocks"});
	const struct parameter *shared = row_of(profile, "gpu.tlb.shared_by[level=2]");
	is_text(shared->status, "bounded", "that not all SMs share it is seen, not how many do");
	ok(shared->estimate.high >= OF_A_GROUP && shared->estimate.high < SMS, "up to %g",
	        shared->estimate.high);
	profile_free(profile);
}

/* ---- other machines ---- */

/* An L2 of two partitions. Chains meet a mixture of both; a single line that is read repeatedly is
 * always in the near one. */
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
	table_meta_set(curve, "gpu_l2_bytes", "%.0f", last_cache_bytes(&m));
	put_caches(&m, curve, 128);
	for (int sm = 0; sm < 16; ++sm)
		for (int line = 0; line < 12; ++line) {
			const struct arg args[] = {{"sm", sm}, {"line", line}};
			const bool closer = (sm < 8) == (line % 3 == 0);
			put(&m, curve, "slice", args, 2, closer ? 135e-9 : 150e-9);
		}
	const struct arg nobody[][2] = {{{"sm", NAN}, {"line", 3}}, {{"sm", 3}, {"line", -1}}};
	for (size_t i = 0; i < ARRAY_LEN(nobody); ++i) /* rows that count for nothing */
		put(&m, curve, "slice", nobody[i], 2, 1e-9);
	struct profile *profile = profile_of(pointer_chase_fit, curve);
	const struct parameter *beyond = row_of(profile, "gpu.l2.beyond_near.latency");
	HOLD(profile, {"gpu.l2.near.size", cache_bytes(&m.cache[1]), "a divided L2: its near part"},
	        {"gpu.l2.beyond_near.latency", 272e-9, "what misses it takes 272 ns"});
	ok(beyond->estimate.high - beyond->estimate.low < 0.2 * 272e-9, "known to 10 %%: %g to %g",
	        beyond->estimate.low, beyond->estimate.high);
	is_real(row_of(profile, "gpu.l2.slice.closer.latency")->estimate.value, 135e-9, 0.01,
	        "lines in slices closer by");
	is_real(row_of(profile, "gpu.l2.slice.farther.latency")->estimate.value, 150e-9, 0.01,
	        "and in slices farther away, both near");
	is_text(row_of(profile, "gpu.l2.far.latency")->status, "absent",
	        "which says nothing of the other partition");
	double least, most;
	ok(profile_range(profile, "gpu.load.latency", "bytes", &least, &most) && least >= 524288 &&
	                most > 0.75 * last_cache_bytes(&m) && most <= last_cache_bytes(&m),
	        "loads by the set, past L1 and up to L2: of %g to %g bytes", least, most);
	profile_free(profile);
}

/* A cycle over all of `bytes` at a stride. */
static void put_cycle(struct machine *machine, struct table *curve, const char *series,
        uint32_t bytes, uint32_t stride)
{
	const struct arg args[] = {{"bytes", bytes}, {"stride", stride}};
	put(machine, curve, series, args, 2,
	        chain_of(machine, 1, bytes / stride, stride, false, 0));
}

/* Read-only loads through L1, an doubling apart, and volatile ones past it, some over few lines
 * that happen to lie close by and some over more than L2. */
static void test_other_paths(void)
{
	struct machine m = draw(31), past = without_first(&m), close = past;
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	table_meta_set(curve, "gpu_l2_bytes", "%.0f", last_cache_bytes(&m));
	for (uint32_t bytes = 2048; bytes <= 1 << 20; bytes *= 2) {
		const struct arg args[] = {{"bytes", bytes}, {"stride", 128}};
		put(&m, curve, "chain_nc", args, 2, chain(&m, bytes / 128, 128, false, 12000));
	}
	close.base *= 0.95;
	put_cycle(&close, curve, "cycle_cv", 4096, 512);
	put_cycle(&past, curve, "cycle_cv", 262144, 512);
	put_cycle(&past, curve, "cycle_cv", 16 << 20, 512);
	struct profile *profile = profile_of(pointer_chase_fit, curve);
	HOLD(profile, {"gpu.readonly.latency", m.base, "read-only loads: hits in L1"},
	        {"gpu.l2.volatile.latency", past.base, "volatile loads: hits in L2"});
	profile_free(profile);
}

static void test_no_l1(void)
{
	struct machine m = draw(4711);
	struct table *curve = curve_new(columns, ARRAY_LEN(columns));
	const double l2 = cache_bytes(&m.cache[1]);
	struct machine past = without_first(&m);
	const struct arg cold[] = {{"bytes", 16 * l2}};
	table_meta_set(curve, "gpu_l2_bytes", "%.0f", l2);
	put_chains(&past, curve, "chain_ca", 128, l2 / 200, l2 / 2);
	put_chains(&past, curve, "chain_cg", 128, l2 / 30, 8 * l2);
	put(&m, curve, "cold", cold, 1, memory_latency(&m));
	struct profile *profile = profile_of(pointer_chase_fit, curve);
	is_text(row_of(profile, "gpu.l1.size")->status, "bounded",
	        "without L1 its size is not resolved");
	is_text(row_of(profile, "gpu.l1.latency")->status, "bounded", "nor is its latency");
	HOLD(profile, {"gpu.l2.size", l2, "L2 is found all the same"});
	profile_free(profile);
}

int main(void)
{
	is_empty_fit(pointer_chase_fit, columns, ARRAY_LEN(columns));

	test_papers_gpu();
	test_two_tlbs();
	test_no_count();
	test_no_l1();
	test_divided();
	test_other_paths();
	return finish();
}
