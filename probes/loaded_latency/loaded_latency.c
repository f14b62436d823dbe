/* SPDX-License-Identifier: MIT */
/* Question: how long does a load take while others move data, and how many bytes must be under way
 * for the full rate?
 *
 * Method: a pointer chase over a random cycle (in DRAM or in L2) beside streams whose pace is set
 * by pauses: each level gives a latency and an offered rate. Then streams alone, by plain loads,
 * asynchronous copies and the bulk copy engine, against bytes under way, SMs and warps; and out of
 * L2. (The bank_conflict probe measures shared memory.)
 *
 * What can fool it: nodes of the chase in L2 (the cycle's lines exceed L2 twice over) or L1
 * (ld.global.cg bypasses it); a stream over data in L2 (six L2s or more, up to 3 GiB, and each
 * sample goes on elsewhere);
 * streams that have not started or have ended (the chase waits for all and stops them); blocks that
 * run one after the other (each rate is over the block's own span).
 *
 * Unit: seconds per dependent load; seconds per byte for offered and streamed data. */
#include "loaded_latency.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"
#include "lib/probe/probe.h"
#include "lib/probe/probe_point.h"
#include "lib/stats/pointer_chain.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

enum { LEVELS = 14, BLOCKS_PER_SM = 4 }; /* paces of the streams; most blocks */

struct bench {
	struct probe_run *run;
	double seconds; /* for one point */
	struct gpu gpu;
	char *region;
	int64_t region_bytes, l2_bytes; /* beyond L2; well inside L2 */
	struct loaded_block *block;     /* pinned */
	struct loaded_shared *shared;
	uint64_t *last; /* pinned */
	uint32_t *sink;
	uint64_t random;
	struct loaded_stream stream; /* the current one */
	int64_t begun;               /* bytes behind which the chase's next streams begin */
};

/* ---- the latency of loads beside streams ---- */

