/* SPDX-License-Identifier: MIT */
#include "cost.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const char *const term_name[TERM_COUNT] = {[TERM_LAUNCH] = "launch",
        [TERM_MEMORY] = "memory",
        [TERM_BARRIER] = "barrier",
        [TERM_ARITHMETIC] = "arithmetic",
        [TERM_TRANSFER] = "transfer",
        [TERM_HOST] = "host",
        [TERM_SYNC] = "sync"};

/* The value, or for a profile without it that of the measured device: profiles were made on that
 * architecture alone before they had gpu.compute_capability. */
static double device_fact(const struct profile *profile, const char *name, double otherwise)
{
	const struct lookup found = profile_get(profile, name, NULL, 0);

	return found.found && found.estimate.value >= 1 ? found.estimate.value : otherwise;
}

/* Most blocks of a cluster by the barrier probe; 0: the profile does not say. The device may have
 * larger clusters than the probe's code, and a part of a GPU has smaller ones. */
static int largest_cluster(const struct profile *profile)
{
	static const char clusters[] = "gpu.barrier.cluster", grid[] = "gpu.barrier.grid";
	double largest = 0;

	EACH_ROW (i, profile, clusters)
		largest = fmax(largest, profile_row_argument(&profile->row[i], "blocks"));
	if (largest < 1)
		EACH_ROW (i, profile, grid)
			largest = 1;
	return (int)largest;
}

struct tuning_device cost_device(const struct profile *profile)
{
	enum { BEFORE_CLUSTERS = 89 };
	const struct tuning_device *measured = &tuning_hopper.device;
	const double capability = device_fact(
	                     profile, "gpu.compute_capability", measured->capability / 10.0),
	             sms = device_fact(profile, "gpu.sm.count", measured->sm_count),
	             l2 = device_fact(profile, "gpu.l2.stated", (double)measured->l2_bytes);

	struct tuning_device device =
	        tuning_device_like((int)lround(10 * capability), (int)sms, (int64_t)l2);
	const int cluster = largest_cluster(profile);
	if (cluster > 0)
		device.max_cluster = cluster;
	if (cluster == 1)
		device.code = (int)min_int64(device.code, BEFORE_CLUSTERS);
	return device;
}

void cost_reader_start(struct cost_reader *reader, const struct profile *profile)
{
	memset(reader, 0, offsetof(struct cost_reader, surface));
	model_start(&reader->model, profile);
	reader->tuning = tuning_for(cost_device(profile));
}

void cost_reader_copy(struct cost_reader *to, const struct cost_reader *from)
{
	memcpy(to, from, offsetof(struct cost_reader, surface));
	memcpy(to->surface, from->surface, from->surfaces * sizeof *to->surface);
}

/* Frees the entries of a name. Names met are few, each mostly by one pointer. */
static void forget(struct cost_reader *reader, const char *name)
{
	const char *same = NULL, *other = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < reader->entries; i++) {
		const char **cached = &reader->cache[reader->entry[i]].name;
		if (*cached != same && *cached != other)
			*(strcmp(*cached, name) == 0 ? &same : &other) = *cached;
		if (*cached == same)
			*cached = NULL;
		else
			reader->entry[kept++] = reader->entry[i];
	}
	reader->entries = kept;
}

void cost_reader_change(struct cost_reader *reader, const struct profile *profile, const char *name)
{
	reader->model.profile = profile;
	forget(reader, name);
	for (size_t i = 0; i < reader->surfaces; i++)
		if (reader->surface[i].name && strcmp(reader->surface[i].name, name) == 0)
			reader->surface[i].name = NULL;
	size_t kept = 0;
	for (size_t i = 0; i < COST_PANELS && reader->panels[i].name; i++)
		if (strcmp(reader->panels[i].name, name) != 0)
			reader->panels[kept++] = reader->panels[i];
	for (; kept < COST_PANELS; kept++)
		reader->panels[kept].name = NULL;
}

bool cost_read_at(const struct cost_reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->entries; i++) {
		const struct cost_entry *entry = &reader->cache[reader->entry[i]];
		if (entry->arg[0] >= 0 && strcmp(entry->name, name) == 0)
			return true;
	}
	return false;
}

