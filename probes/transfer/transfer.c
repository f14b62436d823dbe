/* SPDX-License-Identifier: MIT */
/* Question: how long does a transfer between host and device take, from the call to its completion,
 * by size, direction and kind of host memory?
 *
 * Method: one call at a time on an idle device by the host's clock: cudaMemcpyAsync +
 * cudaStreamSynchronize (pinned, write-combined), cudaMemcpy (pageable), a kernel with 16-byte
 * accesses (mapped), two streams (both directions); to the device also data that the calling core
 * has just written to its caches. From 16 MiB on stamps in the stream bound the call by the
 * device's clock, too.
 *
 * What can fool it: untouched pages (all are touched before); memory on another NUMA node (the
 * thread is bound before it allocates, and the metadata has the result); interference on the
 * calling core (it is a quiet core, disturbed samples are repeated); a copy that moved nothing
 * (every size moves new data, and is checked).
 *
 * Unit: seconds per transfer; bytes are payload, for both directions their sum. */
#include "transfer_internal.h"

#include "lib/base/msg.h"
#include "lib/probe/probe_point.h"
#include "lib/probe/probe_noise.h"
#include "lib/host/topology.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	NODE_BYTES = 64 * MIB,
	BOTH_LEAST = MIB,
	WRITTEN_BYTES = 16 * MIB,
	SLOW_BYTES = 64 * MIB /* pageable and write-combined: the rate is constant from 16 MiB on */
};

static const double pageable_seconds = 25e-3; /* for one point, unless three samples take longer */

/* Powers of four; at large sizes powers of two. */
static int64_t next_size(const struct transfer *transfer, int64_t bytes)
{
	return bytes * (bytes < MIB || transfer->quick ? 4 : 2);
}

/* At least three samples, however long a transfer takes. Pageable transfers, copied by the
 * processor at varying speed: up to nine samples, whose interval excludes the slowest. */
static struct sample_plan plan_of(
        const struct transfer *transfer, enum kind kind, double first_seconds)
{
	const double nine = kind == PAGEABLE ? fmin(8.5 * first_seconds, pageable_seconds) : 0;
	const double least = fmax(2.5 * first_seconds, nine);

	return (struct sample_plan){.min_seconds = 0.3 * transfer->seconds,
	        .max_seconds = fmax(transfer->seconds, least),
	        .min_samples = 3,
	        .max_samples = 400,
	        .target = 0.01};
}

/* Before the transfer the target holds other data; after it the data are checked. */
static void measure_point(struct probe_run *run, struct transfer *transfer,
        const struct route *route, int64_t bytes, const struct arg *node)
{
	const struct arg args[2] = {
	        {"bytes", (double)(route->direction == BOTH ? 2 * bytes : bytes)},
	        node ? *node : (struct arg){0}};
	const size_t arg_count = node ? 2 : 1;
	struct work work = {transfer, route, bytes};
	struct buffer *buffer = route->buffer;
	bool out = route->direction != TO_HOST, in = route->direction != TO_DEVICE;
	if (!probe_wants(run, route->series, args, arg_count))
		return;
	if (out && run->wanted) /* without a larger transfer to the host before, the buffer has no
	                           data */
		transfer_fill_host(transfer, buffer, bytes);
	char *arrived = route->direction == BOTH ? transfer_returning(buffer) : buffer->host;
	uint32_t seed = transfer_new_seed(transfer);
	if (out)
		transfer_fill_device(transfer, transfer->target, bytes, ~buffer->seed);
	if (in)
		transfer_fill_device(transfer, transfer->source, bytes, seed);

	struct sample first;
	struct measurement measurement;
	transfer_sample(&work, &first); /* only for its duration */
	struct sample_plan plan = plan_of(transfer, route->kind, first.seconds);
	probe_noise_sample(run, transfer_sample, &work, &plan, 0, &measurement);

	if (out)
		transfer_require_right(&work,
		        transfer_wrong_on_device(transfer, transfer->target, bytes, buffer->seed));
	if (in)
		transfer_require_right(&work, transfer_wrong_on_host(arrived, bytes, seed));
	if (in && next_size(transfer, bytes) > route->most)
		transfer_require_right(
		        &work, transfer_wrong_returned(transfer, arrived, bytes, seed));
	if (route->direction == TO_HOST)
		buffer->seed = seed;
	probe_record(run, route->series, args, arg_count, &measurement);
}

static void measure_route(
        struct probe_run *run, struct transfer *transfer, const struct route *route)
{
	int64_t bytes = route->direction == BOTH ? BOTH_LEAST : 1;
	for (; bytes <= route->most; bytes = next_size(transfer, bytes))
		measure_point(run, transfer, route, bytes, NULL);
}

