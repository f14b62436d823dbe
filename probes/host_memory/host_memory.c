/* SPDX-License-Identifier: MIT */
/* Question: how fast does the host read, write and copy memory, against size (L1 to DRAM) and,
 * beyond the caches, threads?
 *
 * Method: threads bound to a core each (at most pinned_largest), with buffers of their own that
 * they touched first; all pass over their parts repeatedly between two barriers, over large parts
 * piece by piece. Plain vectorized loops with ordinary stores.
 *
 * What can fool it: shared caches (sizes in the caches are measured twice, some time apart); a size
 * that a cache holds in part (the size beyond is several times larger; sizes that just fill a cache
 * are left out); page chains (huge pages where the kernel grants them); loops turned into library
 * calls (forbidden here); a pass that is not made (every result is verified). Writes count once,
 * though a store also reads the line.
 *
 * Unit: seconds of one pass of all threads; `bytes` counts bytes read plus bytes written, which is
 * also the working set. */
#include "lib/base/msg.h"
#include "lib/host/clock.h"
#include "lib/host/pages.h"
#include "lib/host/pinned_threads.h"
#include "lib/probe/probe.h"
#include "lib/probe/repeats.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum way {
	READ,
	COPY,
	WRITE,
	WAYS
}; /* in this order: write leaves data that copy must overwrite */

struct worker {
	struct pages pages;
	uint64_t *data;  /* their first word */
	size_t filled;   /* bytes filled with random data so far */
	size_t at, last; /* words before the next piece and the last one */
	uint64_t sum;
};

struct bench {
	struct worker *worker;
	const struct pinned_threads *pinned;
	bool undisturbed;    /* before the next sample */
	int threads, passes; /* passes of a sample, over one piece each */
	enum way way;
	size_t part, pieces; /* bytes of one thread, and the number of pieces */
};

/* ---- loops, which the compiler vectorizes ---- */

/* Vectorized for this processor's unit, chosen at program start; never a call of memcpy. */
#define LOOPS "O3", "no-tree-loop-distribute-patterns"
#if defined(__clang__)
#define VECTORIZED __attribute__((noinline))
#elif defined(__x86_64__) && defined(__gnu_linux__)
#define UNITS "default", "avx2", "avx512f"
#define VECTORIZED __attribute__((noinline, optimize(LOOPS), target_clones(UNITS)))
#else
#define VECTORIZED __attribute__((noinline, optimize(LOOPS)))
#endif

VECTORIZED static uint64_t read_words(const uint64_t *data, size_t n)
{
	uint64_t sum = 0;
#pragma omp simd reduction(+ : sum)
	for (size_t i = 0; i < n; i++)
		sum += data[i];
	return sum;
}

VECTORIZED static void write_words(uint64_t *data, size_t n, uint64_t first, uint64_t mask)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		data[i] = (first + i) ^ mask;
}

