/* SPDX-License-Identifier: MIT */
/* A broadcast goes through the GPUs of a host in turn, and through the hosts, in pieces: the
 * slowest link sets the rate, every further GPU and host adds a start. Inside a host its time is
 * NCCL's, where that was measured, for the largest number of GPUs up to those asked for; else that
 * of a copy. In the GPUs' queues it is as measured there. Else it was timed from the call until the
 * host knew of the end: in a queue the launch and that answer are not there, a start behind another
 * kernel is.
 *
 * Not modelled: the multiprocessors that NCCL takes from kernels beside it. */
#include "cost_broadcast.h"

#include <math.h>

static double measured_with(struct cost_reader *r, const char *rows, int gpus)
{
	const double most = rows ? cost_last(r, rows, "gpus") : 2;

	return isfinite(most) ? fmin(most, gpus) : 2;
}

/* Seconds from the call to completion; *counted: the GPUs that it was measured with. */
static double from_call(struct cost_reader *r, double bytes, int gpus, double *counted)
{
	static const char time[] = "link.nccl.broadcast.time",
	                  alpha[] = "link.nccl.broadcast.alpha",
	                  beta[] = "link.nccl.broadcast.beta";
	const char *rows = cost_known(r, time) ? time : cost_known(r, alpha) ? alpha : NULL;

	*counted = measured_with(r, rows, gpus);
	if (rows == time)
		return cost_at2(r, time, "bytes", bytes, "gpus", *counted);
	if (rows)
		return model_line(cost_at(r, alpha, "gpus", *counted),
		        cost_at(r, beta, "gpus", *counted), bytes);
	return model_line(cost_at2(r, "link.peer.alpha", "from", 0, "to", 1),
	        cost_at2(r, "link.peer.beta", "from", 0, "to", 1), bytes);
}

static double inside(struct cost_reader *r, double bytes, int gpus, double *counted)
{
	static const char queued[] = "link.nccl.broadcast.queued";

	if (cost_known(r, queued)) {
		*counted = measured_with(r, queued, gpus);
		return cost_at2(r, queued, "bytes", bytes, "gpus", *counted);
	}
	return from_call(r, bytes, gpus, counted) + cost_scalar(r, "gpu.launch.dependent") -
	       cost_scalar(r, "gpu.launch.sync");
}

static double enqueue(struct cost_reader *r, int gpus)
{
	static const char rows[] = "link.nccl.enqueue";

	return cost_known(r, rows) ? cost_at(r, rows, "gpus", measured_with(r, rows, gpus))
	                           : cost_scalar(r, "gpu.launch.enqueue");
}

struct cost cost_broadcast(struct cost_reader *r, double bytes, int gpus, int hosts)
{
	const double start = cost_scalar(r, "gpu.launch.dependent");
	double seconds = 0, counted;

	if (gpus == 1)
		return (struct cost){.engine = ENGINE_LINK};
	if (gpus > hosts) {
		seconds = inside(r, bytes, gpus / hosts, &counted);
		if (gpus / hosts > counted)
			seconds += (gpus / hosts - counted) * cost_scalar(r, "link.nccl.hop");
	}
	if (hosts > 1)
		seconds = fmax(seconds, bytes / cost_scalar(r, "link.network.beta")) +
		          (hosts - 1) * cost_scalar(r, "link.network.alpha");
	return (struct cost){.enqueue = enqueue(r, gpus),
	        .term[TERM_TRANSFER] = fmax(start, seconds),
	        .engine = ENGINE_LINK};
}
