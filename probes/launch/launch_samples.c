/* SPDX-License-Identifier: MIT */
/* Samples of the launch probe: the host's share behind a hold, the device's share as the difference
 * of two queues, round trips, a running stream, and what a copy adds to a kernel. */
#include "launch_internal.h"

#include "lib/device/held_calls.h"
#include "lib/host/clock.h"
#include "lib/base/msg.h"

#include <math.h>

enum {
	ROUND_TRIPS = 8, /* in one sample */
	RUNNING_SHORT = 128,
	RUNNING_LONG = 1024,
};

/* The host may see the end of a queue so much later than the device: release, stamps, wake-up. */
static const double host_slack = 100e-6;

/* count operations; a chain is one graph of that many kernels. */
void launch_queue(struct launch *launch, int count)
{
	launch->launched += (unsigned)(count * launch->subject->kernels);
	if (launch->subject->way == CHAIN)
		GPU(cudaGraphLaunch(
		        count == LONG ? launch->chain_long : launch->chain_short, launch->stream));
	else
		for (int i = 0; i < count; i++)
			launch->subject->operation(launch);
}

void launch_finish(const struct launch *launch)
{
	GPU(cudaGetLastError());
	GPU(cudaStreamSynchronize(launch->stream));
}

static bool held(const struct launch *launch)
{
	if (gpu_hold_ok(launch->hold))
		return true;
	msg_warn("%s: the held stream ran out of time: its queue is too short on this device",
	        launch->subject->series);
	return false;
}

static void put_calls(void *launch, int count)
{
	launch_queue(launch, count);
}

static bool sample_host_share(struct launch *launch, struct sample *sample)
{
	held_calls(launch->hold, launch->stream, put_calls, launch, sample);
	return held(launch);
}

static bool sample_span(struct launch *launch, int count, struct sample *sample)
{
	gpu_hold_start(launch->hold, launch->stream);
	gpu_timer_start(launch->timer, launch->stream);
	launch_queue(launch, count);
	gpu_timer_stop(launch->timer, launch->stream);
	double start = clock_now();
	gpu_hold_release(launch->hold);
	launch_finish(launch);
	double seconds = clock_now() - start;
	struct gpu_span span;
	gpu_timer_span(launch->timer, &span);
	gpu_span_sample(&span, 1, seconds, host_slack, sample);
	return held(launch);
}

static bool sample_device_share(struct launch *launch, struct sample *sample)
{
	struct sample few;
	if (!sample_span(launch, SHORT, &few) || !sample_span(launch, LONG, sample))
		return false;
	sample->seconds = (sample->seconds - few.seconds) / (LONG - SHORT);
	sample->agreed = sample->agreed && few.agreed;
	return true;
}

static bool sample_round_trip(struct launch *launch, struct sample *sample)
{
	double start = clock_now();
	launch_queue(launch, ROUND_TRIPS);
	double stop = clock_now();
	launch_finish(launch);
	*sample = (struct sample){.seconds = (stop - start) / ROUND_TRIPS, .agreed = true};
	return true;
}

/* The same kernel with a copy behind it and without. */
static bool sample_copy(struct launch *launch, struct sample *sample)
{
	struct sample without;

	launch->copies = false;
	sample_round_trip(launch, &without);
	launch->copies = true;
	sample_round_trip(launch, sample);
	sample->seconds -= without.seconds;
	return true;
}

static double running_seconds(struct launch *launch, int count)
{
	double start = clock_now();
	launch_queue(launch, count);
	launch_finish(launch);
	return clock_now() - start;
}

static bool sample_running(struct launch *launch, struct sample *sample)
{
	double few = running_seconds(launch, RUNNING_SHORT);
	double many = running_seconds(launch, RUNNING_LONG);
	*sample = (struct sample){
	        .seconds = (many - few) / (RUNNING_LONG - RUNNING_SHORT), .agreed = true};
	return true;
}

bool launch_sample(void *context, struct sample *sample)
{
	struct launch *launch = context;
	switch (launch->subject->way) {
	case HOST_SHARE:
		return sample_host_share(launch, sample);
	case DEVICE_SHARE:
	case CHAIN:
		return sample_device_share(launch, sample);
	case ROUND_TRIP:
		return sample_round_trip(launch, sample);
	case COPY:
		return sample_copy(launch, sample);
	case RUNNING:
		break;
	}
	return sample_running(launch, sample);
}

/* A word in the far half of L2 makes every start longer. */
void launch_choose_word(struct launch *launch)
{
	enum { TRIES = 2 };
	static const struct subject null = {"dependent", DEVICE_SHARE, launch_one, .kernels = 1};
	unsigned *quickest = launch->word;
	double least = INFINITY;

	launch->subject = &null;
	for (int i = 0; i < WORDS * TRIES; i++) {
		struct sample sample;
		launch->word = launch->words + i % WORDS * WORDS_APART;
		if (!sample_device_share(launch, &sample) || !(sample.seconds < least))
			continue;
		least = sample.seconds;
		quickest = launch->word;
	}
	launch->word = quickest;
	launch->launched = 0;
	GPU(cudaMemset(launch->word, 0, sizeof *launch->word));
	GPU(cudaDeviceSynchronize());
}
