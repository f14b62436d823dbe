/* SPDX-License-Identifier: MIT */
/* NCCL's collective operations among the first 2, 4, 8 .. and all devices, in one process. */
#include "collective_internal.h"

#include "lib/base/msg.h"
#include "lib/probe/probe_noise.h"

#include <stdlib.h>
#include <string.h>

enum { CHECKED = 1 << 16 }; /* words at each end of a sum */

void collective_check_nccl(const struct nccl *nccl, int result, const char *call)
{
	if (result != 0)
		msg_die(EXIT_MEASURE_FAILED, "%s failed: %s", call, nccl->error_text(result));
}

static size_t words_of(const struct work *work)
{
	return (size_t)work->bytes / 4;
}

/* ---- calls: on each device of the group, then to their completion ---- */

static int broadcast(const struct work *work, const struct device *d, void *comm)
{
	return work->all->nccl.broadcast(
	        d->source, d->target, words_of(work), NCCL_UINT32, 0, comm, d->stream);
}

static int all_reduce(const struct work *work, const struct device *d, void *comm)
{
	return work->all->nccl.all_reduce(
	        d->source, d->target, words_of(work), NCCL_UINT32, NCCL_SUM, comm, d->stream);
}

static int all_gather(const struct work *work, const struct device *d, void *comm)
{
	return work->all->nccl.all_gather(d->source, d->target, words_of(work) / (size_t)work->gpus,
	        NCCL_UINT32, comm, d->stream);
}

static void call_group(const struct work *work,
        int (*operation)(const struct work *, const struct device *, void *comm))
{
	const struct nccl *nccl = &work->all->nccl;

	collective_check_nccl(nccl, nccl->group_start(), "ncclGroupStart");
	for (int i = 0; i < work->gpus; i++)
		collective_check_nccl(nccl, operation(work, device_of(work, i), work->all->comm[i]),
		        work->route->series);
	collective_check_nccl(nccl, nccl->group_end(), "ncclGroupEnd");
	for (int i = 0; i < work->gpus; i++)
		wait_for(device_of(work, i));
}

static void call_broadcast(const struct work *work)
{
	call_group(work, broadcast);
}

static void call_all_reduce(const struct work *work)
{
	call_group(work, all_reduce);
}

static void call_all_gather(const struct work *work)
{
	call_group(work, all_gather);
}

/* ---- checks ---- */

void collective_check_broadcast(const struct work *work)
{
	for (int i = 0; i < work->gpus; i++)
		collective_require_right(
		        work, device_of(work, i), 0, work->bytes, device_of(work, 0));
}

static void check_all_gather(const struct work *work)
{
	const int64_t part = work->bytes / work->gpus;

	for (int i = 0; i < work->gpus; i++)
		for (int owner = 0; owner < work->gpus; owner++)
			collective_require_right(work, device_of(work, i), owner * part, part,
			        device_of(work, owner));
}

/* Compares every target with the sum of all sources modulo 2^32, at the given words. */
static void require_sum(const struct work *work, int64_t first, int64_t words)
{
	const size_t bytes = (size_t)words * sizeof(uint32_t);
	uint32_t *sum = xcalloc(2 * (size_t)words, sizeof *sum), *other = sum + words;

	for (int i = 0; i < work->gpus; i++) {
		GPU(cudaMemcpy(other, device_of(work, i)->source + 4 * first, bytes,
		        cudaMemcpyDeviceToHost));
		for (int64_t k = 0; k < words; k++)
			sum[k] += other[k];
	}
	for (int i = 0; i < work->gpus; i++) {
		GPU(cudaMemcpy(other, device_of(work, i)->target + 4 * first, bytes,
		        cudaMemcpyDeviceToHost));
		if (memcmp(sum, other, bytes) != 0)
			msg_die(EXIT_MEASURE_FAILED,
			        "%s: the sum of %lld bytes arrived wrong on GPU %d: no result kept",
			        work->route->series, (long long)work->bytes,
			        device_of(work, i)->gpu.device);
	}
	free(sum);
}

static void check_all_reduce(const struct work *work)
{
	const int64_t words = work->bytes / 4, part = min_int64(words, CHECKED);

	require_sum(work, 0, part);
	require_sum(work, words - part, part);
}

/* ---- groups ---- */

static void measure_group(struct collective *all, int gpus)
{
	const struct route routes[] = {
	        {"broadcast", "gpus", call_broadcast, collective_spoil_targets,
	                collective_check_broadcast, NULL},
	        {"allreduce", "gpus", call_all_reduce, collective_spoil_targets, check_all_reduce,
	                NULL},
	        {"allgather", "gpus", call_all_gather, collective_spoil_targets, check_all_gather,
	                NULL},
	        collective_turns};
	int number[DEVICES_MOST] = {0};

	for (int i = 0; i < gpus; i++)
		number[i] = all->device[i].gpu.device;
	const int result = all->nccl.init_all(all->comm, gpus, number);
	cudaGetLastError(); /* clears the errors of NCCL's own attempts */
	if (result != 0) {
		const char *text = all->nccl.error_text(result);
		msg_warn("no collective operations among %d GPUs: %s", gpus, text);
		table_meta_set(all->run->curve, "unavailable.nccl", "%d GPUs: %s", gpus, text);
		return;
	}
	probe_noise_take(all->run, &all->named); /* NCCL has its threads now */
	for (size_t r = 0; r < ARRAY_LEN(routes); r++)
		for (int64_t bytes = 4; bytes <= all->largest;
		        bytes *= bytes < MIB ? all->step : 4) {
			/* the all-gather: whole words of every device */
			const int64_t whole = routes[r].call == call_all_gather
			                              ? max_int64(1, bytes / 4 / gpus) * 4 * gpus
			                              : bytes;
			struct work work = {
			        .all = all, .route = &routes[r], .gpus = gpus, .bytes = whole};
			collective_measure_point(&work, whole, gpus);
		}
	collective_measure_puts(all, gpus);
	probe_noise_leave(all->run);
	for (int i = 0; i < gpus; i++)
		collective_check_nccl(
		        &all->nccl, all->nccl.destroy(all->comm[i]), "ncclCommDestroy");
}

void collective_measure_nccl(struct collective *all)
{
	struct fault fault;

	if (!nccl_open(&all->nccl, &fault)) {
		msg_warn("no collective operations: %s", fault.text);
		table_meta_set(all->run->curve, "unavailable.nccl", "%s", fault.text);
		return;
	}
	table_meta_set(all->run->curve, "nccl", "%d", all->nccl.version);
	for (int gpus = 2; gpus < all->count; gpus *= 2)
		measure_group(all, gpus);
	measure_group(all, all->count);
}
