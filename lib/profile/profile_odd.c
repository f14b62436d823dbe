/* SPDX-License-Identifier: MIT */
/* The odd one of several GPUs or links: clearly slower than the others of its kind. */
#include "lib/base/msg.h"
#include "lib/stats/stats.h"
#include "profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of one kind for each GPU or pair; of rates the odd one is lower, of times higher. */
static const struct {
	const char *name;
	bool time;
} kinds[] = {{"link.peer.beta", false}, {"link.peer.latency", true}, {"link.peer.both.beta", false},
        {"link.h2d.each", false}, {"link.d2h.each", false}, {"gpu.each.copy", false},
        {"gpu.each.cycle", true}};

/* Rows apart by less are alike, however small their intervals are. */
static const double alike = 0.05;

/* The median of the other rows of the kind; 0 without any. */
static double median_of_others(const struct profile *profile, const struct parameter *row)
{
	double *value = xmalloc((profile->count + 1) * sizeof *value), median = 0;
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

static bool is_odd(const struct parameter *row, bool time, double others)
{
	const struct estimate e = row->estimate;

	return time ? e.low > others && e.value > (1 + alike) * others
	            : e.high < others && e.value < (1 - alike) * others;
}

/* "GPU 0 to GPU 3" or "GPU 2". */
static void say(const struct parameter *row, bool time, double others)
{
	char where[64] = "";

	for (size_t i = 0; i < row->arg_count; i++) {
		const size_t used = strlen(where);
		snprintf(where + used, sizeof where - used, "%sGPU %g", i ? " to " : "",
		        row->arg[i]);
	}
	msg_warn("%s is odd: %s is %.3g %s, %s than the others' median of %.3g %s", where,
	        row->name, row->estimate.value, row->unit, time ? "longer" : "lower", others,
	        row->unit);
}

size_t profile_say_odd(const struct profile *profile)
{
	size_t count = 0;

	for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
		for (size_t i = 0; i < profile->count; i++) {
			const struct parameter *row = &profile->row[i];
			if (strcmp(row->name, kinds[k].name) != 0 || !profile_row_usable(row))
				continue;
			const double others = median_of_others(profile, row);
			if (!(others > 0) || !is_odd(row, kinds[k].time, others))
				continue;
			say(row, kinds[k].time, others);
			count++;
		}
	return count;
}
