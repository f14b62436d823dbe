/* SPDX-License-Identifier: MIT */
/* Question: what can the GPU do at once: copies beside kernels, several copies, several kernels, an
 * urgent kernel beside a long one, and how far may the host run ahead?
 *
 * Method: branches of work in streams of their own, released together by an event behind a held
 * stream; each branch alone and all together between the same stamps. Priorities and enqueue costs
 * by the host's clock; the depth of a queue by the call that does not return while its stream is
 * held.
 *
 * What can fool it: work that was enqueued too late to overlap (all is enqueued behind the hold),
 * kernels that share a multiprocessor (the halves leave no room for that to be free), streams that
 * share a hardware queue (few streams are used where it matters; the number of queues asked for is
 * in the metadata), copies bound by the link and not by their engine (rows of few bytes keep the
 * engine itself busy), a busy kernel that starves the others (a saturated multiprocessor serves its
 * oldest warps first, and one that polled a flag in host memory held up every launch until its next
 * look: this one has few warps and only calculates).
 *
 * Unit: seconds per batch of branches; per call for enqueue_*, per round trip for urgent*, per hop
 * or kernel for hop_*; for queue_* mean seconds per call, the depth being the argument. */
#include "../lib/base.h"
#include "concurrency.h"

#include "../lib/call_watch.h"
#include "../lib/clock.h"
#include "../lib/gpu.h"
#include "../lib/msg.h"
#include "../lib/probe.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };
enum {
	BRANCHES = 6,
	KERNELS_MOST = 256,       /* at once */
	OVERLAP_BYTES = 32 * MIB, /* of a transfer beside a kernel */
	COPY_BYTES = 8 * MIB,     /* of one of several transfers at once */
	ROW_BYTES = 16,           /* of the transfers that keep an engine busy ... */
	ROW_PITCH = 64,           /* ... in device memory */
	ROWS = 64 * KIB,
	MEMORY_BYTES = 256 * MIB, /* read, and written again, by the memory kernel */
	HELD = 64,                /* calls timed */
	SHORT = 16,               /* the two lengths of a device share */
	LONG = 80,
	URGENT_WAVES = 10, /* of blocks, in the long grid */
	URGENT_THREADS = 256,
	QUEUE_MOST = 4096,
	QUEUE_TRIES = 3,
};

static const double kernel_seconds = 0.7e-3; /* nominal length of a kernel beside a transfer */
static const double host_slack = 100e-6;     /* release, stamps and wake-up, seen by the host */
static const double stuck_seconds = 4e-3;    /* a call that takes this long is blocked */
static const double start_timeout = 1;
static const uint64_t stay_ns = 1000000, block_ns = 20000;

enum work { ARITHMETIC, MEMORY, TO_DEVICE, TO_HOST, ROWS_TO_DEVICE, ROWS_TO_HOST };

struct branch {
	enum work work;
	int blocks, threads; /* of arithmetic */
	double seconds;      /* nominal, of arithmetic */
	int64_t bytes;       /* of a transfer */
};

struct concurrency {
	struct gpu gpu;
	struct gpu_timer *timer;
	struct gpu_hold *hold;
	cudaStream_t lead, stream[BRANCHES];
	cudaEvent_t fork, done[BRANCHES];
	cudaStream_t *many;    /* KERNELS_MOST */
	struct gpu_span *span; /* pinned: one per stream of many, the last two for priorities */
	char *host, *device, *from, *to;
	int64_t memory_bytes;
	int passes;
	unsigned *word, *copied;
	float *sink;
	uint64_t random;

	/* the point at hand */
	struct branch branch[BRANCHES];
	int branches, kernels;
	bool beside;        /* a long grid of the least priority */
	cudaStream_t upper; /* where the urgent kernel goes */
	bool held, busy, hop;
	double phase; /* of an urgent launch, 0 .. 1 */
	uint64_t stay;
};

static void finish(void)
{
	GPU(cudaGetLastError());
	GPU(cudaDeviceSynchronize());
}

static bool held_in_time(const struct concurrency *c)
{
	if (!gpu_hold_ok(c->hold))
		msg_warn("a held stream ran out of time");
	return gpu_hold_ok(c->hold);
}

/* ---- branches ---- */

/* 64 dependent FMAs of a round take 4 cycles each for few warps, and longer when the warps of a
 * multiprocessor have to share its 128 lanes: a length in rounds is the same in every process. */