/* Bytes of the largest transfer that a re-measurement wants of these series (NULL: of all), at
 * least MIB; 0 when it wants none. */
static int64_t wanted_bytes(const struct table *wanted, const char *const *series, size_t count)
{
	double most = 0;
	for (size_t row = 0; row < wanted->row_count; row++) {
		bool listed = !series;
		for (size_t i = 0; i < count; i++)
			listed |= strcmp(table_text(wanted, row, "series"), series[i]) == 0;
		if (listed)
			most = fmax(most, fmax(table_real(wanted, row, "bytes"), MIB));
	}
	return (int64_t)most;
}

/* A re-measurement may want only smaller transfers, or none: touching all pages of a buffer takes
 * longer than all transfers. */
static int64_t buffer_bytes(const struct probe_run *run, const struct transfer *transfer,
        const char *const *series, size_t count)
{
	return run->wanted ? min_int64(wanted_bytes(run->wanted, series, count), transfer->largest)
	                   : transfer->largest;
}

/* Transfers to the host come first: the largest one leaves the data for the way back. */
static void measure_pinned(struct probe_run *run, struct transfer *transfer)
{
	static const char *const series[] = {"d2h_pinned", "h2d_pinned", "h2d_written",
	        "both_pinned", "d2h_mapped", "h2d_mapped"};
	struct buffer buffer = {.bytes = buffer_bytes(run, transfer, series, ARRAY_LEN(series))};
	if (buffer.bytes == 0)
		return;
	GPU(cudaHostAlloc((void **)&buffer.host, (size_t)buffer.bytes, cudaHostAllocMapped));
	GPU(cudaHostGetDevicePointer(&buffer.mapped, buffer.host, 0));
	const struct route routes[] = {
	        {series[0], PINNED, TO_HOST, &buffer, buffer.bytes},
	        {series[1], PINNED, TO_DEVICE, &buffer, buffer.bytes},
	        {series[2], WRITTEN, TO_DEVICE, &buffer, min_int64(buffer.bytes, WRITTEN_BYTES)},
	        {series[3], PINNED, BOTH, &buffer, buffer.bytes / 2},
	        {series[4], MAPPED, TO_HOST, &buffer, buffer.bytes},
	        {series[5], MAPPED, TO_DEVICE, &buffer, buffer.bytes},
	};
	for (size_t i = 0; i < ARRAY_LEN(routes); i++)
		measure_route(run, transfer, &routes[i]);
	GPU(cudaFreeHost(buffer.host));
}

static void measure_pageable(struct probe_run *run, struct transfer *transfer)
{
	static const char *const series[] = {"d2h_pageable", "h2d_pageable"};
	struct buffer buffer = {
	        .bytes = min_int64(
	                buffer_bytes(run, transfer, series, ARRAY_LEN(series)), SLOW_BYTES)};
	if (buffer.bytes == 0)
		return;
	buffer.host = xmalloc((size_t)buffer.bytes);
	memset(buffer.host, 0xff, (size_t)buffer.bytes);
	const struct route routes[] = {
	        {series[0], PAGEABLE, TO_HOST, &buffer, buffer.bytes},
	        {series[1], PAGEABLE, TO_DEVICE, &buffer, buffer.bytes},
	};
	for (size_t i = 0; i < ARRAY_LEN(routes); i++)
		measure_route(run, transfer, &routes[i]);
	free(buffer.host);
}

static void measure_combined(struct probe_run *run, struct transfer *transfer)
{
	static const char series[] = "h2d_wc", *const only[] = {series};
	struct buffer buffer = {
	        .bytes = min_int64(buffer_bytes(run, transfer, only, 1), SLOW_BYTES)};
	if (buffer.bytes == 0)
		return;
	GPU(cudaHostAlloc((void **)&buffer.host, (size_t)buffer.bytes, cudaHostAllocWriteCombined));
	transfer_fill_host(transfer, &buffer, buffer.bytes);
	const struct route route = {series, COMBINED, TO_DEVICE, &buffer, buffer.bytes};
	measure_route(run, transfer, &route);
	GPU(cudaFreeHost(buffer.host));
}

static void measure_node(
        struct probe_run *run, struct transfer *transfer, const struct topology *topology, int node)
{
	char got[128];
	char *key = xasprintf("binding.node%d", node);
	bool bound = topology_bind(topology, node, -1, got);
	table_meta_set(run->curve, key, "%s", got);
	free(key);
	if (!bound)
		return;
	struct buffer buffer = {.bytes = min_int64(transfer->largest, NODE_BYTES)};
	GPU(cudaHostAlloc((void **)&buffer.host, (size_t)buffer.bytes, cudaHostAllocDefault));
	transfer_fill_host(transfer, &buffer, buffer.bytes);
	const struct route route = {"h2d_node", PINNED, TO_DEVICE, &buffer, buffer.bytes};
	const struct arg argument = {"node", node};
	measure_point(run, transfer, &route, buffer.bytes, &argument);
	GPU(cudaFreeHost(buffer.host));
}

