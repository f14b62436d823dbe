/* SPDX-License-Identifier: MIT */
#include "executor_model_internal.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool model_simplify(struct executor *e, const struct cost_model **costs)
{
	struct simulated *s = model_self(e);
	struct model *model = &s->reader->model;

	if (!model->missing || s->costs != &cost_cuda_level2)
		return false;
	memcpy(s->lacks, model->missing_name, sizeof s->lacks);
	model->missing = false;
	*costs = &cost_cuda_level1;
	return true;
}

bool model_simplified(struct executor *e, const char *operation)
{
	struct simulated *s = model_self(e);
	struct model *model = &s->reader->model;

	if (model->missing)
		memcpy(model->missing_name, s->lacks, sizeof s->lacks);
	else
		model_note_simpler(model, operation);
	return !model->missing;
}

double model_seconds(struct executor *e, double (*cost)(struct cost_reader *))
{
	const struct cost_model *costs = model_self(e)->costs;
	struct cost_reader *r = model_reader(e);
	const bool known = !r->model.missing;
	const double seconds = cost ? cost(r) : 0;

	if (!known || !model_simplify(e, &costs))
		return seconds;
	cost_scalar(r, "gpu.launch.stream"); /* level 1 rests on it */
	return model_simplified(e, "sync") ? 0 : seconds;
}

/* Seconds of the cost's terms on the queue. */
static double device_time(const struct cost *cost, bool overlap)
{
	const double total = cost_total(cost);

	if (!overlap)
		return total;
	double start = cost->term[TERM_LAUNCH] + cost->term[TERM_HOST];
	double traffic = cost->term[TERM_MEMORY];
	return total - fmin(start, traffic);
}

/* Seconds that a mark behind a kernel adds to its queue; the host's clock gets the call. A profile
 * without gpu.event.mark has no marks. */
static double put_mark(struct simulated *s)
{
	static const char name[] = "gpu.event.mark";

	if (!s->recorded || !cost_known(s->reader, name))
		return 0;
	s->host += cost_scalar(s->reader, "gpu.event.record");
	return max_double(
	        0, cost_scalar(s->reader, name) - cost_scalar(s->reader, "gpu.launch.dependent"));
}

/* The extra delay of a kernel that is launched early when no kernel of its queue lets it begin: on
 * an idle queue, behind an event of another queue or a copy, or behind a kernel that withholds. */
static double late_start(struct simulated *s, const struct cost *cost)
{
	static const char early[] = "gpu.launch.pdl";

	if (!cost->early || !cost_known(s->reader, early))
		return 0;
	return max_double(
	        0, cost_scalar(s->reader, "gpu.launch.dependent") - cost_scalar(s->reader, early));
}

static bool came_before(const struct simulated *s, const char *operation)
{
	for (size_t i = 0; i + 1 < s->count; i++)
		if (strcmp(s->charged[i].operation, operation) == 0)
			return true;
	return false;
}

/* The extra time of a run's first call of an operation on an empty queue: what it takes alone, less
 * the call until the first kernel begins, and the notice. Later calls find the kernel's code where
 * the first one has left it. */
static double alone(struct simulated *s, const char *operation, const struct cost *cost)
{
	if (cost->alone == 0 || came_before(s, operation))
		return 0;
	const double call = cost->first > 0 ? cost->first : cost->enqueue;
	return max_double(cost->alone - call - s->costs->sync(s->reader), -cost_total(cost));
}

static struct charged *remember(struct simulated *s)
{
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		s->charged = xrealloc(s->charged, s->room * sizeof *s->charged);
	}
	return &s->charged[s->count++];
}

/* Seconds on the queue. The last kernel starts once it is queued. */
static double on_queue(const struct simulated *s, const struct cost *cost)
{
	const double device = device_time(cost, s->overlap);

	return cost->first > 0 ? max_double(device, cost->enqueue - cost->first) : device;
}

