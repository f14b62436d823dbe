/* SPDX-License-Identifier: MIT */
#include "repeats.h"

#include "lib/base/msg.h"

#include <stdlib.h>
#include <string.h>

static bool is_at(const struct repeated_point *point, const char *series, const struct arg *args,
        size_t arg_count)
{
	if (strcmp(point->series, series) != 0 || point->arg_count != arg_count)
		return false;
	for (size_t i = 0; i < arg_count; i++)
		if (point->args[i].value != args[i].value)
			return false;
	return true;
}

static struct repeated_point *find(
        const struct repeats *repeats, const char *series, const struct arg *args, size_t arg_count)
{
	for (size_t i = 0; i < repeats->count; i++)
		if (is_at(&repeats->point[i], series, args, arg_count))
			return &repeats->point[i];
	return NULL;
}

bool repeats_has(
        const struct repeats *repeats, const char *series, const struct arg *args, size_t arg_count)
{
	return find(repeats, series, args, arg_count) != NULL;
}

void repeats_add(struct repeats *repeats, const char *series, const struct arg *args,
        size_t arg_count, const struct measurement *measurement)
{
	struct repeated_point *point = find(repeats, series, args, arg_count);

	if (!point) {
		repeats->point =
		        xrealloc(repeats->point, (repeats->count + 1) * sizeof *repeats->point);
		point = &repeats->point[repeats->count++];
		*point = (struct repeated_point){.series = series, .arg_count = arg_count};
		memcpy(point->args, args, arg_count * sizeof *args);
	}
	point->repeat = xrealloc(point->repeat, (point->repeats + 1) * sizeof *point->repeat);
	point->repeat[point->repeats++] = *measurement;
}

/* Measurements without samples are last. */
static int quickest_first(const void *a, const void *b)
{
	const struct estimate *x = &((const struct measurement *)a)->seconds,
	                      *y = &((const struct measurement *)b)->seconds;

	if (x->samples == 0 || y->samples == 0)
		return (x->samples == 0) - (y->samples == 0);
	return (x->value > y->value) - (x->value < y->value);
}

/* The median measurement of a point. */
static struct measurement middle(const struct repeated_point *point)
{
	size_t good = 0, lost = 0;

	qsort(point->repeat, point->repeats, sizeof *point->repeat, quickest_first);
	while (good < point->repeats && point->repeat[good].seconds.samples > 0)
		good++;
	if (good == 0)
		return point->repeat[0];
	const size_t first = (good - 1) / 2, second = good / 2;
	struct measurement m = first == second
	                               ? point->repeat[first]
	                               : sample_merge(point->repeat[first], point->repeat[second]);
	for (size_t i = 0; i < good; i++)
		if (i != first && i != second)
			lost += point->repeat[i].seconds.samples + point->repeat[i].discarded;
	/* Disturbed, so that they do not make the point busy (struct point). */
	m.discarded += lost;
	m.disturbed += lost;
	return m;
}

void repeats_record(struct repeats *repeats, struct probe_run *run)
{
	for (size_t i = 0; i < repeats->count; i++) {
		struct repeated_point *point = &repeats->point[i];
		const struct measurement m = middle(point);
		probe_record(run, point->series, point->args, point->arg_count, &m);
		free(point->repeat);
	}
	free(repeats->point);
	*repeats = (struct repeats){0};
}
