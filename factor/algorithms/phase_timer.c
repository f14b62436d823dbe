/* SPDX-License-Identifier: MIT */
#include "phase_timer.h"

#include "lib/base/msg.h"

#include <stdlib.h>

void phase_timer_free(struct phase_timer *phase_timer)
{
	free(phase_timer->part);
	*phase_timer = (struct phase_timer){0};
}

bool phase_timer_begin(struct executor *e, struct phase_timer *phase_timer, int part)
{
	if (!phase_timer)
		return true;
	if (phase_timer->count == phase_timer->room) {
		phase_timer->room = 2 * phase_timer->room + 64;
		phase_timer->part = xrealloc(
		        phase_timer->part, (size_t)phase_timer->room * sizeof *phase_timer->part);
	}
	phase_timer->part[phase_timer->count] = part;
	return e->ops->mark(e, phase_timer->count++);
}

bool phase_timer_end(struct executor *e, const struct phase_timer *phase_timer)
{
	return !phase_timer || e->ops->mark(e, phase_timer->count);
}

bool phase_timer_read(
        struct executor *e, const struct phase_timer *phase_timer, double *seconds, int parts)
{
	bool ok = true;

	for (int p = 0; p < parts; p++)
		seconds[p] = 0;
	for (int64_t i = 0; i < phase_timer->count && ok; i++) {
		double interval;
		ok = e->ops->elapsed(e, i, i + 1, &interval);
		seconds[phase_timer->part[i]] += interval;
	}
	return ok;
}