/* mark: a part of c->device that uses no multiprocessor, like the start. */
static int64_t put(struct simulated *s, const struct charged *c, double asked, double mark)
{
	const struct cost *cost = &c->cost;
	enum queue queue = s->base.queue;
	struct cost late = *cost;
	struct work work = {.queue = queue,
	        .engine = cost->engine,
	        .tag = s->count - 1,
	        .issue = s->host - (cost->first > 0 ? cost->enqueue - cost->first : 0),
	        .asked = asked,
	        .start = fmin(cost->term[TERM_LAUNCH] + mark, c->device),
	        .seconds = c->device,
	        .alone = c->alone,
	        /* a copy behind copies in its direction, which the engine itself runs in turn, has
	         * no hand-over */
	        .behind = cost->behind,
	        .share = cost->share > 0 ? fmin(cost->share, 1) : 1,
	        .block_lifetime = cost->block_lifetime,
	        .exclusive = cost->exclusive,
	        .independent = cost->independent || cost->overlapped == 0,
	        .kernels = 1 + cost->further,
	        .overlapped = cost->overlapped,
	        .light = cost->light,
	        .coresident = cost->coresident};

	late.term[TERM_LAUNCH] += c->late;
	work.idle = on_queue(s, &late) + mark - work.seconds;
	work.idle_start =
	        fmin(late.term[TERM_LAUNCH] + mark, work.seconds + work.idle) - work.start;
	s->queues |= 1u << queue;
	return simulation_put(&s->device, work, -1);
}

/* The kernel ahead may not release an early one. The early one then takes its multiprocessors as
 * soon, and waits there for the end of the kernel ahead. */
static void wait_for_end(struct simulated *s, enum queue queue, struct cost *cost)
{
	const unsigned bit = 1u << queue;

	if (s->withheld & bit) {
		cost->term[TERM_BARRIER] += late_start(s, cost);
		cost->early = false;
	}
	s->withheld = cost->withheld ? s->withheld | bit : s->withheld & ~bit;
}

bool model_charge(struct executor *e, enum phase phase, const char *operation, struct matrix shape,
        int64_t k, struct cost cost)
{
	struct simulated *s = model_self(e);
	bool by_host = cost.engine == ENGINE_HOST || s->target == MODEL_HOST;
	struct charged *c = remember(s);

	if (!by_host)
		wait_for_end(s, e->queue, &cost);
	*c = (struct charged){phase, operation, shape.m, shape.n, k, e->block, e->queue, cost,
	        by_host ? device_time(&cost, s->overlap) : on_queue(s, &cost),
	        by_host ? 0 : late_start(s, &cost), by_host ? 0 : alone(s, operation, &cost),
	        {s->host, s->host}, -1};
	s->host += cost.enqueue;
	if (by_host) {
		s->host += c->device;
	} else {
		const double mark = put_mark(s);
		c->device += mark;
		c->simulated = put(s, c, c->host[0], mark);
		if (cost.wait)
			s->host = simulation_finish(&s->device, c->simulated);
	}
	c->host[1] = s->host;
	return true;
}

/* ---- critical-path shares ---- */

static double end_of(const struct simulated *s, const struct charged *c)
{
	return c->simulated < 0 ? c->host[1] : s->device.operation[c->simulated].end;
}

/* The cost with what the operation found in its queue; its seconds there. */
static struct cost met(const struct simulated *s, const struct charged *c, double *device)
{
	struct cost cost = c->cost;

	*device = c->device;
	if (c->simulated >= 0) {
		const struct operation *o = &s->device.operation[c->simulated];
		cost.term[TERM_LAUNCH] += o->found_empty ? c->alone : o->found_idle ? c->late : 0;
		cost.term[TERM_TRANSFER] += o->found_other ? cost.behind : 0;
		*device = o->work.seconds;
	}
	return cost;
}

static void critical_terms(const struct cost *cost, double seconds, struct model_result *result)
{
	double total = cost_total(cost);

	for (int t = 0; t < TERM_COUNT && total > 0; t++)
		result->term[t] += cost->term[t] / total * seconds;
}

