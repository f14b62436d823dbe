/* SPDX-License-Identifier: MIT */
/* Points that a process visits more than once, some time apart: what disturbs one visit as a whole,
 * and shows on no clock, has gone by the other. */
#ifndef FATHOM_VISITS_H
#define FATHOM_VISITS_H

#include "base.h"
#include "probe.h"

enum { VISIT_ARGS = 3 };

struct visits {
	struct visited {
		const char *series;
		struct arg args[VISIT_ARGS];
		size_t arg_count;
		struct measurement measurement;
	} * point;
	size_t count;
};

/* A visit's measurement of the point of this series and arguments, merged (sample_merge) with those
 * before. series must last. */
void visits_add(struct visits *visits, const char *series, const struct arg *args, size_t arg_count,
        const struct measurement *measurement);

bool visits_has(
        const struct visits *visits, const char *series, const struct arg *args, size_t arg_count);

/* The points go to the curve in the order of their first visits, and are forgotten. */
void visits_record(struct visits *visits, struct probe_run *run);

#endif
