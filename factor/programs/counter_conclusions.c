/* SPDX-License-Identifier: MIT */
#include "counter_conclusions.h"

#include <math.h>

enum { SECTOR = 32, UNDER_WAY = 64 /* bytes of a thread */ };

/* DRAM moves two sectors at once. Where it reads more than L2 was asked for, the kernel asked for
 * single sectors, and as many bytes came beside them in vain. */
static void find_alone(struct kernel_work *w, double asked)
{
	const double vain = fmin(asked, w->dram.read - asked);

	if (!(asked > 0) || vain <= 0)
		return;
	w->dram.read = asked;
	w->pattern = PATTERN_RANDOM;
	w->step = SECTOR;
	w->patterned = vain / (asked + w->dram.written);
}

/* Of what a kernel writes, L2 keeps a part at its end. If L2 cannot keep all, that part goes to
 * DRAM during the next kernel, as this kernel had to move the one's before it. */
static void add_kept(struct kernel_work *w, double written, double l2_size)
{
	if (written > l2_size)
		w->dram.written = fmax(w->dram.written, fmin(written, w->dram.written + l2_size));
}

/* A thread has no more under way than it reads in all, and waits for the rest in turn. Threads that
 * share memory wait for each other: their block computes after the first of its loads has come. */
static void find_waits(struct kernel_work *w, double asked)
{
	const double threads = w->blocks * w->threads, waits = fmax(1, asked / threads / UNDER_WAY),
	             of_dram = fmin(waits, fmax(1, w->dram.read / threads / UNDER_WAY));

	if (!(asked > 0))
		return;
	w->in_flight = fmin(UNDER_WAY, asked / threads);
	w->link[LINK_DRAM] = w->dram.read > 0 ? of_dram : 0;
	w->link[LINK_L2] = waits - w->link[LINK_DRAM];
	w->apart = w->shared > 0 && w->wavefronts > 0 ? 1 / waits : 0;
}

void counter_conclusions(struct kernel_work *w, struct work_bytes asked, double l2_size)
{
	find_alone(w, asked.read);
	add_kept(w, asked.written, l2_size);
	find_waits(w, asked.read);
}
