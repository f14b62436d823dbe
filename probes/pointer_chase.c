/* SPDX-License-Identifier: MIT */
/* Question: how large is each level of the memory hierarchy, how is it organised, and how long does
 * a dependent load take from it? Method: one thread follows pointers (pointer_chase.cu). Random
 * walks over ever larger sets give sizes and plateaus (`walk`, `entries`, `pages`, `packed`),
 * cycles at a stride LAWN 202's Figure 1 (`cycle`), pairs of loads the lines and sectors (`fetch`),
 * single lines from every SM the L2's parts (`slice`), private sets on all SMs what they share
 * (`all`). What can fool it: a cache still filling (every set is read through the same path by the
 * same SM before), a TLB that misses at the same time (sets of caches are dense, sets of pages
 * small), nodes in too few cache sets (random lines), a level whose size the sweep assumed (sizes
 * are uniform in the logarithm; the device's attributes only say how far to go). Unit: seconds per
 * load; for `fetch` seconds per pair of loads. */
#include "../lib/base.h"
#include "pointer_chase.h"

#include "../lib/clock.h"
#include "../lib/msg.h"
#include "../lib/octaves.h"
#include "../lib/probe.h"
#include "../lib/walk.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

#define KIB ((int64_t)1024)
#define MIB (1024 * KIB)
#define SHIFT_BYTES (64 * MIB) /* a set as a whole may start anywhere in so much */

enum {
	LINE = 128, /* bytes between the nodes of a dense walk: no cache's line is longer */
	PILOT_STEPS = 256,
	STEPS_MAX = 1 << 15,
	WARM_STEPS = 8192,    /* of one thread: several times the lines of any L1 */
	SAMPLE_STEPS = 32768, /* of all samples of a point at most, about */
	CYCLE_NODES = 1 << 21,
	L1_NODES = 1 << 16, /* a cycle of more surely does not fit in L1 */
	PAIRS = 4096,
	PAIR_BYTES = 4096,
	CONSTANT_STRIDE = 64,
	CLUSTER = 8, /* the largest that runs everywhere */
	SLICE_LINES = 24,
	SLICE_REPEATS = 3,
	FRESH_NODES = 1024 /* fewer are not yet an average over the slices of L2 */
};

/* What launch and synchronization may add to the host's view of a kernel, seconds. */
static const double launch_slack = 60e-6;
static const double memory_share = 0.8;

struct chase_context {
	struct probe_run *run;
	struct gpu gpu;
	char *memory; /* all sets lie here, one at a time */
	int64_t memory_bytes;
	void *allocation, *flush;
	int64_t flush_bytes;
	uint32_t *next;              /* of the shared-memory cycle, on the device */
	struct chase_result *result; /* pinned, one for each SM */
	uint64_t random;
	double sample_seconds, point_seconds;

	/* the chase at hand */
	struct chase_plan plan;
	bool cold;    /* L2 is overwritten before each sample */
	bool fresh;   /* each sample has its nodes at other places */
	bool shared;  /* in shared memory instead, */
	int distance; /* that far away in the cluster (negative: no cluster) */
	int per_step; /* loads that count as one */
};

/* ---- sets ---- */

/* Draws the order of the set's nodes and their places; where a place is not drawn node by node,
 * that of the whole set. */
static void draw_set(struct chase_context *context, struct chase_set *set)
{
	const int64_t slack = context->memory_bytes - (int64_t)(set->nodes * set->stride);
	const int64_t lines = (slack < SHIFT_BYTES ? slack : SHIFT_BYTES) / LINE;
	const uint32_t shift =
	        lines > 0 && set->places == 1 ? walk_random(&context->random, (uint32_t)lines) : 0;
	set->base = (uint64_t)(uintptr_t)context->memory + (uint64_t)LINE * shift;
	set->seed = (uint64_t)walk_random(&context->random, UINT32_MAX) << 32 |
	            walk_random(&context->random, UINT32_MAX);
}

