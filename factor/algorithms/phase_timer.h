/* SPDX-License-Identifier: MIT */
/* A phase timer: section i runs from mark i of the executor to mark i + 1 and belongs to part[i].
 */
#pragma once

#include "factor/executors/executor.h"

/* The last mark is the end. Zeros are empty. */
struct phase_timer {
	int64_t count, room;
	int *part;
};
void phase_timer_free(struct phase_timer *);

/* Begins a section of the part and ends the one before; NULL: nothing is timed. */
bool phase_timer_begin(struct executor *, struct phase_timer *, int part);
bool phase_timer_end(struct executor *, const struct phase_timer *);

/* Seconds of each part; their sum is the time from the first to the last mark. */
bool phase_timer_read(struct executor *, const struct phase_timer *, double *seconds, int parts);
