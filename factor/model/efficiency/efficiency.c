/* SPDX-License-Identifier: MIT */
#include "efficiency_internal.h"

#include "factor/model/law/host_law.h"
#include "host_surfaces.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_host(const char *name)
{
	return strncmp(name, "host.", strlen("host.")) == 0;
}

struct efficiency_reader *efficiency_reader_new(const struct profile *profile)
{
	struct efficiency_reader *e = xcalloc(1, sizeof *e);

	e->copy = profile_view(profile);
	profile_parts(&e->copy, e->parts);
	e->profile = &e->copy;
	return e;
}

static void start(struct efficiency_reader *e)
{
	cost_reader_start(&e->reader, e->profile);
	e->started = true;
}

/* The host's law for a call. */
static double host_seconds(struct efficiency_reader *e, const char *name, const char *const *arg,
        const double *at, size_t count)
{
	struct host_work work[HOST_WORKS];
	struct parameter row = {.name = (char *)name, .arg_count = count};

	for (size_t k = 0; k < count; k++) {
		row.arg_name[k] = (char *)arg[k];
		row.arg[k] = at[k];
	}
	e->reader.model.missing = false;
	const size_t works = host_surface_works(&e->reader, &row, work);
	return works == 0 ? NAN : host_law(&e->reader, work, works);
}

/* The law's seconds for a surface's work, without the start of its first launch; 0 when it is the
 * host's code. */
static double law_seconds(struct cost_hardware *base, const void *surface, const char *name,
        const char *const *arg, const double *at, size_t count)
{
	struct efficiency_reader *e = (struct efficiency_reader *)base;
	struct kernel_work work[SURFACE_WORKS];

	if (!e->started)
		start(e);
	if (is_host(name))
		return host_seconds(e, name, arg, at, count);
	const size_t works =
	        surface_works_at(surface, &e->reader.tuning, name, arg, at, count, work);
	double seconds = works > 0 ? 0 : NAN;
	if (works > 0 && work[0].launches == 0)
		return 0;
	e->reader.model.missing = false;
	for (size_t i = 0; i < works; i++) {
		struct law_answer a = {0};
		if (isnan(law_overlapped(&e->reader, &work[i], 1, law_own_form(&work[i]), 0, &a)))
			return NAN;
		const double starts = a.device - a.body;
		seconds += a.device - (i == 0 ? starts / work[0].launches : 0);
	}
	return e->reader.model.missing ? NAN : seconds;
}

static void law_change(struct cost_hardware *base, const struct profile *profile, const char *name)
{
	struct efficiency_reader *e = (struct efficiency_reader *)base;

	e->profile = profile;
	if (e->started)
		cost_reader_change(&e->reader, profile, name);
}

static const void *law_find(const char *name)
{
	return surface_of(name);
}

struct cost_hardware *efficiency_hardware_new(const struct profile *profile)
{
	struct efficiency_reader *e = xcalloc(1, sizeof *e);

	e->base.seconds = law_seconds;
	e->base.find = law_find;
	e->base.change = law_change;
	e->base.model = &e->reader.model;
	e->profile = profile;
	return &e->base;
}

void efficiency_hardware_free(struct cost_hardware *hardware)
{
	efficiency_reader_free((struct efficiency_reader *)hardware);
}

void efficiency_reader_free(struct efficiency_reader *e)
{
	if (e)
		profile_view_free(&e->copy);
	free(e);
}

/* The law's seconds for a call of the host, or for the work of a row without the start of its first
 * launch. */
double efficiency_seconds(struct efficiency_reader *e, const struct parameter *row)
{
	if (!e->name || strcmp(e->name, row->name) != 0) {
		e->name = row->name;
		e->surface = surface_of(row->name);
	}
	const struct surface *surface = e->surface;
	return surface || is_host(row->name)
	               ? law_seconds(&e->base, surface, row->name,
	                         (const char *const *)row->arg_name, row->arg, row->arg_count)
	               : NAN;
}

/* Starts are subtracted as far as they leave this part of a time. */
static const double least_body = 0.05;

struct efficiency efficiency_of(struct efficiency_reader *e, const struct parameter *row)
{
	const double time = row->estimate.value,
	             start = fmin(profile_parts_in(e->parts, row), (1 - least_body) * time),
	             hardware = efficiency_seconds(e, row);

	return (struct efficiency){start, time - start, hardware, hardware / (time - start)};
}

bool efficiency_has(const struct parameter *row)
{
	return regime_is_timing(row->regime) && row->arg_count > 0 && strcmp(row->unit, "s") == 0 &&
	       profile_row_usable(row);
}

bool efficiency_any(const struct profile *profile)
{
	for (size_t i = 0; i < profile->count; i++)
		if (efficiency_has(&profile->row[i]))
			return true;
	return false;
}

/* The rows from `first` on with the same name: *end is behind the last of them. Their start is one
 * number, which leaves each row a body. */
static double common_start(
        struct efficiency_reader *e, const struct profile *profile, size_t first, size_t *end)
{
	const char *name = profile->row[first].name;
	double start = INFINITY;

	for (*end = first; *end < profile->count; ++*end) {
		const struct parameter *row = &profile->row[*end];
		if (strcmp(row->name, name) != 0)
			break;
		if (profile_row_usable(row))
			start = fmin(start, fmin(profile_parts_in(e->parts, row),
			                            (1 - least_body) * row->estimate.value));
	}
	return start;
}

size_t efficiency_surface_end(const struct profile *profile, size_t i)
{
	const char *name = profile->row[i].name;

	while (i < profile->count && strcmp(profile->row[i].name, name) == 0)
		i++;
	return i;
}

void efficiency_prepare(struct profile *profile)
{
	struct efficiency_reader *e = efficiency_reader_new(profile);
	size_t end = 0;

	for (size_t i = 0; i < profile->count; i = end) {
		const double start = common_start(e, profile, i, &end);
		for (size_t r = i; r < end; r++) {
			struct parameter *row = &profile->row[r];
			row->hardware = efficiency_has(row) ? efficiency_seconds(e, row) : 0;
			row->start = start;
		}
	}
	efficiency_spread(profile);
	efficiency_reader_free(e);
}
