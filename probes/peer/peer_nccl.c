/* SPDX-License-Identifier: MIT */
/* Among several GPUs: NCCL's broadcast and all-reduce. */
#include "peer_internal.h"

#include "lib/base/msg.h"

static void check_nccl(const struct nccl *nccl, int result, const char *call)
{
	if (result != 0)
		msg_die(EXIT_MEASURE_FAILED, "%s failed: %s", call, nccl->error_text(result));
}

/* On every device of the group: the sum of all sources, or the source of the first device. */
static void call_group(const struct work *work, bool sum)
{
	struct peer *peer = work->peer;
	const struct nccl *nccl = &peer->nccl;
	const size_t words = (size_t)work->bytes / 4;
	check_nccl(nccl, nccl->group_start(), "ncclGroupStart");
	for (int i = 0; i < work->gpus; i++) {
		const struct device *d = &peer->device[i];
		const int result = sum ? nccl->all_reduce(d->source, d->target, words, NCCL_UINT32,
		                                 NCCL_SUM, peer->comm[i], d->stream)
		                       : nccl->broadcast(d->source, d->target, words, NCCL_UINT32,
		                                 0, peer->comm[i], d->stream);
		check_nccl(nccl, result, sum ? "ncclAllReduce" : "ncclBroadcast");
	}
	check_nccl(nccl, nccl->group_end(), "ncclGroupEnd");
	for (int i = 0; i < work->gpus; i++)
		wait_for(&peer->device[i]);
}

static void call_broadcast(const struct work *work)
{
	call_group(work, false);
}

void peer_all_reduce(const struct work *work)
{
	call_group(work, true);
}

static void measure_group(struct probe_run *run, struct peer *peer, int gpus)
{
	static const struct route routes[] = {
	        {"broadcast", call_broadcast, false, false, 4},
	        {"allreduce", peer_all_reduce, false, false, 4},
	};
	int number[DEVICES_MOST] = {0};
	for (int i = 0; i < gpus; i++)
		number[i] = peer->device[i].gpu.device;
	const int result = peer->nccl.init_all(peer->comm, gpus, number);
	cudaGetLastError(); /* clears the errors of NCCL's own attempts */
	if (result != 0) {
		const char *text = peer->nccl.error_text(result);
		msg_warn("no broadcast and all-reduce among %d GPUs: %s", gpus, text);
		table_meta_set(run->curve, "unavailable.nccl", "%d GPUs: %s", gpus, text);
		return;
	}
	for (int i = 0; i < gpus; i++)
		peer_expect(peer, &peer->device[i], &peer->device[0]);
	const struct work work = {
	        .peer = peer, .from = &peer->device[0], .to = &peer->device[0], .gpus = gpus};
	probe_noise_take(run, &peer->named); /* NCCL has its threads now */
	for (size_t i = 0; i < ARRAY_LEN(routes); i++)
		peer_measure_route(run, work, &routes[i]);
	probe_noise_leave(run);
	for (int i = 0; i < gpus; i++)
		check_nccl(&peer->nccl, peer->nccl.destroy(peer->comm[i]), "ncclCommDestroy");
}

/* The first 2, 4, 8 ... devices, and all. */
void peer_measure_nccl(struct probe_run *run, struct peer *peer)
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
