/* SPDX-License-Identifier: MIT */
/* The inside of the recorder: what is noted of each call, and the wrappers' common part. */
#ifndef FATHOM_RECORDER_INTERNAL_H
#define FATHOM_RECORDER_INTERNAL_H

#include "recorder.h"

enum { RECORDER_ALIGNMENTS = 8 };

/* How a call ends. */
enum noted_kind {
	NOTED_QUEUED, /* put into a queue, done at a mark */
	NOTED_WAITED, /* put into a queue, done when the call returns */
	NOTED_HOST,   /* done by the host during the call, after what it waits for */
	NOTED_JOIN    /* the queue waits for an event: nothing of its own */
};

struct noted {
	enum noted_kind kind;
	enum phase phase;
	const char *operation;
	int64_t m, n, k, block;
	enum queue queue;
	enum lane engine;      /* LANE_HOST: the queue's own */
	double call[2];        /* the host's clock before and after */
	int64_t before, after; /* noted ones that end first: of the queue, of an event; -1 none */
	int64_t mark;
	double begin, end; /* known in the end */
};

struct recorder {
	struct executor base;
	struct executor_ops ops;
	struct executor *inner;
	struct noted *noted;
	size_t count, room;
	int64_t marks;
	int64_t last[QUEUE_COUNT];      /* latest noted of the queue, -1 none */
	int64_t event[EXECUTOR_EVENTS]; /* noted that it is the end of, -1 none */
	double start, called;           /* host's clock: of the run, of the call under way */
	double aligned[RECORDER_ALIGNMENTS][2];
	double offset, uncertainty; /* host's clock at mark 0 */
};

static inline struct recorder *recorder_self(struct executor *e)
{
	return (struct recorder *)e;
}

/* Ahead of the inner executor's call, which it returns. */
struct executor *recorder_call(struct executor *e);

/* After it, with what it returned: what the call was, with the shape and k that the model gives it,
 * and `after`; the rest is known here. False with the fault when the call, or its mark, failed. */
bool recorder_note(struct executor *e, bool ok, struct noted what);

/* A noted one that ends when all queues are empty; the phase that waiting for one belongs to. */
int64_t recorder_all(struct executor *e);
enum phase recorder_phase(const struct recorder *r, int64_t noted);

/* The operations, into ops (recorder_operations.c). */
void recorder_add_operations(struct executor_ops *ops);

#endif
