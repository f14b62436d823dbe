/* SPDX-License-Identifier: MIT */
/* Question: what do bank conflicts, columns of a tile and atomics cost?
 *
 * Method: warp-wide accesses in two regimes, named by the series. `alone`: one warp has the GPU;
 * dependent loads and atomics give latency, stores without result the issue rate. `saturated`: 32
 * warps on every SM with independent accesses, the median SM.
 *
 * What can fool it: a conflict-free access with another limit than the banks makes the factors
 * small; accesses still on their way at the second clock (stores and reductions are timed to their
 * end); accesses that the compiler drops or moves (all are volatile).
 *
 * Unit: seconds per warp-wide instruction, for cas per warp-wide addition by a loop; of one SM for
 * saturated series, of the whole device for saturated_global ones.
 *
 * Ways are counted per wavefront of 128 bytes (32 banks of 4 bytes): 32 lanes of 4 bytes, 16 of 8,
 * 8 of 16. With n ways, n lanes of each such group want different words of the same banks, and the
 * instruction takes n * width / 4 wavefronts; n is up to 32, 16 and 8. For atomics, ways are the
 * lanes that share one word; other words lie in other banks. */
#include "bank_conflict.h"

#include "lib/host/clock.h"
#include "lib/probe/probe_point.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

enum { WARP = 32, BANKS_BYTES = 128, THREADS = 1024, ONE_WORD_THREADS = 64 };

/* Launch, filling of shared memory and synchronization in the host's view, seconds. */
static const double slack = 100e-6;
static const double longest_sample = 200e-6;

struct bank_context {
	struct probe_run *run;
	struct gpu gpu;
	void *memory;
	int64_t memory_bytes;
	struct bank_result *result; /* one per SM */
	struct bank_launch point;
	bool saturated; /* a block on every SM, else one */
	double seconds; /* for one point */
};

/* All blocks share the unit under test: the time of the grid counts, in longer samples. */
static bool device_wide(const struct bank_context *context)
{
	return context->saturated && context->point.kind == BANK_GLOBAL_ATOMIC;
}

static int by_cycles(const void *a, const void *b)
{
	const struct gpu_span *x = &((const struct bank_result *)a)->timed;
	const struct gpu_span *y = &((const struct bank_result *)b)->timed;
	const int64_t dx = x->cycles1 - x->cycles0, dy = y->cycles1 - y->cycles0;
	return (dx > dy) - (dx < dy);
}

/* From the first block's start to the last block's end, at the clock of the given SM. */
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
	const struct bank_launch *point = &context->point;
	const int blocks = point->blocks;
	const double start = clock_now();
	GPU(bank_launch(point));
	GPU(cudaDeviceSynchronize());
	const double host_seconds = clock_now() - start;

	qsort(context->result, (size_t)blocks, sizeof *context->result, by_cycles);
	const struct bank_result *middle = &context->result[(blocks - 1) / 2];
	struct gpu_span timed = middle->timed, all = middle->whole;
	double warps = (double)((point->threads + WARP - 1) / WARP);
	if (device_wide(context)) {
		timed = all = device_span(context->result, blocks, &middle->timed);
		warps *= blocks;
	}
	struct sample whole;
	gpu_span_sample(&all, 1, host_seconds, slack, &whole);
	gpu_span_sample(&timed, warps * BANK_UNROLL * (double)point->rounds, 0, 0, sample);
	sample->agreed = sample->agreed && whole.agreed;
	return true;
}

/* Fills in where and on how many blocks the point runs. */
static void set_point(struct bank_context *context, const struct bank_launch *point, bool saturated)
{
	struct bank_launch *launch = &context->point;
	const int64_t room = context->gpu.shared_per_block - THREADS * 4;
	const int64_t areas = room / BANK_AREA, warps = (point->threads + WARP - 1) / WARP;
	*launch = *point;
	context->saturated = saturated;
	launch->blocks = saturated ? context->gpu.sm_count : 1;
	launch->areas = (int)min_int64(areas, warps);
	launch->result = context->result;
	launch->memory = context->memory;
	/* a word for every thread as far as the memory reaches; stride 0: one word for all */
	launch->words = point->stride > 0 ? (uint32_t)(context->memory_bytes / point->stride) : 1;
	launch->rounds = 1;
}

