/* SPDX-License-Identifier: MIT */
/* Question: how long do operations of several GPUs at once take: NCCL's collective operations, and
 * transfers with the host that share its links? Is one of the GPUs slower than the others?
 *
 * Method: one call at a time on idle devices by the host's clock, to its completion on all of them:
 * NCCL's broadcast, all-reduce and all-gather in one process, by size and number of GPUs; copies
 * between pinned memory, on the GPU's NUMA node, and 1, 2, 4 .. and all GPUs at once; the same, and
 * a copy in the GPU's memory, on one GPU after another, and the SM clock under load. From 16 MiB on
 * stamps in the stream of the first device bound the call by the device's clock, too. Broadcasts
 * in the devices' queues, by one root after another, as factorizations have them: behind holds,
 * the difference of 24 and 8; and the host's time to put one there.
 *
 * What can fool it: a call that moved nothing (targets hold other data before, and are compared);
 * the first call of a size, which connects the devices (not timed); other users of a GPU (the rows
 * are marked busy); multicast objects, which NCCL is told not to use.
 *
 * Unit: seconds per call. Bytes: of the message, for all-gather of what each GPU holds afterwards;
 * of transfers the sum over the GPUs; of a copy in memory bytes read plus written. */
#include "collective_internal.h"

#include "lib/base/msg.h"
#include "lib/host/clock.h"
#include "lib/host/topology.h"
#include "lib/probe/probe_noise.h"
#include "lib/probe/probe_point.h"
#include "lib/stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- devices ---- */

/* Of the data in the device's source. */
static uint32_t seed_of(const struct collective *all, const struct device *device)
{
	return all->seed + (uint32_t)device->gpu.device;
}

/* Pinned memory on the GPU's NUMA node, where that is known. */
static void allocate_host(struct collective *all, struct device *device)
{
	const size_t bytes = (size_t)all->host_bytes;
	struct fault fault;
	const struct topology *topology = topology_host(&fault);
	struct topology_place *before = topology ? topology_keep(topology) : NULL;
	char got[128];
	int raw, node = topology ? topology_gpu_node(topology, device->gpu.pci, &raw) : -1;

	if (node >= 0)
		topology_bind(topology, node, -1, got);
	GPU(cudaHostAlloc((void **)&device->host, bytes, cudaHostAllocPortable));
	GPU(cudaHostAlloc((void **)&device->returned, bytes, cudaHostAllocPortable));
	memset(device->returned, 0xff, bytes);
	GPU(cudaMemcpyAsync(
	        device->host, device->source, bytes, cudaMemcpyDeviceToHost, device->stream));
	wait_for(device);
	if (topology)
		topology_restore(topology, before);
}

/* The SM clock under load, as seconds of a cycle. */
static void measure_cycle(struct collective *all, const struct device *device)
{
	enum { READINGS = 3 };
	double cycle[READINGS];

	for (int i = 0; i < READINGS; i++)
		cycle[i] = 1 / gpu_warm(&device->gpu, all->run->warm_seconds / READINGS);
	const struct measurement measurement = {
	        .seconds = stats_median_interval(cycle, READINGS), .hz = NAN};
	const struct arg gpu = {"gpu", (double)(device - all->device)};
	probe_record(all->run, "cycle_each", &gpu, 1, &measurement);
}

static void set_up_device(struct collective *all, struct device *device)
{
	use(device);
	measure_cycle(all, device);
	device->timer = gpu_timer_new(&device->gpu);
	device->hold = gpu_hold_new();
	GPU(cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking));
	GPU(cudaMalloc((void **)&device->source, (size_t)all->largest));
	GPU(cudaMalloc((void **)&device->target, (size_t)all->largest));
	GPU(cudaMalloc((void **)&device->wrong, sizeof *device->wrong));
	words_fill(device->source, all->largest, seed_of(all, device), device->stream);
	wait_for(device);
	allocate_host(all, device);
}

/* The largest message, limited by the free memory of every device. */
static void choose_sizes(struct collective *all, bool quick)
{
	const int64_t wanted = (quick ? 16 : 256) * (int64_t)MIB;

	all->step = quick ? 16 : 4;
	all->largest = wanted;
	for (int i = 0; i < all->count; i++) {
		size_t unused, total;
		use(&all->device[i]);
		GPU(cudaMemGetInfo(&unused, &total));
		while (all->largest > MIB && 4 * all->largest > (int64_t)unused)
			all->largest /= 4;
	}
	if (all->largest < wanted)
		msg_warn("little GPU memory is free: messages up to %lld bytes only",
		        (long long)all->largest);
	all->host_bytes = min_int64(all->largest, 64 * (int64_t)MIB);
}

/* ---- one point of a series ---- */

enum { CLOCKED_BYTES = 16 * MIB };

static const double host_slack = 200e-6; /* stamps and last wait in the host's view */