/* `nodes` nodes, one in each `stride` bytes, at one of `places` places `unit` apart there. */
static struct chase_set new_set(
        struct chase_context *context, int64_t nodes, int64_t stride, int64_t places, int64_t unit)
{
	struct chase_set set = {.stride = (uint64_t)stride,
	        .unit = (uint64_t)unit,
	        .places = (uint32_t)places,
	        .nodes = (uint32_t)nodes,
	        .slots = CHASE_SLOTS};
	draw_set(context, &set);
	return set;
}

static void start_plan(struct chase_context *context, enum chase_path path, struct chase_set set)
{
	context->cold = context->fresh = context->shared = false;
	context->per_step = 1;
	context->plan = (struct chase_plan){.path = path, .set = set, .blocks = 1, .touch = true};
}

/* Of one thread: four times all nodes, as far as an L1 or a TLB could need it. */
static int64_t warm_steps(int64_t nodes)
{
	const int64_t steps = 4 * nodes < WARM_STEPS ? 4 * nodes : WARM_STEPS;
	return (steps + CHASE_UNROLL - 1) / CHASE_UNROLL * CHASE_UNROLL;
}

/* ---- samples ---- */

static void launch(struct chase_context *context)
{
	const struct chase_plan *plan = &context->plan;
	if (context->shared)
		GPU(chase_shared(context->next, context->distance, CLUSTER, plan->warm, plan->steps,
		        context->result));
	else
		GPU(chase_launch(plan, context->result));
	GPU(cudaDeviceSynchronize());
}

static bool chase_sample(void *argument, struct sample *sample)
{
	struct chase_context *context = argument;
	const int blocks = context->plan.blocks;
	double *seconds = xmalloc((size_t)blocks * sizeof *seconds);
	struct sample whole;
	if (context->fresh) {
		draw_set(context, &context->plan.set);
		GPU(chase_build(&context->plan));
	}
	if (context->cold)
		GPU(cudaMemset(context->flush, (int)walk_random(&context->random, 256),
		        (size_t)context->flush_bytes));
	GPU(cudaDeviceSynchronize());
	const double start = clock_now();
	launch(context);
	const double host_seconds = clock_now() - start;
	for (int i = blocks - 1; i >= 0; --i) {
		gpu_span_sample(&context->result[i].timed,
		        (double)context->plan.steps / context->per_step, 0, 0, sample);
		seconds[i] = sample->seconds;
	}
	/* the blocks of one launch need not end together; the cluster's starts late */
	const double slack =
	        launch_slack + (blocks > 1 ? host_seconds : 0) + (context->shared ? 3e-4 : 0);
	gpu_span_sample(&context->result[0].whole, 1, host_seconds, slack, &whole);
	sample->agreed = sample->agreed && whole.agreed;
	sample->seconds = stats_median(seconds, (size_t)blocks);
	free(seconds);
	return true;
}

/* After the first launch has filled the caches the others go on from it. An L1 starts empty in
 * every launch, so what warms it stays. */
static void go_on(struct chase_context *context)
{
	struct chase_plan *plan = &context->plan;
	const bool keeps = plan->path == CHASE_CG || plan->path == CHASE_CV;
	plan->go_on = true;
	plan->stroll = 0;
	plan->warm = keeps ? CHASE_UNROLL : plan->warm;
	plan->touch = plan->touch && !keeps && plan->set.slots == 1 && plan->set.nodes <= L1_NODES;
}

/* The first launch tells how many steps make a sample. */
static void measure_point(
        struct chase_context *context, const char *series, const struct arg *args, size_t arg_count)
{
	struct chase_plan *plan = &context->plan;
	const bool quick = context->run->common.quick;
	const size_t few = quick ? 3 : context->fresh ? 8 : 5;
	const struct sample_plan samples = {.max_seconds = context->point_seconds,
	        .min_samples = few,
	        .max_samples = 2 * few + 2,
	        .target = 0.003};
	struct measurement measurement;
	struct sample sample = {0};
	plan->steps = PILOT_STEPS;
	plan->go_on = false;
	chase_sample(context, &sample);
	if (!context->fresh && !context->shared)
		go_on(context);
	const double steps =
	        context->sample_seconds * context->per_step / fmax(sample.seconds, 1e-10);
	plan->steps =
	        (int64_t)(fmin(fmax(steps, CHASE_UNROLL), STEPS_MAX) / CHASE_UNROLL) * CHASE_UNROLL;
	if (context->per_step == 2 && plan->steps > 2 * PAIRS - 2 * CHASE_UNROLL)
		plan->steps = 2 * PAIRS - 2 * CHASE_UNROLL; /* no place twice in a launch */
	sample_run(chase_sample, context, &samples, context->gpu.max_hz, &measurement);
	probe_record(context->run, series, args, arg_count, &measurement);
}

