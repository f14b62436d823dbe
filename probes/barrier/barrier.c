/* SPDX-License-Identifier: MIT */
/* Question: what does each barrier, block reduction and exchange cost inside a running kernel?
 *
 * Method: the kernels of barrier.cu repeat each operation a few times, then many times, in one
 * launch, at every number of blocks and threads that fits. Block 0 reads %globaltimer and clock64
 * around both; (T(many) - T(few)) / (many - few) cancels the reading of the clocks. --check proves
 * that the barriers order memory.
 *
 * What can fool it: blocks that are not resident (launches are cooperative); overlap by the
 * compiler or the SM (each repetition depends on the one before); loop overhead (block barriers are
 * unrolled); other users of the device, for whose time slices blocks may wait.
 *
 * Unit: seconds per barrier, reduction or exchange; for the flag seconds per one-way signal. */
#include "barrier.h"

#include "lib/device/barrier_check.h"
#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "lib/probe/probe_point.h"
#include "lib/stats/pointer_chain.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>

enum {
	CASES_MAX = 192,
	PILOT_FEW = 32,
	PILOT_MANY = 128,
	FLAG_PAIRS = 32,
	FLAG_TRIES = 128,
	REPEAT_MAX = 1 << 18
};

/* Launch and synchronization in the host's view of a kernel, seconds. */
static const double launch_slack = 100e-6;

static const char *const series[RUNGS] = {"block", "cluster", "master", "counter", "grid",
        "reduce_max", "reduce_sum", "exchange_cluster", "exchange_grid", "flag"};

struct sweep {
	struct rung_case item[CASES_MAX];
	size_t count;
	bool quick;
	int sm_count;
};

/* Leaves out cases that the device cannot hold. */
static void sweep_add(struct sweep *sweep, enum rung rung, int blocks, int threads, int words)
{
	const struct rung_case item = {rung, blocks, threads, words};
	const int resident = rung_resident(&item);
	if (rung_clustered(rung) ? resident < 1 : resident < blocks)
		return;
	if (sweep->count == CASES_MAX)
		msg_die(EXIT_MEASURE_FAILED, "more than %d cases in the sweep: raise CASES_MAX",
		        CASES_MAX);
	sweep->item[sweep->count++] = item;
}

static void sweep_add_threads(struct sweep *sweep, enum rung rung)
{
	for (int threads = 32; threads <= 1024; threads *= sweep->quick ? 4 : 2)
		sweep_add(sweep, rung, 1, threads, 0);
	if (sweep->quick)
		sweep_add(sweep, rung, 1, 1024, 0);
}

static void sweep_add_clusters(struct sweep *sweep, enum rung rung)
{
	for (int blocks = 2; blocks <= 16; blocks *= 2)
		sweep_add(sweep, rung, blocks, 256, 0);
}

/* One block on each SM, and all that can be resident. */
static void sweep_add_full(struct sweep *sweep, enum rung rung, int threads)
{
	const struct rung_case item = {rung, 1, threads, 0};
	const int resident = rung_resident(&item);
	sweep_add(sweep, rung, sweep->sm_count, threads, 0);
	if (resident > sweep->sm_count)
		sweep_add(sweep, rung, resident, threads, 0);
}

static void sweep_add_grids(struct sweep *sweep, enum rung rung)
{
	for (int blocks = 1; blocks < sweep->sm_count; blocks *= sweep->quick ? 8 : 2)
		sweep_add(sweep, rung, blocks, 256, 0);
	sweep_add_full(sweep, rung, 256);
	for (int threads = 32; threads <= 1024 && !sweep->quick; threads *= 32) {
		sweep_add(sweep, rung, 2, threads, 0);
		sweep_add(sweep, rung, 16, threads, 0);
		sweep_add_full(sweep, rung, threads);
	}
}

/* Records of 32 to 512 words: panel rows of up to 512 columns (256 in double precision). */
static void sweep_add_exchanges(struct sweep *sweep)
{
	for (int words = 32; words <= 512; words *= 4) {
		for (int blocks = 1; blocks < sweep->sm_count; blocks *= sweep->quick ? 8 : 2)
			sweep_add(sweep, RUNG_EXCHANGE_GRID, blocks, 32, words);
		sweep_add(sweep, RUNG_EXCHANGE_GRID, sweep->sm_count, 32, words);
	}
}

static void sweep_fill(struct sweep *sweep)
{
	sweep_add_threads(sweep, RUNG_BLOCK);
	sweep_add_clusters(sweep, RUNG_CLUSTER);
	sweep_add_grids(sweep, RUNG_MASTER);
	sweep_add_grids(sweep, RUNG_COUNTER);
	sweep_add_grids(sweep, RUNG_GRID);
	sweep_add_threads(sweep, RUNG_REDUCE_MAX);
	sweep_add_threads(sweep, RUNG_REDUCE_SUM);
	sweep_add_clusters(sweep, RUNG_EXCHANGE_CLUSTER);
	sweep_add_exchanges(sweep);
	if (sweep->sm_count > 1)
		sweep_add(sweep, RUNG_FLAG, sweep->sm_count, 32, 0);
}

