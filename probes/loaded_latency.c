/* SPDX-License-Identifier: MIT */
/* Question: how long does a load take while others move data, and how many bytes must be under way
 * for the full rate?
 *
 * Method: a chase over a random cycle (in DRAM or in L2) beside streams whose pace pauses set: each
 * level gives a latency and the rate offered at the same time. Then streams alone: against bytes
 * under way by plain loads, asynchronous copies and the bulk copy engine, against SMs, against
 * warps, and out of L2. (What shared memory delivers is the bank_conflict probe's.)
 *
 * What can fool it: nodes of the chase that L2 still holds (the cycle's lines exceed L2 twice
 * over), a stream over what L2 holds (64 L2s, each sample goes on elsewhere), blocks that run after
 * each other (each rate is over the block's own span; the device's is the sum).
 *
 * Unit: seconds per dependent load; seconds per byte for what is offered and streamed. */
#include "../lib/base.h"
#include "loaded_latency.h"

#include "../lib/clock.h"
#include "../lib/msg.h"
#include "../lib/probe.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

#define KIB ((int64_t)1024)
#define MIB (1024 * KIB)

enum { BLOCKS_PER_SM = 4, CHASE_STEPS = 512, SAMPLES_MAX = 512 };

static const double launch_slack = 150e-6; /* a cooperative launch, and streams that end last */
static const double stream_seconds = 4e-4;

struct bench {
	struct gpu gpu;
	char *region;
	int64_t region_bytes, l2_bytes; /* beyond L2; well inside L2 */
	struct loaded_block *block;     /* pinned */
	struct loaded_shared *shared;
	uint64_t *last; /* pinned */
	uint32_t *sink;
	uint64_t random;
};

/* ---- a random cycle at the end of the region ---- */

static uint32_t next_random(struct bench *b, uint32_t below)
{
	uint64_t z = b->random += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)(((z ^ z >> 31) >> 32) * below >> 32);
}