/* ---- random walks ---- */

/* A random walk in its steady state. One thread's steps suffice for an L1 or a TLB. To fill an L2
 * all threads walk, but less than the whole walk, of which the samples then do the rest: a place
 * visited twice by the same slot within the walk's length would be hit too often. */
static void measure_walk(struct chase_context *context, const char *series, enum chase_path path,
        struct chase_set set, int blocks, const struct arg *args, size_t arg_count)
{
	const int64_t length = (int64_t)CHASE_SLOTS * set.nodes;
	const int64_t lines = 4 * context->gpu.l2_bytes / LINE;
	start_plan(context, path, set);
	struct chase_plan *plan = &context->plan;
	plan->blocks = blocks;
	context->fresh = path == CHASE_CG && set.nodes < FRESH_NODES;
	plan->warm = warm_steps(set.nodes);
	if (path == CHASE_CG) {
		const int64_t most = length - SAMPLE_STEPS < lines ? length - SAMPLE_STEPS : lines;
		plan->stroll = most > 0 ? most / CHASE_THREADS / CHASE_UNROLL * CHASE_UNROLL : 0;
		plan->warm = plan->warm < WARM_STEPS / 4 ? plan->warm : WARM_STEPS / 4;
	}
	GPU(chase_build(plan));
	measure_point(context, series, args, arg_count);
}

/* Walks over nodes on adjacent lines, told by their bytes, or further apart, told by their number.
 */
static void walk_sizes(struct chase_context *context, const char *series, enum chase_path path,
        int64_t stride, int64_t low, int64_t high, int per_octave)
{
	if (high > context->memory_bytes / stride)
		high = context->memory_bytes / stride;
	for (int k = 0; octave_size(low, high, per_octave, k, 1) > 0; ++k) {
		const int64_t nodes = octave_size(low, high, per_octave, k, 1);
		const struct arg dense[] = {{"bytes", (double)(nodes * LINE)}, {"stride", LINE}};
		const struct arg apart[] = {{"nodes", (double)nodes}};
		measure_walk(context, series, path, new_set(context, nodes, stride, 1, 0), 1,
		        stride == LINE ? dense : apart, stride == LINE ? 2 : 1);
	}
}

/* In each stride one node at a random line, or (packed) as many nodes on adjacent lines. */
static void walk_pages(struct chase_context *context, int64_t stride, bool packed, bool quick)
{
	for (int k = 0; octave_count(k) * stride <= context->memory_bytes; k += quick ? 4 : 1) {
		const int64_t nodes = octave_count(k);
		const struct arg args[] = {{"nodes", (double)nodes}, {"stride", (double)stride}};
		const struct chase_set set =
		        packed ? new_set(context, nodes, LINE, 1, 0)
		               : new_set(context, nodes, stride, stride / LINE, LINE);
		measure_walk(context, packed ? "packed" : "pages", CHASE_CG, set, 1, args,
		        packed ? 1 : 2);
	}
}

