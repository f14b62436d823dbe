/* SPDX-License-Identifier: MIT */
/* Question: how long do copies and loads between the GPUs of this machine take, by size, pair and
 * direction?
 *
 * Method: one call at a time on idle devices by the host's clock: cudaMemcpyPeerAsync with peer
 * access and without, a kernel that loads on the target or stores on the source, copies both ways
 * at once. From 16 MiB on stamps in the stream bound the call by the device's clock, too. Latency:
 * a pointer chase into the other device's memory, timed in the kernel. Copies with peer access and
 * latency are measured of every pair.
 *
 * What can fool it: a copy that moved nothing (every size moves new random data, and all of it is
 * compared); peer access left enabled (it is disabled for the staged copies); loads answered by a
 * cache of the loading device (they are of system scope); the first pass over the nodes (not
 * timed).
 *
 * Unit: seconds per call, from the call to its completion, and per load for latency. Bytes are
 * payload, for both directions their sum. Data go from GPU `from` to GPU `to`, whichever moves
 * them. */
#include "peer_internal.h"

#include "lib/base/msg.h"
#include "lib/probe/probe_point.h"

#include <stdlib.h>
#include <string.h>

enum { ALL_PAIRS = 4 }; /* most devices of which all series of all pairs are measured */

/* Of many devices all series are measured of the pairs with the first device, and of a ring. */
static bool is_whole(const struct peer *peer, int from, int to)
{
	return peer->count <= ALL_PAIRS || from == 0 || to == 0 || to == (from + 1) % peer->count;
}

static int count_pairs(const struct peer *peer)
{
	int pairs = 0;
	for (int from = 0; from < peer->count; from++)
		for (int to = 0; to < peer->count; to++)
			pairs += from != to && is_whole(peer, from, to);
	return pairs;
}

static void set_up_device(struct peer *peer, struct device *device)
{
	const size_t bytes = (size_t)peer->largest;
	use(device);
	gpu_warm(&device->gpu, peer->run->warm_seconds);
	device->timer = gpu_timer_new(&device->gpu);
	GPU(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking));
	GPU(cudaMalloc((void **)&device->source, bytes));
	GPU(cudaMalloc((void **)&device->target, bytes));
	GPU(cudaMalloc((void **)&device->nodes, NODES * PEER_NODE_BYTES));
	GPU(cudaMalloc((void **)&device->wrong, sizeof *device->wrong));
	GPU(cudaHostAlloc((void **)&device->result, sizeof *device->result, cudaHostAllocPortable));
	words_fill(device->source, peer->largest, peer_seed_of(peer, device), device->stream);
	wait_for(device);
}

/* The largest copy, limited by the free memory of every device. */
static void choose_sizes(struct peer *peer, bool quick)
{
	const int64_t wanted =
	        quick ? 16 * (int64_t)MIB : (peer->count > 2 ? 64 : 256) * (int64_t)MIB;
	peer->step = quick || peer->count > 2 ? 16 : 4;
	peer->largest = wanted;
	for (int i = 0; i < peer->count; i++) {
		size_t unused, total;
		use(&peer->device[i]);
		GPU(cudaMemGetInfo(&unused, &total));
		while (peer->largest > LARGE_LEAST && 4 * peer->largest > (int64_t)unused)
			peer->largest /= 4;
	}
	if (peer->largest < wanted)
		msg_warn("little GPU memory is free: copies up to %lld bytes only",
		        (long long)peer->largest);
}

/* Allocations live as long as the process, which measures once and ends. */
static void measure(struct probe_run *run)
{
	enum { POINTS = 50 }; /* of a pair */
	struct peer *peer = xcalloc(1, sizeof *peer);
	struct gpu gpu[DEVICES_MOST];
	peer->run = run;
	peer->seed = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process * 1009;
	peer->random = ~peer->seed;
	peer->count = probe_open_gpus(run, &peer->named, gpu, DEVICES_MOST);
	for (int i = 0; i < peer->count; i++)
		peer->device[i].gpu = gpu[i];
	choose_sizes(peer, run->common.quick);
	for (int i = 0; i < peer->count; i++)
		set_up_device(peer, &peer->device[i]);
	peer->seconds = 0.6 * run->seconds / (POINTS * (count_pairs(peer) + 1));
	probe_noise_take(run, &peer->named);
	for (int from = 0; from < peer->count; from++)
		for (int to = 0; to < peer->count; to++)
			if (from != to)
				peer_measure_pair(peer, &peer->device[from], &peer->device[to],
				        is_whole(peer, from, to));
	probe_noise_leave(run);
	for (int i = 0; i < peer->count; i++)
		probe_watch_gpu(run, &peer->device[i].gpu);
	probe_watch_gpu(run, &peer->named);
	free(peer);
}

static const char *const arguments[] = {"bytes", "from", "to"};
/* Copies: the host starts them and waits for them. */
static bool by_host(const char *series)
{
	return strstr(series, "copy") || strcmp(series, "both") == 0;
}

const struct probe peer_probe = {
        .name = "peer",
        .question = "How long do copies and loads between GPUs take?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .alone = true, /* contexts on all devices */
        .seconds = 2,
        .processes = 3,
        .by_host = by_host,
        .measure = measure,
        .fit = peer_fit,
};
