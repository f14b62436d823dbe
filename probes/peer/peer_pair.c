/* SPDX-License-Identifier: MIT */
/* Between two GPUs: staged and direct copies, loads and stores by kernels, both ways at once, and
 * the latency of a dependent load. */
#include "peer_internal.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"
#include "lib/probe/probe_point.h"
#include "lib/stats/pointer_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one point of a series ---- */

enum {
	CLOCKED_BYTES = 16 * MIB,
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

uint32_t peer_seed_of(const struct peer *peer, const struct device *device)
{
	return (uint32_t)peer->seed + (uint32_t)device->gpu.device;
}

static void spoil(const struct device *device, int64_t bytes)
{
	use(device);
	GPU(cudaMemsetAsync(device->target, 0xff, (size_t)bytes, device->stream));
	wait_for(device);
}

/* The device's target must have the data of the owner's source. */
static void require_right(
        const struct work *work, const struct device *device, const struct device *owner)
{
	use(device);
	const unsigned long long wrong = words_wrong(device->target, work->bytes,
	        peer_seed_of(work->peer, owner), device->wrong, device->stream);
	if (wrong)
		msg_die(EXIT_MEASURE_FAILED,
		        "%s: %llu words of %lld bytes from GPU %d arrived wrong on GPU %d: no "
		        "result kept",
		        work->route->series, wrong, (long long)work->bytes, work->from->gpu.device,
		        device->gpu.device);
}

static void spoil_targets(const struct work *work)
{
	spoil(work->to, work->bytes);
	if (work->route->both)
		spoil(work->from, work->bytes);
}

static void check_targets(const struct work *work)
{
	require_right(work, work->to, work->from);
	if (work->route->both)
		require_right(work, work->from, work->to);
}

/* At least three samples, however long a transfer takes. */
static void measure_point(struct work *work)
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
	probe_noise_sample(work->peer->run, call_sample, work, &plan, 0, &measurement);
	check_targets(work);
	const struct arg pair[] = {
	        {"bytes", (double)(work->route->both ? 2 * work->bytes : work->bytes)},
	        {"from", work->from->gpu.device}, {"to", work->to->gpu.device}};
	probe_record(work->peer->run, work->route->series, pair, ARRAY_LEN(pair), &measurement);
}

static void peer_measure_route(struct work work, const struct route *route)
{
	work.route = route;
	for (work.bytes = route->least; work.bytes <= work.peer->largest;
	        work.bytes *= work.bytes < LARGE_LEAST ? work.peer->step : 4)
		measure_point(&work);
}

enum { STEPS = 1024 }; /* of a sample of the chase */

static const double launch_slack = 60e-6;

static void call_copy(const struct work *work)
{
	GPU(cudaMemcpyPeerAsync(work->to->target, work->to->gpu.device, work->from->source,
	        work->from->gpu.device, (size_t)work->bytes, work->from->stream));
	wait_for(work->from);
}

static void call_both(const struct work *work)
{
	const struct device *a = work->from, *b = work->to;
	const size_t bytes = (size_t)work->bytes;
	GPU(cudaMemcpyPeerAsync(
	        b->target, b->gpu.device, a->source, a->gpu.device, bytes, a->stream));
	GPU(cudaMemcpyPeerAsync(
	        a->target, a->gpu.device, b->source, b->gpu.device, bytes, b->stream));
	wait_for(a);
	wait_for(b);
}

/* The mover must be the current device. */
static void move(const struct work *work, const struct device *mover)
{
	peer_move(work->to->target, work->from->source, work->bytes, 4 * mover->gpu.sm_count,
	        mover->stream);
	GPU(cudaGetLastError());
	wait_for(mover);
}

static void call_load(const struct work *work)
{
	move(work, work->to);
}

static void call_store(const struct work *work)
{
	move(work, work->from);
}

struct chase {
	const struct device *from, *to;
	uint64_t start;
	int64_t steps;
};