/* Sattolo's cycle over `count` nodes, one in each `spacing` bytes from `nodes` on. */
static void make_cycle(struct bench *b, char *nodes, uint32_t count, uint32_t spacing)
{
	const size_t bytes = count * sizeof(uint32_t);
	uint32_t *next = xmalloc(bytes), *place = xmalloc(bytes), *device_next, *device_place;
	const uint32_t part = spacing / LOADED_NODE_BYTES;
	for (uint32_t i = 0; i < count; i++) {
		next[i] = i;
		place[i] = i * part + next_random(b, part);
	}
	for (uint32_t i = count - 1; i > 0; i--) {
		const uint32_t j = next_random(b, i), kept = next[i];
		next[i] = next[j];
		next[j] = kept;
	}
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

/* ---- latency beside streams ---- */

struct loaded {
	struct bench *bench;
	int blocks; /* that stream */
	int64_t pause, stream_bytes;
	double *offered; /* seconds per byte, of every sample */
	size_t samples;
};

/* The streams' rates, each over its own span (all run until the chase stops them), together. */
static double rate_of(const struct bench *b, int first, int end)
{
	double rate = 0;
	for (int i = first; i < end; i++)
		rate += (double)b->block[i].bytes /
		        ((double)(b->block[i].span.ns1 - b->block[i].span.ns0) * 1e-9);
	return rate;
}

static bool chase_sample(void *context, struct sample *sample)
{
	struct loaded *l = context;
	struct bench *b = l->bench;
	const struct loaded_chase chase = {.blocks = 1 + l->blocks,
	        .steps = CHASE_STEPS,
	        .pause = l->pause,
	        .region = b->region,
	        .region_bytes = l->stream_bytes,
	        .last = b->last,
	        .shared = b->shared,
	        .block = b->block,
	        .sink = b->sink};
	GPU(cudaMemset(b->shared, 0, sizeof *b->shared));
	GPU(loaded_chase_launch(&chase));
	GPU(cudaDeviceSynchronize());
	gpu_span_sample(&b->block[0].span, CHASE_STEPS, 0, 0, sample);
	if (l->samples < SAMPLES_MAX && l->blocks > 0)
		l->offered[l->samples++] = 1 / rate_of(b, 1, 1 + l->blocks);
	return true;
}

/* Once around: what the build wrote a word of is then in L2 whole. */
static void warm_cycle(struct bench *b, int64_t nodes)
{
	const struct loaded_chase chase = {.blocks = 1,
	        .steps = nodes,
	        .region = b->region,
	        .region_bytes = b->l2_bytes,
	        .last = b->last,
	        .shared = b->shared,
	        .block = b->block,
	        .sink = b->sink};
	GPU(cudaMemset(b->shared, 0, sizeof *b->shared));
	GPU(loaded_chase_launch(&chase));
	GPU(cudaDeviceSynchronize());
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

/* From an idle device to all that it can move. */
static const struct {
	int blocks_per_sm;
	int64_t pause;
} levels[] = {{0, 0}, {1, 60000}, {1, 30000}, {1, 15000}, {1, 8000}, {1, 4000}, {1, 2000},
        {1, 1000}, {1, 400}, {1, 0}, {2, 400}, {2, 0}, {3, 0}, {4, 0}};

static void measure_loaded(struct probe_run *run, struct bench *b, bool in_l2, double seconds)
{
	const int step = run->common.quick ? 2 : 1;
	for (size_t i = 0; i < ARRAY_LEN(levels); i += (size_t)step)
		measure_level(run, b, in_l2, (int)i,
		        levels[i].blocks_per_sm * (b->gpu.sm_count - 1), levels[i].pause, seconds);
}

/* ---- streams alone ---- */

/* From the first block's start to the last one's end. */
static void join_spans(const struct bench *b, int blocks, struct gpu_span *whole, double *bytes)
{
	*whole = b->block[0].span;
	*bytes = 0;
	for (int i = 0; i < blocks; i++) {
		const struct gpu_span *span = &b->block[i].span;
		if (span->ns0 < whole->ns0)
			whole->ns0 = span->ns0;
		if (span->ns1 > whole->ns1)
			whole->ns1 = span->ns1;
		*bytes += (double)b->block[i].bytes;
	}
}

struct streamed {
	struct bench *bench;
	struct loaded_stream stream;
};

static bool stream_sample(void *context, struct sample *sample)
{
	struct streamed *s = context;
	struct bench *b = s->bench;
	struct loaded_stream *stream = &s->stream;
	const double start = clock_now();
	GPU(loaded_stream_launch(stream));
	GPU(cudaDeviceSynchronize());
	const double host_seconds = clock_now() - start;
	/* where the next sample goes on: far from what L2 holds of this one */
	stream->offset += stream->turns * stream->blocks;
	struct gpu_span whole;
	struct sample all;
	double bytes;
	join_spans(b, stream->blocks, &whole, &bytes);
	gpu_span_sample(&b->block[stream->blocks / 2].span, 1, 0, 0, sample); /* for the clock */
	gpu_span_sample(&whole, bytes, host_seconds, launch_slack, &all);
	sample->seconds = all.seconds;
	sample->agreed = sample->agreed && all.agreed;
	return true;
}

static void measure_stream(struct probe_run *run, struct bench *b, const char *series,
        struct loaded_stream stream, double seconds)
{
	struct streamed s = {.bench = b, .stream = stream};
	struct sample_plan plan = sample_plan_default(seconds);
	struct measurement measurement;
	struct sample sample = {0};
	const double piece =
	        16.0 * stream.threads * stream.depth / (stream.engine == ENGINE_BULK ? 4 : 1);
	s.stream.region = b->region;
	s.stream.block = b->block;
	s.stream.sink = b->sink;
	s.stream.turns = 16;
	if (s.stream.region_bytes == 0)
		s.stream.region_bytes = b->region_bytes;
	stream_sample(&s, &sample);
	stream_sample(&s, &sample);
	s.stream.turns =
	        (int64_t)fmax(16, fmin(stream_seconds, seconds / 8) / fmax(sample.seconds, 1e-15) /
	                                  piece / stream.blocks);
	if (!sample_run(stream_sample, &s, &plan, b->gpu.max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	const double inflight = 16.0 * stream.threads * stream.depth;
	const struct arg args[] = {{"engine", stream.engine}, {"sms", stream.blocks},
	        {"warps", stream.threads / 32}, {"inflight", inflight}};
	probe_record(run, series, args, ARRAY_LEN(args), &measurement);
}

static bool has_engine(const struct gpu *gpu, int engine)
{
	return engine == ENGINE_PLAIN || (engine == ENGINE_ASYNC && gpu->major >= 8) ||
	       (engine == ENGINE_BULK && gpu->major >= 9);
}

/* Threads of one block an SM and 16-byte loads of each that are under way together. */
static const struct {
	int threads, depth;
} combinations[] = {{128, 1}, {256, 1}, {256, 2}, {512, 2}, {512, 4}, {1024, 4}, {1024, 8}};

static void measure_inflight(struct probe_run *run, struct bench *b, double seconds)
{
	for (int engine = ENGINE_PLAIN; engine <= ENGINE_BULK; engine++) {
		if (!has_engine(&b->gpu, engine))
			continue;
		for (size_t i = 0; i < ARRAY_LEN(combinations); i++) {
			const struct loaded_stream stream = {.engine = (enum loaded_engine)engine,
			        .blocks = b->gpu.sm_count,
			        .threads = combinations[i].threads,
			        .depth = combinations[i].depth};
			if (engine == ENGINE_PLAIN ||
			        16 * stream.threads * stream.depth <= b->gpu.shared_per_block)
				measure_stream(run, b, "inflight", stream, seconds);
		}
	}
}

static void measure_sms(struct probe_run *run, struct bench *b, double seconds)
{
	for (int sms = 1; sms <= b->gpu.sm_count; sms *= run->common.quick ? 4 : 2)
		measure_stream(run, b, "sms",
		        (struct loaded_stream){
		                .engine = ENGINE_PLAIN, .blocks = sms, .threads = 1024, .depth = 4},
		        seconds);
	for (int part = 4; part > 0; part--) /* the knee lies between the last powers of two */
		measure_stream(run, b, "sms_upper",
		        (struct loaded_stream){.engine = ENGINE_PLAIN,
		                .blocks = b->gpu.sm_count * (8 - part) / 7,
		                .threads = 1024,
		                .depth = 4},
		        seconds);
}

static void measure_warps(struct probe_run *run, struct bench *b, double seconds)
{
	for (int warps = 1; warps <= 32; warps *= run->common.quick ? 4 : 2)
		measure_stream(run, b, "warps",
		        (struct loaded_stream){.engine = ENGINE_PLAIN,
		                .blocks = b->gpu.sm_count,
		                .threads = 32 * warps,
		                .depth = 4},
		        seconds);
}

static void measure_in_l2(struct probe_run *run, struct bench *b, double seconds)
{
	struct loaded_stream stream = {.engine = ENGINE_PLAIN,
	        .blocks = b->gpu.sm_count,
	        .threads = 1024,
	        .depth = 4,
	        .region_bytes = b->l2_bytes};
	measure_stream(run, b, "l2_read", stream, seconds);
	stream.blocks = 1;
	measure_stream(run, b, "l2_read_one", stream, seconds);
	stream.blocks = b->gpu.sm_count;
	stream.engine = ENGINE_STORE;
	measure_stream(run, b, "l2_write", stream, seconds);
}

/* ---- the whole ---- */

static void set_up(struct bench *b)
{
	size_t unused, total;
	const size_t blocks = (size_t)(1 + BLOCKS_PER_SM * b->gpu.sm_count);
	GPU(cudaMemGetInfo(&unused, &total));
	b->l2_bytes = b->gpu.l2_bytes / 3 / MIB * MIB;
	b->region_bytes = 4096 * MIB;
	while (b->region_bytes > 16 * MIB && b->region_bytes > (int64_t)(unused / 2))
		b->region_bytes /= 2;
	if (b->region_bytes < 8 * b->gpu.l2_bytes)
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of GPU memory are free, too few beyond L2: stop what uses "
		        "it",
		        unused);
	/* the chase's nodes lie behind the streams' part */
	GPU(cudaMalloc((void **)&b->region, (size_t)(b->region_bytes)));
	b->region_bytes -= b->region_bytes / 4;
	GPU(cudaMallocHost((void **)&b->block, blocks * sizeof *b->block));
	GPU(cudaMallocHost((void **)&b->last, sizeof *b->last));
	GPU(cudaMalloc((void **)&b->shared, sizeof *b->shared));
	GPU(cudaMalloc((void **)&b->sink, sizeof *b->sink));
	gpu_fill_float((float *)b->region, b->region_bytes / 4, b->random, NULL);
	GPU(cudaDeviceSynchronize());
}

static void release(struct bench *b)
{
	GPU(cudaFree(b->region));
	GPU(cudaFree(b->shared));
	GPU(cudaFree(b->sink));
	GPU(cudaFreeHost(b->block));
	GPU(cudaFreeHost(b->last));
}

static void measure(struct probe_run *run)
{
	struct bench b = {.random = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process};
	struct fault fault;
	if (!gpu_open(&b.gpu, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	probe_watch_gpu(run, &b.gpu);
	gpu_warm(&b.gpu, run->warm_seconds);
	set_up(&b);

	const double point = run->seconds / (2 * ARRAY_LEN(levels) + 45);
	measure_inflight(run, &b, point);
	measure_sms(run, &b, point);
	measure_warps(run, &b, point);
	measure_in_l2(run, &b, point);
	if (b.gpu.cooperative) {
		/* the lines of the cycle are two L2s together, and far apart */
		const uint32_t count = (uint32_t)(2 * b.gpu.l2_bytes / LOADED_NODE_BYTES);
		const int64_t room = b.region_bytes / 3;
		const uint32_t spacing =
		        (uint32_t)(room / count / LOADED_NODE_BYTES * LOADED_NODE_BYTES);
		make_cycle(&b, b.region + b.region_bytes, count,
		        spacing < LOADED_NODE_BYTES ? LOADED_NODE_BYTES : spacing);
		measure_loaded(run, &b, false, point);
		make_cycle(&b, b.region + b.region_bytes, (uint32_t)(2 * MIB / LOADED_NODE_BYTES),
		        LOADED_NODE_BYTES);
		warm_cycle(&b, (int64_t)(2 * MIB / LOADED_NODE_BYTES));
		measure_loaded(run, &b, true, point);
	}
	release(&b);
	probe_watch_gpu(run, &b.gpu);
}

static const char *const arguments[] = {"level", "engine", "sms", "warps", "inflight"};
const struct probe loaded_latency_probe = {
        .name = "loaded_latency",
        .question = "How long does a load take while others move data, and how many bytes "
                    "must be under way for the full rate?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .seconds = 1.6,
        .processes = 3,
        .measure = measure,
        .fit = loaded_latency_fit,
};
