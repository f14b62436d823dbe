/* SPDX-License-Identifier: MIT */
/* Samples of the concurrency probe: branches at once, kernels at once, launches and chains beside a
 * busy device, an urgent kernel beside a long grid. */
#include "concurrency_internal.h"

#include "lib/host/clock.h"

#include <math.h>

enum {
	HELD = 64,  /* calls timed */
	SHORT = 16, /* the two lengths of a queue */
	LONG = 80,
	URGENT_WAVES = 10, /* of blocks, in the long grid */
	URGENT_THREADS = 256,
};

static const double host_slack = 100e-6; /* release, stamps and wake-up, seen by the host */
static const double start_timeout = 1;
static const uint64_t block_ns = 20000;

/* A dependent FMA takes 4 cycles for few warps, longer when warps share the 128 lanes of a
 * multiprocessor. The length in rounds is then the same in every process. */
static int64_t rounds_of(const struct concurrency *c, const struct branch *branch)
{
	const double cycles = fmax(4, branch->threads / 128.0) * CONCURRENCY_FMAS;
	return (int64_t)(branch->seconds * c->gpu.max_hz / cycles);
}

/* Branch i transfers the i-th part of the buffers. */
void concurrency_put(const struct concurrency *c, int i)
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

bool concurrency_batch_sample(void *argument, struct sample *sample)
{
	const struct concurrency *c = argument;
	gpu_hold_start(c->hold, c->lead);
	gpu_timer_start(c->timer, c->lead);
	GPU(cudaEventRecord(c->fork, c->lead));
	for (int i = 0; i < c->branches; i++) {
		GPU(cudaStreamWaitEvent(c->stream[i], c->fork, 0));
		concurrency_put(c, i);
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

/* From the first kernel's start to the last kernel's end; kernels are released one after the other.
 */
bool concurrency_kernels_sample(void *argument, struct sample *sample)
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
	sample->hz = one.hz; /* each multiprocessor has its own cycle counter */
	sample->span = one.span;
	return held_in_time(c);
}

/* Waits until the kernel that writes this span, zero before, runs. */
static bool has_started(const struct gpu_span *span)
{
	GPU(cudaGetLastError());
	const double start = clock_now();
	while (*(const volatile uint64_t *)&span->ns0 == 0)
		if (clock_now() - start > start_timeout)
			return false;
	return true;
}

/* One warp on every scheduler calculates, for longer than `count` launches should take. More warps
 * would starve later ones: the oldest ready warp goes first. */
bool concurrency_busy_start(const struct concurrency *c, int count)
{
	struct gpu_span *span = &c->span[KERNELS_MOST];
	*span = (struct gpu_span){0, 0, 0, 0};
	concurrency_busy(c->gpu.sm_count, 128, 150000 + 6000 * (uint64_t)count, span,
	        c->stream[BRANCHES - 1]);
	return has_started(span);
}

/* The host's share of a launch: into an idle stream, beside a busy device, or into a held stream.
 */
bool concurrency_enqueue_sample(void *argument, struct sample *sample)
{
	const struct concurrency *c = argument;
	const struct gpu_span *span = &c->span[KERNELS_MOST];
	const double begin = clock_now();
	const bool good = !c->busy || concurrency_busy_start(c, 2 * HELD);
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
	if (c->busy) /* the device was busy to the end */
		sample->agreed = stop - begin < 1e-9 * (double)(span->ns1 - span->ns0);
	return good && (!c->held || held_in_time(c));
}

static void put_word(const struct concurrency *c, bool to_device, cudaStream_t stream)
{
	GPU(cudaMemcpyAsync(to_device ? c->word : c->copied, to_device ? c->copied : c->word,
	        sizeof *c->word, to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost,
	        stream));
}

/* count kernels in one stream, or in two streams that wait for each other. With a turn every second
 * one is a copy of a word. */
static void chain(const struct concurrency *c, int count)
{
	cudaStream_t stream[] = {c->lead, c->stream[0]};
	for (int i = 0; i < count; i++) {
		const int here = c->stream_wait ? i % 2 : 0;
		if (c->turn != TURN_NONE && i % 2)
			put_word(c, c->turn == TURN_TO_DEVICE, stream[here]);
		else
			concurrency_null(c->word, stream[here]);
		if (!c->stream_wait)
			continue;
		GPU(cudaEventRecord(c->done[here], stream[here]));
		GPU(cudaStreamWaitEvent(stream[!here], c->done[here], 0));
	}
}

/* Beside a busy device the whole chain must have run while it was busy. */
static bool chain_span(const struct concurrency *c, int count, struct sample *sample)
{
	const struct gpu_span *busy = &c->span[KERNELS_MOST];
	gpu_hold_start(c->hold, c->lead);
	gpu_timer_start(c->timer, c->lead);
	chain(c, count);
	gpu_timer_stop(c->timer, c->lead);
	const bool good = !c->busy || concurrency_busy_start(c, count);
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

bool concurrency_chain_sample(void *argument, struct sample *sample)
{
	const struct concurrency *c = argument;
	struct sample few = {0};
	if (!chain_span(c, SHORT, &few) || !chain_span(c, LONG, sample))
		return false;
	sample->seconds = (sample->seconds - few.seconds) / (LONG - SHORT);
	sample->agreed = sample->agreed && few.agreed;
	return true;
}

/* Waits up to two block lengths, by steps of the golden section: launches meet the grid's blocks at
 * evenly spread moments. */
static void wait_a_little(struct concurrency *c)
{
	c->phase = fmod(c->phase + 0.6180339887498949, 1);
	const double end = clock_now() + 2e-9 * (double)block_ns * c->phase;
	while (clock_now() < end)
		;
}

/* The host's time from launch to completion of a small kernel, on an idle device or while a long
 * grid of the least priority has more blocks than fit. */
bool concurrency_urgent_sample(void *argument, struct sample *sample)
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
