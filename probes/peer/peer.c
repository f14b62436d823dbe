/* SPDX-License-Identifier: MIT */
/* Question: how long do copies, loads and collective operations between the GPUs of this machine
 * take, by size, pair and direction?
 *
 * Method: one call at a time on idle devices by the host's clock: cudaMemcpyPeerAsync with peer
 * access and without, a kernel that loads on the target or stores on the source, copies both ways
 * at once, NCCL's broadcast and all-reduce. From 16 MiB on stamps in the stream bound the call by
 * the device's clock, too. Latency: a pointer chase into the other device's memory, timed in the
 * kernel.
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

#include <stdlib.h>

enum { ALL_PAIRS = 4 }; /* most devices of which all pairs are measured */

/* All pairs of a few devices; of many devices the pairs with the first device, and a ring. */
static bool is_measured(const struct peer *peer, int from, int to)
{
	if (from == to)
		return false;
	return peer->count <= ALL_PAIRS || from == 0 || to == 0 || to == (from + 1) % peer->count;
}

static int count_pairs(const struct peer *peer)
{
	int pairs = 0;
	for (int from = 0; from < peer->count; from++)
		for (int to = 0; to < peer->count; to++)
			pairs += is_measured(peer, from, to);
	return pairs;
}

/* Opens every visible device; the metadata names the device asked for. */
static void open_devices(struct peer *peer)
{
	struct probe_run *run = peer->run;
	struct fault fault;
	/* gpu_open tells why there is none */
	if (cudaGetDeviceCount(&peer->count) == cudaSuccess && peer->count == 1)
		msg_die(EXIT_NOT_POSSIBLE,
		        "not possible here: one visible GPU, and links between GPUs need two");
	if (!gpu_open(&peer->named, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	if (peer->count > DEVICES_MOST) {
		msg_warn("only the first %d of %d GPUs are measured", DEVICES_MOST, peer->count);
		peer->count = DEVICES_MOST;
	}
	for (int i = 0; i < peer->count; i++) {
		struct gpu *gpu = &peer->device[i].gpu;
		char number[16], *key = xasprintf("gpu.%d", i);
		snprintf(number, sizeof number, "%d", i);
		if (!gpu_open(gpu, number, &fault))
			msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
		table_meta_set(run->curve, key, "%s, %s, %s", gpu->name, gpu->pci, gpu->uuid);
		free(key);
		probe_watch_gpu(run, gpu);
	}
	probe_watch_gpu(run, &peer->named);
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
	peer->run = run;
	peer->seed = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process * 1009;
	peer->random = ~peer->seed;
	open_devices(peer);
	choose_sizes(peer, run->common.quick);
	for (int i = 0; i < peer->count; i++)
		set_up_device(peer, &peer->device[i]);
	peer->seconds = 0.6 * run->seconds / (POINTS * (count_pairs(peer) + 1));
	probe_noise_take(run, &peer->named);
	for (int from = 0; from < peer->count; from++)
		for (int to = 0; to < peer->count; to++)
			if (is_measured(peer, from, to))
				peer_measure_pair(peer, &peer->device[from], &peer->device[to]);
	probe_noise_leave(run);
	peer_measure_nccl(peer);
	for (int i = 0; i < peer->count; i++)
		probe_watch_gpu(run, &peer->device[i].gpu);
	probe_watch_gpu(run, &peer->named);
	free(peer);
}

static const char *const arguments[] = {"bytes", "from", "to", "gpus"};
const struct probe peer_probe = {
        .name = "peer",
        .question = "How long do copies, loads and collective operations between GPUs take?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .alone = true, /* contexts on all devices, and NCCL's resources */
        .seconds = 2.5,
        .processes = 3,
        .measure = measure,
        .fit = peer_fit,
};