struct ladder_context {
	struct rung_case which;
	struct rung_plan plan;
	void *work;
	struct rung_result *result;
	double slack;
	uint64_t random;
};

/* The difference of the two intervals; hz comes from both together. */
static bool ladder_launch(struct ladder_context *context, struct sample *sample)
{
	struct rung_result *result = context->result;
	const struct rung_plan *plan = &context->plan;
	result->ok = 0;
	GPU(cudaMemset(context->work, 0, rung_bytes(&context->which)));
	GPU(cudaDeviceSynchronize());
	const double start = clock_now();
	GPU(rung_launch(&context->which, plan, context->work, result));
	GPU(cudaDeviceSynchronize());
	const double host_seconds = clock_now() - start;
	if (!result->ok)
		return false;

	const struct gpu_span whole = {
	        result->few.ns0, result->many.ns1, result->few.cycles0, result->many.cycles1};
	const double few = (double)(result->few.ns1 - result->few.ns0);
	const double many = (double)(result->many.ns1 - result->many.ns0);
	gpu_span_sample(&whole, 1, host_seconds, context->slack, sample);
	sample->seconds = (many - few) * 1e-9 / (double)(plan->many - plan->few);
	return true;
}

/* The time of a signal depends on the two SMs and on the line's place: a sample is the mean over
 * random ones. A launch with a disturbed host is repeated. */
static bool flag_sample(struct ladder_context *context, struct sample *sample)
{
	struct sample one = {0};
	double sum = 0;
	int pairs = 0;
	for (int i = 0; i < FLAG_TRIES && pairs < FLAG_PAIRS; i++) {
		context->plan.partner =
		        1 + chain_random(&context->random, (uint32_t)context->which.blocks - 1);
		context->plan.line = chain_random(&context->random, RUNG_LINES);
		if (!ladder_launch(context, &one))
			return false;
		sum += one.agreed ? one.seconds : 0;
		pairs += one.agreed;
	}
	*sample = one;
	sample->seconds = sum / FLAG_PAIRS;
	sample->agreed = pairs == FLAG_PAIRS;
	return true;
}

static bool ladder_sample(void *argument, struct sample *sample)
{
	struct ladder_context *context = argument;
	const bool done = context->which.rung == RUNG_FLAG ? flag_sample(context, sample)
	                                                   : ladder_launch(context, sample);
	sample->agreed = sample->agreed && sample->seconds > 0;
	return done;
}

static uint32_t repeat_count(double seconds, double each)
{
	const double count = fmin(fmax(seconds / each, 2 * RUNG_UNROLL), REPEAT_MAX);
	return (uint32_t)(count / RUNG_UNROLL) * RUNG_UNROLL;
}

/* A first launch gives the repetitions of a sample of about `seconds`. */
static bool ladder_plan(struct ladder_context *context, double seconds)
{
	struct sample pilot = {0};
	context->plan.few = PILOT_FEW;
	context->plan.many = PILOT_MANY;
	if (!ladder_sample(context, &pilot))
		return false;
	const double each = fmax(pilot.seconds, 1e-10);
	context->plan.many = repeat_count(0.8 * seconds, each);
	context->plan.few = repeat_count(0.2 * seconds, each);
	if (context->plan.few >= context->plan.many)
		context->plan.few = context->plan.many / 2 / RUNG_UNROLL * RUNG_UNROLL;
	context->slack = launch_slack + 2 * RUNG_UNROLL * each;
	return true;
}

