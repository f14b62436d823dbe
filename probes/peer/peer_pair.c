/* SPDX-License-Identifier: MIT */
/* Between two GPUs: staged and direct copies, loads and stores by kernels, both ways at once, and
 * the latency of a dependent load. */
#include "peer_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"
#include "lib/probe/probe_point.h"
#include "lib/stats/pointer_chain.h"

#include <math.h>
#include <stdlib.h>

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
static void measure_latency(
        struct probe_run *run, struct peer *peer, struct device *from, struct device *to)
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
	probe_measure(
	        run, "latency", args, ARRAY_LEN(args), chase_sample, &chase, &plan, to->gpu.max_hz);
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

void peer_measure_pair(
        struct probe_run *run, struct peer *peer, struct device *from, struct device *to)
{
	static const struct route staged = {"copy_staged", call_copy, false, false, 4};
	static const struct route routes[] = {
	        {"copy", call_copy, false, false, 4},
	        {"load", call_load, true, false, LARGE_LEAST},
	        {"store", call_store, false, false, LARGE_LEAST},
	        {"both", call_both, false, true, LARGE_LEAST},
	};
	const struct work work = {.peer = peer, .from = from, .to = to};
	peer_expect(peer, to, from);
	peer_expect(peer, from, to);
	peer_measure_route(run, work, &staged);
	if (!can_access(to, from) || !can_access(from, to)) {
		table_meta_set(run->curve, "unavailable.copy",
		        "GPU %d and GPU %d cannot access each other's memory", from->gpu.device,
		        to->gpu.device);
		return;
	}
	set_access(from, to, true);
	for (size_t i = 0; i < ARRAY_LEN(routes); i++)
		if (!routes[i].both || from->gpu.device < to->gpu.device)
			peer_measure_route(run, work, &routes[i]);
	measure_latency(run, peer, from, to);
	set_access(from, to, false);
}
