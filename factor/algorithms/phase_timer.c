/* SPDX-License-Identifier: MIT */
#include "phase_timer.h"

#include "lib/base/msg.h"

#include <stdlib.h>

void phase_timer_free(struct phase_timer *t)
{
	free(t->part);
	*t = (struct phase_timer){0};
}

bool phase_timer_begin(struct executor *e, struct phase_timer *t, int part)
{
	if (!t)
		return true;
	if (t->count == t->room) {
		t->room = 2 * t->room + 64;
		t->part = xrealloc(t->part, (size_t)t->room * sizeof *t->part);
	}
	t->part[t->count] = part;
	return e->ops->mark(e, t->count++);
}

bool phase_timer_end(struct executor *e, const struct phase_timer *t)
{
	return !t || e->ops->mark(e, t->count);
}

bool phase_timer_read(struct executor *e, const struct phase_timer *t, double *seconds, int parts)
{
	bool ok = true;

	for (int p = 0; p < parts; p++)
		seconds[p] = 0;
	for (int64_t i = 0; i < t->count && ok; i++) {
		double interval;
		ok = e->ops->elapsed(e, i, i + 1, &interval);
		seconds[t->part[i]] += interval;
	}
	return ok;
}