/* Nodes of four 4-byte offsets. */
static void walk_constant(struct chase_context *context, int per_octave)
{
	uint32_t words[CHASE_CONSTANT_WORDS] = {0};
	uint32_t next[CHASE_CONSTANT_WORDS * sizeof(uint32_t) / CONSTANT_STRIDE * WALK_SLOTS];
	const int64_t high = CHASE_CONSTANT_WORDS * (int64_t)sizeof(uint32_t);
	for (int k = 0; octave_size(256, high, per_octave, k, CONSTANT_STRIDE) > 0; ++k) {
		const int64_t bytes = octave_size(256, high, per_octave, k, CONSTANT_STRIDE);
		if (k > 0 && bytes == octave_size(256, high, per_octave, k - 1, CONSTANT_STRIDE))
			continue;
		const uint32_t nodes = (uint32_t)(bytes / CONSTANT_STRIDE);
		walk_make(next, nodes, &context->random);
		for (uint32_t i = 0; i < nodes; ++i)
			for (uint32_t s = 0; s < WALK_SLOTS; ++s)
				words[i * CONSTANT_STRIDE / sizeof words[0] + s] =
				        next[i * WALK_SLOTS + s] * CONSTANT_STRIDE;
		GPU(chase_fill_constant(words, ARRAY_LEN(words)));
		start_plan(context, CHASE_CONSTANT,
		        (struct chase_set){.nodes = nodes, .slots = CHASE_SLOTS});
		context->plan.warm = warm_steps(nodes);
		const struct arg args[] = {{"bytes", (double)bytes}, {"stride", CONSTANT_STRIDE}};
		measure_point(context, "walk_constant", args, ARRAY_LEN(args));
	}
}

/* ---- cycles ---- */

/* One cycle over nodes at multiples of `stride`, or over CYCLE_NODES of them spread over the whole
 * array; if they may not fit in L2, it is overwritten before, so that they are surely not
 * there. */
static void measure_cycle(struct chase_context *context, const char *series, enum chase_path path,
        int64_t bytes, int64_t stride, int64_t nodes_max, const struct arg *args, size_t arg_count)
{
	const int64_t all = bytes / stride, part = (all + nodes_max - 1) / nodes_max;
	const int64_t nodes = all / part;
	struct chase_set set = new_set(context, nodes, part * stride, part, stride);
	set.slots = 1;
	start_plan(context, path, set);
	const int64_t reach = nodes * LINE < bytes ? nodes * LINE : bytes;
	context->cold = reach >= 2 * context->gpu.l2_bytes;
	context->plan.touch = !context->cold;
	context->plan.warm =
	        path == CHASE_CA && nodes <= WARM_STEPS / 2 ? warm_steps(nodes) : CHASE_UNROLL;
	GPU(chase_build(&context->plan));
	measure_point(context, series, args, arg_count);
}

static void cycle_sizes(struct chase_context *context, const char *series, enum chase_path path,
        int64_t high, int64_t first, int factor)
{
	for (int64_t bytes = 4 * KIB; bytes <= high && bytes <= context->memory_bytes;
	        bytes *= factor)
		for (int64_t stride = first; stride <= bytes / 2;
		        stride *= factor > 8 ? factor : 4) {
			const struct arg args[] = {
			        {"bytes", (double)bytes}, {"stride", (double)stride}};
			measure_cycle(context, series, path, bytes, stride, CYCLE_NODES, args,
			        ARRAY_LEN(args));
		}
}

static void cold_sizes(struct chase_context *context)
{
	for (int factor = 4; factor <= 16; factor *= 2) {
		const int64_t bytes = factor * context->gpu.l2_bytes;
		const struct arg args[] = {{"bytes", (double)bytes}};
		if (bytes <= context->memory_bytes)
			measure_cycle(context, "cold", CHASE_CG, bytes, LINE, CYCLE_NODES, args,
			        ARRAY_LEN(args));
	}
}

/* ---- lines and sectors ---- */

static void measure_fetch(
        struct chase_context *context, const char *series, enum chase_path path, int64_t offset)
{
	struct chase_set set = new_set(context, PAIRS, PAIR_BYTES, PAIR_BYTES / 8, 8);
	const struct arg args[] = {{"offset", (double)offset}};
	set.slots = 1;
	start_plan(context, CHASE_CG, set);
	GPU(chase_build_pairs(&set, (uint64_t)offset));
	context->plan.touch = false;
	if (path == CHASE_CA) { /* into L2, all of it */
		context->plan.steps = 2 * PAIRS;
		launch(context);
	}
	context->plan.path = path;
	context->plan.warm = CHASE_UNROLL;
	context->cold = path == CHASE_CG;
	context->per_step = 2;
	measure_point(context, series, args, ARRAY_LEN(args));
}