static int64_t rounds_of(const struct concurrency *c, const struct branch *branch)
{
	const double cycles = fmax(4, branch->threads / 128.0) * CONCURRENCY_FMAS;
	return (int64_t)(branch->seconds * c->gpu.max_hz / cycles);
}

/* Transfers of branch i use the i-th part of the buffers. */
static void put(const struct concurrency *c, int i)
{
	const struct branch *branch = &c->branch[i];
	cudaStream_t stream = c->stream[i];
	char *host = c->host + i * branch->bytes, *device = c->device + i * branch->bytes;
	switch (branch->work) {
	case ARITHMETIC:
		concurrency_arithmetic(
		        branch->blocks, branch->threads, rounds_of(c, branch), c->sink, stream);
		break;
	case MEMORY:
		concurrency_memory(
		        c->to, c->from, c->memory_bytes, c->passes, 4 * c->gpu.sm_count, stream);
		break;
	case TO_DEVICE:
		GPU(cudaMemcpyAsync(
		        device, host, (size_t)branch->bytes, cudaMemcpyHostToDevice, stream));
		break;
	case TO_HOST:
		GPU(cudaMemcpyAsync(
		        host, device, (size_t)branch->bytes, cudaMemcpyDeviceToHost, stream));
		break;
	case ROWS_TO_DEVICE:
		GPU(cudaMemcpy2DAsync(device, ROW_PITCH, host, ROW_PITCH, ROW_BYTES, ROWS,
		        cudaMemcpyHostToDevice, stream));
		break;
	case ROWS_TO_HOST:
		GPU(cudaMemcpy2DAsync(host, ROW_PITCH, device, ROW_PITCH, ROW_BYTES, ROWS,
		        cudaMemcpyDeviceToHost, stream));
		break;
	}
}

static bool batch_sample(void *argument, struct sample *sample)
{
	const struct concurrency *c = argument;
	gpu_hold_start(c->hold, c->lead);
	gpu_timer_start(c->timer, c->lead);
	GPU(cudaEventRecord(c->fork, c->lead));
	for (int i = 0; i < c->branches; i++) {
		GPU(cudaStreamWaitEvent(c->stream[i], c->fork, 0));
		put(c, i);
		GPU(cudaEventRecord(c->done[i], c->stream[i]));
		GPU(cudaStreamWaitEvent(c->lead, c->done[i], 0));
	}
	gpu_timer_stop(c->timer, c->lead);
	const double start = clock_now();
	gpu_hold_release(c->hold);
	finish();
	const double seconds = clock_now() - start;
	struct gpu_span span;
	gpu_timer_span(c->timer, &span);
	gpu_span_sample(&span, 1, seconds, host_slack, sample);
	return held_in_time(c);
}

/* ---- kernels at once ---- */

/* From the first kernel's start to the last one's end; they are released one after the other. */
static bool kernels_sample(void *argument, struct sample *sample)
{
	const struct concurrency *c = argument;
	gpu_hold_start(c->hold, c->lead);
	GPU(cudaEventRecord(c->fork, c->lead));
	for (int i = 0; i < c->kernels; i++) {
		GPU(cudaStreamWaitEvent(c->many[i], c->fork, 0));
		concurrency_stay(1, 32, c->stay, &c->span[i], c->many[i]);
	}
	const double start = clock_now();
	gpu_hold_release(c->hold);
	finish();
	const double seconds = clock_now() - start;
	struct gpu_span whole = c->span[0];
	for (int i = 1; i < c->kernels; i++) {
		whole.ns0 = c->span[i].ns0 < whole.ns0 ? c->span[i].ns0 : whole.ns0;
		whole.ns1 = c->span[i].ns1 > whole.ns1 ? c->span[i].ns1 : whole.ns1;
	}
	struct sample one;
	gpu_span_sample(&c->span[0], 1, 0, 0, &one);
	gpu_span_sample(&whole, 1, seconds, host_slack + 5e-6 * c->kernels, sample);
	sample->hz = one.hz; /* the multiprocessors count their cycles apart */
	sample->span = one.span;
	return held_in_time(c);
}

/* ---- a busy device ---- */

/* Waits until the kernel that leaves this span, zero before, runs. */
static bool has_started(const struct gpu_span *span)
{
	GPU(cudaGetLastError());
	const double start = clock_now();
	while (*(const volatile uint64_t *)&span->ns0 == 0)
		if (clock_now() - start > start_timeout)
			return false;
	return true;
}

