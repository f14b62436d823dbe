/* SPDX-License-Identifier: MIT */
/* Question: how large and how quick are the host's caches, TLBs and memory, by page size and NUMA
 * node? Method: one bound thread follows pointers between random cache lines of a set, four loads
 * of a line on different ways (lib/stats/pointer_chain); sets beyond CHAIN lines are walked through a random
 * sample of their lines. Between the timed stretches loads at random lines of the whole set keep
 * every cache as uniform access leaves it. One line in each page, less as many lines in few
 * (huge) pages: the TLBs. What can fool it: pages of another size than asked (verified), a
 * hypervisor's own pages, caches that others share, a prefetcher of adjacent lines, a clock that
 * changes (recorded with each point), a neighbour on
 * the core (the quietest one is taken, disturbed points again). Unit: seconds of one load. */
#include "host_chase_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "lib/stats/pointer_chain.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	PAIRS = 1024,           /* of loads, enough to leave the first cache ... */
	BLOCK = 768,            /* ... and so far apart, spread over its sets */
	SOON_SETTLED = 1 << 21, /* larger sets are settled by fewer loads a node */
	WINDOW = 64             /* lines of the smallest page */
};
static const size_t first_bytes = 4096, dense_bytes = (size_t)16 << 20, mebi = (size_t)1 << 20;

/* ---- series ---- */

/* Random loads until the caches are as they stay: a last-level cache may pass over what is read
 * once or in order. */
static void settle(const struct set *set)
{
	const size_t several = set->nodes <= SOON_SETTLED ? 3 : 2;

	touch(set, set->nodes * (set->nodes <= CHAIN ? 4 : several));
}

static void measure_chain(
        struct chase *chase, struct pages *pages, const char *series, size_t bytes, int numa_node)
{
	const struct arg args[] = {{"bytes", (double)bytes}, {"node", numa_node}};
	struct set set = {.chase = chase,
	        .base = pages->base,
	        .stride = LINE,
	        .nodes = (uint32_t)(bytes / LINE),
	        .spread = 1};

	link_set(&set);
	settle(&set);
	record_set(&set, series, args, numa_node < 0 ? 1 : 2);
}

static void measure_pages(
        struct chase *chase, struct pages *pages, const char *series, size_t stride, uint32_t nodes)
{
	const struct arg args[] = {{"nodes", nodes}, {"stride", (double)stride}};
	struct set set = {.chase = chase,
	        .base = pages->base,
	        .stride = stride,
	        .nodes = nodes,
	        .spread = (uint32_t)(stride / LINE),
	        .packed = stride == LINE ? chase->packed : NULL};

	pages_touch(pages, stride == LINE ? 2 * MOST_PAGES * LINE : nodes * stride);
	link_set(&set);
	settle(&set);
	record_set(&set, series, args, ARRAY_LEN(args));
}

static void measure_line(struct chase *chase, struct pages *pages)
{
	pages_touch(pages, (size_t)(PAIRS + 1) * BLOCK);
	for (size_t apart = 0; apart <= BLOCK / 3; apart = apart ? 2 * apart : 16) {
		const struct arg args[] = {{"stride", (double)apart}};
		struct set set = {.chase = chase,
		        .base = pages->base,
		        .stride = BLOCK,
		        .nodes = PAIRS,
		        .spread = 1};
		link_pairs(&set, apart);
		record_set(&set, "line", args, ARRAY_LEN(args));
	}
}

/* The next larger number of lines or pages, `steps` of them to a factor of two. */
static size_t larger(size_t n, int steps)
{
	size_t next = (size_t)nearbyint((double)n * exp2(1.0 / steps));
	return next > n ? next : n + 1;
}

/* The places of lines in small pages without the pages: as low as they go, at the same distance
 * from a multiple of the window, so that they meet alike in the sets of the first cache. */
static void pack(struct chase *chase)
{
	uint32_t row[WINDOW] = {0};

	for (uint32_t i = 0; i < MOST_PAGES; i++) {
		uint32_t line = some_line(i, WINDOW);
		chase->packed[i] = row[line]++ * WINDOW + line;
	}
}

