/* SPDX-License-Identifier: MIT */
#include "laps.h"

#include "../lib/msg.h"

#include <stdlib.h>

void laps_free(struct laps *laps)
{
	free(laps->part);
	*laps = (struct laps){0};
}

bool laps_begin(struct executor *e, struct laps *laps, int part)
{
	if (!laps)
		return true;
	if (laps->count == laps->room) {
		laps->room = 2 * laps->room + 64;
		laps->part = xrealloc(laps->part, (size_t)laps->room * sizeof *laps->part);
	}
	laps->part[laps->count] = part;
	return e->ops->mark(e, laps->count++);
}

bool laps_end(struct executor *e, const struct laps *laps)
{
	return !laps || e->ops->mark(e, laps->count);
}

bool laps_read(struct executor *e, const struct laps *laps, double *seconds, int parts)
{
	bool ok = true;

	for (int p = 0; p < parts; p++)
		seconds[p] = 0;
	for (int64_t i = 0; i < laps->count && ok; i++) {
		double lap;
		ok = e->ops->elapsed(e, i, i + 1, &lap);
		seconds[laps->part[i]] += lap;
	}
	return ok;
}
