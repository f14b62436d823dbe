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
	return bytes * (bytes < MIB || transfer->run->common.quick ? 4 : 2);
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
static void measure_point(struct work *work, const struct arg *node)
{
	struct transfer *transfer = work->transfer;
	struct probe_run *run = transfer->run;
	const int64_t bytes = work->bytes;
	const struct arg args[2] = {
	        {"bytes", (double)(work->direction == BOTH ? 2 * bytes : bytes)},
	        node ? *node : (struct arg){0}};
	const size_t arg_count = node ? 2 : 1;
	struct buffer *buffer = work->buffer;
	bool out = work->direction != TO_HOST, in = work->direction != TO_DEVICE;
	if (!probe_wants(run, work->series, args, arg_count))
		return;
	if (out && run->wanted) /* without a larger transfer to the host before, the buffer has no
	                           data */
		transfer_fill_host(transfer, buffer, bytes);
	char *arrived = work->direction == BOTH ? transfer_returning(buffer) : buffer->host;
	uint32_t seed = transfer_new_seed(transfer);
	if (out)
		transfer_fill_device(transfer, transfer->target, bytes, ~buffer->seed);
	if (in)
		transfer_fill_device(transfer, transfer->source, bytes, seed);

	struct sample first;
	struct measurement measurement;
	transfer_sample(work, &first); /* only for its duration */
	struct sample_plan plan = plan_of(transfer, work->kind, first.seconds);
	probe_noise_sample(run, transfer_sample, work, &plan, 0, &measurement);

	if (out)
		transfer_require_right(work, words_wrong(transfer->target, bytes, buffer->seed,
		                                     transfer->wrong, transfer->stream));
	if (in)
		transfer_require_right(work, transfer_wrong_on_host(arrived, bytes, seed));
	if (in && next_size(transfer, bytes) > work->most)
		transfer_require_right(
		        work, transfer_wrong_returned(transfer, arrived, bytes, seed));
	if (work->direction == TO_HOST)
		buffer->seed = seed;
	probe_record(run, work->series, args, arg_count, &measurement);
}

/* Kinds of host memory, with their series. Transfers to the host come first: the largest one leaves
 * the data for the way back. */
enum { SERIES = 6 };
static const struct memory {
	enum kind kind;
	int64_t most;
	struct {
		const char *name;
		enum kind kind;
		enum direction direction;
	} series[SERIES]; /* name NULL beyond the last */
} memories[] = {
        {PINNED, INT64_MAX,
                {{"d2h_pinned", PINNED, TO_HOST}, {"h2d_pinned", PINNED, TO_DEVICE},
                        {"h2d_written", WRITTEN, TO_DEVICE}, {"both_pinned", PINNED, BOTH},
                        {"d2h_mapped", MAPPED, TO_HOST}, {"h2d_mapped", MAPPED, TO_DEVICE}}},
        {PAGEABLE, SLOW_BYTES,
                {{"d2h_pageable", PAGEABLE, TO_HOST}, {"h2d_pageable", PAGEABLE, TO_DEVICE}}},
        {COMBINED, SLOW_BYTES, {{"h2d_wc", COMBINED, TO_DEVICE}}},
};

/* Bytes of the largest transfer that a re-measurement wants of this memory (NULL: of any), at least
 * MIB; 0 when it wants none. */
static int64_t wanted_bytes(const struct table *wanted, const struct memory *memory)
{
	double most = 0;
	for (size_t row = 0; row < wanted->row_count; row++) {
		bool listed = !memory;
		for (int i = 0; memory && i < SERIES && memory->series[i].name; i++)
			listed |= strcmp(table_text(wanted, row, "series"),
			                  memory->series[i].name) == 0;
		if (listed)
			most = fmax(most, fmax(table_real(wanted, row, "bytes"), MIB));
	}
	return (int64_t)most;
}

