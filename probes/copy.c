/* SPDX-License-Identifier: MIT */
/* Question: how long do a device-memory copy, a read and a write take, against size (L2 to DRAM),
 *   stride, misalignment, access width and bytes in flight, with a warm and with a cold L2?
 * Method: dependent kernels queued behind a hold, between two in-stream stamps. The difference of a
 *   long and a short queue is the time from start to start, without the stamps. Warm: the same
 *   buffers again and again. Cold: buffers in rotation, four L2s of traffic until one comes back.
 * What can fool it: an L2 that is not as cold as it should be, kernels that the compiler thins out
 *   (targets are verified, sources random), memory too short for the large strides (those are left
 *   out), clocks that still rise (warm-up by time).
 * Unit: seconds of one kernel, start to start; `bytes` counts bytes read plus bytes written. */
#include "../lib/base.h"
#include "copy.h"
#include "../lib/clock.h"
#include "../lib/gpu.h"
#include "../lib/msg.h"
#include "../lib/probe.h"

#include <cuda_runtime_api.h>
#include <math.h>

void copy_fit(const struct table *curve, struct profile *profile);

/* One point of the sweep. */
struct copy_point {
	const char *series;
	struct copy_launch launch; /* without pointers and grid */
	bool cold;
	int64_t offset;   /* bytes from an aligned address, of source and target */
	int64_t inflight; /* bytes of loads in flight per SM, or 0: as many as fit */
};

struct copy_sweep {
	struct probe_run *run;
	struct gpu gpu;
	struct gpu_hold *hold;
	struct gpu_timer *timer;
	char *source, *target; /* buffer_bytes each */
	int64_t buffer_bytes;
	unsigned long long *wrong;
	struct copy_point point[256];
	size_t count;
};

/* ---- one point ---- */