static bool chase_sample(void *argument, struct sample *sample)
{
	struct chase *chase = argument;
	const struct device *to = chase->to;
	const double start = clock_now();
	peer_chase(chase->start, chase->steps, to->result, to->stream);
	GPU(cudaGetLastError());
	wait_for(to);
	const double seconds = clock_now() - start;
	chase->start = to->result->last;
	gpu_span_sample(&to->result->timed, (double)chase->steps, seconds, launch_slack, sample);
	return true;
}

/* One random cycle through all nodes, which lie in a row. */
static void make_cycle(struct peer *peer, const struct device *owner)
{
	const size_t words = PEER_NODE_BYTES / sizeof(uint64_t);
	uint32_t *next = xmalloc(NODES * sizeof *next);
	uint64_t *node = xcalloc(NODES * words, sizeof *node);
	chain_cycle(next, NODES, &peer->random);
	for (uint32_t i = 0; i < NODES; i++)
		node[i * words] = (uint64_t)(uintptr_t)(owner->nodes + next[i] * words);
	use(owner);
	GPU(cudaMemcpy(owner->nodes, node, NODES * PEER_NODE_BYTES, cudaMemcpyHostToDevice));
	GPU(cudaDeviceSynchronize());
	free(node);
	free(next);
}

/* The first pass brings the nodes into the owner's L2. */
static void measure_latency(struct peer *peer, struct device *from, struct device *to)
{
	make_cycle(peer, from);
	struct chase chase = {from, to, (uint64_t)(uintptr_t)from->nodes, NODES};
	const struct sample_plan plan = sample_plan_default(fmax(peer->seconds, 10e-3));
	struct sample first;
	use(to);
	chase_sample(&chase, &first);
	chase.steps = STEPS;
	const struct arg args[] = {{"bytes", NODES * PEER_NODE_BYTES}, {"from", from->gpu.device},
	        {"to", to->gpu.device}};
	probe_measure(peer->run, "latency", args, ARRAY_LEN(args), chase_sample, &chase, &plan,
	        to->gpu.max_hz);
}

static bool can_access(const struct device *device, const struct device *other)
{
	int can = 0;
	GPU(cudaDeviceCanAccessPeer(&can, device->gpu.device, other->gpu.device));
	return can != 0;
}

/* Enables or disables access of both devices to each other's memory. */
static void set_access(const struct device *a, const struct device *b, bool enable)
{
	const struct device *pair[] = {a, b};
	for (int i = 0; i < 2; i++) {
		use(pair[i]);
		if (enable)
			GPU(cudaDeviceEnablePeerAccess(pair[!i]->gpu.device, 0));
		else
			GPU(cudaDeviceDisablePeerAccess(pair[!i]->gpu.device));
	}
}

void peer_measure_pair(struct peer *peer, struct device *from, struct device *to, bool whole)
{
	static const struct route staged = {"copy_staged", call_copy, .least = 4};
	static const struct route routes[] = {
	        {"copy", call_copy, .least = 4},
	        {"load", call_load, .least = LARGE_LEAST, .stamped_at_target = true},
	        {"store", call_store, .least = LARGE_LEAST},
	        {"both", call_both, .least = LARGE_LEAST, .both = true},
	};
	const struct work work = {.peer = peer, .from = from, .to = to};
	if (whole)
		peer_measure_route(work, &staged);
	if (!can_access(to, from) || !can_access(from, to)) {
		table_meta_set(peer->run->curve, "unavailable.copy",
		        "GPU %d and GPU %d cannot access each other's memory", from->gpu.device,
		        to->gpu.device);
		return;
	}
	set_access(from, to, true);
	for (size_t i = 0; i < (whole ? ARRAY_LEN(routes) : 1); i++)
		if (!routes[i].both || from->gpu.device < to->gpu.device)
			peer_measure_route(work, &routes[i]);
	measure_latency(peer, from, to);
	set_access(from, to, false);
}
