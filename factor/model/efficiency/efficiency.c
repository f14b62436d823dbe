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
	struct cost_hardware base;
	struct profile copy; /* hardware rows of the GPU; shares texts, its marks are its own */
	double parts[PROFILE_PARTS];
	const struct profile *profile;
	bool started;     /* the reader is: most executors of a model never ask */
	const char *name; /* of the row asked for last */
	const struct surface *surface;
	struct cost_reader reader;
};

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
	static const char clusters[] = "gpu.barrier.cluster";

	cost_reader_start(&e->reader, e->profile);
	if (cost_known(&e->reader, clusters)) /* a part of a GPU may take smaller clusters */
		e->reader.tuning.device.max_cluster =
		        (int)cost_last(&e->reader, clusters, "blocks");
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
static double hardware_seconds(struct efficiency_reader *e, const struct parameter *row)
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

/* Rows that move with the hardware: surfaces, and curves of the probe's streams. */
static bool follows_hardware(const struct parameter *row)
{
	return efficiency_has(row) ||
	       (fnmatch("gpu.*.time", row->name, 0) == 0 && profile_row_usable(row));
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
		if (!follows_hardware(row) || fnmatch(pattern, row->name, 0) == 0)
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
	for (size_t i = 0; i < view.count; i++)
		follow_row(law, &view.row[i]);
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
		const bool host = hardware == 0 && e.hardware == 0; /* stays as it is */
		if (isnan(hardware / efficiency) && !host)
			continue;
		profile_append(profile, &on);
		struct parameter *row = &profile->row[profile->count - 1];
		const double start = profile_parts_in(here->parts, row),
		             factor = host ? 1 : hardware / efficiency / e.body;
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
			row->by_time = surface_by_time(row->name);
		}
	}
	efficiency_reader_free(e);
}
