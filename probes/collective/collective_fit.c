/* SPDX-License-Identifier: MIT */
/* Curve of the collective probe -> link.nccl.* by number of GPUs: times, and alpha and beta of t =
 * alpha + bytes/beta; of broadcasts also the time in the devices' queues, and the host's share;
 * link.nccl.hop: what each further GPU adds to a short broadcast; rates of transfers between the
 * host and several GPUs at once, link.h2d.all and link.d2h.all, and of each GPU alone,
 * link.h2d.each, link.d2h.each and gpu.each.copy; a cycle of its SMs, gpu.each.cycle.
 *
 * beta counts payload: of a broadcast the message; of an all-reduce among n GPUs the message times
 * 2 (n - 1) / n, the least that each GPU must send; of an all-gather what each GPU receives from
 * the others, (n - 1) / n of the bytes that it holds afterwards. Without NCCL its rows are absent.
 */
#include "lib/probe/curve_link.h"

#include "lib/base/msg.h"
#include "lib/stats/estimate.h"

#include <math.h>
#include <stdlib.h>

/* A call takes at least a fraction of a microsecond; no link carries more than a few terabytes or
 * less than some hundred megabytes a second. */
static const struct curve_link_bounds bounds = {1e-7, 1e-2, 10, 1e8, 5e12};
static const double most_memory = 5e13; /* B/s of any GPU */

static double sent_by_each(double gpus)
{
	return 2 * (gpus - 1) / gpus;
}

static double received_by_each(double gpus)
{
	return (gpus - 1) / gpus;
}

static const struct curve_link links[] = {
        {"broadcast", "link.nccl.broadcast", "ncclBroadcast, one process", .alpha = true,
                .beta = true, .key = {"gpus"}},
        {"allreduce", "link.nccl.allreduce",
                "ncclAllReduce, one process; beta counts 2 (n - 1) / n of the bytes", .alpha = true,
                .beta = true, .key = {"gpus"}, sent_by_each},
        {"allgather", "link.nccl.allgather",
                "ncclAllGather, one process; beta counts (n - 1) / n of the bytes", .alpha = true,
                .beta = true, .key = {"gpus"}, received_by_each},
};

#define AT_ONCE "bytes over seconds, all GPUs at once, pinned, sum of all"
#define ALONE "bytes over seconds, one GPU at a time, pinned"

static void add_times(const struct table *curve, struct profile *profile)
{
	const struct curve_rows queued[] = {
	        {"turns",
	                {"link.nccl.broadcast.queued", "s",
	                        "ncclBroadcast by each GPU in turn, behind holds; host clock, "
	                        "difference of 24 and 8",
	                        NULL, bounds.least_seconds, bounds.most_seconds},
	                .column = {"bytes", "gpus"}},
	        {"puts",
	                {"link.nccl.enqueue", "s",
	                        "ncclBroadcast; host clock over 24 calls behind holds, by GPU",
	                        NULL, bounds.least_seconds, bounds.most_seconds},
	                .column = {"gpus"}}};

	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		char *name = xasprintf("%s.time", links[i].name);
		char *method = xasprintf("%s; host clock, call to completion", links[i].what);
		const struct curve_rows times = {links[i].series,
		        {name, "s", method, NULL, bounds.least_seconds, bounds.most_seconds},
		        .column = {"bytes", "gpus"}};
		curve_fit_rows(curve, profile, &times, 1, false);
		free(method);
		free(name);
	}
	curve_fit_rows(curve, profile, queued, ARRAY_LEN(queued), false);
}

/* From the fewest GPUs to the most, by GPU: of the intercepts of the broadcast. Needs two numbers
 * of GPUs, and a larger intercept for the most. */
static void add_hop(struct profile *profile)
{
	static const char alpha[] = "link.nccl.broadcast.alpha";
	const struct parameter_spec spec = {"link.nccl.hop", "s",
	        "difference of broadcast.alpha between the fewest and the most GPUs, by GPU", NULL,
	        1e-9, 1e-3};
	double few, most;

	if (!profile_range(profile, alpha, "gpus", &few, &most) || !(most > few))
		return;
	const struct arg low = {"gpus", few}, high = {"gpus", most};
	const struct estimate a = profile_get(profile, alpha, &low, 1).estimate,
	                      b = profile_get(profile, alpha, &high, 1).estimate;
	const double more = most - few, value = (b.value - a.value) / more,
	             half = hypot(estimate_half_width(a), estimate_half_width(b)) / more;
	const struct estimate hop = {
	        value, value - half, value + half, a.samples < b.samples ? a.samples : b.samples};
	if (value - half > 0)
		profile_add(profile, &spec, NULL, 0, hop, false);
	else
		profile_add_bounded(profile, &spec, NULL, 0, NAN, value + half, hop.samples);
}

void collective_fit(const struct table *curve, struct profile *profile)
{
	const struct curve_rows rates[] = {
	        {"h2d_all", {"link.h2d.all", "B/s", AT_ONCE, NULL, bounds.least_rate, most_memory},
	                .column = {"gpus"}, .value = curve_rate},
	        {"d2h_all", {"link.d2h.all", "B/s", AT_ONCE, NULL, bounds.least_rate, most_memory},
	                .column = {"gpus"}, .value = curve_rate},
	        {"h2d_each",
	                {"link.h2d.each", "B/s", ALONE, NULL, bounds.least_rate, bounds.most_rate},
	                .column = {"gpu"}, .value = curve_rate},
	        {"d2h_each",
	                {"link.d2h.each", "B/s", ALONE, NULL, bounds.least_rate, bounds.most_rate},
	                .column = {"gpu"}, .value = curve_rate},
	        {"memory_each",
	                {"gpu.each.copy", "B/s",
	                        "bytes read plus written over seconds of cudaMemcpyAsync in the "
	                        "GPU's memory",
	                        NULL, bounds.least_rate, most_memory},
	                .column = {"gpu"}, .value = curve_rate},
	        {"cycle_each",
	                {"gpu.each.cycle", "s", "%globaltimer over cycles, all SMs at work", NULL,
	                        1e-10, 1e-8},
	                .column = {"gpu"}}};

	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		curve_fit_link(curve, profile, &links[i], &bounds);
	add_times(curve, profile);
	add_hop(profile);
	curve_fit_rows(curve, profile, rates, ARRAY_LEN(rates), false);
}