/* ---- shared memory ---- */

static void measure_shared(struct chase_context *context, int distance)
{
	uint32_t next[CHASE_SHARED_WORDS];
	const struct arg args[] = {{"distance", distance}};
	walk_cycle(next, CHASE_SHARED_WORDS, &context->random);
	GPU(cudaMemcpy(context->next, next, sizeof next, cudaMemcpyHostToDevice));
	start_plan(context, CHASE_CG, (struct chase_set){.slots = 1});
	context->shared = true;
	context->distance = distance;
	context->plan.warm = CHASE_SHARED_WORDS;
	measure_point(context, distance < 0 ? "shared" : "cluster", args, distance < 0 ? 0 : 1);
}

/* ---- L2 slices ---- */

struct slices {
	uint64_t *line;        /* on the device */
	uint32_t *taken;       /* on the device, one for each launch */
	uint32_t *cycles;      /* pinned: [repeat][sm][line] */
	struct gpu_span *span; /* pinned: [repeat][sm] */
};

static void record_slices(struct chase_context *context, const struct slices *slices, int lines)
{
	const int sms = context->gpu.sm_count;
	for (int sm = 0; sm < sms; ++sm)
		for (int i = 0; i < lines; ++i) {
			double seconds[SLICE_REPEATS];
			struct measurement measurement = {.hz = NAN};
			size_t n = 0;
			for (int repeat = 0; repeat < SLICE_REPEATS; ++repeat) {
				const size_t at = (size_t)(repeat * sms + sm);
				struct sample sample;
				gpu_span_sample(&slices->span[at], 1, 0, 0, &sample);
				if (!sample.agreed)
					continue;
				seconds[n++] = slices->cycles[at * (size_t)lines + (size_t)i] /
				               sample.hz / CHASE_SLICE_STEPS;
				measurement.hz = sample.hz;
			}
			const struct arg args[] = {{"sm", sm}, {"line", i}};
			measurement.seconds = stats_median_interval(seconds, n);
			if (n > 0)
				probe_record(context->run, "slice", args, 2, &measurement);
		}
}

/* Every SM in turn, each reading the same lines, drawn anew by every process. */
static void measure_slices(struct chase_context *context, int lines)
{
	const int sms = context->gpu.sm_count, launches = SLICE_REPEATS * sms;
	const uint32_t places = (uint32_t)(context->memory_bytes / 8 / LINE);
	uint64_t line[SLICE_LINES];
	struct slices slices;
	for (int i = 0; i < lines; ++i)
		line[i] = (uint64_t)(uintptr_t)context->memory +
		          (uint64_t)LINE * walk_random(&context->random, places);
	GPU(cudaMalloc((void **)&slices.line, sizeof line));
	GPU(cudaMalloc((void **)&slices.taken, (size_t)launches * sizeof *slices.taken));
	GPU(cudaMallocHost(
	        (void **)&slices.cycles, (size_t)launches * (size_t)lines * sizeof *slices.cycles));
	GPU(cudaMallocHost((void **)&slices.span, (size_t)launches * sizeof *slices.span));
	GPU(cudaMemcpy(slices.line, line, (size_t)lines * sizeof *line, cudaMemcpyHostToDevice));
	GPU(cudaMemset(slices.taken, 0, (size_t)launches * sizeof *slices.taken));
	GPU(chase_close(slices.line, lines));
	for (int i = 0; i < launches; ++i) {
		slices.span[i] = (struct gpu_span){0};
		GPU(chase_slice(i % sms, sms, slices.line, lines, slices.taken + i,
		        slices.cycles + (size_t)i * (size_t)lines, slices.span + i));
	}
	GPU(cudaDeviceSynchronize());
	record_slices(context, &slices, lines);
	GPU(cudaFree(slices.line));
	GPU(cudaFree(slices.taken));
	GPU(cudaFreeHost(slices.cycles));
	GPU(cudaFreeHost(slices.span));
}

/* ---- all SMs at once ---- */