/* The entry of a name and its arguments; a new one, which may take another's place, has the value
 * NaN. */
static struct cost_entry *find(struct cost_reader *reader, const char *name, double a, double b)
{
	uint64_t bits[2], hash = cost_name_hash(name);
	double arg[2] = {a, b};

	memcpy(bits, arg, sizeof bits);
	for (int i = 0; i < 2; i++)
		hash = cost_hash(hash, bits[i]);
	const uint16_t place = (uint16_t)(hash % COST_CACHE);
	struct cost_entry *entry = &reader->cache[place];
	if (entry->name == name && entry->arg[0] == a && entry->arg[1] == b)
		return entry;
	if (!entry->name)
		reader->entry[reader->entries++] = place;
	*entry = (struct cost_entry){name, {a, b}, NAN};
	return entry;
}

/* A parameter that a probe could not resolve has no value. */
static bool has_value(const struct profile *profile, const char *name)
{
	EACH_ROW (i, profile, name)
		if (profile_row_usable(&profile->row[i]))
			return true;
	return false;
}

bool cost_known(struct cost_reader *reader, const char *name)
{
	struct cost_entry *entry = find(reader, name, -2, -2); /* no arguments of a function */

	if (isnan(entry->value))
		entry->value =
		        has_value(reader->whole ? reader->whole : reader->model.profile, name);
	return entry->value > 0;
}

double cost_near_l2(struct cost_reader *reader)
{
	static const char near[] = "gpu.l2.near.size", parts[] = "gpu.l2.partitions";
	const double stated = cost_scalar(reader, "gpu.l2.stated");

	if (cost_known(reader, near))
		return fmin(cost_scalar(reader, near), stated);
	return stated / (cost_known(reader, parts) ? cost_scalar(reader, parts) : 1);
}

double cost_l2_hits(struct cost_reader *reader, double bytes)
{
	static const char stated[] = "gpu.l2.stated", measured[] = "gpu.l2.size";
	static const double all = 0.75, none = 0.875;
	const bool is_stated = cost_known(reader, stated);

	if (!(bytes > 0) || (!is_stated && !cost_known(reader, measured)))
		return 0;
	const double share = bytes / cost_scalar(reader, is_stated ? stated : measured);
	return fmin(1, fmax(0, (none - share) / (none - all)));
}

double cost_last(struct cost_reader *reader, const char *name, const char *arg)
{
	/* -3: no argument of a function */
	struct cost_entry *entry = find(reader, name, -3, (double)cost_name_hash(arg));
	double low, high;

	if (isnan(entry->value) && model_range(&reader->model, name, arg, &low, &high))
		entry->value = high;
	return entry->value;
}

static double cached(
        struct cost_reader *reader, const char *name, const struct arg args[2], size_t count)
{
	struct cost_entry *entry = find(reader, name, args[0].value, args[1].value);

	if (isnan(entry->value)) /* what is missing is noted each time */
		entry->value = model_value(&reader->model, name, args, count);
	return entry->value;
}

double cost_scalar(struct cost_reader *reader, const char *name)
{
	return cached(reader, name, (const struct arg[2]){{NULL, 0}}, 0);
}

int64_t cost_whole(struct cost_reader *reader, const char *name)
{
	const double value = cost_scalar(reader, name);

	return value >= 1 && value < 0x1p53 ? (int64_t)value : 1;
}

double cost_at(struct cost_reader *reader, const char *name, const char *arg, double value)
{
	return cached(reader, name, (const struct arg[2]){{arg, value}}, 1);
}

double cost_at2(struct cost_reader *reader, const char *name, const char *arg1, double value1,
        const char *arg2, double value2)
{
	return cached(reader, name, (const struct arg[2]){{arg1, value1}, {arg2, value2}}, 2);
}

double cost_host_rate(struct cost_reader *reader, const char *name, double working_set)
{
	return cost_surface2(reader, name, "threads", 1, "bytes", working_set);
}

double cost_splits(const struct splits *splits)
{
	double bytes = 0;

	for (int i = 0; i < splits->count; i++)
		bytes += cost_bytes(splits->of[i].a) + cost_bytes(splits->of[i].to);
	return bytes;
}
