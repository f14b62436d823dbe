/* SPDX-License-Identifier: MIT */
/* Question: what do bank conflicts, columns of a tile and atomics cost? Method: the warp-wide
 * accesses of bank_conflict.cu in two regimes that every series names: `alone`, one warp with the
 * GPU for itself (dependent loads and atomics: latency; stores, which have no result: what one warp
 * issues one after the other), and `saturated`, 32 warps on every SM with independent accesses
 * (throughput, the median SM's). What can fool it: a conflict-free access that something else than
 * the banks limits makes the factors small; saturated stores and reductions are timed to their end.
 * Unit: seconds per warp-wide instruction, for saturated series of one SM, for saturated_global
 * ones of the whole device.
 *
 * Ways are counted per wavefront. The 32 banks are 4 bytes wide, so that a wavefront moves 128
 * bytes: 32 lanes of 4 bytes, 16 neighbouring lanes of 8, 8 of 16. Of n ways, n lanes of each such
 * group want different words of the same banks: the instruction takes n * width / 4 wavefronts, and
 * n goes up to 32, 16 and 8. For atomics, ways are the lanes that share one word, other words lying
 * in other banks. */
#include "lib/base/base.h"
#include "bank_conflict.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "lib/probe/probe.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

enum { WARP = 32, BANKS_BYTES = 128, THREADS = 1024, ONE_WORD_THREADS = 64 };

/* What launch, filling shared memory and synchronization may add to the host's view, seconds. */
static const double slack = 100e-6;
static const double longest_sample = 200e-6;

/* ---- one point ---- */

enum kind { PLAIN, SHARED_ATOMIC, GLOBAL_ATOMIC };

struct bank_point {
	enum kind kind;
	bool saturated;
	int width, threads;
	enum bank_access access;
	bool tile;
	enum bank_operation operation;
	enum bank_atomic atomic;
	struct bank_lanes lanes;
	uint32_t stride; /* of GLOBAL_ATOMIC */
};

struct bank_context {
	struct gpu gpu;
	void *memory;
	int64_t memory_bytes;
	struct bank_result *result; /* one per SM */
	struct bank_point point;
	int64_t rounds;
	double seconds; /* for one point */
};

static void start_point(struct bank_context *context)
{
	const struct bank_point *point = &context->point;
	const int64_t room = context->gpu.shared_per_block - THREADS * 4;
	const int64_t areas = room / BANK_AREA, warps = (point->threads + WARP - 1) / WARP;
	const struct bank_launch launch = {
	        .blocks = point->saturated ? context->gpu.sm_count : 1,
	        .threads = point->threads,
	        .areas = (int)(areas < warps ? areas : warps),
	        .rounds = context->rounds,
	        .result = context->result,
	};
	/* every thread a word of its own as far as the memory reaches; stride 0: all the same */
	const uint32_t words =
	        point->stride > 0 ? (uint32_t)(context->memory_bytes / point->stride) : 1;
	if (point->kind == PLAIN)
		GPU(bank_access_launch(
		        &launch, point->access, point->width, point->tile, &point->lanes));
	else if (point->kind == SHARED_ATOMIC)
		GPU(bank_shared_launch(&launch, point->operation, point->atomic, &point->lanes));
	else
		GPU(bank_global_launch(&launch, point->operation, point->atomic, context->memory,
		        point->stride, words));
}

/* Blocks share what is measured: the grid's time counts, with its start and end, so that samples
 * are longer. */
static bool device_wide(const struct bank_point *point)
{
	return point->saturated && point->kind == GLOBAL_ATOMIC;
}

static int by_cycles(const void *a, const void *b)
{
	const struct gpu_span *x = &((const struct bank_result *)a)->timed;
	const struct gpu_span *y = &((const struct bank_result *)b)->timed;
	const int64_t dx = x->cycles1 - x->cycles0, dy = y->cycles1 - y->cycles0;
	return (dx > dy) - (dx < dy);
}

