/* SPDX-License-Identifier: MIT */
/* What ran when: the timeline of a run, simulated by the model executor or measured, as a table and
 * as a drawing, and which phase each moment is owed to. */
#ifndef FATHOM_TIMELINE_H
#define FATHOM_TIMELINE_H

#include "factor/executors/executor.h"

#include <stdio.h>

enum lane {
	LANE_HOST,
	LANE_QUEUE,                          /* + enum queue */
	LANE_OUT = LANE_QUEUE + QUEUE_COUNT, /* copy engine to the host */
	LANE_IN,                             /* copy engine to the device */
	LANE_COUNT
};
extern const char *const lane_name[LANE_COUNT];

/* An operation: the lane that it was put into, and the one that did it when that is another (a
 * copy's engine), else the same. Seconds since the start of the run. */
struct timeline_entry {
	enum lane lane, engine;
	enum phase phase;
	const char *operation; /* a constant: gemm, trsm ... */
	int64_t m, n, k;       /* shape, 0 where there is none */
	int64_t block;         /* of the factorization */
	double begin, end;
};

/* In the order in which operations were asked for. seconds: the whole run. */
struct timeline {
	const char *title;
	struct timeline_entry *entry;
	size_t count, room;
	double seconds;
};

/* The operation of the host's entries while it queues others. */
extern const char timeline_queueing[];

struct timeline *timeline_new(const char *title);
void timeline_free(struct timeline *timeline);

/* An entry without length leaves no trace. */
void timeline_add(struct timeline *timeline, const struct timeline_entry *entry);

/* Every moment is owed to one entry: of those under way the one of the first of QUEUE_MAIN,
 * QUEUE_PANEL, the copies, the host. What a phase is owed is what it costs: the rest of it is
 * hidden. owed[i] gets the seconds of entry i; returns the seconds in which nothing was under way.
 */
double timeline_critical(const struct timeline *timeline, double *critical);

/* What time can be owed to: a phase; the host, which puts operations into queues while nothing
 * runs; nothing at all. */
enum critical { CRITICAL_QUEUEING = PHASE_COUNT, CRITICAL_IDLE, CRITICAL_COUNT };
const char *critical_name(int critical);

/* The same by phases; the shares sum to the whole time. */
struct exposure {
	double critical[CRITICAL_COUNT];
};
struct exposure timeline_expose(const struct timeline *timeline);

/* Steps of a blocked factorization: from the begin of the first operation that belongs to a block,
 * which is its panel's, to that of the next block's. `limiter` is what most of the step is owed to.
 * Returns how many there are, at most `room`. */
struct step {
	int64_t block;
	double begin, end;
	struct exposure exposure;
	int limiter; /* phase or enum owed */
};
size_t timeline_steps(const struct timeline *timeline, struct step *step, size_t room);

/* Seconds that operations of each phase took, whatever runs beside them. */
void timeline_busy(const struct timeline *timeline, double busy[PHASE_COUNT]);

/* Table: one line an entry but for queueing, in order of time, at most `most`; then the lanes' busy
 * time and the phases' exposed share. */
void timeline_print(const struct timeline *timeline, size_t most, FILE *out);

/* Drawing (SVG): the timelines below each other on one axis of time, a lane a row, a colour a
 * phase. from, to: seconds, to <= from means all. */
void timeline_draw(
        const struct timeline *const *timeline, size_t count, double from, double to, FILE *out);

#endif