static void measure_all(struct chase_context *context, const char *series, enum chase_path path,
        int64_t bytes, int64_t stride)
{
	const int sms = context->gpu.sm_count;
	const int64_t nodes = bytes / stride;
	if (nodes < 4 || nodes * stride * sms + SHIFT_BYTES > context->memory_bytes)
		return;
	struct chase_set set = new_set(context, nodes, stride, stride / LINE, LINE);
	const struct arg args[] = {{"bytes", (double)(nodes * stride)}, {"stride", (double)stride}};
	set.apart = (uint64_t)(nodes * stride);
	measure_walk(context, series, path, set, sms, args, ARRAY_LEN(args));
}

/* Private sets around what an SM's L1 is said to be, as long as all of them fit in L2; around its
 * part of L2, but for those that fit in L2 and not in half of it (a private set finds place in any
 * part of a divided L2, that of one SM alone does not); and of pages. */
static void all_at_once(struct chase_context *context, bool quick)
{
	static const int l1_eighths[] = {2, 8, 10, 12, 4, 6, 9},
	                 l2_eighths[] = {2, 8, 16, 4, 12, 24, 32};
	const int64_t l1 = context->gpu.shared_per_sm;
	const int64_t l2 = context->gpu.l2_bytes / context->gpu.sm_count;
	const int64_t reach = context->memory_bytes / context->gpu.sm_count;
	for (size_t i = 0; i < (quick ? 4 : ARRAY_LEN(l1_eighths)); ++i) {
		if (l1 * l1_eighths[i] / 8 <= l2 * 3 / 4)
			measure_all(context, "all_ca", CHASE_CA, l1 * l1_eighths[i] / 8, LINE);
		measure_all(context, "all_cg", CHASE_CG, l2 * l2_eighths[i] / 8, LINE);
	}
	for (int k = 0; octave_count(k) * 2 * MIB <= reach; k += quick ? 12 : 2)
		measure_all(context, "all_pages", CHASE_CG, octave_count(k) * 2 * MIB, 2 * MIB);
}

/* ---- the sweep ---- */

/* One allocation of most of the free memory, aligned to the largest stride. */
static void allocate(struct chase_context *context)
{
	size_t unused, total, bytes;
	const size_t align = (size_t)(64 * MIB);
	GPU(cudaMalloc((void **)&context->next, CHASE_SHARED_WORDS * sizeof *context->next));
	GPU(cudaMallocHost((void **)&context->result,
	        (size_t)context->gpu.sm_count * sizeof *context->result));
	GPU(cudaMemGetInfo(&unused, &total));
	context->flush_bytes = 4 * context->gpu.l2_bytes;
	bytes = (size_t)(memory_share * (double)unused);
	const size_t least = (size_t)(8 * context->gpu.l2_bytes) + 2 * align;
	if (bytes < least + (size_t)context->flush_bytes)
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of GPU memory are free: stop what uses it", unused);
	if (unused < total / 2)
		msg_warn("%zu of %zu bytes of GPU memory are free: the TLB is seen that far only",
		        unused, total);
	GPU(cudaMalloc(&context->flush, (size_t)context->flush_bytes));
	bytes -= (size_t)context->flush_bytes;
	while (cudaMalloc(&context->allocation, bytes) != cudaSuccess) {
		cudaGetLastError();
		msg_warn("no %zu bytes of GPU memory in one piece: trying three quarters", bytes);
		bytes = bytes / 4 * 3;
		if (bytes < least)
			msg_die(EXIT_NOT_POSSIBLE, "no GPU memory of a useful size in one piece");
	}
	const uintptr_t start = (uintptr_t)context->allocation;
	const uintptr_t aligned = (start + align - 1) / align * align;
	context->memory = (char *)context->allocation + (aligned - start);
	context->memory_bytes = (int64_t)(bytes - (aligned - start));
}

static void release(struct chase_context *context)
{
	GPU(cudaFree(context->allocation));
	GPU(cudaFree(context->flush));
	GPU(cudaFree(context->next));
	GPU(cudaFreeHost(context->result));
}

static void note_time(const char *part, double *since)
{
	const double now = clock_now();
	msg_note("%s: %.3f s", part, now - *since);
	*since = now;
}