/* Binds to the GPU's node when it is known. */
static void bind_near(struct probe_run *run, const struct topology *topology, const struct gpu *gpu)
{
	char got[128];
	int raw, node = topology_gpu_node(topology, gpu->pci, &raw);
	if (node >= 0) {
		table_meta_set(run->curve, "gpu_node", "%d", node);
		topology_bind(topology, node, -1, got);
	} else {
		table_meta_set(run->curve, "gpu_node", "unknown");
		topology_binding(topology, got);
	}
	table_meta_set(run->curve, "binding", "%s", got);
}

/* The largest transfer that is wanted. */
static int64_t asked_bytes(const struct probe_run *run)
{
	return run->wanted ? wanted_bytes(run->wanted, NULL, 0)
	                   : (run->common.quick ? 32 : 256) * (int64_t)MIB;
}

/* The largest possible transfer: at most an eighth of the host's memory and of the free device
 * memory, which holds two buffers. */
static int64_t find_largest(const struct probe_run *run, int64_t host_bytes)
{
	const int64_t asked = asked_bytes(run);
	int64_t largest = asked;
	size_t unused, total;
	GPU(cudaMemGetInfo(&unused, &total));
	while (host_bytes > 0 && largest > host_bytes / 8)
		largest /= 4;
	const int64_t possible = largest;
	while (largest > (int64_t)unused / 8)
		largest /= 4;
	if (largest < MIB)
		msg_die(EXIT_NOT_POSSIBLE,
		        "only %zu bytes of GPU memory are free: stop other programs", unused);
	if (largest < possible)
		msg_warn("only %zu bytes of GPU memory are free: transfers up to %lld bytes only",
		        unused, (long long)largest);
	return largest;
}

static void set_up(struct transfer *transfer, const struct probe_run *run, int64_t host_bytes)
{
	transfer->quick = run->common.quick;
	transfer->seconds = run->seconds / 400;
	transfer->seed = (uint32_t)run->common.seed << 16;
	transfer->largest = find_largest(run, host_bytes);
	transfer->timer = gpu_timer_new(&transfer->gpu);
	GPU(cudaStreamCreateWithFlags(&transfer->stream, cudaStreamNonBlocking));
	GPU(cudaStreamCreateWithFlags(&transfer->other, cudaStreamNonBlocking));
	GPU(cudaMalloc((void **)&transfer->source, (size_t)transfer->largest));
	GPU(cudaMalloc((void **)&transfer->target, (size_t)transfer->largest));
	GPU(cudaMalloc((void **)&transfer->wrong, sizeof *transfer->wrong));
}

static void tear_down(struct transfer *transfer)
{
	GPU(cudaFree(transfer->wrong));
	GPU(cudaFree(transfer->target));
	GPU(cudaFree(transfer->source));
	GPU(cudaStreamDestroy(transfer->other));
	GPU(cudaStreamDestroy(transfer->stream));
	gpu_timer_free(transfer->timer);
}

static void measure(struct probe_run *run)
{
	struct transfer transfer = {0};
	struct topology_facts facts = {0};
	struct topology_place *before = NULL;
	struct fault fault;
	probe_open_gpu(run, &transfer.gpu);
	const struct topology *topology = topology_host(&fault);
	if (topology) {
		topology_facts(topology, &facts);
		before = topology_keep(topology);
		bind_near(run, topology, &transfer.gpu);
	} else {
		table_meta_set(run->curve, "binding", "unknown: %s", fault.text);
	}

	gpu_warm(&transfer.gpu, run->warm_seconds);
	set_up(&transfer, run, facts.memory_bytes);
	probe_noise_take(run, &transfer.gpu);
	measure_pinned(run, &transfer);
	measure_pageable(run, &transfer);
	measure_combined(run, &transfer);
	probe_noise_leave(run);
	for (int node = 0; facts.numa_nodes > 1 && node < facts.numa_nodes; node++)
		measure_node(run, &transfer, topology, node);
	topology_restore(topology, before);
	tear_down(&transfer);
	probe_watch_gpu(run, &transfer.gpu);
}

static const char *const arguments[] = {"bytes", "node"};
const struct probe transfer_probe = {
        .name = "transfer",
        .question = "How long does a transfer between host and device take?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .turn = -1,
        .seconds = 0.9,
        .processes = 3,
        .revisits = true,
        .measure = measure,
        .fit = transfer_fit,
};
