/* SPDX-License-Identifier: MIT */
/* The model executor's events, marks and waits. */
#include "executor_model_internal.h"

#include "lib/base/msg.h"

#include <math.h>

/* The host learns of the end of that operation of the device. */
static bool answer(struct executor *e, int64_t done, const char *operation)
{
	struct simulated *s = model_self(e);
	const struct cost cost = {.wait = true,
	        .term[TERM_SYNC] = model_seconds(e, s->costs->sync),
	        .engine = ENGINE_HOST};

	s->host = s->device.operation[done].end;
	return model_charge(e, s->charged[s->device.operation[done].work.tag].phase, operation,
	        model_shape(0, 0), 0, cost);
}

/* Queues with new operations, one after the other, as the cuda executor does. */
static bool model_sync(struct executor *e)
{
	struct simulated *s = model_self(e);
	const double begin = s->host;
	bool good = true;

	for (int q = 0; q < QUEUE_COUNT && good; q++) {
		const int64_t last = s->device.last[q];
		if (last <= s->seen[q])
			continue;
		const double end = simulation_finish(&s->device, last);
		if (end > begin && end + model_seconds(e, s->costs->sync) > s->host)
			good = answer(e, last, "sync");
		else
			s->host += model_seconds(e, s->costs->query);
		s->seen[q] = last;
	}
	return good;
}

/* An event on an idle queue happens when the host asks for it. The profile has no cost of reading
 * the device's clock. */
static bool model_mark(struct executor *e, int64_t index)
{
	struct simulated *s = model_self(e);

	if (index >= s->mark_count) {
		s->mark_count = 2 * index + 64;
		s->mark = xrealloc(s->mark, (size_t)s->mark_count * sizeof *s->mark);
	}
	s->host += model_seconds(e, s->costs->event);
	s->mark[index] = (struct model_mark){s->host, s->device.last[e->queue]};
	return true;
}

static double mark_time(struct simulated *s, const struct model_mark *mark)
{
	return fmax(mark->host, simulation_finish(&s->device, mark->last));
}

static bool model_elapsed(struct executor *e, int64_t from, int64_t to, double *seconds)
{
	struct simulated *s = model_self(e);

	*seconds = mark_time(s, &s->mark[to]) - mark_time(s, &s->mark[from]);
	if (s->reader->model.missing)
		*seconds = NAN;
	return true;
}

/* ---- events ---- */

static bool valid(struct executor *e, int event)
{
	return (event >= 0 && event < EXECUTOR_EVENTS) ||
	       fault_set(&e->fault, "event %d is not below %d", event, EXECUTOR_EVENTS);
}

static bool model_record(struct executor *e, int event)
{
	struct simulated *s = model_self(e);

	if (!valid(e, event))
		return false;
	s->host += model_seconds(e, s->costs->event);
	s->event[event] = s->device.last[e->queue];
	return true;
}

/* Puts a join into the queue, unless the event is of the same queue. */
static bool model_wait(struct executor *e, int event)
{
	struct simulated *s = model_self(e);

	if (!valid(e, event))
		return false;
	int64_t done = s->event[event];
	if (done < 0 || s->device.operation[done].work.queue == e->queue)
		return true;
	s->host += model_seconds(e, s->costs->event);
	struct work work = {.queue = e->queue,
	        .engine = ENGINE_HOST,
	        .tag = s->device.operation[done].work.tag,
	        .issue = s->host,
	        .seconds = model_seconds(e, s->costs->stream_wait),
	        .share = 1};
	simulation_put(&s->device, work, done);
	s->queues |= 1u << e->queue;
	s->withheld &= ~(1u << e->queue); /* the next kernel follows the event */
	return true;
}

static bool model_wait_host(struct executor *e, int event)
{
	struct simulated *s = model_self(e);

	if (!valid(e, event))
		return false;
	int64_t done = s->event[event];
	if (done < 0 || !(simulation_finish(&s->device, done) > s->host)) {
		s->host += model_seconds(e, s->costs->event);
		return true;
	}
	return answer(e, done, "wait");
}

void model_add_events(struct executor_ops *ops)
{
	ops->sync = model_sync;
	ops->mark = model_mark;
	ops->elapsed = model_elapsed;
	ops->record = model_record;
	ops->wait = model_wait;
	ops->wait_host = model_wait_host;
}