VECTORIZED static void copy_words(uint64_t *restrict to, const uint64_t *restrict from, size_t n)
{
#pragma omp simd
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

static const uint64_t mask = 0x9e3779b97f4a7c15u;

/* Words that a pass reads, or writes where it reads none. */
static size_t passed_words(const struct bench *bench)
{
	const size_t words = bench->part / sizeof(uint64_t);
	return bench->way == COPY ? words / 2 : words;
}

/* One thread reads, copies or writes its next piece. COPY: from the first half of its part to the
 * second. */
static void pass_once(const struct bench *bench, struct worker *worker)
{
	const size_t all = passed_words(bench), n = all / bench->pieces;
	uint64_t *data = worker->data + worker->at;

	if (bench->way == READ)
		worker->sum = read_words(data, n);
	else if (bench->way == WRITE)
		write_words(data, n, worker->at, mask);
	else
		copy_words(data + all, data, n);
	__asm__ volatile("" ::"r"(worker->data) : "memory"); /* keeps every pass alive */
	worker->last = worker->at;
	worker->at = worker->at + 2 * n > all ? 0 : worker->at + n;
}

/* Whether the last pass left the right data, checked by another loop. */
static bool is_right(const struct bench *bench, const struct worker *worker)
{
	const size_t all = passed_words(bench), n = all / bench->pieces;
	const uint64_t *data = worker->data + worker->last;
	size_t wrong = 0;
	uint64_t sum = 0;

	if (bench->way == COPY)
		return !memcmp(data, data + all, n * sizeof *data);
	for (size_t i = n; i-- > 0;) {
		sum += data[i];
		wrong += data[i] != ((worker->last + i) ^ mask);
	}
	return bench->way == READ ? sum == worker->sum : wrong == 0;
}

enum { QUICK_BYTES = 64 << 20, PIECE_BYTES = 64 << 20, WARM_PASSES = 3, REPEATS = 2 };

static const char *const way_name[WAYS] = {"read", "copy", "write"};

/* Fills every thread's part with random data, as far as it is new. */
static void fill(struct bench *bench, uint64_t seed)
{
#pragma omp parallel num_threads(bench->threads)
	{
		int id = omp_get_thread_num();
		struct worker *worker = &bench->worker[id];
		uint64_t x = seed * 0x2545f4914f6cdd1du + (uint64_t)id + worker->filled + 1;
		for (; worker->filled < bench->part; worker->filled += sizeof x) {
			x ^= x << 13; /* xorshift64 */
			x ^= x >> 7;
			x ^= x << 17;
			worker->data[worker->filled / sizeof x] = x;
		}
	}
}

static double time_passes(const struct bench *bench, int passes)
{
	double start = 0, stop = 0;

#pragma omp parallel num_threads(bench->threads)
	{
		struct worker *worker = &bench->worker[omp_get_thread_num()];
#pragma omp barrier
#pragma omp master
		start = clock_now();
		for (int i = 0; i < passes; i++)
			pass_once(bench, worker);
#pragma omp barrier
#pragma omp master
		stop = clock_now();
	}
	return stop - start;
}

static bool verified(const struct bench *bench)
{
	int wrong = 0;

#pragma omp parallel num_threads(bench->threads) reduction(+ : wrong)
	wrong += !is_right(bench, &bench->worker[omp_get_thread_num()]);
	if (wrong)
		msg_warn("%s by %d threads went wrong in %d of them: not recorded",
		        way_name[bench->way], bench->threads, wrong);
	return wrong == 0;
}

static bool take_sample(void *context, struct sample *sample)
{
	struct bench *bench = context;
	sample->span = time_passes(bench, bench->passes);
	sample->seconds = sample->span / bench->passes * (double)bench->pieces;
	sample->agreed = true;
	sample->disturbed = pinned_disturbed_around(bench->pinned, &bench->undisturbed);
	return true;
}

/* Sizes: first, 4 first, 16 first ... within the caches, and one size beyond them. */
struct memory_sweep {
	struct probe_run *run;
	struct pinned_threads pinned;
	struct worker *worker;
	struct repeats repeats;
	size_t first, beyond;
};

/* Four times the last-level caches, within limits: touching more pages takes too long. Twice them
 * in any case, as far as memory goes: all threads together would otherwise stay within them. Where
 * hwloc knows no caches they may be large. */
static size_t beyond_cache(const struct topology_facts *facts)
{
	size_t caches = facts->l3_bytes ? (size_t)(facts->l3_bytes * facts->l3_count)
	                                : (size_t)(facts->l2_bytes * facts->cores);
	size_t least = (size_t)32 << 20, most = (size_t)768 << 20;
	size_t memory = (size_t)facts->memory_bytes / 8, wanted = caches ? 4 * caches : most;

	most = most > 2 * caches ? most : 2 * caches;
	most = most < memory ? most : memory;
	wanted = wanted > least ? wanted : least;
	return wanted < most ? wanted : most;
}

/* A part of about a cache's size is neither in it nor beyond it. */
static bool fills(size_t part, int64_t cache)
{
	return part > (size_t)cache * 2 / 3 && part < (size_t)cache * 3 / 2;
}

/* One thread at all sizes; several threads only beyond the caches, as inside them each has the rate
 * of one thread. */
static bool has_point(const struct memory_sweep *sweep, int threads, size_t bytes)
{
	const struct topology_facts *facts = &sweep->pinned.facts;
	bool fourfold = threads == 1 || threads == 4 || threads == 16 || threads == 64;

	if (bytes == sweep->beyond)
		return fourfold || threads == sweep->pinned.cores;
	if (threads > 1)
		return false;
	return !fills(bytes, facts->l1d_bytes) && !fills(bytes, facts->l2_bytes) &&
	       !fills(bytes, facts->l3_bytes);
}

static size_t next_size(const struct memory_sweep *sweep, size_t bytes)
{
	if (bytes == sweep->beyond)
		return 0;
	return 4 * bytes <= sweep->beyond / 4 ? 4 * bytes : sweep->beyond;
}

/* The largest part of thread t at any point. */
static size_t largest_part(const struct memory_sweep *sweep, int t)
{
	size_t largest = 0;
	for (int i = 0; i < sweep->pinned.size_count; i++)
		for (size_t bytes = sweep->first; bytes; bytes = next_size(sweep, bytes)) {
			int threads = sweep->pinned.size[i];
			size_t part = bytes / (size_t)threads;
			if (t < threads && part > largest && has_point(sweep, threads, bytes))
				largest = part;
		}
	return largest;
}

/* Reserves memory for every thread, which touches its own pages later. */
static void reserve(struct memory_sweep *sweep)
{
	struct fault fault;

	sweep->worker = xcalloc((size_t)sweep->pinned.cores, sizeof *sweep->worker);
	for (int t = 0; t < sweep->pinned.cores; t++) {
		struct worker *worker = &sweep->worker[t];
		const size_t bytes = largest_part(sweep, t);
		if (!pages_map(&worker->pages, bytes, true, &fault) &&
		        !pages_map(&worker->pages, bytes, false, &fault))
			msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
		worker->data = (uint64_t *)worker->pages.base;
	}
}

static void release(struct memory_sweep *sweep)
{
	bool as_asked = true;

	for (int t = 0; t < sweep->pinned.cores; t++) {
		struct pages *pages = &sweep->worker[t].pages;
		pages->touched = sweep->worker[t].filled;
		as_asked = as_asked && pages_verified(pages);
	}
	table_meta_set(sweep->run->curve, "pages",
	        as_asked ? "of %zu bytes" : "not all of %zu bytes", sweep->worker[0].pages.page);
	for (int t = 0; t < sweep->pinned.cores; t++)
		pages_unmap(&sweep->worker[t].pages);
	free(sweep->worker);
}

static void measure_way(
        struct memory_sweep *sweep, struct bench bench, size_t bytes, double seconds)
{
	const struct arg args[] = {{"threads", bench.threads}, {"bytes", (double)bytes}};
	struct sample_plan plan = sample_plan_default(seconds);
	struct measurement measurement;

	const int whole = (int)bench.pieces;
	double once = 0, spent = 0;
	for (int t = 0; t < bench.threads; t++)
		bench.worker[t].at = 0;
	/* Warms the part: a last-level cache may not keep data read once. Beyond the caches this
	 * evicts the previous writes. */
	for (int i = 0; i < WARM_PASSES && spent < seconds; i++) {
		const double all = time_passes(&bench, whole);
		spent += all;
		once = all / whole;
	}
	if (once < seconds / 20)
		once = time_passes(&bench, 4) / 4;
	bench.passes = (int)fmin(fmax(seconds / 20 / once, 1), 1e6);
	plan.warm_seconds = 0;
	/* Three samples, or enough for an interval narrower than their range. */
	const double needed = once * bench.passes;
	plan.max_seconds = fmax(plan.max_seconds, 2.5 * needed);
	plan.max_seconds = fmax(plan.max_seconds, fmin(11.5 * needed, 3 * seconds));
	bench.undisturbed = pinned_undisturbed(bench.pinned);
	if (sample_run(take_sample, &bench, &plan, 0, &measurement) && verified(&bench))
		repeats_add(
		        &sweep->repeats, way_name[bench.way], args, ARRAY_LEN(args), &measurement);
}

static bool wants(const struct memory_sweep *sweep, int threads, size_t bytes, int way)
{
	const struct arg args[] = {{"threads", threads}, {"bytes", (double)bytes}};
	return probe_wants(sweep->run, way_name[way], args, ARRAY_LEN(args));
}

static void measure_size(struct memory_sweep *sweep, size_t bytes, double seconds)
{
	for (int i = 0; i < sweep->pinned.size_count; i++) {
		int threads = sweep->pinned.size[i];
		struct bench bench = {
		        .worker = sweep->worker, .pinned = &sweep->pinned, .threads = threads};
		if (!has_point(sweep, threads, bytes))
			continue;
		bench.part =
		        bytes / (size_t)threads / 16 * 16; /* two equal halves of whole words */
		bench.pieces = (bytes + PIECE_BYTES - 1) / PIECE_BYTES;
		const size_t all = bench.part * (size_t)threads;
		bool any = false;
		for (int way = 0; way < WAYS; way++)
			any = any || wants(sweep, threads, all, way);
		if (!any)
			continue;
		pinned_bind(&sweep->pinned, threads);
		fill(&bench, (uint64_t)sweep->run->common.seed);
		for (int way = 0; way < WAYS; way++) {
			bench.way = (enum way)way;
			if (wants(sweep, threads, all, way))
				measure_way(sweep, bench, all, seconds);
		}
	}
}

static size_t count_points(const struct memory_sweep *sweep)
{
	size_t count = 0;
	for (int i = 0; i < sweep->pinned.size_count; i++)
		for (size_t bytes = sweep->first; bytes; bytes = next_size(sweep, bytes))
			if (has_point(sweep, sweep->pinned.size[i], bytes))
				count += bytes == sweep->beyond ? WAYS : REPEATS * WAYS;
	return count;
}

/* Measures the sizes in the caches. Returns the size at which the time ended, or the one beyond the
 * caches. */
static size_t repeat_sizes(struct memory_sweep *sweep, double seconds, double end)
{
	size_t bytes = sweep->first;

	while (bytes != sweep->beyond && clock_now() < end) {
		measure_size(sweep, bytes, seconds);
		bytes = next_size(sweep, bytes);
	}
	return bytes;
}

static void measure(struct probe_run *run)
{
	static const double patience = 2; /* budgets, then larger sizes are dropped */
	struct memory_sweep sweep = {.run = run, .first = 16384};
	struct pinned_threads *pinned = &sweep.pinned;
	struct fault fault;

	if (!pinned_open(pinned, run->common.quick, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	curve_slow_are_disturbed(run->curve);
	core_noise_expect(&pinned->noise, run->core_usual);
	sweep.beyond = beyond_cache(&pinned->facts);
	if (run->common.quick && sweep.beyond > QUICK_BYTES)
		sweep.beyond = QUICK_BYTES;
	reserve(&sweep);
	pinned_warm(pinned, run->seconds / 20);
	/* Half of the time is for the size beyond the caches and for touching its pages. */
	double seconds = run->seconds / 2 / (double)count_points(&sweep), start = clock_now();
	const double end = start + patience * run->seconds;
	const size_t reached = repeat_sizes(&sweep, seconds, end);
	repeat_sizes(&sweep, seconds, end);
	if (reached == sweep.beyond && clock_now() < end)
		measure_size(&sweep, sweep.beyond, seconds);
	else
		table_meta_set(
		        run->curve, "dropped", "%zu bytes and more: the time was spent", reached);
	repeats_record(&sweep.repeats, run);
	table_meta_set(run->curve, "binding", "%d threads, the last one: %s", pinned->cores,
	        pinned->binding);
	core_noise_note(&pinned->noise, run->curve);
	release(&sweep);
	pinned_close(pinned);
}

static const char *const args[] = {"threads", "bytes"};
const struct probe host_memory_probe = {
        .name = "host_memory",
        .question = "How fast does the host read, write and copy memory, by threads and size?",
        .args = args,
        .arg_count = ARRAY_LEN(args),
        .seconds = 0.7,
        .processes = 3,
        .revisits = true,
        .measure = measure,
        .fit = host_memory_fit,
};