static void account_one_queue(const struct simulated *s, struct model_result *result)
{
	double latest = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct charged *c = &s->charged[i];
		double before = max_double(c->host[0], latest);
		double end = max_double(c->host[1], end_of(s, c)),
		       added = max_double(end, before) - before;
		double device;
		const struct cost cost = met(s, c, &device);
		double exposed = fmin(added, device);
		critical_terms(&cost, exposed, result);
		result->term[TERM_HOST] += added - exposed;
		result->phase[c->phase] += added;
		latest = max_double(latest, end);
	}
}

/* Adds an operation's entries: the host's, then the device's. */
static void add_entries(
        const struct simulated *s, const struct charged *c, struct timeline *timeline)
{
	const double queued = c->host[0] + c->cost.enqueue;
	struct timeline_entry calls = {.lane = LANE_HOST,
	        .engine = LANE_HOST,
	        .phase = c->phase,
	        .operation = timeline_queueing,
	        .block = c->block,
	        .begin = c->host[0],
	        .end = queued};
	struct timeline_entry whole = {.lane = LANE_HOST,
	        .engine = LANE_HOST,
	        .phase = c->phase,
	        .operation = c->operation,
	        .m = c->m,
	        .n = c->n,
	        .k = c->k,
	        .block = c->block,
	        .begin = queued,
	        .end = c->host[1]};

	if (c->simulated >= 0) {
		const struct operation *o = &s->device.operation[c->simulated];
		whole.lane = whole.engine = (enum lane)(LANE_QUEUE + (int)c->queue);
		whole.engine = c->cost.engine == ENGINE_OUT    ? LANE_OUT
		               : c->cost.engine == ENGINE_IN   ? LANE_IN
		               : c->cost.engine == ENGINE_LINK ? LANE_LINK
		                                               : whole.lane;
		whole.begin = o->begin;
		whole.end = o->end;
	}
	timeline_add(timeline, &calls);
	timeline_add(timeline, &whole);
}

/* All entries. owner[i]: the operation of entry i, unless NULL. */
static void fill(struct simulated *s, struct timeline *timeline, size_t *owner)
{
	for (int q = 0; q < QUEUE_COUNT; q++)
		simulation_finish(&s->device, s->device.last[q]);
	for (size_t i = 0; i < s->count; i++) {
		const size_t before = timeline->count;
		add_entries(s, &s->charged[i], timeline);
		for (size_t k = before; owner && k < timeline->count; k++)
			owner[k] = i;
	}
}

struct timeline *executor_model_timeline(struct executor *e, const char *title)
{
	struct timeline *timeline = timeline_new(title);

	fill(model_self(e), timeline, NULL);
	return timeline;
}

static void account_queues(struct simulated *s, struct model_result *result)
{
	struct timeline timeline = {.count = 0};
	size_t *owner = xmalloc((2 * s->count + 1) * sizeof *owner);

	fill(s, &timeline, owner);
	timeline.seconds = s->host;
	double *critical = xmalloc((timeline.count + 1) * sizeof *critical);
	double idle = timeline_critical(&timeline, critical);
	for (size_t i = 0; i < timeline.count; i++) {
		const struct charged *c = &s->charged[owner[i]];
		double device;
		const struct cost cost = met(s, c, &device);
		result->phase[c->phase] += critical[i];
		if (timeline.entry[i].operation == timeline_queueing)
			result->term[TERM_HOST] += critical[i];
		else
			critical_terms(&cost, critical[i], result);
	}
	result->term[TERM_SYNC] += idle;
	if (s->count)
		result->phase[s->charged[s->count - 1].phase] += idle;
	free(critical);
	free(owner);
	free(timeline.entry);
}

void model_account(struct simulated *s, struct model_result *result)
{
	if ((s->queues & (s->queues - 1)) == 0)
		account_one_queue(s, result);
	else
		account_queues(s, result);
}

struct fault executor_model_fault(struct executor *executor)
{
	const struct model *model = &executor_model_reader(executor)->model;
	struct fault fault = executor->fault;

	if (model->missing)
		fault_set(&fault, "the profile has no %s: run fathom probe", model->missing_name);
	return fault;
}
