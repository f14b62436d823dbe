/* SPDX-License-Identifier: MIT */
/* Transfers with the host: each GPU alone, then 2, 4, 8 .. and all at once, by which LAWN 202 (6.2)
 * found that the second GPU had half the rate; and copies in the memory of each GPU. */
#include "collective_internal.h"

#include "lib/base/msg.h"
#include "lib/probe/probe_noise.h"

#include <string.h>

/* ---- calls ---- */

static void start(const struct work *work, int i, bool to_host)
{
	const struct device *d = device_of(work, i);

	GPU(cudaMemcpyAsync(to_host ? d->returned : d->target, to_host ? d->source : d->host,
	        (size_t)work->bytes, to_host ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice,
	        d->stream));
}

static void move_all(const struct work *work, bool to_host)
{
	for (int i = 0; i < work->gpus; i++)
		start(work, i, to_host);
	for (int i = 0; i < work->gpus; i++)
		wait_for(device_of(work, i));
}

static void call_to_device(const struct work *work)
{
	move_all(work, false);
}

static void call_to_host(const struct work *work)
{
	move_all(work, true);
}

static void call_memory(const struct work *work)
{
	const struct device *d = device_of(work, 0);

	GPU(cudaMemcpyAsync(
	        d->target, d->source, (size_t)work->bytes, cudaMemcpyDeviceToDevice, d->stream));
	wait_for(d);
}

/* ---- checks ---- */

static void spoil_returned(const struct work *work)
{
	for (int i = 0; i < work->gpus; i++)
		memset(device_of(work, i)->returned, 0xff, (size_t)work->bytes);
}

static void check_targets(const struct work *work)
{
	for (int i = 0; i < work->gpus; i++)
		collective_require_right(
		        work, device_of(work, i), 0, work->bytes, device_of(work, i));
}

static void check_returned(const struct work *work)
{
	for (int i = 0; i < work->gpus; i++) {
		const struct device *d = device_of(work, i);
		if (memcmp(d->returned, d->host, (size_t)work->bytes) != 0)
			msg_die(EXIT_MEASURE_FAILED,
			        "%s: data of GPU %d arrived wrong on the host: no result kept",
			        work->route->series, d->gpu.device);
	}
}

/* ---- points ---- */

static void measure_each(struct collective *all)
{
	static const struct route routes[] = {{"h2d_each", "gpu", call_to_device,
	                                              collective_spoil_targets, check_targets,
	                                              NULL},
	        {"d2h_each", "gpu", call_to_host, spoil_returned, check_returned, NULL}},
	                          memory = {"memory_each", "gpu", call_memory,
	                                  collective_spoil_targets, check_targets, NULL};

	for (int i = 0; i < all->count; i++) {
		for (size_t r = 0; r < ARRAY_LEN(routes); r++) {
			struct work work = {all, &routes[r], i, 1, all->host_bytes};
			collective_measure_point(&work, work.bytes, i);
		}
		struct work work = {all, &memory, i, 1, all->largest};
		collective_measure_point(&work, 2 * work.bytes, i);
	}
}

static void measure_together(struct collective *all, int gpus)
{
	static const struct route routes[] = {
	        {"h2d_all", "gpus", call_to_device, collective_spoil_targets, check_targets, NULL},
	        {"d2h_all", "gpus", call_to_host, spoil_returned, check_returned, NULL}};

	for (size_t r = 0; r < ARRAY_LEN(routes); r++) {
		struct work work = {all, &routes[r], 0, gpus, all->host_bytes};
		collective_measure_point(&work, gpus * work.bytes, gpus);
	}
}

void collective_measure_host(struct collective *all)
{
	probe_noise_take(all->run, &all->named);
	measure_each(all);
	for (int gpus = 1; gpus < all->count; gpus *= 2)
		measure_together(all, gpus);
	measure_together(all, all->count);
	probe_noise_leave(all->run);
}
