/* SPDX-License-Identifier: MIT */
/* Question: how large and how quick are the host's caches, TLBs and memory, by page size and NUMA
 * node?
 *
 * Method: one bound thread follows a random pointer chain over the cache lines of a set
 * (lib/stats/pointer_chain); larger sets than CHAIN lines through a random sample of their lines.
 * Between the timed stretches loads at random lines of the whole set keep every cache as uniform
 * access leaves it. TLBs: one line in each page, less as many lines in few (huge) pages.
 *
 * What can fool it: pages of another size than asked (verified); a hypervisor's own pages; caches
 * that others share; a prefetcher of adjacent lines; a changing clock (recorded with each point);
 * interference on the core (the quietest one is taken, disturbed points are repeated).
 *
 * Unit: seconds of one load. */
#include "host_chase_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "lib/stats/pointer_chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	PAIRS = 1024,          /* pairs of loads, too many for the first cache */
	BLOCK = 768,           /* bytes between pairs, spread over its sets */
	SOON_SETTLED = 1 << 21 /* larger sets get fewer settling loads a node */
};
static const size_t first_bytes = 4096, dense_bytes = (size_t)16 << 20, mebi = (size_t)1 << 20;

/* Random loads until the caches are in their steady state: a last-level cache may not keep data
 * read once or in order. */
static void settle(const struct set *set)
{
	const size_t several = set->nodes <= SOON_SETTLED ? 3 : 2;

	host_chase_touch(set, set->nodes * (set->nodes <= CHAIN ? 4 : several));
}

static struct set new_set(
        struct chase *chase, const struct pages *pages, size_t stride, uint32_t nodes)
{
	return (struct set){
	        .chase = chase, .base = pages->base, .stride = stride, .nodes = nodes, .spread = 1};
}

static void measure_chain(
        struct chase *chase, struct pages *pages, const char *series, size_t bytes, int numa_node)
{
	const struct arg args[] = {{"bytes", (double)bytes}, {"node", numa_node}};
	struct set set = new_set(chase, pages, LINE, (uint32_t)(bytes / LINE));

	host_chase_link(&set);
	settle(&set);
	host_chase_record(&set, series, args, numa_node < 0 ? 1 : 2);
}

static void measure_pages(
        struct chase *chase, struct pages *pages, const char *series, size_t stride, uint32_t nodes)
{
	const struct arg args[] = {{"nodes", nodes}, {"stride", (double)stride}};
	struct set set = new_set(chase, pages, stride, nodes);

	if (stride == LINE)
		set.packed = chase->packed;
	else
		set.spread = (uint32_t)(stride / LINE);
	pages_touch(pages, stride == LINE ? 2 * MOST_PAGES * LINE : nodes * stride);
	host_chase_link(&set);
	settle(&set);
	host_chase_record(&set, series, args, ARRAY_LEN(args));
}

static void measure_line(struct chase *chase, struct pages *pages)
{
	pages_touch(pages, (size_t)(PAIRS + 1) * BLOCK);
	for (size_t apart = 0; apart <= BLOCK / 3; apart = apart ? 2 * apart : 16) {
		const struct arg args[] = {{"stride", (double)apart}};
		struct set set = new_set(chase, pages, BLOCK, PAIRS);
		host_chase_link_pairs(&set, apart);
		host_chase_record(&set, "line", args, ARRAY_LEN(args));
	}
}

/* The next larger number of lines or pages, `steps` of them in each factor of two. */
static size_t larger(size_t n, int steps)
{
	size_t next = (size_t)nearbyint((double)n * exp2(1.0 / steps));
	return next > n ? next : n + 1;
}

/* The lines' places without the pages: as low as possible at the same distance from a multiple of
 * a small page, so that they use the same sets of the first cache. */
static void pack(struct chase *chase)
{
	const uint32_t window = (uint32_t)(chase->small.page / LINE);
	uint32_t *row = xcalloc(window, sizeof *row);

	for (uint32_t i = 0; i < MOST_PAGES; i++) {
		uint32_t line = host_chase_line(i, window);
		chase->packed[i] = row[line]++ * window + line;
	}
	free(row);
}

static void measure_tlb(struct chase *chase, int steps)
{
	struct pages *few = chase->huge.bytes ? &chase->huge : &chase->small;

	pack(chase);
	for (uint32_t n = 8; n <= MOST_PAGES; n = (uint32_t)larger(n, steps)) {
		measure_pages(chase, few, "packed", LINE, n);
		if (n * chase->small.page <= chase->small.bytes)
			measure_pages(chase, &chase->small, "pages_small", chase->small.page, n);
		if (chase->huge.bytes && n * chase->huge.page <= chase->huge.bytes / 2)
			measure_pages(chase, &chase->huge, "pages_huge", chase->huge.page, n);
	}
}

