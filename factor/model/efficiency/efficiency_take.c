/* SPDX-License-Identifier: MIT */
/* Efficiencies of another machine, or none. */
#include "efficiency_internal.h"

#include "factor/model/law/host_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_surface(const struct parameter *row, const void *unused)
{
	(void)unused;
	return efficiency_has(row);
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

/* Efficiencies of a profile's rows; zeros for other rows. */
static struct efficiency *efficiencies_of(
        struct efficiency_reader *reader, const struct profile *profile)
{
	struct efficiency *all = xcalloc(profile->count + 1, sizeof *all);

	for (size_t i = 0; i < profile->count; i++)
		if (efficiency_has(&profile->row[i]))
			all[i] = efficiency_of(reader, &profile->row[i]);
	return all;
}

/* Efficiency of the surface's longest row whose data lie in the same memory as row i's. */
static double steady_efficiency(
        const struct profile *profile, const struct efficiency *all, size_t i)
{
	const double cold = profile_row_argument(&profile->row[i], "cold");
	struct efficiency longest = all[i];

	while (i > 0 && strcmp(profile->row[i - 1].name, profile->row[i].name) == 0)
		i--;
	for (const size_t end = efficiency_surface_end(profile, i); i < end; i++) {
		const double its = profile_row_argument(&profile->row[i], "cold");
		if (all[i].hardware > longest.hardware &&
		        (its == cold || (isnan(its) && isnan(cold))))
			longest = all[i];
	}
	return longest.efficiency;
}

/* Seconds in which the multiprocessors fill and drain: what a kernel takes beyond its surface's
 * longest one, at most a few accesses to DRAM. They are the same on any number of
 * multiprocessors. */
static double fill(const struct profile *profile, const struct efficiency *all, size_t i)
{
	enum { ACCESSES = 10 };
	const double beyond = all[i].body - all[i].hardware / steady_efficiency(profile, all, i),
	             most = ACCESSES *
	                    profile_get(profile, "gpu.dram.latency", NULL, 0).estimate.value;
	const bool gpu = strncmp(profile->row[i].name, "gpu.", strlen("gpu.")) == 0;

	return gpu && beyond > 0 && most > 0 ? fmin(beyond, most) : 0;
}

static size_t take(struct profile *profile, const struct profile *other, bool by_hardware)
{
	struct profile *own = profile_copy(profile);
	struct efficiency_reader *here = efficiency_reader_new(own),
	                         *there = efficiency_reader_new(other);
	struct efficiency *all = efficiencies_of(there, other);
	size_t taken = 0;

	profile_remove_if(profile, is_surface, NULL);
	for (size_t i = 0; i < other->count; i++) {
		if (!efficiency_has(&other->row[i]))
			continue;
		const struct efficiency e = all[i];
		const struct parameter on = on_all_threads(&other->row[i], other, own);
		const double hardware = efficiency_seconds(here, &on),
		             efficiency = by_hardware ? 1 : e.efficiency;
		/* the host's code stays as it is, and is no work of the hardware's */
		const bool host = hardware == 0 && (by_hardware || e.hardware == 0);
		if (isnan(hardware / efficiency) && !host)
			continue;
		profile_append(profile, &on);
		struct parameter *row = &profile->row[profile->count - 1];
		const double factor = host && !by_hardware ? 1 : hardware / efficiency / e.body,
		             stays = by_hardware ? 0 : fill(other, all, i),
		             start = profile_parts_in(here->parts, row) + stays * (1 - factor);
		struct estimate *to = &row->estimate;
		*to = (struct estimate){start + factor * e.body,
		        start + factor * fmax(0, to->low - e.start),
		        start + factor * (to->high - e.start), to->samples};
		taken++;
	}
	free(all);
	efficiency_reader_free(here);
	efficiency_reader_free(there);
	profile_free(own);
	return taken;
}

size_t efficiency_take(struct profile *profile, const struct profile *other)
{
	return take(profile, other, false);
}

static bool is_number(const struct parameter *row, const void *unused)
{
	(void)unused;
	return regime_is_timing(row->regime) && row->arg_count == 0;
}

/* The highest rate of a product is the pipes', by the products of a multiply-add. */
static double highest_rate(const struct profile *own, const char *name)
{
	static const struct {
		const char *name;
		double products;
		const char *pipe[3];
	} rates[] = {{"gpu.gemm.s.peak", 1, {"gpu.fma.s.rate"}},
	        {"gpu.gemm.d.peak", 1, {"gpu.fma.d.rate", "gpu.mma.d.rate", "gpu.mma.d16.rate"}},
	        {"gpu.gemm.tf32.peak", 1, {"gpu.mma.tf32.rate", "gpu.wgmma.tf32.rate"}},
	        {"gpu.half_*.s.peak", 3, {"gpu.mma.h.rate", "gpu.wgmma.bf16.rate"}}};
	double most = NAN;

	for (size_t i = 0; i < ARRAY_LEN(rates); i++)
		for (size_t p = 0; profile_name_matches(name, rates[i].name) &&
		                   p < ARRAY_LEN(rates[i].pipe) && rates[i].pipe[p];
		        p++)
			most = fmax(
			        most, profile_get(own, rates[i].pipe[p], NULL, 0).estimate.value /
			                      rates[i].products);
	return most;
}

/* Seconds of a call that does next to nothing by the host's law. */
static double host_call(const struct profile *profile)
{
	struct cost_reader *reader = xcalloc(1, sizeof *reader);

	cost_reader_start(reader, profile);
	const double seconds = host_law(reader, &(struct host_work){.calls = 1}, 1);
	free(reader);
	return seconds;
}

/* Timings without arguments. A call of a library that does next to nothing costs what a launch of
 * ours does. */
static void take_numbers(struct profile *profile, const struct profile *other)
{
	double parts[PROFILE_PARTS];

	profile_parts(profile, parts);
	profile_remove_if(profile, is_number, NULL);
	const double call = host_call(profile);
	for (size_t i = 0; i < other->count; i++) {
		const struct parameter *row = &other->row[i];
		const bool rate = strcmp(row->unit, "s") != 0,
		           host = strncmp(row->name, "host.", strlen("host.")) == 0;
		const double value = rate   ? highest_rate(profile, row->name)
		                     : host ? call
		                            : profile_parts_in(parts, row);
		if (!is_number(row, NULL) || !(value > 0))
			continue;
		profile_append(profile, row);
		profile->row[profile->count - 1].estimate =
		        (struct estimate){value, value, value, 1};
	}
}

/* gpu.lasting.*: how much longer kernels take later on is theirs, too. */
static bool is_ratio(const struct parameter *row, const void *unused)
{
	(void)unused;
	return regime_is_timing(row->regime) && strcmp(row->unit, "ratio") == 0;
}

size_t efficiency_by_hardware(struct profile *profile, const struct profile *other)
{
	take_numbers(profile, other);
	profile_remove_if(profile, is_ratio, NULL);
	profile->hardware_alone = true;
	return take(profile, other, true);
}
