/* SPDX-License-Identifier: MIT */
#include "timeline.h"

#include "lib/base/msg.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const char *const lane_name[LANE_COUNT] = {[LANE_HOST] = "host",
        [LANE_QUEUE + (int) QUEUE_MAIN] = "main",
        [LANE_QUEUE + (int) QUEUE_PANEL] = "panel",
        [LANE_QUEUE + (int) QUEUE_OUT] = "out",
        [LANE_QUEUE + (int) QUEUE_IN] = "in",
        [LANE_OUT] = "copy to host",
        [LANE_IN] = "copy to device",
        [LANE_LINK] = "link"};

const char timeline_queueing[] = "queueing";

struct timeline *timeline_new(const char *title)
{
	struct timeline *t = xcalloc(1, sizeof *t);

	t->title = title;
	return t;
}

void timeline_free(struct timeline *t)
{
	if (t)
		free(t->entry);
	free(t);
}

void timeline_add(struct timeline *t, const struct timeline_entry *entry)
{
	if (!(entry->end > entry->begin))
		return;
	if (t->count == t->room) {
		t->room = t->room ? 2 * t->room : 256;
		t->entry = xrealloc(t->entry, t->room * sizeof *t->entry);
	}
	t->entry[t->count++] = *entry;
	if (entry->end > t->seconds)
		t->seconds = entry->end;
}

/* ---- critical-path shares ---- */

/* Begins and ends in order of time. */
struct edge {
	double time;
	size_t entry;
	bool begin;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

static struct edge *edges_of(const struct timeline *t)
{
	struct edge *edge = xmalloc((2 * t->count + 1) * sizeof *edge);

	for (size_t i = 0; i < t->count; i++) {
		edge[2 * i] = (struct edge){t->entry[i].begin, i, true};
		edge[2 * i + 1] = (struct edge){t->entry[i].end, i, false};
	}
	qsort(edge, 2 * t->count, sizeof *edge, by_time);
	return edge;
}

/* The order of the lanes in the attribution. */
static int rank(enum lane lane)
{
	static const int order[LANE_COUNT] = {[LANE_QUEUE + (int)QUEUE_MAIN] = 0,
	        [LANE_QUEUE + (int) QUEUE_PANEL] = 1,
	        [LANE_QUEUE + (int) QUEUE_OUT] = 2,
	        [LANE_QUEUE + (int) QUEUE_IN] = 3,
	        [LANE_OUT] = 2,
	        [LANE_IN] = 3,
	        [LANE_LINK] = 1,
	        [LANE_HOST] = 4};

	return order[lane];
}

enum { RANKS = 5 };

double timeline_critical(const struct timeline *t, double *critical)
{
	struct edge *edge = edges_of(t);
	/* of each rank the entry under way: a lane runs in order, so the last to begin */
	size_t active[RANKS];
	int count[RANKS] = {0};
	double last = 0, idle = 0;

	for (size_t i = 0; i < t->count; i++)
		critical[i] = 0;
	for (size_t i = 0; i < 2 * t->count; i++) {
		int first = 0;
		while (first < RANKS && count[first] == 0)
			first++;
		if (first < RANKS)
			critical[active[first]] += edge[i].time - last;
		else
			idle += edge[i].time - last;
		last = edge[i].time;
		int r = rank(t->entry[edge[i].entry].lane);
		count[r] += edge[i].begin ? 1 : -1;
		if (edge[i].begin)
			active[r] = edge[i].entry;
	}
	free(edge);
	return idle + (t->seconds - last);
}

const char *critical_name(int critical)
{
	return critical == CRITICAL_QUEUEING ? "host"
	       : critical == CRITICAL_IDLE   ? "waiting"
	                                     : phase_name[critical];
}

struct exposure timeline_expose(const struct timeline *t)
{
	struct exposure exposure = {.critical = {0}};
	double *critical = xmalloc((t->count + 1) * sizeof *critical);

	exposure.critical[CRITICAL_IDLE] = timeline_critical(t, critical);
	for (size_t i = 0; i < t->count; i++) {
		const struct timeline_entry *e = &t->entry[i];
		bool queueing = e->operation == timeline_queueing;
		exposure.critical[queueing ? CRITICAL_QUEUEING : (int)e->phase] += critical[i];
	}
	free(critical);
	return exposure;
}

/* ---- steps ---- */

static size_t find_steps(const struct timeline *t, struct step *step, size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < t->count && count < room; i++) {
		const struct timeline_entry *e = &t->entry[i];
		if (e->operation == timeline_queueing ||
		        (count && e->block <= step[count - 1].block))
			continue;
		step[count++] =
		        (struct step){.block = e->block, .begin = e->begin, .end = t->seconds};
		if (count > 1)
			step[count - 2].end = e->begin;
	}
	return count;
}