/* Growing sizes until time or memory ends. Returns the largest set. */
static size_t measure_chains(
        struct chase *chase, struct pages *pages, const char *series, int steps, double end)
{
	size_t lines = first_bytes / LINE, largest = 0;
	double last = 0;

	while (lines * LINE <= pages->bytes) {
		size_t bytes = lines * LINE;
		double start = clock_now();
		if (bytes > dense_bytes && start + 1.5 * last > end) {
			msg_note("%s of %zu bytes and more: the time was spent", series, bytes);
			table_meta_set(chase->run->curve, "dropped",
			        "%s of %zu bytes and more: the time was spent", series, bytes);
			break;
		}
		pages_touch(pages, bytes);
		measure_chain(chase, pages, series, bytes, -1);
		largest = bytes;
		last = clock_now() - start;
		lines = larger(lines, bytes < dense_bytes ? steps : 2);
	}
	return largest;
}

/* The memory of every node, from a core of the first node. */
static void measure_nodes(struct chase *chase, size_t bytes)
{
	char got[128];
	struct fault fault;
	bool huge = chase->huge.bytes > 0;

	measure_chain(chase, huge ? &chase->huge : &chase->small, "chain_node", bytes, 0);
	for (int i = 1; i < chase->facts.numa_nodes; i++) {
		const int node = topology_node(chase->topology, i);
		struct pages pages;
		if (!topology_bind(chase->topology, node, -1, got) ||
		        !pages_map(&pages, bytes, huge, &fault))
			continue; /* the node has no processors or no room */
		pages_touch(&pages, bytes);
		topology_bind(chase->topology, -1, chase->core, got);
		if (pages_verified(&pages))
			measure_chain(chase, &pages, "chain_node", bytes, i);
		pages_unmap(&pages);
	}
}

/* Huge pages show the caches without TLB misses and come first; small pages then need few points.
 */
static void measure_sizes(struct chase *chase, int steps)
{
	const double small_part = 0.2 * chase->run->seconds;
	size_t largest = 0;

	if (chase->huge.bytes)
		largest = measure_chains(
		        chase, &chase->huge, "chain_huge", steps, chase->end - small_part);
	if (largest)
		measure_nodes(chase, largest);
	const size_t small = measure_chains(
	        chase, &chase->small, "chain_small", largest ? 2 : steps, chase->end);
	if (!largest)
		measure_nodes(chase, small);
}

/* Verifies that the pages are huge. One of a kernel whose small pages have 64 KiB is 512 MiB large.
 */
static bool map_huge(struct pages *pages, size_t bytes, size_t available, struct fault *fault)
{
	if (!pages_map(pages, bytes, true, fault))
		return false;
	if (available && pages->bytes > available / 2) {
		const size_t page = pages->page;
		pages_unmap(pages);
		return fault_set(fault, "a page of %zu bytes is too large for %zu of memory", page,
		        available);
	}
	pages_touch(pages, 16 * mebi);
	if (pages_verified(pages))
		return true;
	pages_unmap(pages);
	return fault_set(fault, "the kernel gives no huge pages (transparent_hugepage/enabled)");
}

