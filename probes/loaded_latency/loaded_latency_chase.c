/* SPDX-License-Identifier: MIT */
/* The chase of loaded_latency: a random cycle behind the region, and the latency of its loads
 * beside streams. */
#include "loaded_latency_internal.h"

#include "lib/base/msg.h"
#include "lib/stats/pointer_chain.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

enum {
	CHASE_STEPS = 512,
	SAMPLES_MAX = 512,
	SHORT_CYCLE = (2 << 20) / LOADED_NODE_BYTES /* fits in L2 */
};

/* A random cycle over `count` nodes, one in each `spacing` bytes from `nodes` on. */
static void make_cycle(struct bench *b, char *nodes, uint32_t count, uint32_t spacing)
{
	const size_t bytes = count * sizeof(uint32_t);
	uint32_t *next = xmalloc(bytes), *place = xmalloc(bytes), *device_next, *device_place;
	const uint32_t part = spacing / LOADED_NODE_BYTES;
	for (uint32_t i = 0; i < count; i++)
		place[i] = i * part + chain_random(&b->random, part);
	chain_cycle(next, count, &b->random);
	GPU(cudaMalloc((void **)&device_next, bytes));
	GPU(cudaMalloc((void **)&device_place, bytes));
	GPU(cudaMemcpy(device_next, next, bytes, cudaMemcpyHostToDevice));
	GPU(cudaMemcpy(device_place, place, bytes, cudaMemcpyHostToDevice));
	GPU(loaded_build(nodes, device_place, device_next, count));
	GPU(cudaDeviceSynchronize());
	*b->last = (uint64_t)(uintptr_t)nodes + (uint64_t)place[0] * LOADED_NODE_BYTES;
	GPU(cudaFree(device_next));
	GPU(cudaFree(device_place));
	free(next);
	free(place);
}

struct loaded {
	struct bench *bench;
	int blocks; /* streaming blocks */
	int64_t pause, stream_bytes;
	double *offered; /* seconds per byte, of every sample */
	size_t samples;
};

/* The sum of the streams' rates, each over its own span; all run until the chase stops them. */
static double rate_of(const struct bench *b, int first, int end)
{
	double rate = 0;
	for (int i = first; i < end; i++)
		rate += (double)b->block[i].bytes /
		        ((double)(b->block[i].span.ns1 - b->block[i].span.ns0) * 1e-9);
	return rate;
}

/* One block follows the cycle, the others load. */
static void run_chase(struct bench *b, int blocks, int64_t steps, int64_t pause, int64_t bytes)
{
	const struct loaded_chase chase = {.blocks = blocks,
	        .steps = steps,
	        .pause = pause,
	        .region = b->region,
	        .region_bytes = bytes,
	        .last = b->last,
	        .shared = b->shared,
	        .block = b->block,
	        .sink = b->sink};
	GPU(cudaMemset(b->shared, 0, sizeof *b->shared));
	GPU(loaded_chase_launch(&chase));
	GPU(cudaDeviceSynchronize());
}

static bool chase_sample(void *context, struct sample *sample)
{
	struct loaded *l = context;
	struct bench *b = l->bench;
	run_chase(b, 1 + l->blocks, CHASE_STEPS, l->pause, l->stream_bytes);
	gpu_span_sample(&b->block[0].span, CHASE_STEPS, 0, 0, sample);
	if (l->samples < SAMPLES_MAX && l->blocks > 0)
		l->offered[l->samples++] = 1 / rate_of(b, 1, 1 + l->blocks);
	return true;
}

/* One round: lines that the build wrote in part are then whole in L2. */
static void warm_cycle(struct bench *b, int64_t nodes)
{
	run_chase(b, 1, nodes, 0, b->l2_bytes);
}

static void measure_level(struct probe_run *run, struct bench *b, bool in_l2, int level, int blocks,
        int64_t pause, double seconds)
{
	struct loaded l = {.bench = b,
	        .blocks = blocks,
	        .pause = pause,
	        .stream_bytes = in_l2 ? b->l2_bytes : b->region_bytes,
	        .offered = xmalloc(SAMPLES_MAX * sizeof(double))};
	struct sample_plan plan = sample_plan_default(seconds);
	struct sample unused;
	struct measurement latency, offered = {.hz = NAN};
	const struct arg arg = {"level", level};
	chase_sample(&l, &unused);
	chase_sample(&l, &unused);
	l.samples = 0;
	if (!sample_run(chase_sample, &l, &plan, b->gpu.max_hz, &latency))
		msg_die(EXIT_MEASURE_FAILED, "the latency under load could not be measured");
	probe_record(run, in_l2 ? "latency_l2" : "latency_dram", &arg, 1, &latency);
	offered.seconds = stats_median_interval(l.offered, l.samples);
	offered.hz = latency.hz;
	if (blocks > 0)
		probe_record(run, in_l2 ? "offered_l2" : "offered_dram", &arg, 1, &offered);
	free(l.offered);
}

/* From an idle device to the full rate. */
static const struct {
	int blocks_per_sm;
	int64_t pause;
} levels[LOADED_LEVELS] = {{0, 0}, {1, 60000}, {1, 30000}, {1, 15000}, {1, 8000}, {1, 4000},
        {1, 2000}, {1, 1000}, {1, 400}, {1, 0}, {2, 400}, {2, 0}, {3, 0}, {4, 0}};

static void measure_loaded(struct probe_run *run, struct bench *b, bool in_l2, double seconds)
{
	const int step = run->common.quick ? 2 : 1;
	for (size_t i = 0; i < ARRAY_LEN(levels); i += (size_t)step)
		measure_level(run, b, in_l2, (int)i,
		        levels[i].blocks_per_sm * (b->gpu.sm_count - 1), levels[i].pause, seconds);
}

void loaded_latency_chase(struct probe_run *run, struct bench *b, double seconds)
{
	/* the cycle's lines fill two L2s, and lie far apart */
	const uint32_t count = (uint32_t)(2 * b->gpu.l2_bytes / LOADED_NODE_BYTES);
	const int64_t room = b->region_bytes / 3;
	const uint32_t spacing = (uint32_t)(room / count / LOADED_NODE_BYTES * LOADED_NODE_BYTES);
	char *const nodes = b->region + b->region_bytes;
	make_cycle(b, nodes, count, spacing < LOADED_NODE_BYTES ? LOADED_NODE_BYTES : spacing);
	measure_loaded(run, b, false, seconds);
	make_cycle(b, nodes, SHORT_CYCLE, LOADED_NODE_BYTES);
	warm_cycle(b, SHORT_CYCLE);
	measure_loaded(run, b, true, seconds);
}
