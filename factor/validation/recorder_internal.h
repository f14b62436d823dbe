/* SPDX-License-Identifier: MIT */
/* Inside of the recorder: its notes of calls, and the common part of its operations. */
#pragma once

#include "recorder.h"

enum { RECORDER_ALIGNMENTS = 8 };

/* How a call ends. */
enum noted_kind {
	NOTED_QUEUED, /* put into a queue, done at a mark */
	NOTED_WAITED, /* put into a queue, done when the call returns */
	NOTED_HOST,   /* done by the host during the call, after a wait */
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
	int64_t before, after; /* notes that end first: in the queue, of an event; -1 none */
	int64_t mark;
	double begin, end; /* filled by recorder_timeline */
};

struct recorder {
	struct executor base;
	struct executor_ops ops;
	struct executor *inner;
	struct noted *noted;
	size_t count, room;
	int64_t marks;
	int64_t last[QUEUE_COUNT];      /* latest noted of the queue, -1 none */
	int64_t event[EXECUTOR_EVENTS]; /* the note that ends with it, -1 none */
	double start, called;           /* host's clock: of the run, of the call under way */
	double aligned[RECORDER_ALIGNMENTS][2];
	double offset, uncertainty; /* host's clock at mark 0 */
};

static inline struct recorder *recorder_self(struct executor *e)
{
	return (struct recorder *)e;
}

/* Before the inner executor's call; returns the inner executor. */
struct executor *recorder_call(struct executor *e);

/* After the call, with its result: the note has the model's shape and k, and `after`; the rest is
 * filled here. False with the fault when the call, or its mark, failed. */
bool recorder_note(struct executor *e, bool ok, struct noted what);

/* A note that ends when all queues are empty; the phase of a wait for a note. */
int64_t recorder_all(struct executor *e);
enum phase recorder_phase(const struct recorder *r, int64_t noted);

/* The operations, into ops (recorder_operations.c). */
void recorder_add_operations(struct executor_ops *ops);
