/* SPDX-License-Identifier: MIT */
/* The odd one of several GPUs, links or hosts: clearly slower than the others of its kind. */
#include "profile_odd.h"

#include "lib/base/cli.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of one name for each GPU or pair, the last ones for each host; of rates the odd one is
 * lower, of times longer. */
static const struct {
	const char *name;
	bool time;
} kinds[] = {{"link.peer.beta", false}, {"link.peer.latency", true}, {"link.peer.both.beta", false},
        {"link.h2d.each", false}, {"link.d2h.each", false}, {"gpu.each.copy", false},
        {"gpu.each.cycle", true}, {"gpu.dram.copy", false}, {"link.h2d.pinned.beta", false},
        {"link.d2h.pinned.beta", false}};

/* Rows apart by less are alike, however small their intervals are. */
static const double alike = 0.05;

/* ARRAY_LEN(kinds) when it is none. */
static size_t kind_of(const struct parameter *row)
{
	size_t k = 0;

	while (k < ARRAY_LEN(kinds) && strcmp(row->name, kinds[k].name) != 0)
		k++;
	return k;
}

bool profile_is_compared(const struct parameter *row)
{
	return kind_of(row) < ARRAY_LEN(kinds) && profile_row_usable(row);
}

double profile_others(const struct profile *profile, const struct parameter *row)
{
	double *value = xmalloc((profile->count + 1) * sizeof *value), median = NAN;
	size_t n = 0;

	for (size_t i = 0; i < profile->count; i++) {
		const struct parameter *other = &profile->row[i];
		if (other != row && strcmp(other->name, row->name) == 0 &&
		        profile_row_usable(other))
			value[n++] = other->estimate.value;
	}
	if (n)
		median = stats_median(value, n);
	free(value);
	return median;
}

bool profile_is_odd(const struct parameter *row, double others)
{
	const size_t k = kind_of(row);
	const struct estimate e = row->estimate;

	if (k == ARRAY_LEN(kinds))
		return false;
	return kinds[k].time ? e.low > others && e.value > (1 + alike) * others
	                     : e.high < others && e.value < (1 - alike) * others;
}

char *profile_odd_part(const struct parameter *row, char *text, size_t size)
{
	snprintf(text, size, "%s", "GPU");
	for (size_t i = 0, n = 0; i < row->arg_count; i++) {
		const size_t used = n ? strlen(text) : 0;
		if (strcmp(row->arg_name[i], "host") != 0)
			snprintf(text + used, size - used, "%sGPU %g", n++ ? " to " : "",
			        row->arg[i]);
	}
	return text;
}

void profile_warn_odd(const struct parameter *row, double others, const char *host)
{
	const bool time = kinds[kind_of(row)].time;
	char part[64], value[40], median[40];

	cli_format_quantity(value, sizeof value, row->estimate.value, row->unit);
	cli_format_quantity(median, sizeof median, others, row->unit);
	msg_warn("%s%s%s is odd: %s is %s, %s than the others' median of %s", host,
	        host[0] ? ", " : "", profile_odd_part(row, part, sizeof part), row->name, value,
	        time ? "longer" : "lower", median);
}

size_t profile_say_odd(const struct profile *profile)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->count; i++) {
		const struct parameter *row = &profile->row[i];
		if (!profile_is_compared(row))
			continue;
		const double others = profile_others(profile, row);
		if (!profile_is_odd(row, others))
			continue;
		profile_warn_odd(row, others, "");
		count++;
	}
	return count;
}