/* One warp on every scheduler calculates, longer than `count` launches should take. More would
 * starve the warps that come after them: the oldest ready one goes first. */
static bool busy_start(const struct concurrency *c, int count)
{
	struct gpu_span *span = &c->span[KERNELS_MOST];
	*span = (struct gpu_span){0, 0, 0, 0};
	concurrency_busy(c->gpu.sm_count, 128, 150000 + 6000 * (uint64_t)count, span,
	        c->stream[BRANCHES - 1]);
	return has_started(span);
}

/* Host's share of a launch into an idle stream, beside a busy device, or into a held stream. */
static bool enqueue_sample(void *argument, struct sample *sample)
{
	const struct concurrency *c = argument;
	const struct gpu_span *span = &c->span[KERNELS_MOST];
	const double begin = clock_now();
	const bool good = !c->busy || busy_start(c, 2 * HELD);
	if (c->held)
		gpu_hold_start(c->hold, c->lead);
	for (int i = 0; i < 8; i++)
		concurrency_null(c->word, c->lead);
	const double start = clock_now();
	for (int i = 0; i < HELD; i++)
		concurrency_null(c->word, c->lead);
	const double stop = clock_now();
	gpu_hold_release(c->hold);
	finish();
	*sample = (struct sample){.seconds = (stop - start) / HELD, .agreed = true};
	if (c->busy) /* to the end */
		sample->agreed = stop - begin < 1e-9 * (double)(span->ns1 - span->ns0);
	return good && (!c->held || held_in_time(c));
}

/* count kernels in one stream, or in two streams in turn, each waiting for the other's. */
static void chain(const struct concurrency *c, int count)
{
	cudaStream_t stream[] = {c->lead, c->stream[0]};
	for (int i = 0; i < count; i++) {
		const int here = c->hop ? i % 2 : 0;
		concurrency_null(c->word, stream[here]);
		if (!c->hop)
			continue;
		GPU(cudaEventRecord(c->done[here], stream[here]));
		GPU(cudaStreamWaitEvent(stream[!here], c->done[here], 0));
	}
}

/* Beside a busy device all must have happened while it was. */
static bool chain_span(const struct concurrency *c, int count, struct sample *sample)
{
	const struct gpu_span *busy = &c->span[KERNELS_MOST];
	gpu_hold_start(c->hold, c->lead);
	gpu_timer_start(c->timer, c->lead);
	chain(c, count);
	gpu_timer_stop(c->timer, c->lead);
	const bool good = !c->busy || busy_start(c, count);
	const double start = clock_now();
	gpu_hold_release(c->hold);
	GPU(cudaGetLastError());
	GPU(cudaStreamSynchronize(c->lead));
	const double seconds = clock_now() - start;
	finish();
	struct gpu_span span;
	gpu_timer_span(c->timer, &span);
	gpu_span_sample(&span, 1, seconds, host_slack, sample);
	if (c->busy)
		sample->agreed = sample->agreed && busy->ns0 <= span.ns0 && span.ns1 <= busy->ns1;
	return good && held_in_time(c);
}

static bool chain_sample(void *argument, struct sample *sample)
{
	const struct concurrency *c = argument;
	struct sample few = {0};
	if (!chain_span(c, SHORT, &few) || !chain_span(c, LONG, sample))
		return false;
	sample->seconds = (sample->seconds - few.seconds) / (LONG - SHORT);
	sample->agreed = sample->agreed && few.agreed;
	return true;
}

/* ---- priorities ---- */

/* Up to two blocks long, by steps of the golden section: the launches meet the blocks of the long
 * grid at evenly spread moments. */
static void wait_a_little(struct concurrency *c)
{
	c->phase = fmod(c->phase + 0.6180339887498949, 1);
	const double end = clock_now() + 2e-9 * (double)block_ns * c->phase;
	while (clock_now() < end)
		;
}

/* Host's time from launch to completion of a small kernel, while a long grid of the least priority
 * has more blocks than fit (or on an idle device). */
static bool urgent_sample(void *argument, struct sample *sample)
{
	struct concurrency *c = argument;
	struct gpu_span *lower = &c->span[KERNELS_MOST], *upper = lower + 1;
	const int resident = c->gpu.max_threads_per_sm / URGENT_THREADS;
	*lower = *upper = (struct gpu_span){0, 0, 0, 0};
	if (c->beside) {
		concurrency_stay(URGENT_WAVES * resident * c->gpu.sm_count, URGENT_THREADS,
		        block_ns, lower, c->stream[0]);
		if (!has_started(lower))
			return false;
		wait_a_little(c);
	}
	const double start = clock_now();
	concurrency_stay(1, URGENT_THREADS, 0, upper, c->upper);
	GPU(cudaGetLastError());
	GPU(cudaStreamSynchronize(c->upper));
	const double stop = clock_now();
	finish();
	*sample = (struct sample){.seconds = stop - start, .agreed = upper->ns0 > lower->ns0};
	return true;
}

