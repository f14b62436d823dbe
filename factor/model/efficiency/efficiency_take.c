/* SPDX-License-Identifier: MIT */
/* Efficiencies of another machine, or none. */
#include "efficiency_internal.h"

#include <math.h>
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
		const double hardware = efficiency_seconds(here, &on),
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
