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
	struct visited *before = find(visits, series, args, arg_count);

	if (before) {
		before->measurement = sample_merge(before->measurement, *measurement);
		return;
	}
	visits->point = xrealloc(visits->point, (visits->count + 1) * sizeof *visits->point);
	struct visited *fresh = &visits->point[visits->count++];
	*fresh = (struct visited){
	        .series = series, .arg_count = arg_count, .measurement = *measurement};
	memcpy(fresh->args, args, arg_count * sizeof *args);
}

void visits_record(struct visits *visits, struct probe_run *run)
{
	for (size_t i = 0; i < visits->count; i++) {
		const struct visited *point = &visits->point[i];
		probe_record(
		        run, point->series, point->args, point->arg_count, &point->measurement);
	}
	free(visits->point);
	*visits = (struct visits){0};
}
