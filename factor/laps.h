/* SPDX-License-Identifier: MIT */
/* Which part of an algorithm ran from every mark of the executor (0, 1, ...) to the next one. */
#ifndef FATHOM_LAPS_H
#define FATHOM_LAPS_H

#include "executor.h"

/* The last mark is the end. Zeros are empty. */
struct laps {
	int64_t count, room;
	int *part;
};
void laps_free(struct laps *);

/* The part begins, what ran before ends; NULL: nothing. */
bool laps_begin(struct executor *, struct laps *, int part);
bool laps_end(struct executor *, const struct laps *);

/* Seconds of each part; they sum up to the time from the first to the last mark. */
bool laps_read(struct executor *, const struct laps *, double *seconds, int parts);

#endif
