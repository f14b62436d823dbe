/* SPDX-License-Identifier: MIT */
/* A broadcast goes through the GPUs of a host in turn, and through the hosts, in pieces: the
 * slowest link sets the rate, every further GPU and host adds a start. Inside a host its time is
 * NCCL's, where that was measured, for the largest number of GPUs up to those asked for; else that
 * of a copy. Both were timed from the call until the host knew of the end: in a queue the launch
 * and that answer are not there, a start behind another kernel is.
 *
 * Not modelled: the multiprocessors that NCCL takes from kernels beside it. */
#include "cost_broadcast.h"

#include <math.h>

/* Seconds from the call to completion; *counted: the GPUs that it was measured with. */
static double inside(struct cost_reader *r, double bytes, int gpus, double *counted)
{
	static const char time[] = "link.nccl.broadcast.time",
	                  alpha[] = "link.nccl.broadcast.alpha",
	                  beta[] = "link.nccl.broadcast.beta";
	const char *rows = cost_known(r, time) ? time : cost_known(r, alpha) ? alpha : NULL;
	const double most = rows ? cost_last(r, rows, "gpus") : 2;

	*counted = isfinite(most) ? fmin(most, gpus) : 2;
	if (rows == time)
		return cost_at2(r, time, "bytes", bytes, "gpus", *counted);
	if (rows)
		return model_line(cost_at(r, alpha, "gpus", *counted),
		        cost_at(r, beta, "gpus", *counted), bytes);
	return model_line(cost_at2(r, "link.peer.alpha", "from", 0, "to", 1),
	        cost_at2(r, "link.peer.beta", "from", 0, "to", 1), bytes);
}

struct cost cost_broadcast(struct cost_reader *r, double bytes, int gpus, int hosts)
{
	const double start = cost_scalar(r, "gpu.launch.dependent");
	double seconds = 0, counted;

	if (gpus == 1)
		return (struct cost){.engine = ENGINE_LINK};
	if (gpus > hosts) {
		seconds = inside(r, bytes, gpus / hosts, &counted) + start -
		          cost_scalar(r, "gpu.launch.sync");
		if (gpus / hosts > counted)
			seconds += (gpus / hosts - counted) * cost_scalar(r, "link.nccl.hop");
	}
	if (hosts > 1)
		seconds = fmax(seconds, bytes / cost_scalar(r, "link.network.beta")) +
		          (hosts - 1) * cost_scalar(r, "link.network.alpha");
	return (struct cost){.enqueue = cost_scalar(r, "gpu.launch.enqueue"),
	        .term[TERM_TRANSFER] = fmax(start, seconds),
	        .engine = ENGINE_LINK};
}
