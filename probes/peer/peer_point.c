/* SPDX-License-Identifier: MIT */
/* One point of a series of the peer probe: a call and its stamps, the check of the data, and the
 * sizes of a series. */
#include "peer_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	CLOCKED_BYTES = 16 * MIB,
	CHECKED = 1 << 16, /* words at each end of an */
};

static const double host_slack = 200e-6; /* stamps and last wait in the host's view */

static double call_seconds(const struct work *work)
{
	const double start = clock_now();
	work->route->call(work);
	return clock_now() - start;
}

/* The stamps lie outside the timed call: their span lies between the call's time and the host's
 * time around the stamps. */
static double call_between_stamps(
        const struct work *work, const struct device *at, struct sample *sample)
{
	const double start = clock_now();
	gpu_timer_start(at->timer, at->stream);
	wait_for(at);
	const double seconds = call_seconds(work);
	use(at); /* a collective operation may have changed the current device */
	gpu_timer_stop(at->timer, at->stream);
	wait_for(at);
	const double around = clock_now() - start;
	struct gpu_span span;
	gpu_timer_span(at->timer, &span);
	gpu_span_sample(&span, 1, around, host_slack, sample);
	if (seconds > 1.002 * sample->span + gpu_timer_resolution())
		sample->agreed = false;
	return seconds;
}

/* hz stays 0, as the link does not run at the SM's clock. */
static bool call_sample(void *argument, struct sample *sample)
{
	const struct work *work = argument;
	const struct device *at = work->route->stamped_at_target ? work->to : work->from;
	use(at);
	*sample = (struct sample){.agreed = true};
	sample->seconds = work->bytes >= CLOCKED_BYTES ? call_between_stamps(work, at, sample)
	                                               : call_seconds(work);
	sample->hz = 0;
	return true;
}

uint64_t peer_seed_of(const struct peer *peer, const struct device *device)
{
	return peer->seed + (uint64_t)device->gpu.device;
}

/* Fills device->expected with the data of the owner's source. */
void peer_expect(const struct peer *peer, const struct device *device, const struct device *owner)
{
	use(device);
	gpu_fill_float((float *)device->expected, peer->largest / 4, peer_seed_of(peer, owner),
	        device->stream);
	wait_for(device);
}

static void spoil(const struct device *device, int64_t bytes)
{
	use(device);
	GPU(cudaMemsetAsync(device->target, 0xff, (size_t)bytes, device->stream));
	wait_for(device);
}

static void require_right(const struct work *work, const struct device *device)
{
	unsigned long long wrong = 0;
	use(device);
	GPU(cudaMemsetAsync(device->wrong, 0, sizeof wrong, device->stream));
	peer_compare(device->target, device->expected, work->bytes, device->wrong, device->stream);
	GPU(cudaGetLastError());
	GPU(cudaMemcpyAsync(
	        &wrong, device->wrong, sizeof wrong, cudaMemcpyDeviceToHost, device->stream));
	wait_for(device);
	if (wrong)
		msg_die(EXIT_MEASURE_FAILED,
		        "%s: %llu words of %lld bytes from GPU %d arrived wrong on GPU %d: no "
		        "result kept",
		        work->route->series, wrong, (long long)work->bytes, work->from->gpu.device,
		        device->gpu.device);
}

/* Compares every target with the sum of all sources modulo 2^32, at the given words. */
static void require_sum(const struct work *work, int64_t first, int64_t words)
{
	const size_t bytes = (size_t)words * sizeof(uint32_t);
	uint32_t *sum = xcalloc(2 * (size_t)words, sizeof *sum), *other = sum + words;
	for (int i = 0; i < work->gpus; i++) {
		GPU(cudaMemcpy(other, work->peer->device[i].source + 4 * first, bytes,
		        cudaMemcpyDeviceToHost));
		for (int64_t k = 0; k < words; k++)
			sum[k] += other[k];
	}
	for (int i = 0; i < work->gpus; i++) {
		GPU(cudaMemcpy(other, work->peer->device[i].target + 4 * first, bytes,
		        cudaMemcpyDeviceToHost));
		if (memcmp(sum, other, bytes) != 0)
			msg_die(EXIT_MEASURE_FAILED,
			        "%s: the sum of %lld bytes arrived wrong on GPU %d: no result kept",
			        work->route->series, (long long)work->bytes,
			        work->peer->device[i].gpu.device);
	}
	free(sum);
}

static void spoil_targets(const struct work *work)
{
	if (work->gpus == 0)
		spoil(work->to, work->bytes);
	if (work->route->both)
		spoil(work->from, work->bytes);
	for (int i = 0; i < work->gpus; i++)
		spoil(&work->peer->device[i], work->bytes);
}

/* device->expected was made for the pair, or on all devices for the broadcast. */
static void check_targets(const struct work *work)
{
	if (work->gpus == 0)
		require_right(work, work->to);
	if (work->route->both)
		require_right(work, work->from);
	if (work->route->call == peer_all_reduce) {
		const int64_t words = work->bytes / 4, part = words < CHECKED ? words : CHECKED;
		require_sum(work, 0, part);
		require_sum(work, words - part, part);
		return;
	}
	for (int i = 0; i < work->gpus; i++)
		require_right(work, &work->peer->device[i]);
}

/* At least three samples, however long a transfer takes. */
static void measure_point(struct probe_run *run, struct work *work)
{
	struct sample first;
	struct measurement measurement;
	spoil_targets(work);
	call_sample(work, &first); /* connects devices, loads code */
	call_sample(work, &first); /* only for its duration */
	const struct sample_plan plan = {.min_seconds = 0.3 * work->peer->seconds,
	        .max_seconds = fmax(work->peer->seconds, 2.5 * first.seconds),
	        .min_samples = 3,
	        .max_samples = 400,
	        .target = 0.01};
	probe_noise_sample(run, call_sample, work, &plan, 0, &measurement);
	check_targets(work);
	const struct arg pair[] = {
	        {"bytes", (double)(work->route->both ? 2 * work->bytes : work->bytes)},
	        {"from", work->from->gpu.device}, {"to", work->to->gpu.device}};
	const struct arg group[] = {{"bytes", (double)work->bytes}, {"gpus", work->gpus}};
	if (work->gpus > 0)
		probe_record(run, work->route->series, group, ARRAY_LEN(group), &measurement);
	else
		probe_record(run, work->route->series, pair, ARRAY_LEN(pair), &measurement);
}

void peer_measure_route(struct probe_run *run, struct work work, const struct route *route)
{
	work.route = route;
	for (work.bytes = route->least; work.bytes <= work.peer->largest;
	        work.bytes *= work.bytes < LARGE_LEAST ? work.peer->step : 4)
		measure_point(run, &work);
}
