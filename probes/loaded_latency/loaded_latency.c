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
 * (ld.global.cg bypasses it); a stream over data in L2 (64 L2s, each sample goes on elsewhere);
 * streams that have not started or have ended (the chase waits for all and stops them); blocks that
 * run one after the other (each rate is over the block's own span).
 *
 * Unit: seconds per dependent load; seconds per byte for offered and streamed data. */
#include "lib/base/base.h"
#include "loaded_latency_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "lib/probe/probe_point.h"

#include <cuda_runtime_api.h>
#include <math.h>

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

static void measure_stream(struct probe_run *run, struct bench *b, const char *series,
        struct loaded_stream stream, double seconds)
{
	struct streamed s = {.bench = b, .stream = stream};
	struct sample_plan plan = sample_plan_default(seconds);
	struct sample sample = {0};
	const double turn = (double)loaded_piece_bytes(&stream) * loaded_pieces(&stream);
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
	                                  turn / stream.blocks);
	const double inflight = 16.0 * stream.threads * stream.depth;
	const struct arg args[] = {{"engine", stream.engine}, {"sms", stream.blocks},
	        {"warps", stream.threads / 32}, {"inflight", inflight}};
	probe_measure(run, series, args, ARRAY_LEN(args), stream_sample, &s, &plan, b->gpu.max_hz);
}

static bool has_engine(const struct gpu *gpu, enum loaded_engine engine)
{
	return engine == ENGINE_PLAIN || (engine == ENGINE_ASYNC && gpu->code >= 80) ||
	       (engine == ENGINE_BULK && gpu->code >= 90);
}

/* Measures on all SMs, unless their shared memory is too small. */
static void measure_engine(struct probe_run *run, struct bench *b, const char *series,
        struct loaded_stream stream, double seconds)
{
	const int inflight = 16 * stream.threads * stream.depth;
	if (stream.issuers == 0)
		stream.issuers = 1;
	if (has_engine(&b->gpu, stream.engine) &&
	        (stream.engine == ENGINE_PLAIN || inflight <= b->gpu.shared_per_block))
		measure_stream(run, b, series, stream, seconds);
}

/* Threads of one block an SM, and 16-byte loads of each under way. */
static const struct {
	int threads, depth;
} combinations[] = {{128, 1}, {256, 1}, {256, 2}, {512, 2}, {512, 4}, {1024, 4}, {1024, 8}};

static void measure_inflight(
        struct probe_run *run, struct bench *b, enum loaded_engine engine, double seconds)
{
	for (size_t i = 0; i < ARRAY_LEN(combinations); i++)
		measure_engine(run, b, "inflight",
		        (struct loaded_stream){.engine = engine,
		                .blocks = b->gpu.sm_count,
		                .threads = combinations[i].threads,
		                .depth = combinations[i].depth},
		        seconds);
}

static void measure_sms(
        struct probe_run *run, struct bench *b, enum loaded_engine engine, double seconds)
{
	struct loaded_stream stream = {.engine = engine, .threads = 1024, .depth = 4};
	for (int sms = 1; sms <= b->gpu.sm_count; sms *= run->common.quick ? 4 : 2) {
		stream.blocks = sms;
		measure_engine(run, b, "sms", stream, seconds);
	}
	for (int part = 4; part > 0; part--) { /* the knee lies between the last powers of two */
		stream.blocks = b->gpu.sm_count * (8 - part) / 7;
		measure_engine(run, b, "sms_upper", stream, seconds);
	}
}

/* Each of `warps` warps loads, or starts copies, with 2 KiB under way. */
static void measure_warps(
        struct probe_run *run, struct bench *b, enum loaded_engine engine, double seconds)
{
	for (int warps = 1; warps <= 32; warps *= run->common.quick ? 4 : 2)
		measure_engine(run, b, "warps",
		        (struct loaded_stream){.engine = engine,
		                .blocks = b->gpu.sm_count,
		                .threads = 32 * warps,
		                .depth = 4,
		                .issuers = warps},
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

static void set_up(struct bench *b)
{
	size_t unused, total;
	const size_t blocks = (size_t)(1 + LOADED_BLOCKS_PER_SM * b->gpu.sm_count);
	GPU(cudaMemGetInfo(&unused, &total));
	b->l2_bytes = b->gpu.l2_bytes / 3 / MIB * MIB;
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
	struct bench b = {.random = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process};
	probe_open_gpu(run, &b.gpu);
	gpu_warm(&b.gpu, run->warm_seconds);
	set_up(&b);

	const double point = run->seconds / (2 * LOADED_LEVELS + 80);
	for (int engine = ENGINE_PLAIN; engine <= ENGINE_BULK; engine++) {
		measure_inflight(run, &b, (enum loaded_engine)engine, point);
		measure_sms(run, &b, (enum loaded_engine)engine, point);
		measure_warps(run, &b, (enum loaded_engine)engine, point);
	}
	measure_in_l2(run, &b, point);
	if (b.gpu.cooperative)
		loaded_latency_chase(run, &b, point);
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