static void measure_tlb(struct chase *chase, int steps)
{
	struct pages *few = chase->huge.bytes ? &chase->huge : &chase->small;

	pack(chase);
	for (uint32_t n = 8; n <= MOST_PAGES; n = (uint32_t)larger(n, steps)) {
		measure_pages(chase, few, "packed", LINE, n);
		if (n * chase->small.page <= chase->small.bytes)
			measure_pages(chase, &chase->small, "pages_small", chase->small.page, n);
		if (n * chase->huge.page <= chase->huge.bytes / 2)
			measure_pages(chase, &chase->huge, "pages_huge", chase->huge.page, n);
	}
}

/* Size by size, until the time is spent or the memory. Returns the largest set. */
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

/* Memory of every node, the thread on a core of the first one. */
static void measure_nodes(struct chase *chase, size_t bytes)
{
	char got[128];
	struct fault fault;
	bool huge = chase->huge.bytes > 0;

	measure_chain(chase, huge ? &chase->huge : &chase->small, "chain_node", bytes, 0);
	for (int i = 1; i < chase->facts.numa_nodes; i++) {
		struct pages pages;
		if (!topology_bind(chase->topology, i, -1, got) ||
		        !pages_map(&pages, bytes, huge, &fault))
			continue; /* a node without processors or room */
		pages_touch(&pages, bytes);
		topology_bind(chase->topology, -1, chase->core, got);
		if (pages_verified(&pages))
			measure_chain(chase, &pages, "chain_node", bytes, i);
		pages_unmap(&pages);
	}
}

/* Huge pages show the caches alone and come first; small ones then need few points. */
static void measure_sizes(struct chase *chase, int steps)
{
	const double small_part = 0.2 * chase->run->seconds;
	size_t largest = 0;

	if (chase->huge.bytes)
		largest = measure_chains(
		        chase, &chase->huge, "chain_huge", steps, chase->end - small_part);
	if (largest)
		measure_nodes(chase, largest);
	const size_t small =
	        measure_chains(chase, &chase->small, "chain_small", largest ? 2 : steps, chase->end);
	if (!largest)
		measure_nodes(chase, small);
}

/* ---- memory ---- */

/* Huge pages that are none measure something else. */
static bool map_huge(struct pages *pages, size_t bytes, struct fault *fault)
{
	if (!pages_map(pages, bytes, true, fault))
		return false;
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
		        "only %zu bytes of memory are available: stop what uses it", available);
	if (!map_huge(&chase->huge, wanted, &fault)) {
		msg_note("no huge pages: %s", fault.text);
		table_meta_set(chase->run->curve, "huge_pages", "%s", fault.text);
	}
	if (chase->huge.bytes && wanted > 128 * mebi)
		wanted = 128 * mebi; /* the small ones show TLBs */
	if (!pages_map(&chase->small, wanted, false, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
}

/* ---- the sweep ---- */

static void state(struct chase *chase)
{
	const struct {
		const char *key;
		int64_t bytes;
	} stated[] = {{"stated_l1", chase->facts.l1d_bytes}, {"stated_l2", chase->facts.l2_bytes},
	        {"stated_l3", chase->facts.l3_bytes}, {"stated_l4", chase->facts.l4_bytes},
	        {"stated_line", sysconf(_SC_LEVEL1_DCACHE_LINESIZE)}};

	for (size_t i = 0; i < ARRAY_LEN(stated); i++)
		if (stated[i].bytes > 0)
			table_meta_set(chase->run->curve, stated[i].key, "%lld",
			        (long long)stated[i].bytes);
}

/* What reading the clock adds to a stretch: from a long and a short one in the first cache. */
static double timer_seconds(struct chase *chase)
{
	enum { READINGS = 101, SHORT = STRETCH / 16 };
	struct set set = {.chase = chase,
	        .base = chase->small.base,
	        .stride = LINE,
	        .nodes = 64,
	        .spread = 1};
	double reading[READINGS];

	pages_touch(&chase->small, first_bytes);
	link_set(&set);
	for (size_t i = 0; i < READINGS; i++) {
		set.stretch = STRETCH;
		double full = time_loads(&set);
		set.stretch = SHORT;
		reading[i] = time_loads(&set);
		reading[i] -= (full - reading[i]) * SHORT / (STRETCH - SHORT);
	}
	return stats_median(reading, READINGS);
}

/* The quietest core that has its memory where core 0 has. */
static void take_core(struct chase *chase, char got[128])
{
	const int *core = chase->noise.order, *last = core + chase->noise.cores - 1;

	while (core < last && topology_shared(chase->topology, *core, 0) < 0)
		core++;
	chase->core = *core;
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
	core_noise_open(&chase.noise, chase.topology, chase.facts.cores, -1);
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