/* From the first block's start to the last one's end, at the clock of the SM given. */
static struct gpu_span device_span(
        const struct bank_result *result, int blocks, const struct gpu_span *typical)
{
	struct gpu_span all = result[0].timed;
	for (int i = 1; i < blocks; ++i) {
		all.ns0 = result[i].timed.ns0 < all.ns0 ? result[i].timed.ns0 : all.ns0;
		all.ns1 = result[i].timed.ns1 > all.ns1 ? result[i].timed.ns1 : all.ns1;
	}
	const double ns = (double)(typical->ns1 - typical->ns0);
	const double cycles = (double)(typical->cycles1 - typical->cycles0);
	all.cycles0 = 0;
	all.cycles1 = ns > 0 ? (int64_t)(cycles / ns * (double)(all.ns1 - all.ns0)) : 0;
	return all;
}

static bool bank_sample(void *argument, struct sample *sample)
{
	struct bank_context *context = argument;
	const struct bank_point *point = &context->point;
	const int blocks = point->saturated ? context->gpu.sm_count : 1;
	const double start = clock_now();
	start_point(context);
	GPU(cudaDeviceSynchronize());
	const double host_seconds = clock_now() - start;

	qsort(context->result, (size_t)blocks, sizeof *context->result, by_cycles);
	const struct bank_result *middle = &context->result[(blocks - 1) / 2];
	struct gpu_span timed = middle->timed, all = middle->whole;
	double warps = (double)((point->threads + WARP - 1) / WARP);
	if (device_wide(point)) {
		timed = all = device_span(context->result, blocks, &middle->timed);
		warps *= blocks;
	}
	struct sample whole;
	gpu_span_sample(&all, 1, host_seconds, slack, &whole);
	gpu_span_sample(&timed, warps * BANK_UNROLL * (double)context->rounds, 0, 0, sample);
	sample->agreed = sample->agreed && whole.agreed;
	return true;
}