static void map_memory(struct chase *chase)
{
	const struct topology_facts *facts = &chase->facts;
	const size_t cache =
	        (size_t)(facts->l4_bytes > facts->l3_bytes ? facts->l4_bytes : facts->l3_bytes);
	const size_t available = pages_available();
	size_t wanted = 4 * cache > 512 * mebi ? 4 * cache : 512 * mebi;
	struct fault fault;

	if (chase->run->common.quick)
		wanted = 64 * mebi;
	if (available && wanted > available / 4) {
		wanted = available / 4;
		msg_warn("only %zu bytes of memory are available: sets up to %zu bytes", available,
		        wanted);
	}
	if (wanted < 64 * mebi)
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of memory are available: stop other programs", available);
	if (!map_huge(&chase->huge, wanted, available, &fault)) {
		msg_note("no huge pages: %s", fault.text);
		table_meta_set(chase->run->curve, "huge_pages", "%s", fault.text);
	}
	const size_t shown =
	        2 * (size_t)MOST_PAGES * pages_small(); /* small pages only show TLBs */
	if (chase->huge.bytes && wanted > shown)
		wanted = shown;
	if (!pages_map(&chase->small, wanted, false, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
}

/* The line of the first cache, bytes, where the C library or the kernel tells it. */
static int64_t stated_line(void)
{
	static const char path[] = "/sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size";
	int bytes = 0;

#ifdef _SC_LEVEL1_DCACHE_LINESIZE
	bytes = (int)sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
#endif
	FILE *file = bytes > 0 ? NULL : fopen(path, "r");
	if (file) {
		if (fscanf(file, "%d", &bytes) != 1)
			bytes = 0;
		fclose(file);
	}
	return bytes > 0 ? bytes : LINE;
}

static void state(struct chase *chase)
{
	const struct {
		const char *key;
		int64_t bytes;
	} stated[] = {{"stated_l1", chase->facts.l1d_bytes}, {"stated_l2", chase->facts.l2_bytes},
	        {"stated_l3", chase->facts.l3_bytes}, {"stated_l4", chase->facts.l4_bytes},
	        {"stated_line", stated_line()}};

	for (size_t i = 0; i < ARRAY_LEN(stated); i++)
		if (stated[i].bytes > 0)
			table_meta_set(chase->run->curve, stated[i].key, "%lld",
			        (long long)stated[i].bytes);
}

/* The clock's share of a stretch, from a long and a short stretch in the first cache. */
static double timer_seconds(struct chase *chase)
{
	enum { READINGS = 101, SHORT = STRETCH / 16 };
	struct set set = new_set(chase, &chase->small, LINE, 64);
	double reading[READINGS];

	pages_touch(&chase->small, first_bytes);
	host_chase_link(&set);
	for (size_t i = 0; i < READINGS; i++) {
		set.stretch = STRETCH;
		double full = host_chase_time(&set);
		set.stretch = SHORT;
		reading[i] = host_chase_time(&set);
		reading[i] -= (full - reading[i]) * SHORT / (STRETCH - SHORT);
	}
	return stats_median(reading, READINGS);
}

/* The quietest core with the same local memory as core 0; where the process may not run on one, the
 * quietest. Cores that it may not run on have no rate. */
static void take_core(struct chase *chase, char got[128])
{
	const struct core_noise *noise = &chase->noise;

	chase->core = noise->order[0];
	for (int i = noise->cores - 1; i >= 0; i--) {
		const int core = noise->order[i];
		if (noise->rate[core] > 0 && topology_shared(chase->topology, core, 0) >= 0)
			chase->core = core;
	}
	topology_bind(chase->topology, -1, chase->core, got);
}

static void measure(struct probe_run *run)
{
	struct chase chase = {.run = run,
	        .next = xmalloc((size_t)CHAIN * CHAIN_SLOTS * sizeof(uint32_t)),
	        .place = xmalloc((size_t)CHAIN * sizeof(uint32_t)),
	        .random = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process,
	        .seconds = run->common.quick ? 1e-3 : 2.5e-3,
	        .end = clock_now() + run->seconds};
	const int steps = run->common.quick ? 2 : 4;
	char got[128];
	struct fault fault;

	chase.topology = topology_host(&fault);
	if (!chase.topology)
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	topology_facts(chase.topology, &chase.facts);
	while (clock_now() < chase.end - 0.95 * run->seconds)
		; /* until the processor's clock has risen */
	core_noise_open(&chase.noise, chase.topology, chase.facts.cores, -1, run->common.quick);
	core_noise_expect(&chase.noise, run->core_usual);
	core_noise_note(&chase.noise, run->curve);
	take_core(&chase, got);
	table_meta_set(run->curve, "binding", "%s", got);
	state(&chase);
	map_memory(&chase);
	chase.timer = timer_seconds(&chase);
	measure_line(&chase, chase.huge.bytes ? &chase.huge : &chase.small);
	measure_tlb(&chase, steps);
	measure_sizes(&chase, steps);
	if (chase.huge.bytes && !pages_verified(&chase.huge))
		msg_die(EXIT_MEASURE_FAILED, "the kernel took huge pages back: try again");
	pages_unmap(&chase.huge);
	pages_unmap(&chase.small);
	core_noise_close(&chase.noise);
	free(chase.next);
	free(chase.place);
}

static const char *const args[] = {"bytes", "nodes", "stride", "node"};
const struct probe host_chase_probe = {
        .name = "host_chase",
        .question = "How large and how quick are the host's caches, TLBs and memory?",
        .args = args,
        .arg_count = ARRAY_LEN(args),
        .seconds = 1.6,
        .processes = 3,
        .measure = measure,
        .fit = host_chase_fit,
};