/* Measures a point with one argument beside width and threads. Its series is the regime and `name`.
 * The first rounds load the kernel and give the number of rounds of a sample. */
static void measure_point(struct bank_context *context, const struct bank_launch *point,
        bool saturated, const char *name, struct arg argument)
{
	const struct sample_plan plan = sample_plan_default(context->seconds);
	const double span = fmin(longest_sample, context->seconds / 25);
	const struct arg args[] = {argument, {"width", point->width}, {"threads", point->threads}};
	int64_t *rounds = &context->point.rounds;
	struct sample sample = {0};
	char series[64];
	snprintf(series, sizeof series, "%s_%s", saturated ? "saturated" : "alone", name);
	set_point(context, point, saturated);
	const double target = device_wide(context) ? 3 * span : span;
	bank_sample(context, &sample);
	bank_sample(context, &sample);
	while (sample.span < target / 20) {
		*rounds *= 8;
		bank_sample(context, &sample);
	}
	*rounds = (int64_t)fmax(1, (double)*rounds * target / sample.span);
	probe_measure(context->run, series, args, ARRAY_LEN(args), bank_sample, context, &plan,
	        context->gpu.max_hz);
}

/* The place of a lane in bytes, for a number n that a sweep varies. Lane l of a group of 128 /
 * width lanes: n lanes below each other, in rows of 128 bytes. */
static int conflict_place(int lane, int n, int width)
{
	const int group = BANKS_BYTES / width, l = lane % group;
	return (lane / group * n + l % n) * BANKS_BYTES + l / n * width;
}

/* Neighbouring lanes at different ones of n places below each other. */
static int broadcast_place(int lane, int n, int width)
{
	(void)width;
	return lane % n * BANKS_BYTES;
}

/* A column of a tile of words with pitch n. */
static int column_place(int lane, int n, int width)
{
	return lane * n * width;
}

/* n neighbouring lanes on each word. */
static int same_word_place(int lane, int n, int width)
{
	return lane / n * width;
}

static struct bank_lanes lanes_at(int (*place)(int lane, int n, int width), int n, int width)
{
	struct bank_lanes lanes;
	for (int i = 0; i < WARP; ++i)
		lanes.offset[i] = (uint16_t)place(i, n, width);
	return lanes;
}

/* Loads, and stores if they have a name, by a number from first to last (0: 128 / width). */
static const struct access_sweep {
	const char *load, *store, *argument;
	int (*place)(int lane, int n, int width);
	int first, last, widest;
	bool tile;
} access_sweeps[] = {
        {"load", "store", "ways", conflict_place, 1, 0, 16, false},
        {"broadcast", NULL, "words", broadcast_place, 1, 2, 16, false},
        {"tile_load", "tile_store", "pitch", column_place, 32, 33, 4, true},
};

/* A load of a warp alone depends on the load before. */
static void measure_accesses(
        struct bank_context *context, const struct access_sweep *sweep, int width, int n)
{
	for (int i = 0; i < 4; ++i) {
		const bool saturated = i / 2, store = i % 2;
		const struct bank_launch point = {.kind = BANK_PLAIN,
		        .threads = saturated ? THREADS : WARP,
		        .width = width,
		        .tile = sweep->tile,
		        .access = store       ? BANK_STORE
		                  : saturated ? BANK_LOAD
		                              : BANK_CHAIN,
		        .lanes = lanes_at(sweep->place, n, width)};
		if (!store || sweep->store)
			measure_point(context, &point, saturated,
			        store ? sweep->store : sweep->load,
			        (struct arg){sweep->argument, n});
	}
}

static void sweep_accesses(struct bank_context *context, const struct access_sweep *sweep)
{
	const bool quick = context->run->common.quick;
	for (int width = 4; width <= (quick ? 4 : sweep->widest); width *= 2) {
		const int last = sweep->last ? sweep->last : BANKS_BYTES / width;
		for (int n = sweep->first; n <= last;
		        n = sweep->tile ? n + 1 : n * (sweep->last == 0 && quick ? 4 : 2))
			measure_accesses(context, sweep, width, n);
	}
}

