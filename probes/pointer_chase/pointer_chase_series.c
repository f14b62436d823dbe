/* SPDX-License-Identifier: MIT */
/* Series of the pointer_chase probe: random chains, cycles, pairs of loads, shared memory, private
 * sets on all SMs. */
#include "pointer_chase_internal.h"

#include "lib/stats/log_spaced.h"
#include "lib/stats/pointer_chain.h"

#include <cuda_runtime_api.h>

enum {
	SAMPLE_STEPS = 32768, /* about the most steps of all samples of a point */
	CYCLE_NODES = 1 << 21,
	PAIR_BYTES = 4096,
	CONSTANT_STRIDE = 64,
	FRESH_NODES = 1024 /* fewer nodes are no average over the slices of L2 */
};

/* A random chain in its steady state. One thread's steps suffice for an L1 or a TLB. All threads
 * fill an L2, but not with the whole chain: the samples follow the rest. A place visited twice by
 * the same slot within the chain's length would hit too often. */
static void measure_chain(struct chase_context *context, const char *series, enum chase_path path,
        struct chase_set set, int blocks, const struct arg *args, size_t arg_count)
{
	const int64_t length = (int64_t)CHASE_SLOTS * set.nodes;
	const int64_t lines = 4 * context->gpu.l2_bytes / LINE;
	chase_start_plan(context, path, set);
	struct chase_plan *plan = &context->plan;
	plan->blocks = blocks;
	context->fresh = path == CHASE_CG && set.nodes < FRESH_NODES;
	plan->warm = chase_warm_steps(set.nodes);
	if (path == CHASE_CG) {
		const int64_t most = min_int64(length - SAMPLE_STEPS, lines);
		plan->stroll = most > 0 ? most / CHASE_THREADS / CHASE_UNROLL * CHASE_UNROLL : 0;
		plan->warm = min_int64(plan->warm, WARM_STEPS / 4);
	}
	GPU(chase_build(plan));
	chase_measure_point(context, series, args, arg_count);
}

/* Chains over nodes on adjacent lines, recorded by their bytes, or farther apart, recorded by their
 * number. */
void chase_chain_sizes(struct chase_context *context, const char *series, enum chase_path path,
        int64_t stride, int64_t low, int64_t high, int per_doubling)
{
	high = min_int64(high, context->memory_bytes / stride);
	int64_t nodes;
	for (int k = 0; (nodes = log_spaced_size(low, high, per_doubling, k, 1)) > 0; ++k) {
		const struct arg dense[] = {{"bytes", (double)(nodes * LINE)}, {"stride", LINE}};
		const struct arg apart[] = {{"nodes", (double)nodes}};
		measure_chain(context, series, path, chase_new_set(context, nodes, stride, 1, 0), 1,
		        stride == LINE ? dense : apart, stride == LINE ? 2 : 1);
	}
}

/* One node at a random line of each stride, or (packed) as many nodes on adjacent lines; up to the
 * memory's size. */
void chase_chain_pages(struct chase_context *context, int64_t stride, bool packed, bool quick)
{
	const int64_t most = context->memory_bytes / stride;
	int64_t nodes = 0;

	for (int k = 0; nodes < most; k += quick ? 4 : 1) {
		nodes = min_int64(log_spaced_count(k), most);
		const struct arg args[] = {{"nodes", (double)nodes}, {"stride", (double)stride}};
		const struct chase_set set =
		        packed ? chase_new_set(context, nodes, LINE, 1, 0)
		               : chase_new_set(context, nodes, stride, stride / LINE, LINE);
		measure_chain(context, packed ? "packed" : "pages", CHASE_CG, set, 1, args,
		        packed ? 1 : 2);
	}
}

/* A node holds four 4-byte offsets. */
void chase_chain_constant(struct chase_context *context, int per_doubling)
{
	uint32_t words[CHASE_CONSTANT_WORDS] = {0};
	uint32_t next[CHASE_CONSTANT_WORDS * sizeof(uint32_t) / CONSTANT_STRIDE * CHAIN_SLOTS];
	const int64_t high = CHASE_CONSTANT_WORDS * (int64_t)sizeof(uint32_t);
	int64_t bytes, before = 0;
	for (int k = 0; (bytes = log_spaced_size(256, high, per_doubling, k, CONSTANT_STRIDE)) > 0;
	        ++k) {
		if (bytes == before)
			continue;
		before = bytes;
		const uint32_t nodes = (uint32_t)(bytes / CONSTANT_STRIDE);
		chain_make(next, nodes, &context->random);
		for (uint32_t i = 0; i < nodes; ++i)
			for (uint32_t s = 0; s < CHAIN_SLOTS; ++s)
				words[i * CONSTANT_STRIDE / sizeof words[0] + s] =
				        next[i * CHAIN_SLOTS + s] * CONSTANT_STRIDE;
		GPU(chase_fill_constant(words, ARRAY_LEN(words)));
		chase_start_plan(context, CHASE_CONSTANT,
		        (struct chase_set){.nodes = nodes, .slots = CHASE_SLOTS});
		context->plan.warm = chase_warm_steps(nodes);
		const struct arg args[] = {{"bytes", (double)bytes}, {"stride", CONSTANT_STRIDE}};
		chase_measure_point(context, "chain_constant", args, ARRAY_LEN(args));
	}
}

