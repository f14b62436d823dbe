/* SPDX-License-Identifier: MIT */
/* Question: what can the GPU do at once (copies and kernels, several copies, several kernels, an
 * urgent kernel beside a long one), and how far may the host run ahead?
 *
 * Method: branches of work in streams of their own, released together by an event behind a held
 * stream; each branch alone and all together between the same stamps. Priorities and enqueue costs
 * by the host's clock. The depth of a queue: the call that does not return while its stream is
 * held.
 *
 * What can fool it: work enqueued too late to overlap (all is behind the hold); kernels that share
 * a multiprocessor (the halves leave no room); streams that share a hardware queue (few streams
 * where it matters; the metadata has the number of queues); copies limited by the link instead of
 * their engine (short rows keep the engine busy); a busy kernel that starves others (this one has
 * few warps, calculates only, and does not poll host memory); kernel starts that chance decides by
 * process (up to ten processes, midrange).
 *
 * Unit: seconds per batch of branches; per call for enqueue_*, per round trip for urgent*, per
 * kernel or copy for dependent_* and stream_wait_*; for queue_* mean seconds per call, the depth
 * being the argument. */
#include "concurrency_internal.h"

#include "lib/probe/probe_point.h"
#include "lib/probe/repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COPY_BYTES = 8 * MIB }; /* each of several transfers at once */

static const uint64_t stay_ns = 1000000;

struct sweep {
	struct probe_run *run;
	struct concurrency *c;
	double seconds; /* for one point */
	bool by_device; /* by the device's clock, which interference on the host does not affect */
	struct repeats *repeats; /* of points measured twice, or NULL */
};

static bool take_samples(const struct sweep *sweep, sample_function function,
        const struct sample_plan *plan, struct measurement *result)
{
	const double max_hz = sweep->c->gpu.max_hz;
	return sweep->by_device
	               ? sample_run(function, sweep->c, plan, max_hz, result)
	               : probe_noise_sample(sweep->run, function, sweep->c, plan, max_hz, result);
}

