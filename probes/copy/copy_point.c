/* SPDX-License-Identifier: MIT */
/* One point of the copy probe: its launches and queues, the check of its results, and the sustained
 * rate. */
#include "copy_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <string.h>

struct bench {
	const struct copy_sweep *sweep;
	struct copy_launch launch;
	char *source, *target;  /* of slot 0 */
	int64_t slots, between; /* all slots, and the slots of a group between each other's words */
	int64_t span;           /* bytes from one group to the next */
	int64_t launched;
	int few, many; /* launches in the two queues */
};

/* Bytes read plus bytes written. */
static int64_t payload(const struct copy_launch *launch)
{
	bool one_way = launch->kind == COPY_READ || launch->kind == COPY_WRITE;
	return launch->words * (one_way ? 4 : 8);
}

int64_t copy_extent(const struct copy_point *point)
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

/* The grid: resident blocks that loop, as many as fit or as the bytes in flight need. Copies in the
 * widest words run one access a thread, which is quicker on large sizes. */
static void set_grid(
        const struct copy_sweep *sweep, const struct copy_point *point, struct copy_launch *launch)
{
	int64_t accesses = launch->words / (launch->width / 4);
	int64_t blocks = round_up(accesses, COPY_THREADS) / COPY_THREADS;
	bool once = (launch->kind == COPY_BOTH || launch->kind == COPY_CHANGE) &&
	            launch->width == 16 && !point->inflight;
	int64_t per_sm = copy_blocks_per_sm(launch);

	launch->threads = COPY_THREADS;
	if (point->inflight) {
		int64_t threads = point->inflight / (COPY_UNROLL * launch->width);
		launch->threads = (int)min_int64(threads, COPY_THREADS);
		per_sm = threads / launch->threads;
	}
	if (!once)
		blocks = min_int64(per_sm * sweep->gpu.sm_count, blocks);
	launch->blocks = (int)max_int64(1, blocks);
}

/* Warm: one slot. Cold: enough slots for four L2s of lines between two uses of one. */
static void set_slots(
        const struct copy_sweep *sweep, const struct copy_point *point, struct bench *bench)
{
	const struct copy_launch *launch = &point->launch;
	int64_t sector = 32, bytes = payload(launch) * min_int64(launch->stride, sector / 4);
	int64_t needed = point->cold ? round_up(4 * sweep->gpu.l2_bytes, bytes) / bytes : 1;

	bench->span = copy_extent(point);
	bench->between = max_int64(1, launch->stride * 4 / COPY_LINE);
	bench->slots = min_int64(needed, sweep->buffer_bytes / bench->span * bench->between);
}

/* Overwrites the target: right values found later were written by the kernels. For a cold point
 * this also flushes L2. */
static void poison(const struct copy_sweep *sweep, const struct bench *bench, bool cold)
{
	int64_t bytes = bench->span * min_int64(bench->slots, 4);
	bytes = max_int64(bytes, cold ? 4 * sweep->gpu.l2_bytes : 0);
	GPU(cudaMemsetAsync(
	        sweep->target, COPY_POISON, (size_t)min_int64(bytes, sweep->buffer_bytes), NULL));
}

static bool verified(struct bench *bench, const char *series)
{
	int64_t wrong = 0, used = min_int64(min_int64(bench->launched, bench->slots), 4);

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
	next_slot(
	        &bench); /* a kernel must not be loaded behind a hold, as loading may wait for it */
	copy_start(&bench.launch, NULL);
	GPU(cudaStreamSynchronize(NULL));
	return bench;
}

void copy_complete(struct copy_point *point)
{
	struct copy_launch *launch = &point->launch;

	launch->stride = launch->stride ? launch->stride : 1;
	launch->width = launch->width ? launch->width : 16;
	const struct arg all[COPY_ARGS] = {{"bytes", (double)payload(launch)},
	        {"words", (double)launch->words}, {"stride", (double)launch->stride},
	        {"offset", (double)point->offset}, {"width", (double)launch->width},
	        {"inflight", (double)point->inflight}};
	memcpy(point->args, all, sizeof all);
}

/* Samples by the plan, recorded if the results are right. */
static void measure_bench(struct bench *bench, const struct copy_point *point,
        sample_function function, const struct sample_plan *plan)
{
	const struct copy_sweep *sweep = bench->sweep;
	struct measurement measurement;

	if (sample_run(function, bench, plan, sweep->gpu.max_hz, &measurement) &&
	        verified(bench, point->series))
		probe_record(sweep->run, point->series, point->args, COPY_ARGS, &measurement);
}

void copy_measure_point(
        const struct copy_sweep *sweep, const struct copy_point *point, double seconds)
{
	static const double aim = 150e-6; /* of a long queue */
	enum { PILOT = 4, MOST = 62 };
	struct bench bench = bench_new(sweep, point);
	struct sample_plan plan = sample_plan_default(seconds);
	struct sample pilot;

	run_queue(&bench, PILOT, &pilot);
	double kernels = pilot.seconds > 0 ? ceil(aim * PILOT / pilot.seconds) : MOST;
	bench.few = 2;
	bench.many = bench.few + (int)fmin(fmax(kernels, 2), MOST);
	plan.warm_seconds = 0; /* the device is warm, the pilot was the first run */
	measure_bench(&bench, point, take_sample, &plan);
}

/* Copies for a part of a second, queued while they run. */
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

void copy_measure_sustained(const struct copy_sweep *sweep, const struct copy_point *point)
{
	const bool quick = sweep->run->common.quick;
	const double seconds = quick ? 0.06 : 1, piece = quick ? 0.02 : 0.05;
	const struct sample_plan plan = {.min_seconds = seconds,
	        .max_seconds = seconds,
	        .min_samples = 3,
	        .max_samples = 1000};
	struct bench bench = bench_new(sweep, point);
	struct sample pilot;

	run_queue(&bench, 4, &pilot);
	bench.many = pilot.seconds > 0 ? (int)fmin(fmax(piece * 4 / pilot.seconds, 1), 10000) : 1;
	measure_bench(&bench, point, take_long_sample, &plan);
}