static void sweep_caches(struct chase_context *context, bool quick)
{
	const int fine = quick ? 2 : 6;
	const int64_t l2 = context->gpu.l2_bytes;
	double since = clock_now();
	/* every third line: as dense as can be told from a set of bytes, so that no TLB comes into
	 * play; an odd number, so that the nodes fill all sets of a cache alike */
	const int64_t apart = 3 * LINE;
	walk_sizes(context, "walk_ca", CHASE_CA, LINE, 2 * KIB / LINE, 4 * MIB / LINE, fine);
	walk_sizes(context, "walk_cg", CHASE_CG, LINE, 64 * KIB / LINE, 8 * l2 / LINE, fine);
	walk_sizes(context, "walk_nc", CHASE_NC, LINE, 4 * KIB / LINE, MIB / LINE, 1);
	walk_constant(context, fine);
	note_time("walks over bytes", &since);
	walk_sizes(context, "entries_ca", CHASE_CA, apart, 64, 8192, quick ? 2 : 4);
	walk_sizes(context, "entries_cg", CHASE_CG, apart, 8192, 2 * MIB, quick ? 1 : 4);
	note_time("walks over entries", &since);
	for (int64_t offset = 8; offset <= 1024; offset *= 2) {
		measure_fetch(context, "fetch_l1", CHASE_CA, offset);
		measure_fetch(context, "fetch_l2", CHASE_CG, offset);
	}
	cold_sizes(context);
	note_time("pairs and cold sets", &since);
}

static void sweep(struct chase_context *context, bool quick)
{
	const int64_t strides[] = {2 * MIB, 8 * MIB, 32 * MIB, 64 * MIB};
	measure_shared(context, -1);
	if (context->gpu.clusters && chase_cluster_fits(CLUSTER))
		for (int distance = 0; distance < CLUSTER; distance += quick ? 3 : 1)
			measure_shared(context, distance);
	sweep_caches(context, quick);
	double since = clock_now();
	for (size_t i = 0; i < ARRAY_LEN(strides); i += quick ? 2 : 1)
		walk_pages(context, strides[i], false, quick);
	walk_pages(context, strides[0], true, quick);
	note_time("walks over pages", &since);
	cycle_sizes(context, "cycle_ca", CHASE_CA, context->memory_bytes, 8, quick ? 64 : 8);
	cycle_sizes(context, "cycle_cg", CHASE_CG, context->memory_bytes, 8, quick ? 64 : 8);
	cycle_sizes(context, "cycle_cv", CHASE_CV, 1024 * MIB, 512, 64);
	note_time("cycles", &since);
	measure_slices(context, quick ? SLICE_LINES / 4 : SLICE_LINES);
	note_time("slices", &since);
	all_at_once(context, quick);
	note_time("all SMs", &since);
}

static void measure(struct probe_run *run)
{
	struct chase_context context = {.run = run,
	        .random = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process};
	const bool quick = run->common.quick;
	const double scale = run->seconds / (run->probe->seconds / (quick ? 5 : 1));
	struct fault fault;
	double since = clock_now();
	if (!gpu_open(&context.gpu, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	note_time("opening", &since);
	probe_watch_gpu(run, &context.gpu);
	gpu_warm(&context.gpu, run->warm_seconds);
	note_time("warming", &since);
	allocate(&context);
	note_time("allocating", &since);
	context.sample_seconds = (quick ? 0.15e-3 : 0.3e-3) * fmin(scale, 4);
	context.point_seconds = (quick ? 1.5e-3 : 7e-3) * scale;
	sweep(&context, quick);
	since = clock_now();
	release(&context);
	note_time("releasing", &since);
	probe_watch_gpu(run, &context.gpu);
}

static const char *const columns[] = {
        "bytes", "stride", "nodes", "offset", "sm", "line", "distance"};

const struct probe pointer_chase_probe = {
        .name = "pointer_chase",
        .question = "How large and how fast is each level of the memory hierarchy?",
        .args = columns,
        .arg_count = ARRAY_LEN(columns),
        .needs_gpu = true,
        .seconds = 4,
        .processes = 3, /* what is timed inside a kernel differs little */
        .measure = measure,
        .fit = pointer_chase_fit,
};