static double call_seconds(const struct work *work)
{
	const double start = clock_now();

	work->route->call(work);
	return clock_now() - start;
}

/* The stamps lie outside the timed call: their span lies between the call's time and the host's
 * time around the stamps. */
static double call_between_stamps(const struct work *work, struct sample *sample)
{
	const struct device *at = device_of(work, 0);
	const double start = clock_now();
	struct gpu_span span;

	use(at);
	gpu_timer_start(at->timer, at->stream);
	wait_for(at);
	const double seconds = call_seconds(work);
	use(at);
	gpu_timer_stop(at->timer, at->stream);
	wait_for(at);
	const double around = clock_now() - start;
	gpu_timer_span(at->timer, &span);
	gpu_span_sample(&span, 1, around, host_slack, sample);
	if (seconds > 1.002 * sample->span + gpu_timer_resolution())
		sample->agreed = false;
	return seconds;
}

/* hz stays 0, as no link runs at the SM's clock. */
static bool call_sample(void *argument, struct sample *sample)
{
	const struct work *work = argument;

	*sample = (struct sample){.agreed = true};
	sample->seconds = work->bytes >= CLOCKED_BYTES ? call_between_stamps(work, sample)
	                                               : call_seconds(work);
	sample->hz = 0;
	return true;
}

void collective_spoil_targets(const struct work *work)
{
	for (int i = 0; i < work->gpus; i++) {
		const struct device *device = device_of(work, i);
		use(device);
		GPU(cudaMemsetAsync(device->target, 0xff, (size_t)work->bytes, device->stream));
		wait_for(device);
	}
}

void collective_require_right(const struct work *work, const struct device *device, int64_t offset,
        int64_t bytes, const struct device *owner)
{
	use(device);
	const unsigned long long wrong = words_wrong(device->target + offset, bytes,
	        seed_of(work->all, owner), device->wrong, device->stream);
	if (wrong)
		msg_die(EXIT_MEASURE_FAILED,
		        "%s: %llu words of %lld bytes arrived wrong on GPU %d: no result kept",
		        work->route->series, wrong, (long long)work->bytes, device->gpu.device);
}

/* At least three samples, however long a call takes. */
void collective_measure_point(struct work *work, int64_t counted, int key_value)
{
	const struct collective *all = work->all;
	const struct route *route = work->route;
	const sample_function take = route->sample ? route->sample : call_sample;
	struct sample first;
	struct measurement measurement;

	route->spoil(work);
	take(work, &first); /* connects devices, loads code */
	take(work, &first); /* only for its duration */
	const struct sample_plan plan = {.min_seconds = 0.3 * all->seconds,
	        .max_seconds = fmax(all->seconds, 2.5 * first.seconds),
	        .min_samples = 3,
	        .max_samples = 400,
	        .target = 0.01};
	probe_noise_sample(all->run, take, work, &plan, 0, &measurement);
	route->check(work);
	const struct arg args[] = {{"bytes", (double)counted}, {route->key, key_value}};
	probe_record(all->run, route->series, args, ARRAY_LEN(args), &measurement);
}

/* ---- all ---- */

/* Allocations live as long as the process, which measures once and ends. */
static void measure(struct probe_run *run)
{
	enum { POINTS = 75 }; /* of one number of GPUs */
	struct collective *all = xcalloc(1, sizeof *all);
	struct gpu gpu[DEVICES_MOST];
	int numbers = 2;

	all->run = run;
	all->seed = (uint32_t)(run->common.seed * 1000003 + run->process * 1009);
	all->count = probe_open_gpus(run, &all->named, gpu, DEVICES_MOST);
	for (int i = 0; i < all->count; i++)
		all->device[i].gpu = gpu[i];
	choose_sizes(all, run->common.quick);
	for (int i = 0; i < all->count; i++)
		set_up_device(all, &all->device[i]);
	for (int gpus = 2; gpus < all->count; gpus *= 2)
		numbers++;
	all->seconds = 0.6 * run->seconds / (POINTS * numbers);
	collective_measure_host(all);
	collective_measure_nccl(all);
	for (int i = 0; i < all->count; i++)
		probe_watch_gpu(run, &all->device[i].gpu);
	probe_watch_gpu(run, &all->named);
	free(all);
}

static const char *const arguments[] = {"bytes", "gpus", "gpu"};

/* All but what each GPU does in its own memory. */
static bool by_host(const char *series)
{
	return strcmp(series, "cycle_each") != 0 && strcmp(series, "memory_each") != 0;
}

const struct probe collective_probe = {
        .name = "collective",
        .question = "How long do operations of several GPUs at once take?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .alone = true, /* contexts on all devices, and NCCL's resources */
        .seconds = 1.5,
        .processes = 3,
        .by_host = by_host,
        .measure = measure,
        .fit = collective_fit,
};
