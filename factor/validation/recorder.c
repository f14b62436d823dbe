/* SPDX-License-Identifier: MIT */
#include "recorder_internal.h"

#include "lib/host/clock.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

/* ---- calls ---- */

struct executor *recorder_call(struct executor *e)
{
	struct recorder *r = recorder_self(e);

	r->inner->queue = e->queue;
	r->inner->shares = e->shares;
	r->inner->block = e->block;
	r->inner->blas_only = e->blas_only;
	r->inner->gram_double = e->gram_double;
	r->inner->skip = e->skip;
	r->called = clock_now();
	return r->inner;
}

static bool fail(struct recorder *r)
{
	r->base.fault = r->inner->fault;
	return false;
}

static void remember(struct recorder *r, struct noted what)
{
	if (r->count == r->room) {
		r->room = r->room ? 2 * r->room : 1024;
		r->noted = xrealloc(r->noted, r->room * sizeof *r->noted);
	}
	r->noted[r->count++] = what;
}

int64_t recorder_all(struct executor *e)
{
	struct recorder *r = recorder_self(e);
	int64_t all = -1;

	for (int q = 0; q < QUEUE_COUNT; q++) {
		struct noted join = {.kind = NOTED_JOIN, .before = all, .after = r->last[q]};
		if (r->last[q] < 0)
			continue;
		all = (int64_t)r->count;
		remember(r, join);
	}
	return all;
}

enum phase recorder_phase(const struct recorder *r, int64_t noted)
{
	while (noted >= 0 && r->noted[noted].kind == NOTED_JOIN)
		noted = r->noted[noted].after >= 0 ? r->noted[noted].after : r->noted[noted].before;
	return noted < 0 ? PHASE_FETCH : r->noted[noted].phase;
}

bool recorder_note(struct executor *e, bool ok, struct noted what)
{
	struct recorder *r = recorder_self(e);

	what.call[0] = r->called;
	what.call[1] = r->called = clock_now(); /* notes without a call of their own start here */
	what.queue = e->queue;
	what.block = e->block;
	if (!ok)
		return fail(r);
	what.before = -1;
	if (what.kind != NOTED_HOST) {
		what.before = r->last[e->queue];
		r->last[e->queue] = (int64_t)r->count;
	}
	/* The host executor's operations are done on return. */
	if (what.kind == NOTED_QUEUED && r->inner->on_host)
		what.kind = NOTED_WAITED;
	if (what.kind == NOTED_QUEUED) {
		what.mark = r->marks++;
		if (!r->inner->ops->mark(r->inner, what.mark))
			return fail(r);
	}
	remember(r, what);
	return true;
}

/* ---- the start ---- */

static bool align(struct recorder *r)
{
	struct executor *inner = r->inner;

	inner->queue = QUEUE_MAIN;
	for (int64_t i = 0; i < RECORDER_ALIGNMENTS; i++) {
		r->aligned[i][0] = clock_now();
		if (!inner->ops->mark(inner, i) || !inner->ops->sync(inner))
			return fail(r);
		r->aligned[i][1] = clock_now();
	}
	r->marks = RECORDER_ALIGNMENTS;
	return true;
}

bool recorder_start(struct executor *e)
{
	struct recorder *r = recorder_self(e);

	r->count = 0;
	for (int q = 0; q < QUEUE_COUNT; q++)
		r->last[q] = -1;
	for (int i = 0; i < EXECUTOR_EVENTS; i++)
		r->event[i] = -1;
	if (!r->inner->ops->sync(r->inner))
		return fail(r);
	bool ok = align(r);
	r->start = clock_now();
	return ok;
}

/* ---- the end ---- */

/* Mark 0 lies between the readings around every alignment, moved by the time between the marks. */
static bool find_offset(struct recorder *r)
{
	double low = -INFINITY, high = INFINITY, since;

	for (int64_t i = 0; i < RECORDER_ALIGNMENTS; i++) {
		if (!r->inner->ops->elapsed(r->inner, 0, i, &since))
			return fail(r);
		low = fmax(low, r->aligned[i][0] - since);
		high = fmin(high, r->aligned[i][1] - since);
	}
	r->offset = (low + high) / 2;
	r->uncertainty = fabs(high - low) / 2;
	return true;
}

double recorder_uncertainty(const struct executor *e)
{
	return ((const struct recorder *)e)->uncertainty;
}

static double end_of(const struct recorder *r, int64_t noted)
{
	return noted < 0 ? r->start : r->noted[noted].end;
}

static bool place(struct recorder *r, struct noted *o)
{
	double ready = fmax(end_of(r, o->before), end_of(r, o->after)), since;

	switch (o->kind) {
	case NOTED_JOIN:
		o->begin = o->end = ready;
		return true;
	case NOTED_WAITED: /* in its queue, though the clocks may differ a little */
		o->end = fmax(o->call[1], ready);
		o->begin = fmax(o->call[0], ready);
		return true;
	case NOTED_HOST:
		o->end = o->call[1];
		o->begin = fmin(fmax(o->call[0], ready), o->end);
		return true;
	default:
		break;
	}
	if (!r->inner->ops->elapsed(r->inner, 0, o->mark, &since))
		return fail(r);
	/* A queue is in order, for any resolution of a mark. */
	o->end = fmax(r->offset + since, ready);
	o->begin = fmin(fmax(ready, o->call[1]), o->end);
	return true;
}

static void add_entries(const struct recorder *r, const struct noted *o, struct timeline *t)
{
	struct timeline_entry entry = {.lane = LANE_HOST,
	        .engine = LANE_HOST,
	        .phase = o->phase,
	        .operation = timeline_queueing,
	        .block = o->block,
	        .begin = o->call[0] - r->start,
	        .end = o->call[1] - r->start};

	if (o->kind == NOTED_JOIN)
		return;
	if (o->kind == NOTED_QUEUED)
		timeline_add(t, &entry);
	if (o->kind != NOTED_HOST) {
		entry.lane = entry.engine = (enum lane)(LANE_QUEUE + (int)o->queue);
		if (o->engine != LANE_HOST)
			entry.engine = o->engine;
	}
	entry.operation = o->operation;
	entry.m = o->m;
	entry.n = o->n;
	entry.k = o->k;
	entry.begin = o->begin - r->start;
	entry.end = o->end - r->start;
	timeline_add(t, &entry);
}

struct timeline *recorder_timeline(struct executor *e, const char *title)
{
	struct recorder *r = recorder_self(e);
	bool ok = find_offset(r);

	for (size_t i = 0; ok && i < r->count; i++)
		ok = place(r, &r->noted[i]);
	if (!ok)
		return NULL;
	struct timeline *t = timeline_new(title);
	for (size_t i = 0; i < r->count; i++)
		add_entries(r, &r->noted[i], t);
	return t;
}

/* ---- constructor ---- */

static void recorder_destroy(struct executor *e)
{
	free(recorder_self(e)->noted);
	free(e);
}

struct executor *recorder_new(struct executor *inner)
{
	struct recorder *r = xcalloc(1, sizeof *r);

	r->ops.destroy = recorder_destroy;
	recorder_add_operations(&r->ops);
	r->inner = inner;
	r->base = *inner;
	r->base.ops = &r->ops;
	r->base.fault.text[0] = '\0';
	r->base.queue = QUEUE_MAIN;
	r->base.block = 0;
	r->base.skip = 0;
	return &r->base;
}
