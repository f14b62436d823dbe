/* SPDX-License-Identifier: MIT */
/* The queues of the deferred executor (deferred.h): tasks, events, and the order in which tasks
 * run. */
#pragma once

#include "factor/executors/executor.h"
#include "lib/base/msg.h"
#include "lib/base/random.h"

#include <stdlib.h>
#include <string.h>

/* The arguments of a task are a copy that run frees. */
struct task {
	bool (*run)(struct executor *host, void *arguments);
	void *arguments;
	int64_t number; /* of an event: its version */
	int event;
};

struct task_queue {
	struct task *tasks;
	int64_t count, done;
};

enum { DEFERRED_OLD_STAGES = 16 };

struct deferred {
	struct executor base;
	struct executor_ops ops;
	struct executor *host;
	struct task_queue queues[QUEUE_COUNT];
	int64_t recorded[EXECUTOR_EVENTS], reached[EXECUTOR_EVENTS];
	uint64_t seed;
	bool one_call;    /* for a panel of reflectors */
	bool fixed_order; /* the first queue that can run, in a drawn order; else a drawn one */
	int order[QUEUE_COUNT];
	void *stages[EXECUTOR_STAGES], *old_stages[DEFERRED_OLD_STAGES];
	int64_t stage_bytes[EXECUTOR_STAGES];
	int old_count;
};

static inline struct deferred *deferred_self(struct executor *e)
{
	return (struct deferred *)e;
}

static inline bool defer_task(struct executor *e, struct task task)
{
	struct task_queue *q = &deferred_self(e)->queues[e->queue];

	q->tasks = xrealloc(q->tasks, (size_t)(q->count + 1) * sizeof *q->tasks);
	q->tasks[q->count++] = task;
	return true;
}

/* Calls run later with a copy of the arguments. */
static inline bool defer(struct executor *e, bool (*run)(struct executor *, void *),
        const void *arguments, size_t bytes)
{
	void *kept = xmalloc(bytes);

	memcpy(kept, arguments, bytes);
	return defer_task(e, (struct task){.run = run, .arguments = kept});
}

static inline uint64_t deferred_draw(struct deferred *d)
{
	return random_next(&d->seed) >> 33;
}

/* ---- the order ---- */

/* Events are tasks without a function: number > 0 records a version, number < 0 waits for it. */
static inline bool can_run(const struct deferred *d, int queue)
{
	const struct task_queue *q = &d->queues[queue];

	if (q->done == q->count)
		return false;
	const struct task *t = &q->tasks[q->done];
	return t->run || t->number > 0 || d->reached[t->event] >= -t->number;
}

static inline bool run_head(struct deferred *d, int queue)
{
	struct task_queue *q = &d->queues[queue];
	const struct task *t = &q->tasks[q->done++];

	if (!t->run && t->number > 0)
		d->reached[t->event] = t->number;
	return !t->run || t->run(d->host, t->arguments);
}

static inline bool run_one(struct deferred *d)
{
	int start = (int)(deferred_draw(d) % QUEUE_COUNT);

	for (int i = 0; i < QUEUE_COUNT; i++) {
		int queue = d->fixed_order ? d->order[i] : (start + i) % QUEUE_COUNT;
		if (can_run(d, queue))
			return run_head(d, queue);
	}
	return fault_set(&d->base.fault, "every queue waits for an event");
}

static inline bool deferred_sync(struct executor *e)
{
	struct deferred *d = deferred_self(e);
	bool ok = true;

	for (int i = 0; ok && i < QUEUE_COUNT; i++)
		while (ok && d->queues[i].done < d->queues[i].count)
			ok = run_one(d);
	return ok;
}

static inline bool deferred_record(struct executor *e, int event)
{
	return defer_task(
	        e, (struct task){.event = event, .number = ++deferred_self(e)->recorded[event]});
}

static inline bool deferred_wait(struct executor *e, int event)
{
	return defer_task(
	        e, (struct task){.event = event, .number = -deferred_self(e)->recorded[event]});
}

static inline bool deferred_wait_host(struct executor *e, int event)
{
	struct deferred *d = deferred_self(e);
	bool ok = true;

	while (ok && d->reached[event] < d->recorded[event])
		ok = run_one(d);
	return ok;
}
