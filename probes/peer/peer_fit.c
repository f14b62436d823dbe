/* SPDX-License-Identifier: MIT */
/* Curve of the peer probe -> link.peer.* by pair: alpha and beta of t = alpha + bytes/beta, and the
 * latency of a load. Curves recorded before the probe `collective` was there have link.nccl.*, too,
 * unless that probe has measured it since.
 *
 * beta counts payload: of a copy, load or store the bytes that reached GPU `to`; of both directions
 * at once their sum; of a broadcast the message; of an all-reduce among n GPUs the message times
 * 2 (n - 1) / n, the least that each GPU must send. A machine without peer access, or without NCCL,
 * lacks these rows. */
#include "lib/probe/curve_link.h"

/* A call takes at least a fraction of a microsecond; no link between two GPUs carries more than a
 * few terabytes or less than some hundred megabytes a second. */
static const struct curve_link_bounds bounds = {1e-7, 1e-2, 10, 1e8, 5e12};

static double sent_by_each(double gpus)
{
	return 2 * (gpus - 1) / gpus;
}

#define PAIR                                                                                       \
	{                                                                                          \
		"from", "to"                                                                       \
	}
#define COPY "cudaMemcpyPeerAsync + cudaStreamSynchronize, "

static const struct curve_link links[] = {
        {"copy", "link.peer", COPY "peer access", .alpha = true, .beta = true, .key = PAIR},
        {"copy_staged", "link.peer.staged", COPY "no peer access", .alpha = true, .beta = true,
                .key = PAIR},
        {"both", "link.peer.both", "copies both ways at once, sum of both", .beta = true,
                .key = PAIR},
        {"load", "link.peer.load", "kernel on GPU `to` that loads 16 bytes at a time", .beta = true,
                .key = PAIR},
        {"store", "link.peer.store", "kernel on GPU `from` that stores 16 bytes at a time",
                .beta = true, .key = PAIR}};

static const struct curve_link collective[] = {
        {"broadcast", "link.nccl.broadcast", "ncclBroadcast, one process", .alpha = true,
                .beta = true, .key = {"gpus"}},
        {"allreduce", "link.nccl.allreduce",
                "ncclAllReduce, one process; beta counts 2 (n - 1) / n of the bytes", .alpha = true,
                .beta = true, .key = {"gpus"}, sent_by_each},
};

void peer_fit(const struct table *curve, struct profile *profile)
{
	/* a load crosses the link twice */
	const struct curve_rows latency = {"latency",
	        {"link.peer.latency", "s",
	                "dependent loads of GPU `to` around a random cycle in GPU `from`, whose "
	                "L2 holds it",
	                NULL, bounds.least_seconds, 1e-4},
	        .column = {"from", "to"}};
	const bool measured_since = profile_has(profile, "link.nccl.");

	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		curve_fit_link(curve, profile, &links[i], &bounds);
	for (size_t i = 0; i < ARRAY_LEN(collective) && !measured_since; i++)
		curve_fit_link(curve, profile, &collective[i], &bounds);
	curve_fit_rows(curve, profile, &latency, 1, false);
}
