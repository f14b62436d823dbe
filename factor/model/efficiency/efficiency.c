/* SPDX-License-Identifier: MIT */
#include "efficiency.h"

#include "factor/model/law/host_law.h"
#include "factor/model/law/law_parts.h"
#include "lib/base/msg.h"
#include "lib/profile/profile_row.h"
#include "host_surfaces.h"
#include "surface_work.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct efficiency_reader {
	struct profile copy; /* shares texts with the profile; its rows' marks are its own */
	double parts[PROFILE_PARTS];
	struct cost_reader reader;
};

struct efficiency_reader *efficiency_reader_new(const struct profile *profile)
{
	struct efficiency_reader *e = xcalloc(1, sizeof *e);

	e->copy = *profile;
	e->copy.row = xmalloc((profile->count + 1) * sizeof *profile->row);
	memcpy(e->copy.row, profile->row, profile->count * sizeof *profile->row);
	profile_parts(&e->copy, e->parts);
	cost_reader_start(&e->reader, &e->copy);
	return e;
}

void efficiency_reader_free(struct efficiency_reader *e)
{
	if (e)
		free(e->copy.row);
	free(e);
}

static double host_seconds(struct efficiency_reader *e, const struct parameter *row)
{
	struct host_work work[HOST_WORKS];

	e->reader.model.missing = false;
	const size_t count = host_surface_works(&e->reader, row, work);
	return count == 0 ? NAN : host_law(&e->reader, work, count);
}

/* The law's seconds for a call of the host, or for the bodies of a row's kernels. */
static double hardware_seconds(struct efficiency_reader *e, const struct parameter *row)
{
	if (strncmp(row->name, "host.", strlen("host.")) == 0)
		return host_seconds(e, row);
	struct kernel_work work[SURFACE_WORKS];
	struct law_answer answer = {0};
	const size_t count = surface_works(&e->reader.tuning, row, work);

	if (count == 0)
		return NAN;
	e->reader.model.missing = false;
	law_overlapped(&e->reader, work, count, law_own_form(&work[0]), 0, &answer);
	return e->reader.model.missing ? NAN : answer.body;
}

/* Starts are subtracted as far as they leave this part of a time. */
static const double least_body = 0.05;

struct efficiency efficiency_of(struct efficiency_reader *e, const struct parameter *row)
{
	const double time = row->estimate.value,
	             start = fmin(profile_parts_in(e->parts, row), (1 - least_body) * time),
	             hardware = hardware_seconds(e, row);

	return (struct efficiency){start, time - start, hardware, hardware / (time - start)};
}

bool efficiency_has(const struct parameter *row)
{
	return strcmp(row->regime, "surface") == 0 && strcmp(row->unit, "s") == 0 &&
	       profile_row_usable(row);
}

static bool is_surface(const struct parameter *row, const void *unused)
{
	(void)unused;
	return efficiency_has(row);
}

/* Body times factor, for the value and both ends. */
static void scale_body(struct parameter *row, double start, double factor)
{
	struct estimate *e = &row->estimate;

	e->value = start + factor * (e->value - start);
	e->low = start + factor * fmax(0, e->low - start);
	e->high = start + factor * (e->high - start);
}

/* Moves the surfaces, but those whose names match the pattern that ends at '=' or a bracket. */
static void follow(struct profile *profile, const struct profile *before, const char *assignment)
{
	const uint64_t bit = (uint64_t)1 << (profile->changes - 1);
	struct efficiency_reader *now = efficiency_reader_new(profile),
	                         *then = efficiency_reader_new(before);
	char *pattern = xstrdup(assignment);

	pattern[strcspn(pattern, "[=")] = '\0';
	for (size_t i = 0; i < profile->count; i++) {
		struct parameter *row = &profile->row[i];
		if (!efficiency_has(row) || fnmatch(pattern, row->name, 0) == 0)
			continue;
		const struct efficiency e = efficiency_of(now, row);
		const double factor = e.hardware / hardware_seconds(then, row);
		if (isnan(factor) || factor == 1)
			continue;
		scale_body(row, e.start, factor);
		row->changed |= bit;
	}
	free(pattern);
	efficiency_reader_free(now);
	efficiency_reader_free(then);
}

typedef bool (*change)(struct profile *, const char *assignment, struct fault *);

static bool change_and_follow(
        struct profile *profile, change how, const char *assignment, struct fault *fault)
{
	struct profile *before = profile_copy(profile);
	const bool ok = how(profile, assignment, fault);

	if (ok)
		follow(profile, before, assignment);
	profile_free(before);
	return ok;
}

bool what_if_set(struct profile *profile, const char *assignment, struct fault *fault)
{
	return change_and_follow(profile, profile_set, assignment, fault);
}

bool what_if_scale(struct profile *profile, const char *assignment, struct fault *fault)
{
	return change_and_follow(profile, profile_scale, assignment, fault);
}

static double all_threads(const struct profile *profile)
{
	double low, high;

	return profile_range(profile, "host.parallel.fork", "threads", &low, &high) ? high : NAN;
}

/* A pass of all threads there is one of all threads here. */
static struct parameter on_all_threads(
        const struct parameter *row, const struct profile *there, const struct profile *here)
{
	struct parameter on = *row;

	for (size_t k = 0; k < on.arg_count; k++)
		if (strcmp(on.arg_name[k], "threads") == 0 && on.arg[k] == all_threads(there) &&
		        isfinite(all_threads(here)))
			on.arg[k] = all_threads(here);
	return on;
}

static size_t take(struct profile *profile, const struct profile *other, bool by_hardware)
{
	struct profile *own = profile_copy(profile);
	struct efficiency_reader *here = efficiency_reader_new(own),
	                         *there = efficiency_reader_new(other);
	size_t taken = 0;

	profile_remove_if(profile, is_surface, NULL);
	for (size_t i = 0; i < other->count; i++) {
		if (!efficiency_has(&other->row[i]))
			continue;
		const struct efficiency e = efficiency_of(there, &other->row[i]);
		const struct parameter on = on_all_threads(&other->row[i], other, own);
		const double hardware = hardware_seconds(here, &on),
		             efficiency = by_hardware ? 1 : e.efficiency;
		if (isnan(hardware / efficiency))
			continue;
		profile_append(profile, &on);
		struct parameter *row = &profile->row[profile->count - 1];
		const double start = profile_parts_in(here->parts, row),
		             factor = hardware / efficiency / e.body;
		struct estimate *to = &row->estimate;
		*to = (struct estimate){start + factor * e.body,
		        start + factor * fmax(0, to->low - e.start),
		        start + factor * (to->high - e.start), to->samples};
		taken++;
	}
	efficiency_reader_free(here);
	efficiency_reader_free(there);
	profile_free(own);
	return taken;
}

size_t efficiency_take(struct profile *profile, const struct profile *other)
{
	return take(profile, other, false);
}

size_t efficiency_by_hardware(struct profile *profile, const struct profile *other)
{
	return take(profile, other, true);
}