/* ---- depth of a queue ---- */

static void release(void *hold)
{
	gpu_hold_release(hold);
}

/* Mean seconds per call that returned at once; their number, or -1 when all QUEUE_MOST did. */
static double fill_queue(const struct concurrency *c, bool copies, int *depth)
{
	struct fault fault;
	gpu_hold_start(c->hold, c->lead);
	struct call_watch *watch = call_watch_start(stuck_seconds, release, c->hold, &fault);
	if (!watch) {
		gpu_hold_release(c->hold);
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	}
	const double start = clock_now();
	double last = start;
	int calls = 0;
	for (bool quick = true; quick && calls < QUEUE_MOST; calls++) {
		last = clock_now();
		if (copies)
			GPU(cudaMemcpyAsync(c->copied, c->word, sizeof *c->word,
			        cudaMemcpyDeviceToHost, c->lead));
		else
			concurrency_null(c->word, c->lead);
		quick = call_watch_returned(watch);
	}
	const double end = clock_now();
	*depth = call_watch_stop(watch);
	gpu_hold_release(c->hold);
	finish();
	return *depth > 0 ? (last - start) / *depth : (end - start) / calls;
}

static int by_depth(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* The middle of a few tries: a host thread that was interrupted looks like a blocked one. */
static void measure_queue(struct probe_run *run, struct concurrency *c, bool copies)
{
	const int tries = run->common.quick ? 1 : QUEUE_TRIES;
	int depth[QUEUE_TRIES];
	double seconds[QUEUE_TRIES];
	for (int i = 0; i < tries; i++) {
		seconds[i] = fill_queue(c, copies, &depth[i]);
		if (!held_in_time(c))
			return;
	}
	qsort(depth, (size_t)tries, sizeof depth[0], by_depth);
	const int middle = depth[tries / 2];
	const bool open = middle < 0;
	const struct measurement measurement = {
	        .seconds = stats_median_interval(seconds, (size_t)tries), .hz = NAN};
	const struct arg arg = {"launches", open ? QUEUE_MOST : middle};
	const char *series = copies ? open ? "queue_copies_open" : "queue_copies"
	                     : open ? "queue_kernels_open"
	                            : "queue_kernels";
	probe_record(run, series, &arg, 1, &measurement);
}

/* ---- sweep ---- */

struct sweep {
	struct probe_run *run;
	struct concurrency *c;
	double seconds; /* for one point */
};

static double measure_point(const struct sweep *sweep, const char *series, sample_function function,
        const char *argument, double value)
{
	struct sample_plan plan = sample_plan_default(sweep->seconds);
	plan.min_samples = sweep->run->common.quick ? 3 : 7;
	struct measurement measurement;
	struct sample first;
	if (!function(sweep->c, &first) ||
	        !sample_run(function, sweep->c, &plan, sweep->c->gpu.max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "%s could not be measured", series);
	const struct arg arg = {argument, value};
	probe_record(sweep->run, series, &arg, argument != NULL, &measurement);
	return measurement.seconds.value;
}

static void measure_batch(
        const struct sweep *sweep, const char *series, const struct branch *branch, int branches)
{
	for (int i = 0; i < branches; i++)
		sweep->c->branch[i] = branch[i];
	sweep->c->branches = branches;
	measure_point(sweep, series, batch_sample, NULL, 0);
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
	for (size_t i = 0; i < ARRAY_LEN(batches); i++)
		if (c->memory_bytes > 0 || batches[i].branch[0].work != MEMORY)
			measure_batch(
			        sweep, batches[i].series, batches[i].branch, batches[i].branches);
}

/* k transfers at once; "mixed" ones go to the device and to the host in turn. */
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
				measure_point(sweep, kinds[i].series, batch_sample, "copies", k);
		}
}

static double kernels_at_once(const struct sweep *sweep, int kernels)
{
	sweep->c->kernels = kernels;
	return measure_point(sweep, "kernels", kernels_sample, "kernels", kernels);
}

