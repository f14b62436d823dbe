/* SPDX-License-Identifier: MIT */
#include "efficiency.h"

#include "factor/model/law/law_parts.h"
#include "lib/base/msg.h"
#include "lib/profile/profile_row.h"
#include "surface_work.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct efficiency_reader {
	struct cost_hardware base;
	struct profile copy; /* shares texts with the profile; its rows' marks are its own */
	double parts[PROFILE_PARTS];
	const struct profile *profile;
	bool started; /* the reader is: most executors of a model never ask */
	struct cost_reader reader;
};

struct efficiency_reader *efficiency_reader_new(const struct profile *profile)
{
	struct efficiency_reader *e = xcalloc(1, sizeof *e);

	e->copy = *profile;
	e->copy.row = xmalloc((profile->count + 1) * sizeof *profile->row);
	memcpy(e->copy.row, profile->row, profile->count * sizeof *profile->row);
	profile_parts(&e->copy, e->parts);
	e->profile = &e->copy;
	return e;
}

static void start(struct efficiency_reader *e)
{
	static const char clusters[] = "gpu.barrier.cluster";

	cost_reader_start(&e->reader, e->profile);
	if (cost_known(&e->reader, clusters)) /* a part of a GPU may take smaller clusters */
		e->reader.tuning.device.max_cluster =
		        (int)cost_last(&e->reader, clusters, "blocks");
	e->started = true;
}

/* The law's seconds for a surface's work, without the start of its first launch. */
static double law_seconds(struct cost_hardware *base, const void *surface, const char *name,
        const char *const *arg, const double *at, size_t count)
{
	struct efficiency_reader *e = (struct efficiency_reader *)base;
	struct kernel_work work[SURFACE_WORKS];

	if (!e->started)
		start(e);
	const size_t works =
	        surface_works_at(surface, &e->reader.tuning, name, arg, at, count, work);
	double seconds = works > 0 ? 0 : NAN;
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

static const void *law_find(const char *name)
{
	return surface_of(name);
}

struct cost_hardware *efficiency_hardware_new(const struct profile *profile)
{
	struct efficiency_reader *e = xcalloc(1, sizeof *e);

	e->base = (struct cost_hardware){law_seconds, law_find};
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
		free(e->copy.row);
	free(e);
}

/* The law's seconds for the work of a row, without the start of its first launch. */
static double hardware_seconds(struct efficiency_reader *e, const struct parameter *row)
{
	const struct surface *surface = surface_of(row->name);

	return surface ? law_seconds(&e->base, surface, row->name,
	                         (const char *const *)row->arg_name, row->arg, row->arg_count)
	               : NAN;
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

static size_t take(struct profile *profile, const struct profile *other, bool by_hardware)
{
	struct efficiency_reader *here = efficiency_reader_new(profile),
	                         *there = efficiency_reader_new(other);
	size_t taken = 0;

	profile_remove_if(profile, is_surface, NULL);
	for (size_t i = 0; i < other->count; i++) {
		if (!efficiency_has(&other->row[i]))
			continue;
		const struct efficiency e = efficiency_of(there, &other->row[i]);
		const double hardware = hardware_seconds(here, &other->row[i]),
		             efficiency = by_hardware ? 1 : e.efficiency;
		if (isnan(hardware / efficiency))
			continue;
		profile_append(profile, &other->row[i]);
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
	return taken;
}

size_t efficiency_take(struct profile *profile, const struct profile *other)
{
	return take(profile, other, false);
}

/* A call of a library that does next to nothing costs what a launch of ours does. */
static void take_starts(struct profile *profile)
{
	double parts[PROFILE_PARTS];

	profile_parts(profile, parts);
	for (size_t i = 0; i < profile->count; i++) {
		struct parameter *row = &profile->row[i];
		const double start = fmin(row->estimate.value, profile_parts_in(parts, row));
		if (regime_is_timing(row->regime) && row->arg_count == 0 &&
		        strcmp(row->unit, "s") == 0 && start > 0)
			row->estimate =
			        (struct estimate){start, start, start, row->estimate.samples};
	}
}

/* The highest rate of a product is the pipes'. */
static void take_rates(struct profile *profile)
{
	static const char *const rates[][4] = {{"gpu.gemm.s.peak", "gpu.fma.s.rate"},
	        {"gpu.gemm.d.peak", "gpu.fma.d.rate", "gpu.mma.d.rate", "gpu.mma.d16.rate"},
	        {"gpu.gemm.tf32.peak", "gpu.mma.tf32.rate", "gpu.wgmma.tf32.rate"}};

	for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
		double most = 0;
		for (size_t r = 1; r < ARRAY_LEN(rates[i]) && rates[i][r]; r++)
			most = fmax(
			        most, profile_get(profile, rates[i][r], NULL, 0).estimate.value);
		for (size_t r = 0; r < profile->count && most > 0; r++)
			if (strcmp(profile->row[r].name, rates[i][0]) == 0)
				profile->row[r].estimate = (struct estimate){most, most, most, 1};
	}
}

size_t efficiency_by_hardware(struct profile *profile, const struct profile *other)
{
	take_starts(profile);
	take_rates(profile);
	profile->hardware_alone = true;
	return take(profile, other, true);
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

void efficiency_prepare(struct profile *profile)
{
	struct efficiency_reader *e = efficiency_reader_new(profile);
	size_t end = 0;

	for (size_t i = 0; i < profile->count; i = end) {
		const double start = common_start(e, profile, i, &end);
		for (size_t r = i; r < end; r++) {
			struct parameter *row = &profile->row[r];
			row->hardware = efficiency_has(row) ? hardware_seconds(e, row) : 0;
			row->start = start;
		}
	}
	efficiency_reader_free(e);
}