/* One cycle over nodes at multiples of `stride`, or over CYCLE_NODES of them spread over the array.
 * L2 is flushed before when the nodes may not fit in it. */
static void measure_cycle(struct chase_context *context, const char *series, enum chase_path path,
        int64_t bytes, int64_t stride, size_t arg_count)
{
	const struct arg args[] = {{"bytes", (double)bytes}, {"stride", (double)stride}};
	const int64_t all = bytes / stride, part = (all + CYCLE_NODES - 1) / CYCLE_NODES;
	const int64_t nodes = all / part;
	struct chase_set set = chase_new_set(context, nodes, part * stride, part, stride);
	set.slots = 1;
	chase_start_plan(context, path, set);
	context->cold = min_int64(nodes * LINE, bytes) >= 2 * context->gpu.l2_bytes;
	context->plan.touch = !context->cold;
	context->plan.warm = path == CHASE_CA && nodes <= WARM_STEPS / 2 ? chase_warm_steps(nodes)
	                                                                 : CHASE_UNROLL;
	GPU(chase_build(&context->plan));
	chase_measure_point(context, series, args, arg_count);
}

void chase_cycle_sizes(struct chase_context *context, const char *series, enum chase_path path,
        int64_t high, int64_t first, int factor)
{
	for (int64_t bytes = 4 * KIB; bytes <= high && bytes <= context->memory_bytes;
	        bytes *= factor)
		for (int64_t stride = first; stride <= bytes / 2; stride *= factor > 8 ? factor : 4)
			measure_cycle(context, series, path, bytes, stride, 2);
}

void chase_cold_sizes(struct chase_context *context)
{
	for (int64_t bytes = 4 * context->gpu.l2_bytes;
	        bytes <= min_int64(16 * context->gpu.l2_bytes, context->memory_bytes); bytes *= 2)
		measure_cycle(context, "cold", CHASE_CG, bytes, LINE, 1);
}

void chase_measure_fetch(
        struct chase_context *context, const char *series, enum chase_path path, int64_t offset)
{
	struct chase_set set = chase_new_set(context, PAIRS, PAIR_BYTES, PAIR_BYTES / 8, 8);
	const struct arg args[] = {{"offset", (double)offset}};
	set.slots = 1;
	chase_start_plan(context, CHASE_CG, set);
	GPU(chase_build_pairs(&set, (uint64_t)offset));
	context->plan.touch = false;
	if (path == CHASE_CA) { /* brings the whole set into L2 */
		context->plan.steps = 2 * PAIRS;
		chase_run(context);
	}
	context->plan.path = path;
	context->plan.warm = CHASE_UNROLL;
	context->cold = path == CHASE_CG;
	context->per_step = 2;
	chase_measure_point(context, series, args, ARRAY_LEN(args));
}

void chase_measure_shared(struct chase_context *context, int distance)
{
	uint32_t next[CHASE_SHARED_WORDS];
	const struct arg args[] = {{"distance", distance}};
	chain_cycle(next, CHASE_SHARED_WORDS, &context->random);
	GPU(cudaMemcpy(context->next, next, sizeof next, cudaMemcpyHostToDevice));
	chase_start_plan(context, CHASE_CG, (struct chase_set){.slots = 1});
	context->shared = true;
	context->distance = distance;
	context->plan.warm = CHASE_SHARED_WORDS;
	chase_measure_point(
	        context, distance < 0 ? "shared" : "cluster", args, distance < 0 ? 0 : 1);
}

void chase_measure_all(struct chase_context *context, const char *series, enum chase_path path,
        int64_t bytes, int64_t stride)
{
	const int sms = context->gpu.sm_count;
	const int64_t nodes = bytes / stride;
	if (nodes < 4 || nodes * stride * sms + SHIFT_BYTES > context->memory_bytes)
		return;
	struct chase_set set = chase_new_set(context, nodes, stride, stride / LINE, LINE);
	const struct arg args[] = {{"bytes", (double)(nodes * stride)}, {"stride", (double)stride}};
	set.apart = (uint64_t)(nodes * stride);
	measure_chain(context, series, path, set, sms, args, ARRAY_LEN(args));
}