/* The part of the timeline within a step. */
static struct exposure expose_within(const struct timeline *t, double begin, double end)
{
	struct timeline part = {.count = 0};

	for (size_t i = 0; i < t->count; i++) {
		struct timeline_entry e = t->entry[i];
		if (e.end <= begin || e.begin >= end)
			continue;
		e.begin = fmax(e.begin, begin) - begin;
		e.end = fmin(e.end, end) - begin;
		timeline_add(&part, &e);
	}
	part.seconds = end - begin;
	struct exposure exposure = timeline_expose(&part);
	free(part.entry);
	return exposure;
}

size_t timeline_steps(const struct timeline *t, struct step *step, size_t room)
{
	size_t count = find_steps(t, step, room);

	for (size_t i = 0; i < count; i++) {
		struct exposure x = expose_within(t, step[i].begin, step[i].end);
		int most = 0;
		for (int o = 1; o < CRITICAL_COUNT; o++)
			if (x.critical[o] > x.critical[most])
				most = o;
		step[i].exposure = x;
		step[i].limiter = most;
	}
	return count;
}

/* ---- table ---- */

static void print_entry(const struct timeline_entry *e, FILE *out)
{
	char shape[80] = "";

	if (e->k)
		snprintf(shape, sizeof shape, "%" PRId64 " x %" PRId64 " x %" PRId64, e->m, e->n,
		        e->k);
	else if (e->m)
		snprintf(shape, sizeof shape, "%" PRId64 " x %" PRId64, e->m, e->n);
	fprintf(out, "%10.2f %10.2f %10.2f  %-14s %-10s %-17s %s\n", e->begin * 1e6, e->end * 1e6,
	        (e->end - e->begin) * 1e6, lane_name[e->engine], phase_name[e->phase], e->operation,
	        shape);
}

static void print_entries(const struct timeline *t, size_t most, FILE *out)
{
	struct edge *edge = edges_of(t);
	size_t printed = 0;

	fprintf(out, "%10s %10s %10s  %-14s %-10s %-17s %s\n", "begin/us", "end/us", "lasts/us",
	        "lane", "phase", "operation", "shape");
	for (size_t i = 0; i < 2 * t->count; i++) {
		const struct timeline_entry *e = &t->entry[edge[i].entry];
		if (!edge[i].begin || e->operation == timeline_queueing)
			continue;
		if (printed++ < most)
			print_entry(e, out);
	}
	if (printed > most)
		fprintf(out, "... %zu more\n", printed - most);
	free(edge);
}

static void print_lanes(const struct timeline *t, FILE *out)
{
	double busy[LANE_COUNT] = {0};
	size_t entries[LANE_COUNT] = {0};

	for (size_t i = 0; i < t->count; i++) {
		busy[t->entry[i].engine] += t->entry[i].end - t->entry[i].begin;
		entries[t->entry[i].engine]++;
	}
	fprintf(out, "\n%-16s %10s %12s %8s\n", "lane", "entries", "busy/us", "busy");
	for (int l = 0; l < LANE_COUNT; l++)
		if (entries[l])
			fprintf(out, "%-16s %10zu %12.2f %7.1f%%\n", lane_name[l], entries[l],
			        busy[l] * 1e6, 100 * busy[l] / t->seconds);
}

void timeline_busy(const struct timeline *t, double busy[PHASE_COUNT])
{
	for (int p = 0; p < PHASE_COUNT; p++)
		busy[p] = 0;
	for (size_t i = 0; i < t->count; i++)
		if (t->entry[i].operation != timeline_queueing)
			busy[t->entry[i].phase] += t->entry[i].end - t->entry[i].begin;
}

static void print_phases(const struct timeline *t, FILE *out)
{
	struct exposure exposed = timeline_expose(t);
	double busy[PHASE_COUNT];

	timeline_busy(t, busy);
	fprintf(out, "\n%-16s %12s %12s %8s\n", "phase", "busy/us", "exposed/us", "exposed");
	for (int p = 0; p < PHASE_COUNT; p++)
		if (busy[p] > 0)
			fprintf(out, "%-16s %12.2f %12.2f %7.1f%%\n", phase_name[p], busy[p] * 1e6,
			        exposed.critical[p] * 1e6, 100 * exposed.critical[p] / t->seconds);
	for (int o = PHASE_COUNT; o < CRITICAL_COUNT; o++)
		fprintf(out, "%-16s %12s %12.2f %7.1f%%\n", critical_name(o), "",
		        exposed.critical[o] * 1e6, 100 * exposed.critical[o] / t->seconds);
}

void timeline_print(const struct timeline *t, size_t most, FILE *out)
{
	fprintf(out, "%s: %.2f us\n", t->title, t->seconds * 1e6);
	if (most)
		print_entries(t, most, out);
	if (t->count == 0)
		return;
	print_lanes(t, out);
	print_phases(t, out);
}
