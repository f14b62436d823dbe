/* SPDX-License-Identifier: MIT */
/* Question: how long does a dependent load take from shared memory, L1, L2 and DRAM, and how fast
 * does one SM update a panel that it holds in shared memory? Method: the chases of load_latency.cu
 * over random cycles in sets from 4 KiB to eight L2s and more, each chase going on where the last
 * one stopped. Sets up to two L2s are warm: every SM has read all of them; from four L2s on they
 * are cold: L2 is overwritten before every sample. Sets of many nodes are chased over a random
 * subset of them, spread over the whole set. What can fool it: a set that a cache still holds in
 * part (the series says which sets are surely in L2 or surely not), a cycle with structure that a
 * prefetcher could find (Sattolo's shuffle, fresh in every process). Unit: seconds per load;
 * seconds per sweep for shared_update. */
#include "../lib/base.h"
#include "load_latency.h"

#include "../lib/clock.h"
#include "../lib/msg.h"
#include "../lib/probe.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

#define KIB ((int64_t)1024)
#define MIB (1024 * KIB)

/* Nodes of the longest cycle; steps of a pilot, and of any sample. */
enum { CYCLE_MAX = 1 << 19, PILOT_STEPS = 512, STEPS_MAX = 1 << 17, SETS_MAX = 64 };

/* What launch and synchronization may add to the host's view of a kernel, seconds. */
static const double launch_slack = 60e-6;
static const double warm_seconds = 0.15;

struct chase_context {
	struct gpu gpu;
	void *nodes, *flush;
	int64_t nodes_bytes, flush_bytes;
	uint32_t *place, *next, *sink; /* on the device */
	uint32_t *host_place, *host_next;
	struct chase_result *result;
	uint64_t random;

	/* the chase at hand */
	enum chase_path path;
	uint64_t start;
	int64_t bytes, warm, steps;
	bool cold;
	int threads, columns; /* of the update sweep */
};

/* ---- random cycles ---- */

static uint32_t next_random(struct chase_context *context, uint32_t below)
{
	uint64_t z = context->random += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)(((z ^ z >> 31) >> 32) * below >> 32);
}

/* Sattolo's shuffle: one cycle through all `count` elements, every such cycle equally likely. */
static void make_cycle(struct chase_context *context, uint32_t count)
{
	uint32_t *next = context->host_next;
	for (uint32_t i = 0; i < count; ++i)
		next[i] = i;
	for (uint32_t i = count - 1; i > 0; --i) {
		const uint32_t j = next_random(context, i), kept = next[i];
		next[i] = next[j];
		next[j] = kept;
	}
	GPU(cudaMemcpy(context->next, next, count * sizeof *next, cudaMemcpyHostToDevice));
}

/* One node at a random place in each of equal parts of the set; all nodes when they are few enough.
 */
static uint32_t make_places(struct chase_context *context, int64_t bytes)
{
	const int64_t nodes = bytes / CHASE_NODE_BYTES;
	const uint32_t count = (uint32_t)(nodes < CYCLE_MAX ? nodes : CYCLE_MAX);
	const uint32_t part = (uint32_t)(nodes / count);
	for (uint32_t i = 0; i < count; ++i)
		context->host_place[i] = i * part + next_random(context, part);
	GPU(cudaMemcpy(context->place, context->host_place, count * sizeof *context->host_place,
	        cudaMemcpyHostToDevice));
	return count;
}

/* ---- samples ---- */

static bool keep_sample(const struct chase_context *context, double operations, double host_seconds,
        double slack, struct sample *sample)
{
	const struct chase_result *result = context->result;
	struct sample whole;
	gpu_span_sample(&result->whole, 1, host_seconds, slack, &whole);
	gpu_span_sample(&result->timed, operations, 0, 0, sample);
	sample->agreed = sample->agreed && whole.agreed;
	return true;
}

static bool chase_sample(void *argument, struct sample *sample)
{
	struct chase_context *context = argument;
	if (context->cold)
		GPU(cudaMemset(context->flush, (int)next_random(context, 256),
		        (size_t)context->flush_bytes));
	GPU(cudaDeviceSynchronize());
	const double start = clock_now();
	GPU(chase_launch(context->path, context->start, context->next, context->warm,
	        context->steps, context->result));
	GPU(cudaDeviceSynchronize());
	const double host_seconds = clock_now() - start;
	if (context->path != CHASE_SHARED)
		context->start = context->result->last;
	/* the shared-memory chase builds its cycle first */
	const double slack = launch_slack + (context->path == CHASE_SHARED ? 3e-4 : 0);
	return keep_sample(context, (double)context->steps, host_seconds, slack, sample);
}