static void measure_case(struct probe_run *run, const struct gpu *gpu,
        struct ladder_context *context, double seconds)
{
	const struct rung_case *which = &context->which;
	const struct sample_plan plan = sample_plan_default(seconds);
	struct measurement measurement;
	if (!ladder_plan(context, seconds / (which->rung == RUNG_FLAG ? 25 * FLAG_PAIRS : 25)) ||
	        !sample_run(ladder_sample, context, &plan, gpu->max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED,
		        "%s with %d blocks of %d threads: a wait took longer than a second; is the "
		        "GPU shared?",
		        series[which->rung], which->blocks, which->threads);
	const struct arg args[] = {
	        {"blocks", which->blocks}, {"threads", which->threads}, {"words", which->words}};
	probe_record(run, series[which->rung], args, which->rung == RUNG_EXCHANGE_GRID ? 3 : 2,
	        &measurement);
}

static void open_device(struct probe_run *run, struct gpu *gpu)
{
	probe_open_gpu(run, gpu);
	if (!gpu->cooperative)
		msg_die(EXIT_NOT_POSSIBLE,
		        "%s has no cooperative launch, which barriers between blocks need",
		        gpu->name);
}

static void measure(struct probe_run *run)
{
	struct gpu gpu;
	open_device(run, &gpu);
	gpu_warm(&gpu, run->warm_seconds);

	struct sweep sweep = {.quick = run->common.quick, .sm_count = gpu.sm_count};
	sweep_fill(&sweep);
	if (!gpu.clusters) {
		probe_lacks(run, &gpu, series[RUNG_CLUSTER], 90);
		probe_lacks(run, &gpu, series[RUNG_EXCHANGE_CLUSTER], 90);
	}
	size_t bytes = 0;
	for (size_t i = 0; i < sweep.count; ++i)
		if (rung_bytes(&sweep.item[i]) > bytes)
			bytes = rung_bytes(&sweep.item[i]);
	struct ladder_context context = {
	        .random = (uint64_t)run->common.seed + (uint64_t)run->process};
	GPU(cudaMalloc(&context.work, bytes));
	GPU(cudaMallocHost((void **)&context.result, sizeof *context.result));

	const double seconds =
	        fmax(run->seconds - run->warm_seconds, 0.1) * 0.9 / (double)sweep.count;
	for (size_t i = 0; i < sweep.count; ++i) {
		context.which = sweep.item[i];
		context.slack = 1; /* the pilot loads the kernel */
		measure_case(run, &gpu, &context, seconds);
	}
	GPU(cudaFree(context.work));
	GPU(cudaFreeHost(context.result));
	probe_watch_gpu(run, &gpu);
}

/* ---- correctness ---- */

static bool report(
        const char *what, int blocks, int threads, const struct barrier_check *check, bool sound)
{
	if (!check->possible) {
		printf("%-24s %4d x %4d  not possible on this device\n", what, blocks, threads);
		return true;
	}
	const bool good = !check->timed_out && (check->wrong == 0) == sound;
	printf("%-24s %4d x %4d  %11llu values read, %llu wrong%s%s\n", what, blocks, threads,
	        (unsigned long long)check->checks, (unsigned long long)check->wrong,
	        check->timed_out ? ", timed out" : "",
	        good ? (sound ? "" : ": found, as it must be") : ": FAILED");
	return good;
}

static bool check_ring(enum barrier_kind kind, bool sound, int blocks, int threads, uint32_t seed)
{
	struct barrier_check check;
	char what[64];
	snprintf(what, sizeof what, "%s%s", barrier_name[kind], sound ? "" : " left out");
	barrier_check_ring(kind, sound, blocks, threads, 1000, seed, &check);
	return report(what, blocks, threads, &check, sound);
}

/* No control for the warp: lanes reconverge by themselves, so leaving out __syncwarp shows nothing.
 */
static bool check(struct probe_run *run)
{
	struct gpu gpu;
	open_device(run, &gpu);
	const uint32_t seed = (uint32_t)run->common.seed;
	const int sizes[] = {2, 7, gpu.sm_count, 2 * gpu.sm_count};
	bool good = check_ring(BARRIER_WARP, true, gpu.sm_count, 64, seed);
	for (int threads = 64; threads <= 1024; threads *= 4)
		good &= check_ring(BARRIER_BLOCK, true, gpu.sm_count, threads, seed);
	good &= check_ring(BARRIER_BLOCK, false, gpu.sm_count, 256, seed);
	for (int blocks = 2; blocks <= 16; blocks *= 2) {
		struct barrier_check exchange;
		good &= check_ring(BARRIER_CLUSTER, true, blocks, 256, seed);
		good &= check_ring(BARRIER_CLUSTER, false, blocks, 256, seed);
		barrier_check_exchange(blocks, 256, 1000, seed, &exchange);
		good &= report("cluster exchange", blocks, 256, &exchange, true);
	}
	for (int kind = BARRIER_MASTER; kind <= BARRIER_GRID; ++kind)
		for (size_t i = 0; i < ARRAY_LEN(sizes); ++i)
			for (int threads = 32; threads <= 1024; threads *= 32)
				good &= check_ring(
				        (enum barrier_kind)kind, true, sizes[i], threads, seed);
	for (size_t i = 0; i < ARRAY_LEN(sizes); ++i)
		good &= check_ring(BARRIER_GRID, false, sizes[i], 256, seed);
	return good;
}

static const char *const columns[] = {"blocks", "threads", "words"};

const struct probe barrier_probe = {
        .name = "barrier",
        .question = "What does each barrier, block reduction and exchange cost inside a kernel?",
        .args = columns,
        .arg_count = ARRAY_LEN(columns),
        .needs_gpu = true,
        .seconds = 1,
        .processes = 3, /* times inside a kernel differ little */
        .measure = measure,
        .check = check,
        .fit = barrier_fit,
};
