/* SPDX-License-Identifier: MIT */
#include "simulation_internal.h"

#include "lib/base/msg.h"

#include <stdlib.h>

void simulation_start(struct simulation *s)
{
	s->count = 0;
	s->now = 0;
	for (int q = 0; q < QUEUE_COUNT; q++)
		s->first[q] = s->last[q] = -1;
}

void simulation_free(struct simulation *s)
{
	free(s->operation);
}

int64_t simulation_put(struct simulation *s, struct work work, int64_t after)
{
	int64_t number = s->count, before = s->last[work.queue];

	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		s->operation = xrealloc(s->operation, (size_t)s->room * sizeof *s->operation);
	}
	s->operation[number] = (struct operation){.work = work,
	        .before = before,
	        .after = after,
	        .next = -1,
	        .begin = NAN,
	        .end = NAN};
	if (before >= 0)
		s->operation[before].next = number;
	if (s->first[work.queue] < 0)
		s->first[work.queue] = number;
	s->last[work.queue] = number;
	s->count++;
	return number;
}

/* The time at which the first operation of a queue can begin; infinite while it waits for another
 * operation. */
static double ready(const struct simulation *s, const struct operation *o)
{
	double time = o->work.issue;

	if (o->before >= 0)
		time = max_double(time, s->operation[o->before].end);
	if (o->after >= 0) {
		double end = s->operation[o->after].end;
		if (isnan(end))
			return INFINITY;
		time = max_double(time, end);
	}
	if (o->work.engine != ENGINE_OUT && o->work.engine != ENGINE_IN)
		return time;
	for (int q = 0; q < QUEUE_COUNT; q++)
		if (under_way(head(s, q)) && head(s, q)->work.engine == o->work.engine)
			return INFINITY; /* the engine is taken: asked again when it is free */
	return time;
}

/* ---- the clock ---- */

static int running(const struct simulation *s)
{
	int count = 0;

	for (int q = 0; q < QUEUE_COUNT; q++)
		count += under_way(head(s, q));
	return count;
}

/* The time of the next change: an operation begins, ends, has started, or is no longer held. An
 * operation that runs alone has no changes between. */
static double next_change(const struct simulation *s)
{
	bool alone = running(s) < 2;
	double next = INFINITY;

	for (int q = 0; q < QUEUE_COUNT; q++) {
		const struct operation *o = head(s, q);
		if (!o)
			continue;
		if (!under_way(o)) {
			next = fmin(next, max_double(s->now, ready(s, o)));
			continue;
		}
		double started = o->begin + o->work.start;
		if (o->rate > 0)
			next = fmin(next, o->since + o->left / o->rate);
		if (!alone && o->work.engine == ENGINE_KERNELS && started > s->now)
			next = fmin(next, started);
		if (o->held > s->now)
			next = fmin(next, o->held);
	}
	return next;
}

static void complete(struct simulation *s, int queue)
{
	struct operation *o = head(s, queue);

	o->end = s->now;
	s->first[queue] = o->next;
}

/* Ends the operations that are done by now. */
static void end_done(struct simulation *s)
{
	for (int q = 0; q < QUEUE_COUNT; q++) {
		struct operation *o = head(s, q);
		if (!under_way(o))
			continue;
		if (o->rate > 0 && o->since + o->left / o->rate <= s->now)
			complete(s, q);
	}
}

/* What the host found in the operation's queue makes it longer. */
static void look_back(const struct simulation *s, struct operation *o)
{
	const struct operation *before = o->before < 0 ? NULL : &s->operation[o->before];
	struct work *w = &o->work;
	const bool busy = before && before->end > w->asked;

	o->found_idle = !busy || before->work.engine != ENGINE_KERNELS;
	o->found_other = busy && before->work.engine != w->engine;
	o->found_empty = w->alone != 0 && !(before && before->end > w->issue);
	if (o->found_empty) {
		o->found_idle = false;
		w->seconds += w->alone;
		w->start = fmin(w->start + max_double(0, w->alone), w->seconds);
	} else if (o->found_idle) {
		w->start += w->idle_start;
		w->seconds += w->idle;
	}
	if (o->found_other)
		w->seconds += w->behind;
}

static void begin_ready(struct simulation *s)
{
	bool again = true;

	while (again) { /* after an operation without length the next one begins at once */
		again = false;
		for (int q = 0; q < QUEUE_COUNT; q++) {
			struct operation *o = head(s, q);
			if (!o || under_way(o) || ready(s, o) > s->now)
				continue;
			o->begin = o->since = s->now;
			look_back(s, o);
			o->left = o->work.seconds;
			o->rate = 1;
			if (o->left <= 0) {
				complete(s, q);
				again = true;
			}
		}
	}
}

/* Sets the new speeds; where a speed changes, the work done at the old one is subtracted. */
static void share_out(struct simulation *s)
{
	for (int q = 0; q < QUEUE_COUNT; q++) {
		struct operation *o = head(s, q);
		if (under_way(o) && urgent(o) && o->begin + o->work.start == s->now)
			simulation_hold(s, o);
	}
	for (int q = 0; q < QUEUE_COUNT; q++) {
		struct operation *o = head(s, q);
		if (!under_way(o))
			continue;
		double rate = simulation_rate(s, o);
		if (rate == o->rate)
			continue;
		o->left = left_now(s, o);
		o->since = s->now;
		o->rate = rate;
	}
}

static void move(struct simulation *s, double time)
{
	s->now = time;
	end_done(s);
	begin_ready(s);
	share_out(s);
}

double simulation_finish(struct simulation *s, int64_t number)
{
	if (number < 0)
		return 0;
	while (isnan(s->operation[number].end)) {
		double next = next_change(s);
		if (!isfinite(next)) /* a cost is missing */
			return NAN;
		move(s, next);
	}
	return s->operation[number].end;
}

double simulation_reach(struct simulation *s, int64_t number)
{
	while (isnan(s->operation[number].begin)) {
		double next = next_change(s);
		if (!isfinite(next))
			return NAN;
		move(s, next);
	}
	return s->operation[number].begin;
}

void simulation_end(struct simulation *s, int64_t number, double end)
{
	struct operation *o = &s->operation[number];

	o->work.seconds = o->left = end - o->begin;
}