/* One round loads the kernel; more and more of them tell how many make a sample. */
static void measure_point(struct probe_run *run, struct bank_context *context, const char *series,
        const struct arg *args, size_t arg_count)
{
	const struct sample_plan plan = sample_plan_default(context->seconds);
	const double span = fmin(longest_sample, context->seconds / 25);
	const double target = device_wide(&context->point) ? 3 * span : span;
	struct measurement measurement;
	struct sample sample = {0};
	context->rounds = 1;
	bank_sample(context, &sample);
	bank_sample(context, &sample);
	while (sample.span < target / 20) {
		context->rounds *= 8;
		bank_sample(context, &sample);
	}
	const double rounds = (double)context->rounds * target / sample.span;
	context->rounds = rounds < 1 ? 1 : (int64_t)rounds;
	if (!sample_run(bank_sample, context, &plan, context->gpu.max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	probe_record(run, series, args, arg_count, &measurement);
}

/* ---- places of the lanes ---- */

/* Lane l of a group of 128 / width: n lanes one below the other, in rows of 128 bytes. */
static struct bank_lanes conflict_lanes(int ways, int width)
{
	struct bank_lanes lanes;
	const int group = BANKS_BYTES / width;
	for (int i = 0; i < WARP; ++i) {
		const int l = i % group, row = i / group * ways + l % ways;
		lanes.offset[i] = (uint16_t)(row * BANKS_BYTES + l / ways * width);
	}
	return lanes;
}

/* Neighbouring lanes at different ones of `words` places, one below the other. */
static struct bank_lanes broadcast_lanes(int words)
{
	struct bank_lanes lanes;
	for (int i = 0; i < WARP; ++i)
		lanes.offset[i] = (uint16_t)(i % words * BANKS_BYTES);
	return lanes;
}

/* A column of a tile of words. */
static struct bank_lanes column_lanes(int pitch)
{
	struct bank_lanes lanes;
	for (int i = 0; i < WARP; ++i)
		lanes.offset[i] = (uint16_t)(i * pitch * 4);
	return lanes;
}

/* `ways` neighbouring lanes on each word. */
static struct bank_lanes same_word_lanes(int ways)
{
	struct bank_lanes lanes;
	for (int i = 0; i < WARP; ++i)
		lanes.offset[i] = (uint16_t)(i / ways * 4);
	return lanes;
}

/* ---- the sweep ---- */

/* A load is a chain when its warp is alone. */
static struct bank_point plain_point(bool saturated, bool store)
{
	return (struct bank_point){.kind = PLAIN,
	        .saturated = saturated,
	        .threads = saturated ? THREADS : WARP,
	        .width = 4,
	        .access = store       ? BANK_STORE
	                  : saturated ? BANK_LOAD
	                              : BANK_CHAIN};
}

static const char *name_of(char *text, size_t size, bool saturated, const char *rest)
{
	snprintf(text, size, "%s_%s", saturated ? "saturated" : "alone", rest);
	return text;
}

static void measure_conflicts(struct probe_run *run, struct bank_context *context)
{
	char series[64];
	for (int width = 4; width <= (run->common.quick ? 4 : 16); width *= 2)
		for (int ways = 1; ways <= BANKS_BYTES / width; ways *= run->common.quick ? 4 : 2)
			for (int i = 0; i < 4; ++i) {
				context->point = plain_point(i / 2, i % 2);
				context->point.width = width;
				context->point.lanes = conflict_lanes(ways, width);
				const struct arg args[] = {{"ways", ways}, {"width", width},
				        {"threads", context->point.threads}};
				name_of(series, sizeof series, i / 2, i % 2 ? "store" : "load");
				measure_point(run, context, series, args, ARRAY_LEN(args));
			}
}

static void measure_broadcasts(struct probe_run *run, struct bank_context *context)
{
	char series[64];
	for (int width = 4; width <= (run->common.quick ? 4 : 16); width *= 2)
		for (int words = 1; words <= 2; ++words)
			for (int saturated = 0; saturated < 2; ++saturated) {
				context->point = plain_point(saturated, false);
				context->point.width = width;
				context->point.lanes = broadcast_lanes(words);
				const struct arg args[] = {{"words", words}, {"width", width},
				        {"threads", context->point.threads}};
				name_of(series, sizeof series, saturated, "broadcast");
				measure_point(run, context, series, args, ARRAY_LEN(args));
			}
}

static void measure_tiles(struct probe_run *run, struct bank_context *context)
{
	char series[64];
	for (int pitch = 32; pitch <= 33; ++pitch)
		for (int i = 0; i < 4; ++i) {
			context->point = plain_point(i / 2, i % 2);
			context->point.tile = true;
			context->point.lanes = column_lanes(pitch);
			const struct arg args[] = {{"width", 4}, {"pitch", pitch},
			        {"threads", context->point.threads}};
			name_of(series, sizeof series, i / 2, i % 2 ? "tile_store" : "tile_load");
			measure_point(run, context, series, args, ARRAY_LEN(args));
		}
}

static void measure_shared_atomics(struct probe_run *run, struct bank_context *context)
{
	static const struct {
		enum bank_operation operation;
		const char *name;
	} operation[] = {
	        {BANK_U32, "shared_u32"}, {BANK_F32, "shared_f32"}, {BANK_CAS, "shared_cas"}};
	char series[64];
	for (size_t o = 0; o < ARRAY_LEN(operation); ++o)
		for (int ways = 1; ways <= WARP; ways *= run->common.quick ? 32 : 2)
			for (int saturated = 0; saturated < 2; ++saturated) {
				context->point = (struct bank_point){.kind = SHARED_ATOMIC,
				        .saturated = saturated,
				        .threads = saturated ? THREADS : WARP,
				        .operation = operation[o].operation,
				        .atomic = saturated ? BANK_RED : BANK_DEPENDENT,
				        .lanes = same_word_lanes(ways)};
				const struct arg args[] = {{"ways", ways}, {"width", 4},
				        {"threads", context->point.threads}};
				name_of(series, sizeof series, saturated, operation[o].name);
				measure_point(run, context, series, args, ARRAY_LEN(args));
			}
}

/* One thread's chain; then all SMs on a line each thread, on neighbouring words, on one word. */
static void measure_global_atomics(struct probe_run *run, struct bank_context *context)
{
	static const struct {
		enum bank_operation operation;
		int width;
		const char *name[3]; /* by enum bank_atomic */
	} operation[] = {{BANK_U32, 4,
	                         {"alone_global_u32", "saturated_global_atom_u32",
	                                 "saturated_global_red_u32"}},
	        {BANK_F32, 4,
	                {"alone_global_f32", "saturated_global_atom_f32",
	                        "saturated_global_red_f32"}},
	        {BANK_U64, 8,
	                {"alone_global_u64", "saturated_global_atom_u64",
	                        "saturated_global_red_u64"}},
	        {BANK_F64, 8,
	                {"alone_global_f64", "saturated_global_atom_f64",
	                        "saturated_global_red_f64"}}};
	for (size_t o = 0; o < ARRAY_LEN(operation); o += run->common.quick ? 3 : 1)
		for (int i = 0; i < 7; ++i) {
			const int width = operation[o].width;
			const uint32_t stride[] = {BANKS_BYTES, (uint32_t)width, 0};
			struct bank_point point = {.kind = GLOBAL_ATOMIC,
			        .operation = operation[o].operation,
			        .atomic = i == 0  ? BANK_DEPENDENT
			                  : i % 2 ? BANK_RED
			                          : BANK_ATOM,
			        .saturated = i > 0,
			        .stride = i > 0 ? stride[(i - 1) / 2] : 0};
			point.threads = i == 0 ? 1 : point.stride > 0 ? THREADS : ONE_WORD_THREADS;
			context->point = point;
			const struct arg args[] = {{"width", width}, {"threads", point.threads},
			        {"stride_bytes", i > 0 ? point.stride : BANK_SPREAD}};
			measure_point(run, context, operation[o].name[point.atomic], args,
			        ARRAY_LEN(args));
		}
}

/* A line for every thread, but no more than half of L2; the words of the dependent chain. */
static void allocate(struct bank_context *context)
{
	const int64_t lines = (int64_t)THREADS * context->gpu.sm_count * BANKS_BYTES;
	const int64_t chain = (int64_t)BANK_UNROLL * BANK_SPREAD;
	context->memory_bytes =
	        lines < context->gpu.l2_bytes / 2 ? lines : context->gpu.l2_bytes / 2;
	if (context->memory_bytes < chain)
		context->memory_bytes = chain;
	GPU(cudaMalloc(&context->memory, (size_t)context->memory_bytes));
	gpu_fill_float(context->memory, context->memory_bytes / 4, 1, NULL);
	GPU(cudaMallocHost((void **)&context->result,
	        (size_t)context->gpu.sm_count * sizeof *context->result));
}

static void measure(struct probe_run *run)
{
	const bool quick = run->common.quick;
	struct bank_context context = {0};
	struct fault fault;
	if (!gpu_open(&context.gpu, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	probe_watch_gpu(run, &context.gpu);
	gpu_warm(&context.gpu, run->warm_seconds);
	allocate(&context);

	/* conflicts, broadcasts, tiles, atomics in shared and in global memory */
	const int points = quick ? 12 + 4 + 8 + 12 + 14 : 60 + 12 + 8 + 36 + 28;
	context.seconds = fmax(run->seconds - run->warm_seconds, 0.1) / points;
	measure_conflicts(run, &context);
	measure_broadcasts(run, &context);
	measure_tiles(run, &context);
	measure_shared_atomics(run, &context);
	measure_global_atomics(run, &context);
	GPU(cudaFree(context.memory));
	GPU(cudaFreeHost(context.result));
	probe_watch_gpu(run, &context.gpu);
}

static const char *const columns[] = {"ways", "width", "threads", "words", "pitch", "stride_bytes"};

const struct probe bank_conflict_probe = {
        .name = "bank_conflict",
        .question = "What do bank conflicts, columns of a tile and atomics cost?",
        .args = columns,
        .arg_count = ARRAY_LEN(columns),
        .needs_gpu = true,
        .seconds = 0.8,
        .processes = 3, /* what is timed inside a kernel differs little */
        .measure = measure,
        .fit = bank_conflict_fit,
};
