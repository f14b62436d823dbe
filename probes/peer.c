/* SPDX-License-Identifier: MIT */
/* Question: how long do copies, loads and collective operations between the GPUs of this machine
 * take, by size, pair and direction?
 *
 * Method: one call at a time on idle devices by the host's clock: cudaMemcpyPeerAsync with peer
 * access and without, a kernel on the target that loads and one on the source that stores, copies
 * both ways at once, NCCL's broadcast and all-reduce; from 16 MiB on stamps in the stream bound the
 * call by the device's clock, too. A dependent load by a pointer chase into the other device's
 * memory, both clocks read in the kernel.
 *
 * What can fool it: a copy that moved nothing (every size moves random data to a target that did
 * not hold it, and all of it is compared), peer access left enabled (it is disabled for the staged
 * copies), loads answered by a cache of the loading device (they are of system scope), the first
 * pass over the nodes (it is not timed).
 *
 * Unit: seconds per call, from the call to its completion; bytes are payload, for both directions
 * their sum; seconds per load for latency. Data go from GPU `from` to GPU `to`, whoever moves them.
 */
#include "../lib/base.h"
#include "peer.h"

#include "../lib/clock.h"
#include "../lib/gpu.h"
#include "../lib/msg.h"
#include "../lib/nccl_calls.h"
#include "../lib/probe.h"
#include "../lib/walk.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	DEVICES_MOST = 16,
	ALL_PAIRS = 4, /* devices of which all pairs are measured */
	MIB = 1 << 20,
	CLOCKED_BYTES = 16 * MIB,
	LARGE_LEAST = MIB, /* of both ways, loads and stores */
	NODES = 1 << 14,
	STEPS = 1024,      /* of a sample of the chase */
	CHECKED = 1 << 16, /* words of each end of an all-reduce */
};

static const double host_slack = 200e-6; /* stamps and last wait, seen by the host */
static const double launch_slack = 60e-6;

struct device {
	struct gpu gpu;
	struct gpu_timer *timer;
	cudaStream_t stream;
	char *source, *target, *expected;
	uint64_t *nodes;
	unsigned long long *wrong;
	struct peer_result *result; /* pinned */
};

struct peer {
	struct gpu named; /* by --device */
	struct device device[DEVICES_MOST];
	int count;
	int64_t largest, step; /* bytes of the largest copy, factor between sizes */
	double seconds;        /* for one point */
	uint64_t seed, random; /* of the data; of the cycles */
	struct nccl nccl;
	void *comm[DEVICES_MOST];
};

struct work;

/* One series; `stamped` says whose stream its stamps go to. */
struct route {
	const char *series;
	void (*call)(const struct work *work);
	bool stamped_at_target, both;
	int64_t least;
};

/* One point of it; for collective operations gpus > 0, and from is the root. */
struct work {
	struct peer *peer;
	const struct route *route;
	struct device *from, *to;
	int gpus;
	int64_t bytes;
};

static void use(const struct device *device)
{
	GPU(cudaSetDevice(device->gpu.device));
}

static void wait_for(const struct device *device)
{
	GPU(cudaStreamSynchronize(device->stream));
}

/* ---- the calls ---- */

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

/* The current device is the one whose stream takes the kernel. */
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

static void check_nccl(const struct nccl *nccl, int result, const char *call)
{
	if (result != 0)
		msg_die(EXIT_MEASURE_FAILED, "%s failed: %s", call, nccl->error_text(result));
}

static void wait_for_all(const struct work *work)
{
	for (int i = 0; i < work->gpus; i++)
		wait_for(&work->peer->device[i]);
}

static void call_broadcast(const struct work *work)
{
	struct peer *peer = work->peer;
	const struct nccl *nccl = &peer->nccl;
	check_nccl(nccl, nccl->group_start(), "ncclGroupStart");
	for (int i = 0; i < work->gpus; i++)
		check_nccl(nccl,
		        nccl->broadcast(peer->device[i].source, peer->device[i].target,
		                (size_t)work->bytes / 4, NCCL_UINT32, 0, peer->comm[i],
		                peer->device[i].stream),
		        "ncclBroadcast");
	check_nccl(nccl, nccl->group_end(), "ncclGroupEnd");
	wait_for_all(work);
}

static void call_all_reduce(const struct work *work)
{
	struct peer *peer = work->peer;
	const struct nccl *nccl = &peer->nccl;
	check_nccl(nccl, nccl->group_start(), "ncclGroupStart");
	for (int i = 0; i < work->gpus; i++)
		check_nccl(nccl,
		        nccl->all_reduce(peer->device[i].source, peer->device[i].target,
		                (size_t)work->bytes / 4, NCCL_UINT32, NCCL_SUM, peer->comm[i],
		                peer->device[i].stream),
		        "ncclAllReduce");
	check_nccl(nccl, nccl->group_end(), "ncclGroupEnd");
	wait_for_all(work);
}

