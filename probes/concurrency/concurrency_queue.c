/* SPDX-License-Identifier: MIT */
/* The depth of a queue: the number of kernels or copies in a held stream before a call blocks. */
#include "concurrency_internal.h"

#include "lib/host/watchdog.h"
#include "lib/host/clock.h"

#include <math.h>

enum { QUEUE_MOST = 4096, QUEUE_TRIES = 3 };

static const double stuck_seconds = 4e-3; /* a call that takes so long is blocked */

static void release(void *hold)
{
	gpu_hold_release(hold);
}

/* Returns the mean seconds of the calls that returned at once. *depth: their number, -1 when all
 * QUEUE_MOST did. */
static double fill_queue(const struct concurrency *c, bool copies, int *depth)
{
	struct fault fault;
	gpu_hold_start(c->hold, c->lead);
	struct watchdog *watch = watchdog_start(stuck_seconds, release, c->hold, &fault);
	if (!watch) {
		gpu_hold_release(c->hold);
		msg_die(EXIT_MEASURE_FAILED, "%s", fault.text);
	}
	const double start = clock_now();
	double last = start;
	int calls = 0;
	for (bool quick = true; quick && calls < QUEUE_MOST; calls++) {
		last = clock_now();
		if (copies)
			GPU(cudaMemcpyAsync(c->copied, c->word, sizeof *c->word,
			        cudaMemcpyDeviceToHost, c->lead));
		else
			concurrency_null(c->word, c->lead);
		quick = watchdog_returned(watch);
	}
	const double end = clock_now();
	*depth = watchdog_stop(watch);
	gpu_hold_release(c->hold);
	finish();
	return *depth > 0 ? (last - start) / *depth : (end - start) / calls;
}

/* The median of a few tries: an interrupted host thread looks like a blocked one. */
void concurrency_queue(struct probe_run *run, struct concurrency *c, bool copies)
{
	const int tries = run->common.quick ? 1 : QUEUE_TRIES;
	double depth[QUEUE_TRIES], seconds[QUEUE_TRIES];
	for (int i = 0; i < tries; i++) {
		int calls;
		seconds[i] = fill_queue(c, copies, &calls);
		depth[i] = calls;
		if (!held_in_time(c))
			return;
	}
	const double middle = stats_median(depth, (size_t)tries);
	const bool open = middle < 0;
	const struct measurement measurement = {
	        .seconds = stats_median_interval(seconds, (size_t)tries), .hz = NAN};
	const struct arg arg = {"launches", open ? QUEUE_MOST : middle};
	const char *series = copies ? open ? "queue_copies_open" : "queue_copies"
	                     : open ? "queue_kernels_open"
	                            : "queue_kernels";
	probe_record(run, series, &arg, 1, &measurement);
}
