/* SPDX-License-Identifier: MIT */
/* The timeline of a run, simulated by the model executor or measured, as a table and as a drawing,
 * and the phase to which each moment is attributed. */
#pragma once

#include "factor/executors/executor.h"

#include <stdio.h>

enum lane {
	LANE_HOST,
	LANE_QUEUE,                               /* + enum queue */
	LANE_OUT = LANE_QUEUE + (int)QUEUE_COUNT, /* copy engine to the host */
	LANE_IN,                                  /* copy engine to the device */
	LANE_LINK,                                /* to other GPUs */
	LANE_COUNT
};
extern const char *const lane_name[LANE_COUNT];

/* An operation: the lane into which it was put, and the lane that ran it (a copy's engine, else the
 * same). Seconds since the start of the run. */
struct timeline_entry {
	enum lane lane, engine;
	enum phase phase;
	const char *operation; /* a constant: gemm, trsm ... */
	int64_t m, n, k;       /* shape, 0 where there is none */
	int64_t block;         /* of the factorization */
	double begin, end;
};

/* Entries in the order of the calls; the seconds of the whole run. */
struct timeline {
	const char *title;
	struct timeline_entry *entry;
	size_t count, room;
	double seconds;
};

/* The operation of the host's entries in which it queues others. */
extern const char timeline_queueing[];

struct timeline *timeline_new(const char *title);
void timeline_free(struct timeline *timeline);

/* An entry without length is not added. */
void timeline_add(struct timeline *timeline, const struct timeline_entry *entry);

/* Critical-path shares: every moment is attributed to one of the entries under way, in this order:
 * QUEUE_MAIN, QUEUE_PANEL, the copies, the host. A phase's share is its cost; the rest of its time
 * is hidden. critical[i] gets the seconds of entry i. Returns the seconds with no entry under way.
 */
double timeline_critical(const struct timeline *timeline, double *critical);

/* What time is attributed to: a phase; the host, which queues operations while nothing runs;
 * nothing at all. */
enum critical { CRITICAL_QUEUEING = PHASE_COUNT, CRITICAL_IDLE, CRITICAL_COUNT };
const char *critical_name(int critical);

/* The shares by phase; they sum to the whole time. */
struct exposure {
	double critical[CRITICAL_COUNT];
};
struct exposure timeline_expose(const struct timeline *timeline);

/* A step of a blocked factorization: from the begin of the first operation of a block, which is its
 * panel's, to that of the next block. The limiter has the largest share. Returns the number of
 * steps, at most `room`. */
struct step {
	int64_t block;
	double begin, end;
	struct exposure exposure;
	int limiter; /* phase or enum critical */
};
size_t timeline_steps(const struct timeline *timeline, struct step *step, size_t room);

/* Seconds of the operations of each phase, whatever runs at the same time. */
void timeline_busy(const struct timeline *timeline, double busy[PHASE_COUNT]);

/* Prints a table: a line for each entry but queueing, in order of time, at most `most`; then the
 * busy time of the lanes and the phases' exposed shares. */
void timeline_print(const struct timeline *timeline, size_t most, FILE *out);

/* Draws the timelines (SVG) below each other on one axis of time: a lane a row, a colour a phase.
 * from, to: seconds; to <= from means all, and then a second view shows steps from the middle, of
 * each timeline from their own begin. Operations shorter than 1/2000 of a view are left out. */
void timeline_draw(
        const struct timeline *const *timeline, size_t count, double from, double to, FILE *out);