static void allocate(struct transfer *transfer, struct buffer *buffer, enum kind kind)
{
	const size_t bytes = (size_t)buffer->bytes;
	if (kind == PAGEABLE) {
		buffer->host = memset(xmalloc(bytes), 0xff, bytes);
		return;
	}
	GPU(cudaHostAlloc((void **)&buffer->host, bytes,
	        kind == COMBINED ? cudaHostAllocWriteCombined : cudaHostAllocMapped));
	if (kind == COMBINED)
		transfer_fill_host(transfer, buffer, buffer->bytes);
	else
		GPU(cudaHostGetDevicePointer(&buffer->mapped, buffer->host, 0));
}

/* A re-measurement may want only smaller transfers, or none: touching all pages of a buffer takes
 * longer than all transfers. */
static void measure_memory(struct transfer *transfer, const struct memory *memory)
{
	const struct table *wanted = transfer->run->wanted;
	const int64_t largest = min_int64(transfer->largest, memory->most);
	struct buffer buffer = {
	        .bytes = wanted ? min_int64(wanted_bytes(wanted, memory), largest) : largest};
	if (buffer.bytes == 0)
		return;
	allocate(transfer, &buffer, memory->kind);
	for (int i = 0; i < SERIES && memory->series[i].name; i++) {
		struct work work = {transfer, memory->series[i].name, memory->series[i].kind,
		        memory->series[i].direction, &buffer, buffer.bytes, 1};
		if (work.kind == WRITTEN)
			work.most = min_int64(work.most, WRITTEN_BYTES);
		if (work.direction == BOTH) {
			work.most /= 2;
			work.bytes = BOTH_LEAST;
		}
		for (; work.bytes <= work.most; work.bytes = next_size(transfer, work.bytes))
			measure_point(&work, NULL);
	}
	if (memory->kind == PAGEABLE)
		free(buffer.host);
	else
		GPU(cudaFreeHost(buffer.host));
}

static void measure_node(struct transfer *transfer, const struct topology *topology, int node)
{
	char got[128];
	char *key = xasprintf("binding.node%d", node);
	bool bound = topology_bind(topology, node, -1, got);
	table_meta_set(transfer->run->curve, key, "%s", got);
	free(key);
	if (!bound)
		return;
	struct buffer buffer = {.bytes = min_int64(transfer->largest, NODE_BYTES)};
	allocate(transfer, &buffer, PINNED);
	transfer_fill_host(transfer, &buffer, buffer.bytes);
	struct work work = {
	        transfer, "h2d_node", PINNED, TO_DEVICE, &buffer, buffer.bytes, buffer.bytes};
	measure_point(&work, &(struct arg){"node", node});
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

/* The largest possible transfer: at most an eighth of the host's memory and of the free device
 * memory, which holds two buffers. */
static int64_t find_largest(const struct probe_run *run, int64_t host_bytes)
{
	int64_t largest = run->wanted ? wanted_bytes(run->wanted, NULL)
	                              : (run->common.quick ? 32 : 256) * (int64_t)MIB;
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

static void set_up(struct transfer *transfer, int64_t host_bytes)
{
	const struct probe_run *run = transfer->run;
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
	struct transfer transfer = {.run = run};
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
	set_up(&transfer, facts.memory_bytes);
	probe_noise_take(run, &transfer.gpu);
	for (size_t i = 0; i < ARRAY_LEN(memories); i++)
		measure_memory(&transfer, &memories[i]);
	probe_noise_leave(run);
	for (int i = 0; facts.numa_nodes > 1 && i < facts.numa_nodes; i++)
		measure_node(&transfer, topology, topology_node(topology, i));
	topology_restore(topology, before);
	tear_down(&transfer);
	probe_watch_gpu(run, &transfer.gpu);
}

static const char *const arguments[] = {"bytes", "node"};

static bool by_host(const char *series)
{
	(void)series;
	return true;
}

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
        .by_host = by_host,
        .measure = measure,
        .fit = transfer_fit,
};