static double call_seconds(const struct work *work)
{
	const double start = clock_now();
	work->route->call(work);
	return clock_now() - start;
}

/* The stamps lie outside the timed call: their span is no shorter than the call and no longer than
 * the host's time around the stamps. */
static double call_between_stamps(
        const struct work *work, const struct device *at, struct sample *sample)
{
	const double start = clock_now();
	gpu_timer_start(at->timer, at->stream);
	wait_for(at);
	const double seconds = call_seconds(work);
	use(at); /* a collective operation may have left another one current */
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

/* The link's clock is not the SM's: hz stays 0. */
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

/* ---- data ---- */

static uint64_t seed_of(const struct peer *peer, const struct device *device)
{
	return peer->seed + (uint64_t)device->gpu.device;
}

/* device->expected becomes what `owner` has in its source. */
static void expect(const struct peer *peer, const struct device *device, const struct device *owner)
{
	use(device);
	gpu_fill_float(
	        (float *)device->expected, peer->largest / 4, seed_of(peer, owner), device->stream);
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

/* The sum of all sources modulo 2^32, as far as it is looked at, against every target. */
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

/* `expected` was made for the pair, or on all devices for the broadcast. */
static void check_targets(const struct work *work)
{
	if (work->gpus == 0)
		require_right(work, work->to);
	if (work->route->both)
		require_right(work, work->from);
	if (work->route->call == call_all_reduce) {
		const int64_t words = work->bytes / 4, part = words < CHECKED ? words : CHECKED;
		require_sum(work, 0, part);
		require_sum(work, words - part, part);
		return;
	}
	for (int i = 0; i < work->gpus; i++)
		require_right(work, &work->peer->device[i]);
}

/* ---- points ---- */

/* A large transfer is repeated three times, however long that takes. */
static void measure_point(struct probe_run *run, struct work *work)
{
	struct sample first;
	struct measurement measurement;
	spoil_targets(work);
	call_sample(work, &first); /* connects, loads */
	call_sample(work, &first); /* for its duration alone */
	const struct sample_plan plan = {.min_seconds = 0.3 * work->peer->seconds,
	        .max_seconds = fmax(work->peer->seconds, 2.5 * first.seconds),
	        .min_samples = 3,
	        .max_samples = 400,
	        .target = 0.01};
	sample_run(call_sample, work, &plan, 0, &measurement);
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

static void measure_route(struct probe_run *run, struct work work, const struct route *route)
{
	work.route = route;
	for (work.bytes = route->least; work.bytes <= work.peer->largest;
	        work.bytes *= work.bytes < LARGE_LEAST ? work.peer->step : 4)
		measure_point(run, &work);
}

/* ---- latency ---- */

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

/* One random cycle through all nodes, which lie one behind the other. */
static void make_cycle(struct peer *peer, const struct device *owner)
{
	const size_t words = PEER_NODE_BYTES / sizeof(uint64_t);
	uint32_t *next = xmalloc(NODES * sizeof *next);
	uint64_t *node = xcalloc(NODES * words, sizeof *node);
	walk_cycle(next, NODES, &peer->random);
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
	struct measurement measurement;
	struct sample first;
	use(to);
	chase_sample(&chase, &first);
	chase.steps = STEPS;
	if (!sample_run(chase_sample, &chase, &plan, to->gpu.max_hz, &measurement))
		msg_die(EXIT_MEASURE_FAILED, "latency could not be measured");
	const struct arg args[] = {{"bytes", NODES * PEER_NODE_BYTES}, {"from", from->gpu.device},
	        {"to", to->gpu.device}};
	probe_record(run, "latency", args, ARRAY_LEN(args), &measurement);
}

/* ---- pairs ---- */

static bool can_access(const struct device *device, const struct device *other)
{
	int can = 0;
	GPU(cudaDeviceCanAccessPeer(&can, device->gpu.device, other->gpu.device));
	return can != 0;
}

/* Both devices reach each other's memory, or no longer do. */
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

static void measure_pair(
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
	expect(peer, to, from);
	expect(peer, from, to);
	measure_route(run, work, &staged);
	if (!can_access(to, from) || !can_access(from, to)) {
		table_meta_set(run->curve, "unavailable.copy",
		        "GPU %d and GPU %d cannot access each other's memory", from->gpu.device,
		        to->gpu.device);
		return;
	}
	set_access(from, to, true);
	for (size_t i = 0; i < ARRAY_LEN(routes); i++)
		if (!routes[i].both || from->gpu.device < to->gpu.device)
			measure_route(run, work, &routes[i]);
	measure_latency(run, peer, from, to);
	set_access(from, to, false);
}

/* All pairs of a few devices; of many those with the first one and a ring. */
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

/* ---- collective operations ---- */

static void measure_group(struct probe_run *run, struct peer *peer, int gpus)
{
	static const struct route routes[] = {
	        {"broadcast", call_broadcast, false, false, 4},
	        {"allreduce", call_all_reduce, false, false, 4},
	};
	int number[DEVICES_MOST] = {0};
	for (int i = 0; i < gpus; i++)
		number[i] = peer->device[i].gpu.device;
	const int result = peer->nccl.init_all(peer->comm, gpus, number);
	cudaGetLastError(); /* of its own tries at what may be enabled already */
	if (result != 0) {
		const char *text = peer->nccl.error_text(result);
		msg_warn("no broadcast and all-reduce among %d GPUs: %s", gpus, text);
		table_meta_set(run->curve, "unavailable.nccl", "%d GPUs: %s", gpus, text);
		return;
	}
	for (int i = 0; i < gpus; i++)
		expect(peer, &peer->device[i], &peer->device[0]);
	const struct work work = {
	        .peer = peer, .from = &peer->device[0], .to = &peer->device[0], .gpus = gpus};
	for (size_t i = 0; i < ARRAY_LEN(routes); i++)
		measure_route(run, work, &routes[i]);
	for (int i = 0; i < gpus; i++)
		check_nccl(&peer->nccl, peer->nccl.destroy(peer->comm[i]), "ncclCommDestroy");
}

/* The first 2, 4, 8 ... devices, and all. */
static void measure_nccl(struct probe_run *run, struct peer *peer)
{
	struct fault fault;
	if (!nccl_open(&peer->nccl, &fault)) {
		msg_warn("no broadcast and all-reduce: %s", fault.text);
		table_meta_set(run->curve, "unavailable.nccl", "%s", fault.text);
		return;
	}
	table_meta_set(run->curve, "nccl", "%d", peer->nccl.version);
	for (int gpus = 2; gpus < peer->count; gpus *= 2)
		measure_group(run, peer, gpus);
	measure_group(run, peer, peer->count);
}

/* ---- the probe ---- */

/* Every visible device; the one asked for stands in the metadata. */
static void open_devices(struct probe_run *run, struct peer *peer)
{
	struct fault fault;
	if (!gpu_open(&peer->named, run->common.device, &fault))
		msg_die(EXIT_NOT_POSSIBLE, "%s", fault.text);
	GPU(cudaGetDeviceCount(&peer->count));
	if (peer->count < 2)
		msg_die(EXIT_NOT_POSSIBLE,
		        "not possible here: one visible GPU, and links between GPUs need two");
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

static void set_up_device(struct probe_run *run, struct peer *peer, struct device *device)
{
	const size_t bytes = (size_t)peer->largest;
	use(device);
	gpu_warm(&device->gpu, run->warm_seconds);
	device->timer = gpu_timer_new(&device->gpu);
	GPU(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking));
	GPU(cudaMalloc((void **)&device->source, bytes));
	GPU(cudaMalloc((void **)&device->target, bytes));
	GPU(cudaMalloc((void **)&device->expected, bytes));
	GPU(cudaMalloc((void **)&device->nodes, NODES * PEER_NODE_BYTES));
	GPU(cudaMalloc((void **)&device->wrong, sizeof *device->wrong));
	GPU(cudaHostAlloc((void **)&device->result, sizeof *device->result, cudaHostAllocPortable));
	gpu_fill_float(
	        (float *)device->source, peer->largest / 4, seed_of(peer, device), device->stream);
	wait_for(device);
}

/* The largest copy; less where a device has little free memory. */
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

/* What is allocated here lives as long as the process, which measures once and ends. */
static void measure(struct probe_run *run)
{
	enum { POINTS = 50 }; /* of a pair */
	struct peer *peer = xcalloc(1, sizeof *peer);
	peer->seed = (uint64_t)run->common.seed * 1000003 + (uint64_t)run->process * 1009;
	peer->random = ~peer->seed;
	open_devices(run, peer);
	choose_sizes(peer, run->common.quick);
	for (int i = 0; i < peer->count; i++)
		set_up_device(run, peer, &peer->device[i]);
	peer->seconds = 0.6 * run->seconds / (POINTS * (count_pairs(peer) + 1));
	for (int from = 0; from < peer->count; from++)
		for (int to = 0; to < peer->count; to++)
			if (is_measured(peer, from, to))
				measure_pair(run, peer, &peer->device[from], &peer->device[to]);
	measure_nccl(run, peer);
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
        .seconds = 2.5,
        .processes = 3,
        .measure = measure,
        .fit = peer_fit,
};
