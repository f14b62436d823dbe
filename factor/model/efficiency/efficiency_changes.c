/* SPDX-License-Identifier: MIT */
/* What-ifs: timings follow the hardware, at the same efficiency. */
#include "efficiency_internal.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that move with the hardware: surfaces, and curves of the probe's streams. */
static bool follows_hardware(const struct parameter *row)
{
	return efficiency_has(row) ||
	       (fnmatch("gpu.*.time", row->name, 0) == 0 && profile_row_usable(row));
}

/* Body times factor, for the value and both ends. */
static void scale_body(struct parameter *row, double start, double factor)
{
	struct estimate *e = &row->estimate;

	e->value = start + factor * (e->value - start);
	e->low = start + factor * fmax(0, e->low - start);
	e->high = start + factor * (e->high - start);
}

/* Moves the surfaces, but those whose names match the pattern. */
static void follow(struct profile *profile, const struct profile *before, const char *pattern)
{
	const uint64_t bit = (uint64_t)1 << (profile->changes - 1);
	struct efficiency_reader *now = efficiency_reader_new(profile),
	                         *then = efficiency_reader_new(before);

	for (size_t i = 0; i < profile->count; i++) {
		struct parameter *row = &profile->row[i];
		if (!follows_hardware(row) || fnmatch(pattern, row->name, 0) == 0)
			continue;
		const struct efficiency e = efficiency_of(now, row);
		const double factor = e.hardware / efficiency_seconds(then, row);
		if (isnan(factor) || factor == 1)
			continue;
		scale_body(row, e.start, factor);
		row->changed |= bit;
	}
	efficiency_reader_free(now);
	efficiency_reader_free(then);
}

typedef bool (*change)(struct profile *, const char *assignment, struct fault *);

/* length: of the pattern of names that the assignment begins with. */
static bool change_and_follow(struct profile *profile, change how, const char *assignment,
        size_t length, struct fault *fault)
{
	struct profile *before = profile_copy(profile);
	const bool ok = how(profile, assignment, fault);
	char *pattern = xstrdup(assignment);

	pattern[length] = '\0';
	if (ok)
		follow(profile, before, pattern);
	free(pattern);
	profile_free(before);
	return ok;
}

bool what_if_set(struct profile *profile, const char *assignment, struct fault *fault)
{
	return change_and_follow(
	        profile, profile_set, assignment, strcspn(assignment, "[="), fault);
}

bool what_if_scale(struct profile *profile, const char *assignment, struct fault *fault)
{
	const char *bracket = strchr(assignment, ']'), *behind = bracket ? bracket : assignment;

	return change_and_follow(profile, profile_scale, assignment,
	        (size_t)(behind - assignment) + strcspn(behind, "="), fault);
}

/* A prepared row, at the same efficiency. */
static void follow_row(struct efficiency_reader *law, struct parameter *row)
{
	if (!(row->hardware > 0))
		return;
	const struct efficiency e = efficiency_of(law, row);
	if (isnan(e.hardware) || e.hardware == row->hardware)
		return;
	scale_body(row, e.start, e.hardware / row->hardware);
	row->hardware = e.hardware;
	row->changed |= (uint64_t)1 << PROFILE_CHANGES;
}

struct profile efficiency_scaled(const struct profile *profile, const char *pattern, double factor)
{
	struct profile view = profile_view(profile);

	profile_scale_rows(&view, pattern, factor);
	struct efficiency_reader *law = efficiency_reader_new(&view);
	for (size_t i = 0, end; i < view.count; i = end) {
		bool read = false;
		end = efficiency_surface_end(&view, i);
		for (size_t j = i; j < end; j++)
			read = read || view.row[j].read;
		for (size_t j = i; read && j < end; j++)
			follow_row(law, &view.row[j]);
	}
	efficiency_reader_free(law);
	return view;
}

void efficiency_follow(struct cost_hardware *hardware, struct profile *view, const char *surface)
{
	struct efficiency_reader *law = (struct efficiency_reader *)hardware;

	profile_parts(view, law->parts);
	EACH_ROW (i, view, surface)
		follow_row(law, &view->row[i]);
}