static void measure_shared_atomics(struct bank_context *context)
{
	static const struct {
		enum bank_operation operation;
		const char *name;
	} operation[] = {
	        {BANK_U32, "shared_u32"}, {BANK_F32, "shared_f32"}, {BANK_CAS, "shared_cas"}};
	for (size_t o = 0; o < ARRAY_LEN(operation); ++o)
		for (int ways = 1; ways <= WARP; ways *= context->run->common.quick ? 32 : 2)
			for (int saturated = 0; saturated < 2; ++saturated) {
				const struct bank_launch point = {.kind = BANK_SHARED_ATOMIC,
				        .width = 4,
				        .threads = saturated ? THREADS : WARP,
				        .operation = operation[o].operation,
				        .atomic = saturated ? BANK_RED : BANK_DEPENDENT,
				        .lanes = lanes_at(same_word_place, ways, 4)};
				measure_point(context, &point, saturated, operation[o].name,
				        (struct arg){"ways", ways});
			}
}

/* One thread's chain; then all SMs with a line for each thread, with neighbouring words, with one
 * word. */
static void measure_global_atomics(struct bank_context *context)
{
	static const struct {
		enum bank_operation operation;
		int width;
		const char *name[3]; /* by enum bank_atomic */
	} operation[] = {{BANK_U32, 4, {"global_u32", "global_atom_u32", "global_red_u32"}},
	        {BANK_F32, 4, {"global_f32", "global_atom_f32", "global_red_f32"}},
	        {BANK_U64, 8, {"global_u64", "global_atom_u64", "global_red_u64"}},
	        {BANK_F64, 8, {"global_f64", "global_atom_f64", "global_red_f64"}}};
	for (size_t o = 0; o < ARRAY_LEN(operation); o += context->run->common.quick ? 3 : 1)
		for (int i = 0; i < 7; ++i) {
			const uint32_t stride[] = {BANKS_BYTES, (uint32_t)operation[o].width, 0};
			struct bank_launch point = {.kind = BANK_GLOBAL_ATOMIC,
			        .width = operation[o].width,
			        .operation = operation[o].operation,
			        .atomic = i == 0  ? BANK_DEPENDENT
			                  : i % 2 ? BANK_RED
			                          : BANK_ATOM,
			        .stride = i > 0 ? stride[(i - 1) / 2] : 0};
			point.threads = i == 0 ? 1 : point.stride > 0 ? THREADS : ONE_WORD_THREADS;
			measure_point(context, &point, i > 0, operation[o].name[point.atomic],
			        (struct arg){"stride_bytes", i > 0 ? point.stride : BANK_SPREAD});
		}
}

/* A line for every thread, at most half of L2; at least the words of the dependent chain. */
static void allocate(struct bank_context *context)
{
	const int64_t lines = (int64_t)THREADS * context->gpu.sm_count * BANKS_BYTES;
	const int64_t chain = (int64_t)BANK_UNROLL * BANK_SPREAD;
	context->memory_bytes = max_int64(min_int64(lines, context->gpu.l2_bytes / 2), chain);
	GPU(cudaMalloc(&context->memory, (size_t)context->memory_bytes));
	gpu_fill_float(context->memory, context->memory_bytes / 4, 1, NULL);
	GPU(cudaMallocHost((void **)&context->result,
	        (size_t)context->gpu.sm_count * sizeof *context->result));
}

static void measure(struct probe_run *run)
{
	const bool quick = run->common.quick;
	struct bank_context context = {.run = run};
	probe_open_gpu(run, &context.gpu);
	gpu_warm(&context.gpu, run->warm_seconds);
	allocate(&context);

	/* conflicts, broadcasts, tiles, atomics in shared and in global memory */
	const int points = quick ? 12 + 4 + 8 + 12 + 14 : 60 + 12 + 8 + 36 + 28;
	context.seconds = fmax(run->seconds - run->warm_seconds, 0.1) / points;
	for (size_t i = 0; i < ARRAY_LEN(access_sweeps); ++i)
		sweep_accesses(&context, &access_sweeps[i]);
	measure_shared_atomics(&context);
	measure_global_atomics(&context);
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
        .processes = 3, /* times inside a kernel differ little */
        .measure = measure,
        .fit = bank_conflict_fit,
};
