/* SPDX-License-Identifier: MIT */
#include "base.h"
#include "visits.h"

#include "msg.h"

#include <stdlib.h>
#include <string.h>

static bool is_at(
        const struct visited *point, const char *series, const struct arg *args, size_t arg_count)
{
	if (strcmp(point->series, series) != 0 || point->arg_count != arg_count)
		return false;
	for (size_t i = 0; i < arg_count; i++)
		if (point->args[i].value != args[i].value)
			return false;
	return true;
}

static struct visited *find(
        const struct visits *visits, const char *series, const struct arg *args, size_t arg_count)
{
	for (size_t i = 0; i < visits->count; i++)
		if (is_at(&visits->point[i], series, args, arg_count))
			return &visits->point[i];
	return NULL;
}

bool visits_has(
        const struct visits *visits, const char *series, const struct arg *args, size_t arg_count)
{
	return find(visits, series, args, arg_count) != NULL;
}

void visits_add(struct visits *visits, const char *series, const struct arg *args, size_t arg_count,
        const struct measurement *measurement)
{
	struct visited *point = find(visits, series, args, arg_count);

	if (!point) {
		visits->point =
		        xrealloc(visits->point, (visits->count + 1) * sizeof *visits->point);
		point = &visits->point[visits->count++];
		*point = (struct visited){.series = series, .arg_count = arg_count};
		memcpy(point->args, args, arg_count * sizeof *args);
	}
	point->visit = xrealloc(point->visit, (point->visits + 1) * sizeof *point->visit);
	point->visit[point->visits++] = *measurement;
}

/* Those without samples are last. */
static int quickest_first(const void *a, const void *b)
{
	const struct estimate *x = &((const struct measurement *)a)->seconds,
	                      *y = &((const struct measurement *)b)->seconds;

	if (x->samples == 0 || y->samples == 0)
		return (x->samples == 0) - (y->samples == 0);
	return (x->value > y->value) - (x->value < y->value);
}

/* What a point's visits make together: of several those in the middle. */
static struct measurement middle(const struct visited *point)
{
	size_t good = 0, lost = 0;

	qsort(point->visit, point->visits, sizeof *point->visit, quickest_first);
	while (good < point->visits && point->visit[good].seconds.samples > 0)
		good++;
	if (good == 0)
		return point->visit[0];
	const size_t first = (good - 1) / 2, second = good / 2;
	struct measurement m = first == second
	                               ? point->visit[first]
	                               : sample_merge(point->visit[first], point->visit[second]);
	for (size_t i = 0; i < good; i++)
		if (i != first && i != second)
			lost += point->visit[i].seconds.samples + point->visit[i].discarded;
	/* not for the device's sake, as those of a point are that others use */
	m.discarded += lost;
	m.disturbed += lost;
	return m;
}

void visits_record(struct visits *visits, struct probe_run *run)
{
	for (size_t i = 0; i < visits->count; i++) {
		struct visited *point = &visits->point[i];
		const struct measurement m = middle(point);
		probe_record(run, point->series, point->args, point->arg_count, &m);
		free(point->visit);
	}
	free(visits->point);
	*visits = (struct visits){0};
}