enum {
	CHASE_STEPS = 512,
	SAMPLES_MAX = 512,
	SHORT_CYCLE = (2 << 20) / LOADED_NODE_BYTES /* at most, within L2 */
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

/* The next streams begin behind what each of these has read, which L2 may still hold; in the first
 * `room` bytes of the region. */
static void go_on(struct bench *b, int blocks, int64_t room)
{
	int64_t most = 0;
	for (int i = 1; i < blocks; i++)
		most = max_int64(most, (int64_t)b->block[i].bytes);
	b->begun = b->begun + most < room ? b->begun + most : 0;
}

/* One block follows the cycle, the others load. */
static void run_chase(struct bench *b, int blocks, int64_t steps, int64_t pause, int64_t bytes)
{
	const bool beyond_l2 = bytes == b->region_bytes;
	const int64_t room = beyond_l2 ? bytes / 8 : 0;
	const struct loaded_chase chase = {.blocks = blocks,
	        .steps = steps,
	        .pause = pause,
	        .region = b->region + (beyond_l2 ? b->begun : 0),
	        .region_bytes = bytes - room,
	        .last = b->last,
	        .shared = b->shared,
	        .block = b->block,
	        .sink = b->sink};
	GPU(cudaMemset(b->shared, 0, sizeof *b->shared));
	GPU(loaded_chase_launch(&chase));
	GPU(cudaDeviceSynchronize());
	if (beyond_l2)
		go_on(b, blocks, room);
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

static void measure_level(struct bench *b, bool in_l2, int level, int blocks, int64_t pause)
{
	struct loaded l = {.bench = b,
	        .blocks = blocks,
	        .pause = pause,
	        .stream_bytes = in_l2 ? b->l2_bytes : b->region_bytes,
	        .offered = xmalloc(SAMPLES_MAX * sizeof(double))};
	struct sample_plan plan = sample_plan_default(b->seconds);
	struct sample unused;
	struct measurement latency, offered = {.hz = NAN};
	const struct arg arg = {"level", level};
	chase_sample(&l, &unused);
	chase_sample(&l, &unused);
	l.samples = 0;
	if (!sample_run(chase_sample, &l, &plan, b->gpu.max_hz, &latency))
		msg_die(EXIT_MEASURE_FAILED, "the latency under load could not be measured");
	probe_record(b->run, in_l2 ? "latency_l2" : "latency_dram", &arg, 1, &latency);
	offered.seconds = stats_median_interval(l.offered, l.samples);
	offered.hz = latency.hz;
	if (blocks > 0)
		probe_record(b->run, in_l2 ? "offered_l2" : "offered_dram", &arg, 1, &offered);
	free(l.offered);
}

/* From an idle device to the full rate. */
static const struct {
	int blocks_per_sm;
	int64_t pause;
} levels[LEVELS] = {{0, 0}, {1, 60000}, {1, 30000}, {1, 15000}, {1, 8000}, {1, 4000}, {1, 2000},
        {1, 1000}, {1, 400}, {1, 0}, {2, 400}, {2, 0}, {3, 0}, {4, 0}};

static void measure_loaded(struct bench *b, bool in_l2)
{
	const int step = b->run->common.quick ? 2 : 1,
	          most = b->gpu.max_threads_per_sm / LOADED_THREADS;
	for (size_t i = 0; i < ARRAY_LEN(levels); i += (size_t)step)
		if (levels[i].blocks_per_sm <= most)
			measure_level(b, in_l2, (int)i,
			        levels[i].blocks_per_sm * (b->gpu.sm_count - 1), levels[i].pause);
}

/* Latencies of loads from DRAM and L2 beside streams, `seconds` at every pace. Needs cooperative
 * launches. The chase's nodes lie behind the region, where a third of its bytes are free. */
static void measure_chase(struct bench *b)
{
	/* the cycle's lines fill two L2s, and lie far apart */
	const uint32_t count = (uint32_t)(2 * b->gpu.l2_bytes / LOADED_NODE_BYTES);
	const int64_t room = b->region_bytes / 3;
	const uint32_t spacing = (uint32_t)(room / count / LOADED_NODE_BYTES * LOADED_NODE_BYTES);
	char *const nodes = b->region + b->region_bytes;
	make_cycle(b, nodes, count, spacing < LOADED_NODE_BYTES ? LOADED_NODE_BYTES : spacing);
	/* L2 still has nodes that were just written: streams push them out */
	run_chase(b, b->gpu.sm_count, CHASE_STEPS, 0, b->region_bytes);
	measure_loaded(b, false);
	const int64_t few = min_int64(SHORT_CYCLE, b->l2_bytes / LOADED_NODE_BYTES);
	make_cycle(b, nodes, (uint32_t)few, LOADED_NODE_BYTES);
	warm_cycle(b, few);
	measure_loaded(b, true);
}

#define MIB ((int64_t)1024 * 1024)

static const double launch_slack = 150e-6; /* the last streams' end */
static const double stream_seconds = 4e-4;

/* From the first block's start to the last block's end. */
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

static bool stream_sample(void *context, struct sample *sample)
{
	struct bench *b = context;
	struct loaded_stream *stream = &b->stream;
	const double start = clock_now();
	GPU(loaded_stream_launch(stream));
	GPU(cudaDeviceSynchronize());
	const double host_seconds = clock_now() - start;
	/* the next sample goes on far from this one's data in L2 */
	stream->offset += stream->turns * stream->blocks * loaded_pieces(stream);
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

static void measure_stream(struct bench *b, const char *series, struct loaded_stream stream)
{
	struct sample_plan plan = sample_plan_default(b->seconds);
	struct sample sample = {0};
	const double turn = (double)loaded_piece_bytes(&stream) * loaded_pieces(&stream);
	stream.region = b->region;
	stream.block = b->block;
	stream.sink = b->sink;
	stream.turns = 16;
	if (stream.region_bytes == 0)
		stream.region_bytes = b->region_bytes;
	b->stream = stream;
	stream_sample(b, &sample);
	stream_sample(b, &sample);
	b->stream.turns =
	        (int64_t)fmax(16, fmin(stream_seconds, b->seconds / 8) /
	                                  fmax(sample.seconds, 1e-15) / turn / stream.blocks);
	const double inflight = 16.0 * stream.threads * stream.depth;
	const struct arg args[] = {{"engine", stream.engine}, {"sms", stream.blocks},
	        {"warps", stream.threads / 32}, {"inflight", inflight}};
	probe_measure(
	        b->run, series, args, ARRAY_LEN(args), stream_sample, b, &plan, b->gpu.max_hz);
}

static bool has_engine(const struct gpu *gpu, enum loaded_engine engine)
{
	return engine == ENGINE_PLAIN || (engine == ENGINE_ASYNC && gpu->code >= 80) ||
	       (engine == ENGINE_BULK && gpu->code >= 90);
}

/* Measures on all SMs, unless their shared memory is too small. */
static void measure_engine(struct bench *b, const char *series, struct loaded_stream stream)
{
	const int inflight = 16 * stream.threads * stream.depth;
	if (stream.issuers == 0)
		stream.issuers = 1;
	if (!has_engine(&b->gpu, stream.engine)) {
		probe_lacks(b->run, &b->gpu, series, stream.engine == ENGINE_BULK ? 90 : 80);
		return;
	}
	if (stream.engine == ENGINE_PLAIN || inflight <= b->gpu.shared_per_block)
		measure_stream(b, series, stream);
}

/* Threads of one block an SM, and 16-byte loads of each under way. */
static const struct {
	int threads, depth;
} combinations[] = {{128, 1}, {256, 1}, {256, 2}, {512, 2}, {512, 4}, {1024, 4}, {1024, 8}};

/* Against bytes under way; against SMs; against warps that load, or start copies, with 2 KiB under
 * way each. */
static void sweep_engine(struct bench *b, enum loaded_engine engine)
{
	const int sms = b->gpu.sm_count, factor = b->run->common.quick ? 4 : 2;
	struct loaded_stream stream = {.engine = engine, .blocks = sms};
	for (size_t i = 0; i < ARRAY_LEN(combinations); i++) {
		stream.threads = combinations[i].threads;
		stream.depth = combinations[i].depth;
		measure_engine(b, "inflight", stream);
	}
	stream.threads = 1024;
	stream.depth = 4;
	for (stream.blocks = 1; stream.blocks <= sms; stream.blocks *= factor)
		measure_engine(b, "sms", stream);
	for (int k = 0; k < 4; k++) {
		stream.blocks = loaded_upper_sms(sms, k);
		if (stream.blocks > 0)
			measure_engine(b, "sms_upper", stream);
	}
	stream.blocks = sms;
	for (stream.issuers = 1; stream.issuers <= 32; stream.issuers *= factor) {
		stream.threads = 32 * stream.issuers;
		measure_engine(b, "warps", stream);
	}
}

static void measure_in_l2(struct bench *b)
{
	struct loaded_stream stream = {.engine = ENGINE_PLAIN,
	        .blocks = b->gpu.sm_count,
	        .threads = 1024,
	        .depth = 4,
	        .region_bytes = b->l2_bytes};
	measure_stream(b, "l2_read", stream);
	stream.blocks = 1;
	measure_stream(b, "l2_read_one", stream);
	stream.blocks = b->gpu.sm_count;
	stream.engine = ENGINE_STORE;
	measure_stream(b, "l2_write", stream);
}

static void set_up(struct bench *b)
{
	size_t unused, total;
	const size_t blocks = 1 + (size_t)BLOCKS_PER_SM * (size_t)b->gpu.sm_count;
	GPU(cudaMemGetInfo(&unused, &total));
	b->l2_bytes = loaded_inside_l2(b->gpu.l2_bytes);
	b->region_bytes = 4096 * MIB;
	while (b->region_bytes > 16 * MIB && b->region_bytes > (int64_t)(unused / 2))
		b->region_bytes /= 2;
	if (b->region_bytes < 8 * b->gpu.l2_bytes)
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of GPU memory are free, too few beyond L2: stop other "
		        "programs",
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
	struct bench b = {.run = run,
	        .random = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process};
	probe_open_gpu(run, &b.gpu);
	gpu_warm(&b.gpu, run->warm_seconds);
	set_up(&b);

	b.seconds = run->seconds / (2 * LEVELS + 80);
	for (int engine = ENGINE_PLAIN; engine <= ENGINE_BULK; engine++)
		sweep_engine(&b, (enum loaded_engine)engine);
	measure_in_l2(&b);
	if (b.gpu.cooperative)
		measure_chase(&b);
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
        .seconds = 2.1,
        .processes = 3,
        .measure = measure,
        .fit = loaded_latency_fit,
};