/* Powers of two, then halving between the last number that fits and the first that does not. */
static void measure_kernels(const struct sweep *sweep)
{
	sweep->c->stay = sweep->run->common.quick ? stay_ns / 4 : stay_ns;
	const double alone = kernels_at_once(sweep, 1);
	int fits = 1, fails = KERNELS_MOST + 1;
	for (int k = sweep->run->common.quick ? 16 : 2; k <= KERNELS_MOST && k < fails; k *= 2)
		if (kernels_at_once(sweep, k) < 1.5 * alone)
			fits = k;
		else
			fails = k;
	while (fails <= KERNELS_MOST && fails - fits > 1) {
		const int k = (fits + fails) / 2;
		if (kernels_at_once(sweep, k) < 1.5 * alone)
			fits = k;
		else
			fails = k;
	}
}

static void measure_busy(const struct sweep *sweep)
{
	static const struct {
		const char *series;
		bool chain, held, busy, hop;
	} points[] = {
	        {"enqueue_idle", false, false, false, false},
	        {"enqueue_busy", false, false, true, false},
	        {"enqueue_held", false, true, false, false},
	        {"dependent_idle", true, false, false, false},
	        {"dependent_busy", true, false, true, false},
	        {"hop_idle", true, false, false, true},
	        {"hop_busy", true, false, true, true},
	};
	struct concurrency *c = sweep->c;
	/* the host's times vary: more of them */
	const struct sweep longer = {sweep->run, c, fmax(sweep->seconds, 4e-3)};
	for (size_t i = 0; i < ARRAY_LEN(points); i++) {
		c->held = points[i].held;
		c->busy = points[i].busy;
		c->hop = points[i].hop;
		measure_point(&longer, points[i].series,
		        points[i].chain ? chain_sample : enqueue_sample, NULL, 0);
	}
}

static void measure_urgent(const struct sweep *sweep, int priority, const char *series,
        const char *argument, double value)
{
	GPU(cudaStreamCreateWithPriority(&sweep->c->upper, cudaStreamNonBlocking, priority));
	measure_point(sweep, series, urgent_sample, argument, value);
	GPU(cudaStreamDestroy(sweep->c->upper));
}