/* Returns the point's seconds; NaN when a re-measurement does not want it. */
static double measure_point(const struct sweep *sweep, const char *series, sample_function function,
        const char *argument, double value)
{
	const struct arg arg = {argument, value};
	if (!probe_wants(sweep->run, series, &arg, argument != NULL))
		return NAN;
	struct sample_plan plan = sample_plan_default(sweep->seconds);
	plan.min_samples = sweep->run->common.quick ? 3 : 7;
	struct measurement measurement;
	struct sample first;
	if (!function(sweep->c, &first) || !take_samples(sweep, function, &plan, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	if (sweep->repeats)
		repeats_add(sweep->repeats, series, &arg, argument != NULL, &measurement);
	else
		probe_record(sweep->run, series, &arg, argument != NULL, &measurement);
	return measurement.seconds.value;
}

static void measure_batch(
        const struct sweep *sweep, const char *series, const struct branch *branch, int branches)
{
	for (int i = 0; i < branches; i++)
		sweep->c->branch[i] = branch[i];
	sweep->c->branches = branches;
	measure_point(sweep, series, concurrency_batch_sample, NULL, 0);
}

static void measure_overlap(const struct sweep *sweep)
{
	struct concurrency *c = sweep->c;
	const int64_t bytes = sweep->run->common.quick ? OVERLAP_BYTES / 4 : OVERLAP_BYTES;
	const double seconds = sweep->run->common.quick ? kernel_seconds / 4 : kernel_seconds;
	const int sms = c->gpu.sm_count;
	const struct branch calculate = {ARITHMETIC, sms, 128, seconds, 0},
	                    memory = {.work = MEMORY},
	                    to_device = {.work = TO_DEVICE, .bytes = bytes},
	                    to_host = {.work = TO_HOST, .bytes = bytes},
	                    half = {ARITHMETIC, sms / 2, 1024, seconds, 0},
	                    large = {ARITHMETIC, sms, 256, seconds, 0},
	                    small = {ARITHMETIC, 4, 128, seconds / 2, 0};
	const struct {
		const char *series;
		struct branch branch[3];
		int branches;
	} batches[] = {
	        {"arithmetic", {calculate}, 1},
	        {"memory", {memory}, 1},
	        {"h2d", {to_device}, 1},
	        {"d2h", {to_host}, 1},
	        {"both", {to_device, to_host}, 2},
	        {"arithmetic_h2d", {calculate, to_device}, 2},
	        {"arithmetic_d2h", {calculate, to_host}, 2},
	        {"arithmetic_both", {to_device, to_host, calculate}, 3},
	        {"memory_h2d", {memory, to_device}, 2},
	        {"memory_d2h", {memory, to_host}, 2},
	        {"half", {half}, 1},
	        {"halves", {half, half}, 2},
	        {"large", {large}, 1},
	        {"small", {small}, 1},
	        {"large_small", {large, small}, 2},
	};
	for (size_t i = 0; i < ARRAY_LEN(batches); i++) {
		const struct branch *first = &batches[i].branch[0];
		/* no half of one multiprocessor */
		if (first->work == MEMORY ? c->memory_bytes > 0
		                          : first->work != ARITHMETIC || first->blocks > 0)
			measure_batch(
			        sweep, batches[i].series, batches[i].branch, batches[i].branches);
	}
}

/* k transfers at once; mixed ones go to the device and to the host in turn. */
static void measure_engines(const struct sweep *sweep)
{
	static const struct {
		const char *series;
		enum work even, odd;
		int64_t bytes;
		int most;
	} kinds[] = {
	        {"copies_h2d", TO_DEVICE, TO_DEVICE, COPY_BYTES, BRANCHES},
	        {"copies_d2h", TO_HOST, TO_HOST, COPY_BYTES, BRANCHES},
	        {"copies_mixed", TO_DEVICE, TO_HOST, COPY_BYTES, BRANCHES},
	        {"rows_h2d", ROWS_TO_DEVICE, ROWS_TO_DEVICE, ROW_PITCH * ROWS, 3},
	        {"rows_d2h", ROWS_TO_HOST, ROWS_TO_HOST, ROW_PITCH * ROWS, 3},
	        {"rows_mixed", ROWS_TO_DEVICE, ROWS_TO_HOST, ROW_PITCH * ROWS, 3},
	};
	struct concurrency *c = sweep->c;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		for (int k = kinds[i].even == kinds[i].odd ? 1 : 2; k <= BRANCHES; k++) {
			for (int b = 0; b < k; b++)
				c->branch[b] = (struct branch){
				        .work = b % 2 ? kinds[i].odd : kinds[i].even,
				        .bytes = kinds[i].bytes};
			c->branches = k;
			if (k < 3 || (k <= kinds[i].most && !sweep->run->common.quick))
				measure_point(sweep, kinds[i].series, concurrency_batch_sample,
				        "copies", k);
		}
}

static double kernels_at_once(const struct sweep *sweep, int kernels)
{
	sweep->c->kernels = kernels;
	return measure_point(sweep, "kernels", concurrency_kernels_sample, "kernels", kernels);
}

/* Powers of two, then bisection between the last number that fits and the first that does not. */
static void measure_kernels(const struct sweep *sweep)
{
	sweep->c->stay = sweep->run->common.quick ? stay_ns / 4 : stay_ns;
	const double alone = kernels_at_once(sweep, 1);
	int fits = 1, fails = KERNELS_MOST + 1, k = sweep->run->common.quick ? 16 : 2;
	while (k <= KERNELS_MOST && fails - fits > 1) {
		if (kernels_at_once(sweep, k) < 1.5 * alone)
			fits = k;
		else
			fails = k;
		k = fails > KERNELS_MOST ? 2 * k : (fits + fails) / 2;
	}
}

static const struct {
	const char *series;
	bool chain, held, busy, stream_wait;
	enum turn turn;
} busy_points[] = {
        {"enqueue_idle", false, false, false, false, TURN_NONE},
        {"enqueue_busy", false, false, true, false, TURN_NONE},
        {"enqueue_held", false, true, false, false, TURN_NONE},
        {"dependent_idle", true, false, false, false, TURN_NONE},
        {"dependent_busy", true, false, true, false, TURN_NONE},
        {"stream_wait_idle", true, false, false, true, TURN_NONE},
        {"stream_wait_busy", true, false, true, true, TURN_NONE},
        {"stream_wait_h2d", true, false, false, true, TURN_TO_DEVICE},
        {"stream_wait_d2h", true, false, false, true, TURN_TO_HOST},
};

static void measure_busy(const struct sweep *sweep)
{
	struct concurrency *c = sweep->c;
	struct repeats seen = {0};
	const bool quick = sweep->run->common.quick;
	const int repeats = quick ? 1 : 2;
	/* the host's times vary: longer, and at two times */
	const double enough = quick ? 2e-3 : 4e-3;
	const struct sweep longer = {.run = sweep->run,
	        .c = c,
	        .seconds = fmax(sweep->seconds, enough),
	        .repeats = &seen};
	for (int repeat = 0; repeat < repeats; repeat++)
		for (size_t i = 0; i < ARRAY_LEN(busy_points); i++) {
			c->held = busy_points[i].held;
			c->busy = busy_points[i].busy;
			c->stream_wait = busy_points[i].stream_wait;
			c->turn = busy_points[i].turn;
			if (repeat == 0 || !busy_points[i].chain)
				measure_point(&longer, busy_points[i].series,
				        busy_points[i].chain ? concurrency_chain_sample
				                             : concurrency_enqueue_sample,
				        NULL, 0);
		}
	repeats_record(&seen, sweep->run);
}

static void measure_urgent(const struct sweep *sweep, int priority, const char *series,
        const char *argument, double value)
{
	GPU(cudaStreamCreateWithPriority(&sweep->c->upper, cudaStreamNonBlocking, priority));
	measure_point(sweep, series, concurrency_urgent_sample, argument, value);
	GPU(cudaStreamDestroy(sweep->c->upper));
}

/* priority: steps above the long grid's, the least one. */
static void measure_priorities(const struct sweep *sweep)
{
	struct concurrency *c = sweep->c;
	/* an urgent kernel may meet the grid's blocks at any moment: many samples */
	const double enough = sweep->run->common.quick ? 5e-3 : 20e-3;
	const struct sweep longer = {
	        .run = sweep->run, .c = c, .seconds = fmax(8 * sweep->seconds, enough)};
	int least = 0, greatest = 0;
	GPU(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	c->beside = false;
	measure_urgent(sweep, least, "urgent_idle", NULL, 0);
	c->beside = true;
	measure_urgent(sweep, least, "urgent", "priority", 0);
	if (greatest != least)
		measure_urgent(&longer, greatest, "urgent", "priority", least - greatest);
}

static void measure(struct probe_run *run)
{
	struct concurrency c = {
	        .random = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process};
	probe_open_gpu(run, &c.gpu);
	const char *queues = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
	table_meta_set(run->curve, "hardware_queues", "%s", queues ? queues : "default");
	table_meta_set(run->curve, "copy_engines", "%d", c.gpu.copy_engines);

	gpu_warm(&c.gpu, run->warm_seconds);
	concurrency_set_up(&c, run->common.quick);
	concurrency_run_once(&c);
	probe_noise_take(run, &c.gpu);
	/* about 60 points; most need only their first samples */
	struct sweep sweep = {.run = run,
	        .c = &c,
	        .seconds = fmax(run->seconds - run->warm_seconds, 0.1) / 60,
	        .by_device = true};
	measure_overlap(&sweep);
	measure_engines(&sweep);
	if (!run->wanted) /* a search, in which each point depends on the points before */
		measure_kernels(&sweep);
	sweep.by_device = false;
	measure_busy(&sweep);
	measure_priorities(&sweep);
	probe_noise_leave(run); /* the watchdog is a second thread */
	if (!run->wanted) {
		concurrency_queue(run, &c, false);
		concurrency_queue(run, &c, true);
	}
	concurrency_clean_up(&c);
	probe_watch_gpu(run, &c.gpu);
}

/* Start times of kernels (probes/launch/launch.c). */
static bool by_chance(const char *series, double seconds)
{
	bool found = false;

	(void)seconds;
	for (size_t i = 0; i < ARRAY_LEN(busy_points); i++)
		found |= busy_points[i].chain && strcmp(series, busy_points[i].series) == 0;
	return found;
}

static const char *const arguments[] = {"copies", "kernels", "priority", "launches"};

/* Copies between host and device, alone and beside others, and calls. */
static bool by_host(const char *series)
{
	static const char *const parts[] = {"h2d", "d2h", "copies", "mixed", "enqueue"};
	bool found = strcmp(series, "both") == 0;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		found |= strstr(series, parts[i]) != NULL;
	return found;
}

const struct probe concurrency_probe = {
        .name = "concurrency",
        .question = "What can the GPU do at once, and how far may the host run ahead?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .turn = 1,
        .seconds = 1,
        .processes = 3,
        .revisits = true,
        .by_chance = by_chance,
        .by_host = by_host,
        .measure = measure,
        .fit = concurrency_fit,
};