struct bench {
	const struct copy_sweep *sweep;
	struct copy_launch launch;
	char *source, *target;  /* of slot 0 */
	int64_t slots, between; /* slots in all, and in a group that shares its lines' gaps */
	int64_t span;           /* bytes from one group to the next */
	int64_t launched;
	int few, many; /* launches in the two queues */
};

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t round_up(int64_t n, int64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Bytes read plus bytes written. */
static int64_t payload(const struct copy_launch *launch)
{
	bool one_way = launch->kind == COPY_READ || launch->kind == COPY_WRITE;
	return launch->words * (one_way ? 4 : 8);
}

/* Bytes of one buffer from the first to the last word, in whole lines. */
static int64_t extent(const struct copy_point *point)
{
	return round_up(point->offset + point->launch.words * point->launch.stride * 4, COPY_LINE);
}

/* Points the launch at its next slot. Slots of a wide stride lie between each other's words. */
static void next_slot(struct bench *bench)
{
	int64_t slot = bench->launched++ % bench->slots;
	int64_t at = slot / bench->between * bench->span + slot % bench->between * COPY_LINE;
	bench->launch.source = (const uint32_t *)(const void *)(bench->source + at);
	bench->launch.target = (uint32_t *)(void *)(bench->target + at);
}

/* The time of `count` dependent kernels with the stamps around them. */
static void run_queue(struct bench *bench, int count, struct sample *sample)
{
	static const double slack = 50e-6; /* release until start, end until return */
	const struct copy_sweep *sweep = bench->sweep;
	struct gpu_span span;

	gpu_hold_start(sweep->hold, NULL);
	gpu_timer_start(sweep->timer, NULL);
	for (int i = 0; i < count; i++) {
		next_slot(bench);
		copy_start(&bench->launch, NULL);
	}
	gpu_timer_stop(sweep->timer, NULL);
	double start = clock_now();
	gpu_hold_release(sweep->hold);
	GPU(cudaStreamSynchronize(NULL));
	double host_seconds = clock_now() - start;
	gpu_timer_span(sweep->timer, &span);
	gpu_span_sample(&span, 1, host_seconds, slack, sample);
	sample->agreed = sample->agreed && gpu_hold_ok(sweep->hold);
}

static bool take_sample(void *context, struct sample *sample)
{
	struct bench *bench = context;
	struct sample base;

	run_queue(bench, bench->few, &base);
	run_queue(bench, bench->many, sample);
	sample->seconds = (sample->seconds - base.seconds) / (bench->many - bench->few);
	sample->agreed = sample->agreed && base.agreed && sample->seconds > 0;
	return true;
}

/* The grid: resident blocks that loop (as many as the device holds, or as many threads as bytes in
 * flight are asked for). Copies in the widest words run one access a thread instead, which is
 * quicker on large sizes. */
static void set_grid(
        const struct copy_sweep *sweep, const struct copy_point *point, struct copy_launch *launch)
{
	int64_t accesses = launch->words / (launch->width / 4);
	int64_t blocks = round_up(accesses, COPY_THREADS) / COPY_THREADS;
	bool once = launch->kind == COPY_BOTH && launch->width == 16 && !point->inflight;
	int64_t per_sm = copy_blocks_per_sm(launch);

	launch->threads = COPY_THREADS;
	if (point->inflight) {
		int64_t threads = point->inflight / (COPY_UNROLL * launch->width);
		launch->threads = (int)smaller(threads, COPY_THREADS);
		per_sm = threads / launch->threads;
	}
	if (!once)
		blocks = smaller(per_sm * sweep->gpu.sm_count, blocks);
	launch->blocks = (int)larger(1, blocks);
}

/* Warm: one slot. Cold: enough slots for four L2s of lines between two uses of one. */
static void set_slots(
        const struct copy_sweep *sweep, const struct copy_point *point, struct bench *bench)
{
	const struct copy_launch *launch = &point->launch;
	int64_t sector = 32, bytes = payload(launch) * smaller(launch->stride, sector / 4);
	int64_t needed = point->cold ? round_up(4 * sweep->gpu.l2_bytes, bytes) / bytes : 1;

	bench->span = extent(point);
	bench->between = larger(1, launch->stride * 4 / COPY_LINE);
	bench->slots = smaller(needed, sweep->buffer_bytes / bench->span * bench->between);
}

/* A target with other contents, so that what is found there later was written by the kernels. For a
 * cold point this is also what throws everything else out of the L2. */
static void poison(const struct copy_sweep *sweep, const struct bench *bench, bool cold)
{
	int64_t bytes = bench->span * smaller(bench->slots, 4);
	bytes = larger(bytes, cold ? 4 * sweep->gpu.l2_bytes : 0);
	GPU(cudaMemsetAsync(
	        sweep->target, 0xa5, (size_t)smaller(bytes, sweep->buffer_bytes), NULL));
}

static bool verified(struct bench *bench, const char *series)
{
	int64_t wrong = 0, used = smaller(smaller(bench->launched, bench->slots), 4);

	bench->launched = 0;
	for (int64_t i = 0; i < used; i++) {
		next_slot(bench);
		wrong += copy_wrong_words(&bench->launch, bench->sweep->wrong, NULL);
	}
	if (wrong)
		msg_warn("%s of %lld words left %lld wrong words: not recorded", series,
		        (long long)bench->launch.words, (long long)wrong);
	return wrong == 0;
}

static struct bench bench_new(const struct copy_sweep *sweep, const struct copy_point *point)
{
	struct bench bench = {.sweep = sweep,
	        .launch = point->launch,
	        .source = sweep->source + point->offset,
	        .target = sweep->target + point->offset};

	set_grid(sweep, point, &bench.launch);
	set_slots(sweep, point, &bench);
	poison(sweep, &bench, point->cold);
	next_slot(&bench); /* a kernel must not be loaded behind a hold: loading may wait for it */
	copy_start(&bench.launch, NULL);
	GPU(cudaStreamSynchronize(NULL));
	return bench;
}

static void record(const struct copy_sweep *sweep, const struct copy_point *point,
        const struct measurement *measurement)
{
	const struct copy_launch *launch = &point->launch;
	const struct arg args[] = {{"bytes", (double)payload(launch)},
	        {"words", (double)launch->words}, {"stride", (double)launch->stride},
	        {"offset", (double)point->offset}, {"width", (double)launch->width},
	        {"inflight", (double)point->inflight}};

	probe_record(sweep->run, point->series, args, ARRAY_LEN(args), measurement);
}

static void measure_point(
        const struct copy_sweep *sweep, const struct copy_point *point, double seconds)
{
	static const double aim = 150e-6; /* of a long queue */
	enum { PILOT = 4, MOST = 62 };
	struct bench bench = bench_new(sweep, point);
	struct sample_plan plan = sample_plan_default(seconds);
	struct sample pilot;
	struct measurement measurement;

	run_queue(&bench, PILOT, &pilot);
	double kernels = pilot.seconds > 0 ? ceil(aim * PILOT / pilot.seconds) : MOST;
	bench.few = 2;
	bench.many = bench.few + (int)fmin(fmax(kernels, 2), MOST);
	plan.warm_seconds = 0; /* the device is warm, the pilot was the first run */
	if (sample_run(take_sample, &bench, &plan, sweep->gpu.max_hz, &measurement) &&
	        verified(&bench, point->series))
		record(sweep, point, &measurement);
}

/* ---- sustained ---- */

/* A tenth of a second of copies, queued while they run. */
static bool take_long_sample(void *context, struct sample *sample)
{
	struct bench *bench = context;
	const struct copy_sweep *sweep = bench->sweep;
	struct gpu_span span;
	double start = clock_now();

	gpu_timer_start(sweep->timer, NULL);
	for (int i = 0; i < bench->many; i++) {
		next_slot(bench);
		copy_start(&bench->launch, NULL);
	}
	gpu_timer_stop(sweep->timer, NULL);
	GPU(cudaStreamSynchronize(NULL));
	double host_seconds = clock_now() - start;
	gpu_timer_span(sweep->timer, &span);
	gpu_span_sample(&span, bench->many, host_seconds, 100e-6, sample);
	return true;
}

static void measure_sustained(const struct copy_sweep *sweep, const struct copy_point *point)
{
	double seconds = sweep->run->common.quick ? 0.1 : 2;
	const struct sample_plan plan = {.min_seconds = seconds,
	        .max_seconds = seconds,
	        .min_samples = 3,
	        .max_samples = 1000};
	struct bench bench = bench_new(sweep, point);
	struct sample pilot;
	struct measurement measurement;

	run_queue(&bench, 4, &pilot);
	bench.many = pilot.seconds > 0 ? (int)fmin(fmax(0.1 * 4 / pilot.seconds, 1), 10000) : 1;
	if (sample_run(take_long_sample, &bench, &plan, sweep->gpu.max_hz, &measurement) &&
	        verified(&bench, point->series))
		record(sweep, point, &measurement);
}

/* ---- the sweep ---- */

/* Adds a point if it fits into the buffers. */
static void add(struct copy_sweep *sweep, struct copy_point point)
{
	struct copy_launch *launch = &point.launch;
	if (!launch->stride)
		launch->stride = 1;
	if (!launch->width)
		launch->width = 16;
	if (extent(&point) <= sweep->buffer_bytes && sweep->count < ARRAY_LEN(sweep->point))
		sweep->point[sweep->count++] = point;
}

static const struct {
	enum copy_kind kind;
	int64_t bytes_per_word;
	const char *warm, *cold, *l2;
} ways[] = {{COPY_BOTH, 8, "copy_warm", "copy_cold", "copy_l2"},
        {COPY_READ, 4, "read_warm", "read_cold", "read_l2"},
        {COPY_WRITE, 4, "write_warm", "write_cold", "write_l2"}};

static const int64_t largest_bytes = 1ll << 30;

static void add_sizes(struct copy_sweep *sweep)
{
	int64_t factor = sweep->run->common.quick ? 8 : 2;

	for (size_t w = 0; w < ARRAY_LEN(ways); w++) {
		struct copy_launch launch = {.kind = ways[w].kind};
		for (int64_t bytes = 4096; bytes <= largest_bytes; bytes *= factor) {
			launch.words = bytes / ways[w].bytes_per_word;
			add(sweep, (struct copy_point){ways[w].warm, launch, .cold = false});
			add(sweep, (struct copy_point){ways[w].cold, launch, .cold = true});
		}
		launch.words = sweep->gpu.l2_bytes / 2 / 4096 * 4096 / ways[w].bytes_per_word;
		add(sweep, (struct copy_point){ways[w].l2, launch, .cold = false});
	}
}

/* Words of a copy whose bytes read plus written are at least four L2s. */
static int64_t large_words(const struct gpu *gpu)
{
	int64_t words = 1 << 20;
	while (8 * words < 4 * gpu->l2_bytes)
		words *= 2;
	return words;
}

static void add_strides(struct copy_sweep *sweep)
{
	static const int64_t paper[] = {1, 8, 512}; /* LAWN 202, section 3.7 */
	struct copy_launch launch = {.kind = COPY_STRIDED, .words = 1 << 18, .width = 4};

	for (size_t i = 0; i < ARRAY_LEN(paper); i++) {
		launch.stride = paper[i];
		add(sweep, (struct copy_point){"stride_warm", launch, .cold = false});
		add(sweep, (struct copy_point){"stride_cold", launch, .cold = true});
	}
	launch.words = large_words(&sweep->gpu);
	for (launch.stride = 1; launch.stride <= 32; launch.stride *= 2)
		add(sweep, (struct copy_point){"stride_cold", launch, .cold = true});
}

/* The plain misaligned copy uses the widest access that its addresses allow. */
static void add_offsets(struct copy_sweep *sweep)
{
	static const int64_t offsets[] = {4, 8, 16, 64};
	int64_t words = large_words(&sweep->gpu);

	for (size_t i = 0; i < ARRAY_LEN(offsets); i++) {
		struct copy_launch launch = {.kind = COPY_BOTH, .words = words};
		launch.width = (int)smaller(offsets[i], 16);
		add(sweep, (struct copy_point){
		                   "misaligned_cold", launch, .cold = true, .offset = offsets[i]});
		launch.kind = COPY_HEAD;
		launch.width = 16;
		add(sweep, (struct copy_point){"aligned_head_cold", launch, .cold = true,
		                   .offset = offsets[i]});
	}
}

static void add_widths(struct copy_sweep *sweep)
{
	for (int width = 4; width <= 16; width *= 2) {
		struct copy_launch launch = {
		        .kind = COPY_BOTH, .words = large_words(&sweep->gpu), .width = width};
		add(sweep, (struct copy_point){"width_cold", launch, .cold = true});
	}
}

/* Threads per SM from one warp to as many as fit. */
static void add_inflight(struct copy_sweep *sweep)
{
	struct copy_point point = {.series = "inflight_cold", .cold = true};
	point.launch = (struct copy_launch){
	        .kind = COPY_BOTH, .words = large_words(&sweep->gpu), .width = 16};
	int most = COPY_THREADS * copy_blocks_per_sm(&point.launch);

	for (int threads = 32; threads <= most;
	        threads = threads < most ? (int)smaller(2 * threads, most) : most + 1) {
		point.inflight = (int64_t)threads * COPY_UNROLL * point.launch.width;
		add(sweep, point);
	}
}

/* Two buffers: long enough for the widest stride, at most a quarter of the memory each. */
static void allocate(struct copy_sweep *sweep)
{
	static const int64_t least = 64ll << 20;
	int64_t wanted = larger(largest_bytes, large_words(&sweep->gpu) * 32 * 4), bytes = least;

	while (2 * bytes <= smaller(wanted, sweep->gpu.memory_bytes / 4))
		bytes *= 2;
	for (; bytes >= least; bytes /= 2) {
		if (cudaMalloc((void **)&sweep->source, (size_t)bytes) == cudaSuccess) {
			if (cudaMalloc((void **)&sweep->target, (size_t)bytes) == cudaSuccess)
				break;
			GPU(cudaFree(sweep->source));
		}
		cudaGetLastError(); /* forgets the refusal */
	}
	if (bytes < least)
		msg_die(EXIT_NOT_POSSIBLE,
		        "not enough free GPU memory: two buffers of 64 MiB are needed");
	sweep->buffer_bytes = bytes;
	GPU(cudaMalloc((void **)&sweep->wrong, sizeof *sweep->wrong));
	gpu_fill_float(
	        (float *)(void *)sweep->source, bytes / 4, (uint64_t)sweep->run->common.seed, NULL);
	GPU(cudaMemsetAsync(sweep->target, 0xa5, (size_t)bytes, NULL));
	GPU(cudaDeviceSynchronize());
}

static void describe(const struct copy_sweep *sweep)
{
	struct table *curve = sweep->run->curve;
	const struct gpu *gpu = &sweep->gpu;
	int memory_khz = 0, bus_bits = 0;

	if (cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, gpu->device) ||
	        cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, gpu->device))
		cudaGetLastError();
	table_meta_set(curve, "l2_bytes", "%lld", (long long)gpu->l2_bytes);
	/* Two transfers a clock; 0 when the driver does not tell. */
	table_meta_set(curve, "pin_bytes_per_second", "%.9g", 2e3 * memory_khz * bus_bits / 8);
	/* No SM loads or stores more than a line a cycle. */
	table_meta_set(
	        curve, "sm_bytes_per_second", "%.9g", COPY_LINE * gpu->max_hz * gpu->sm_count);
}