/* priority: steps above the least one, which the long grid has. */
static void measure_priorities(const struct sweep *sweep)
{
	struct concurrency *c = sweep->c;
	/* an urgent kernel meets the blocks of the grid at any moment: many samples */
	const struct sweep longer = {sweep->run, c, fmax(8 * sweep->seconds, 20e-3)};
	int least = 0, greatest = 0;
	GPU(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	c->beside = false;
	measure_urgent(sweep, least, "urgent_idle", NULL, 0);
	c->beside = true;
	measure_urgent(sweep, least, "urgent", "priority", 0);
	if (greatest != least)
		measure_urgent(&longer, greatest, "urgent", "priority", least - greatest);
}

/* ---- the probe ---- */

static int attribute(const struct gpu *gpu, enum cudaDeviceAttr name)
{
	int value = 0;
	GPU(cudaDeviceGetAttribute(&value, name, gpu->device));
	return value;
}

/* As many passes as the memory's pins allow in the nominal time: the same in every process. */
static void set_up_memory(struct concurrency *c, bool quick)
{
	size_t unused, total;
	GPU(cudaMemGetInfo(&unused, &total));
	c->memory_bytes = MEMORY_BYTES;
	while (c->memory_bytes > MIB && 2 * c->memory_bytes > (int64_t)(unused / 4))
		c->memory_bytes /= 2;
	if (c->memory_bytes <= 2 * c->gpu.l2_bytes) {
		msg_warn("only %zu bytes of GPU memory are free: nothing is measured beside a "
		         "kernel that copies memory",
		        unused);
		c->memory_bytes = 0;
		return;
	}
	const double rate = 2e3 * attribute(&c->gpu, cudaDevAttrMemoryClockRate) *
	                    attribute(&c->gpu, cudaDevAttrGlobalMemoryBusWidth) / 8;
	const double seconds = quick ? kernel_seconds / 4 : kernel_seconds;
	c->passes = (int)fmax(1, seconds * rate / (2.0 * (double)c->memory_bytes));
	GPU(cudaMalloc((void **)&c->from, (size_t)c->memory_bytes));
	GPU(cudaMalloc((void **)&c->to, (size_t)c->memory_bytes));
	gpu_fill_float((float *)c->from, c->memory_bytes / 4, c->random, c->lead);
}

static void set_up(struct concurrency *c, bool quick)
{
	const size_t bytes = 2 * (size_t)OVERLAP_BYTES;
	size_t unused, total;
	GPU(cudaMemGetInfo(&unused, &total));
	if (unused < 2 * bytes)
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of GPU memory are free: stop what uses it", unused);
	c->timer = gpu_timer_new(&c->gpu);
	c->hold = gpu_hold_new();
	GPU(cudaStreamCreateWithFlags(&c->lead, cudaStreamNonBlocking));
	GPU(cudaEventCreateWithFlags(&c->fork, cudaEventDisableTiming));
	for (int i = 0; i < BRANCHES; i++) {
		GPU(cudaStreamCreateWithFlags(&c->stream[i], cudaStreamNonBlocking));
		GPU(cudaEventCreateWithFlags(&c->done[i], cudaEventDisableTiming));
	}
	c->many = xcalloc(KERNELS_MOST, sizeof(cudaStream_t));
	for (int i = 0; i < KERNELS_MOST; i++)
		GPU(cudaStreamCreateWithFlags(&c->many[i], cudaStreamNonBlocking));
	GPU(cudaMallocHost((void **)&c->span, (KERNELS_MOST + 2) * sizeof *c->span));
	GPU(cudaMallocHost((void **)&c->copied, sizeof *c->copied));
	GPU(cudaMallocHost((void **)&c->host, bytes));
	GPU(cudaMalloc((void **)&c->device, bytes));
	GPU(cudaMalloc((void **)&c->word, sizeof *c->word));
	GPU(cudaMalloc((void **)&c->sink, sizeof *c->sink));
	GPU(cudaMemset(c->word, 0, sizeof *c->word));
	gpu_fill_float((float *)c->device, (int64_t)bytes / 4, ~c->random, c->lead);
	GPU(cudaMemcpyAsync(c->host, c->device, bytes, cudaMemcpyDeviceToHost, c->lead));
	set_up_memory(c, quick);
	finish();
}

/* Everything once, without the hold: loading code waits for the device. */
static void run_once(struct concurrency *c)
{
	static const enum work works[] = {
	        ARITHMETIC, TO_DEVICE, TO_HOST, ROWS_TO_DEVICE, ROWS_TO_HOST, MEMORY};
	for (size_t i = 0; i < ARRAY_LEN(works); i++) {
		c->branch[0] = (struct branch){works[i], 1, 32, 1e-6, MIB};
		if (works[i] != MEMORY || c->memory_bytes > 0)
			put(c, 0);
	}
	concurrency_stay(1, 32, 0, c->span, c->lead);
	concurrency_null(c->word, c->lead);
	GPU(cudaMemcpyAsync(c->copied, c->word, sizeof *c->word, cudaMemcpyDeviceToHost, c->lead));
	gpu_timer_stop(c->timer, c->lead);
	if (!busy_start(c, 1))
		msg_die(EXIT_MEASURE_FAILED, "what a kernel wrote did not reach the host");
	finish();
}

/* What is allocated lives as long as the process, which measures once and ends. */
static void measure(struct probe_run *run)
{
	struct concurrency c = {
	        .random = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process};
	struct fault fault;
	if (!gpu_open(&c.gpu, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	probe_watch_gpu(run, &c.gpu);
	const char *queues = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
	table_meta_set(run->curve, "hardware_queues", "%s", queues ? queues : "default");
	table_meta_set(run->curve, "copy_engines", "%d", c.gpu.copy_engines);

	gpu_warm(&c.gpu, run->warm_seconds);
	set_up(&c, run->common.quick);
	run_once(&c);
	/* about 60 points of which most need no more than their first few samples */
	const struct sweep sweep = {run, &c, fmax(run->seconds - run->warm_seconds, 0.1) / 60};
	measure_overlap(&sweep);
	measure_engines(&sweep);
	measure_kernels(&sweep);
	measure_busy(&sweep);
	measure_priorities(&sweep);
	measure_queue(run, &c, false);
	measure_queue(run, &c, true);
	probe_watch_gpu(run, &c.gpu);
}

static const char *const arguments[] = {"copies", "kernels", "priority", "launches"};
const struct probe concurrency_probe = {
        .name = "concurrency",
        .question = "What can the GPU do at once, and how far may the host run ahead?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .seconds = 1.2,
        .processes = 3,
        .measure = measure,
        .fit = concurrency_fit,
};
