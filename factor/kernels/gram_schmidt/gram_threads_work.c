/* SPDX-License-Identifier: MIT */
#include "gram_threads_work.h"

#include "gram_loops.h"

#include <math.h>

enum { LOOP_CYCLES = 8 /* to begin the loop over a column */ };

/* The column that all others meet stays in a thread's caches beside one of them. The master scales
 * it after an update; then the other threads read it from the master's cache. */
void gram_threads_pass_work(
        const struct gram_threads_call *c, enum gram_threads_pass pass, struct host_work *work)
{
	const double all = c->columns * c->bytes, mine = ceil(c->columns / c->threads),
	             streams = pass == GRAM_THREADS_FUSED ? 2 : 1;
	const bool changes = pass != GRAM_THREADS_DOTS;

	*work = (struct host_work){.threads = c->threads,
	        .regions = 1,
	        .cycles = LOOP_CYCLES * mine,
	        .traffic = {{.read = changes ? 0 : all, .changed = changes ? all : 0, .set = all},
	                {.read = streams * all, .set = c->threads * (streams + 1) * c->bytes}},
	        .words = changes ? c->columns : 0, /* a row of R */
	        .words_set = all};
	if (changes) /* on the master alone, while the others wait */
		work->traffic[1].changed = c->threads * c->bytes;
	if (c->threads > 1) {
		work->handed = streams * c->bytes;
		work->handovers = streams;
	}
}

/* The products of pairs first; then each group of columns goes through all pairs, whose columns
 * come from the cache that holds them all. */
void gram_threads_apply_work(const struct gram_threads_call *c, double k, struct host_work *work)
{
	const double elements = c->bytes / (double)precision_bytes(c->precision),
	             pairs = k / GRAM_PAIR, groups = c->columns / GRAM_TOGETHER,
	             streams = 2 * GRAM_PAIR, own = GRAM_TOGETHER + streams;

	work[0] = (struct host_work){.threads = c->threads,
	        .regions = 1,
	        .cycles = LOOP_CYCLES * ceil(pairs / c->threads),
	        .traffic[0] = {.read = k * c->bytes, .set = k * c->bytes}};
	if (c->threads > 1) {
		work[0].handed = k * c->bytes;
		work[0].handovers = 1;
	}
	work[1] = (struct host_work){.threads = c->threads,
	        .cycles = LOOP_CYCLES * ceil(groups / c->threads) *
	                  (GRAM_PAIR * GRAM_TOGETHER + pairs),
	        .traffic = {{.read = groups * pairs * streams * c->bytes,
	                            .set = c->threads * (k + GRAM_TOGETHER) * c->bytes},
	                {.changed = groups * pairs * GRAM_TOGETHER * c->bytes,
	                        .set = c->threads * own * c->bytes}},
	        .flops = 4 * elements * k * c->columns,
	        .precision = c->precision};
}

void gram_threads_handed_work(double bytes, struct host_work *work)
{
	*work = (struct host_work){.handed = bytes, .handovers = 1};
}
