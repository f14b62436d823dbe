/* SPDX-License-Identifier: MIT */
/* Which part of an algorithm ran from every mark of the executor (0, 1, ...) to the next one. */
#ifndef FATHOM_PHASE_TIMER_H
#define FATHOM_PHASE_TIMER_H

#include "factor/executors/executor.h"

/* The last mark is the end. Zeros are empty. */
struct phase_timer {
	int64_t count, room;
	int *part;
};
void phase_timer_free(struct phase_timer *);

/* The part begins, what ran before ends; NULL: nothing. */
bool phase_timer_begin(struct executor *, struct phase_timer *, int part);
bool phase_timer_end(struct executor *, const struct phase_timer *);

/* Seconds of each part; they sum up to the time from the first to the last mark. */
bool phase_timer_read(struct executor *, const struct phase_timer *, double *seconds, int parts);

#endif