static void measure(struct probe_run *run)
{
	struct copy_sweep sweep = {.run = run};
	struct fault fault;

	if (!gpu_open(&sweep.gpu, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	probe_watch_gpu(run, &sweep.gpu);
	allocate(&sweep);
	sweep.hold = gpu_hold_new();
	sweep.timer = gpu_timer_new(&sweep.gpu);
	gpu_timer_start(sweep.timer, NULL); /* loads its kernel */
	describe(&sweep);
	add_sizes(&sweep);
	add_strides(&sweep);
	add_offsets(&sweep);
	add_widths(&sweep);
	add_inflight(&sweep);

	gpu_warm(&sweep.gpu, run->warm_seconds);
	for (size_t i = 0; i < sweep.count; i++) {
		msg_progress("%s %zu/%zu", sweep.point[i].series, i + 1, sweep.count);
		measure_point(&sweep, &sweep.point[i], run->seconds / (double)sweep.count);
	}
	if (run->process == 0) {
		struct copy_launch launch = {.kind = COPY_BOTH,
		        .words = smaller(largest_bytes / 8, sweep.buffer_bytes / 4),
		        .stride = 1,
		        .width = 16};
		measure_sustained(
		        &sweep, &(struct copy_point){"copy_sustained", launch, .cold = true});
	}
	probe_watch_gpu(run, &sweep.gpu);
	gpu_timer_free(sweep.timer);
	gpu_hold_free(sweep.hold);
	cudaFree(sweep.wrong);
	cudaFree(sweep.target);
	cudaFree(sweep.source);
}

static const char *const args[] = {"bytes", "words", "stride", "offset", "width", "inflight"};
const struct probe copy_probe = {
        .name = "copy",
        .question = "How fast does device memory copy, read and write, against size, stride, "
                    "alignment, width and bytes in flight?",
        .args = args,
        .arg_count = ARRAY_LEN(args),
        .needs_gpu = true,
        .seconds = 1.5, /* and 2 s sustained in the first process */
        .measure = measure,
        .fit = copy_fit,
};
