/* SPDX-License-Identifier: MIT */
/* Points that a process visits more than once, some time apart: what disturbs one visit as a whole,
 * and shows on no clock, has gone by another. Of three visits the one in the middle counts: the
 * quickest of them is no typical one where two ways are left to chance, as those are in which the
 * copy behind a kernel begins (a search by cuBLAS takes 16.2 or 20.5 us on an H200). Of two the
 * quicker one does where the other is clearly slower (sample_merge), else both. */
#ifndef FATHOM_VISITS_H
#define FATHOM_VISITS_H

#include "base.h"
#include "probe.h"

enum { VISIT_ARGS = 3 };

struct visits {
	struct visited {
		const char *series;
		struct arg args[VISIT_ARGS];
		size_t arg_count, visits;
		struct measurement *visit;
	} * point;
	size_t count;
};

/* One more visit of the point of this series and arguments. series must last. */
void visits_add(struct visits *visits, const char *series, const struct arg *args, size_t arg_count,
        const struct measurement *measurement);

bool visits_has(
        const struct visits *visits, const char *series, const struct arg *args, size_t arg_count);

/* The points go to the curve in the order of their first visits, and are forgotten. */
void visits_record(struct visits *visits, struct probe_run *run);

#endif