static bool update_sample(void *argument, struct sample *sample)
{
	struct chase_context *context = argument;
	GPU(cudaDeviceSynchronize());
	const double start = clock_now();
	GPU(update_launch(context->threads, context->columns, context->steps, context->gpu.sm_count,
	        context->result));
	GPU(cudaDeviceSynchronize());
	/* the block fills its panel first and adds it up afterwards */
	return keep_sample(
	        context, (double)context->steps, clock_now() - start, launch_slack + 40e-6, sample);
}

/* A first launch loads the kernel, a second tells how many steps make a sample of about a
 * millisecond; then the samples. */
static void measure_point(struct probe_run *run, struct chase_context *context,
        sample_function function, int64_t pilot, const char *series, const struct arg *args,
        size_t arg_count, double seconds)
{
	const struct sample_plan plan = sample_plan_default(seconds);
	const double target = fmin(1e-3, seconds / 15);
	struct measurement measurement;
	struct sample sample = {0};
	context->steps = pilot;
	function(context, &sample);
	function(context, &sample);
	const double steps = fmin(target / fmax(sample.seconds, 1e-10), STEPS_MAX);
	context->steps = (int64_t)(fmax(steps, CHASE_UNROLL) / CHASE_UNROLL) * CHASE_UNROLL;
	if (!sample_run(function, context, &plan, context->gpu.max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	probe_record(run, series, args, arg_count, &measurement);
}

/* ---- the sweep ---- */

/* Sets surely in L2 when warm, and surely not when cold. */
static const char *set_series(const struct gpu *gpu, enum chase_path path, int64_t bytes)
{
	if (path == CHASE_L1)
		return "load_l1";
	if (bytes <= gpu->l2_bytes / 4)
		return "load_l2";
	return bytes >= 4 * gpu->l2_bytes ? "load_dram" : "load_mixed";
}

static void measure_set(struct probe_run *run, struct chase_context *context, enum chase_path path,
        int64_t bytes, double seconds)
{
	const uint32_t count = make_places(context, bytes);
	make_cycle(context, count);
	GPU(chase_build(context->nodes, context->place, context->next, count));
	context->path = path;
	context->bytes = bytes;
	context->cold = path == CHASE_L2 && bytes > 2 * context->gpu.l2_bytes;
	context->warm = path == CHASE_L1 ? (int64_t)count : 2 * CHASE_UNROLL;
	context->start = (uint64_t)(uintptr_t)context->nodes +
	                 (uint64_t)context->host_place[0] * CHASE_NODE_BYTES;
	if (path == CHASE_L2 && !context->cold)
		GPU(chase_touch(context->nodes, bytes, context->gpu.sm_count, context->sink));
	const struct arg args[] = {{"bytes", (double)bytes}};
	measure_point(run, context, chase_sample, PILOT_STEPS,
	        set_series(&context->gpu, path, bytes), args, 1, seconds);
}

static void measure_shared(struct probe_run *run, struct chase_context *context, double seconds)
{
	make_cycle(context, CHASE_SHARED_NODES);
	context->path = CHASE_SHARED;
	context->cold = false;
	context->warm = CHASE_SHARED_NODES;
	context->start = 0;
	const struct arg args[] = {{"bytes", CHASE_SHARED_NODES * sizeof(uint32_t)}};
	measure_point(run, context, chase_sample, PILOT_STEPS, "shared", args, 1, seconds);
}

/* Read and written: 8 bytes for each element of the panel. */
static void measure_update(
        struct probe_run *run, struct chase_context *context, int threads, double seconds)
{
	context->threads = threads;
	context->columns = update_columns(threads, context->gpu.shared_per_block);
	if (context->columns == 0)
		return;
	const struct arg args[] = {
	        {"threads", threads}, {"bytes", 8.0 * threads * context->columns}};
	measure_point(run, context, update_sample, CHASE_UNROLL, "shared_update", args, 2, seconds);
}

struct set {
	enum chase_path path;
	int64_t bytes;
};

/* L1 by powers of two; from 1 MiB on powers of two and the middles between them, to eight L2s and
 * more. */
static size_t list_sets(const struct chase_context *context, bool quick, struct set *set)
{
	size_t count = 0;
	for (int64_t bytes = 4 * KIB; bytes <= 512 * KIB; bytes *= quick ? 4 : 2)
		set[count++] = (struct set){CHASE_L1, bytes};
	for (int64_t bytes = MIB; bytes <= context->nodes_bytes; bytes *= 2) {
		set[count++] = (struct set){CHASE_L2, bytes};
		if (!quick && 3 * bytes / 2 <= context->nodes_bytes)
			set[count++] = (struct set){CHASE_L2, 3 * bytes / 2};
	}
	return count;
}

/* The largest set: a power of two of at least eight L2s, or what half of the free memory allows. */
static void allocate(struct chase_context *context)
{
	size_t unused, total;
	GPU(cudaMemGetInfo(&unused, &total));
	context->flush_bytes = 4 * context->gpu.l2_bytes;
	context->nodes_bytes = 64 * MIB;
	while (context->nodes_bytes < 8 * context->gpu.l2_bytes)
		context->nodes_bytes *= 2;
	while (context->nodes_bytes > MIB &&
	        context->nodes_bytes + context->flush_bytes > (int64_t)(unused / 2))
		context->nodes_bytes /= 2;
	if (context->nodes_bytes + context->flush_bytes > (int64_t)(unused / 2))
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of GPU memory are free: stop what uses it", unused);
	GPU(cudaMalloc(&context->nodes, (size_t)context->nodes_bytes));
	GPU(cudaMalloc(&context->flush, (size_t)context->flush_bytes));
	GPU(cudaMalloc((void **)&context->place, CYCLE_MAX * sizeof *context->place));
	GPU(cudaMalloc((void **)&context->next, CYCLE_MAX * sizeof *context->next));
	GPU(cudaMalloc((void **)&context->sink, sizeof *context->sink));
	GPU(cudaMallocHost((void **)&context->host_place, CYCLE_MAX * sizeof *context->host_place));
	GPU(cudaMallocHost((void **)&context->host_next, CYCLE_MAX * sizeof *context->host_next));
	GPU(cudaMallocHost((void **)&context->result, sizeof *context->result));
}

static void release(struct chase_context *context)
{
	GPU(cudaFree(context->nodes));
	GPU(cudaFree(context->flush));
	GPU(cudaFree(context->place));
	GPU(cudaFree(context->next));
	GPU(cudaFree(context->sink));
	GPU(cudaFreeHost(context->host_place));
	GPU(cudaFreeHost(context->host_next));
	GPU(cudaFreeHost(context->result));
}

static void measure(struct probe_run *run)
{
	struct chase_context context = {
	        .random = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process};
	struct fault fault;
	if (!gpu_open(&context.gpu, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	probe_watch_gpu(run, &context.gpu);
	gpu_warm(&context.gpu, warm_seconds);
	allocate(&context);

	const int threads[] = {32, 64, 128, 256, 512, 1024};
	struct set set[SETS_MAX];
	const size_t sets = list_sets(&context, run->common.quick, set);
	/* each set costs its cycle too, some milliseconds for the largest */
	const double seconds = fmax(run->seconds - warm_seconds, 0.1) * 0.75 /
	                       (double)(sets + 1 + ARRAY_LEN(threads));
	measure_shared(run, &context, seconds);
	for (size_t i = 0; i < sets; ++i)
		measure_set(run, &context, set[i].path, set[i].bytes, seconds);
	for (size_t i = 0; i < ARRAY_LEN(threads); ++i)
		measure_update(run, &context, threads[i], seconds);
	release(&context);
	probe_watch_gpu(run, &context.gpu);
}

static const char *const columns[] = {"bytes", "threads"};

static const struct probe load_latency_probe = {
        .name = "load_latency",
        .question = "How long does a dependent load take from shared memory, L1, L2 and DRAM?",
        .args = columns,
        .arg_count = ARRAY_LEN(columns),
        .needs_gpu = true,
        .seconds = 1.2,
        .processes = 3, /* what is timed inside a kernel differs little */
        .measure = measure,
        .fit = load_latency_fit,
};

int main(int argc, char **argv)
{
	return probe_main(argc, argv, &load_latency_probe);
}
