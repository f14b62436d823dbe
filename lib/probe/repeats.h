/* SPDX-License-Identifier: MIT */
/* Points that a process visits more than once, some time apart: what disturbs one visit as a whole,
 * and shows on no clock, has gone by another. Of three visits the one in the middle counts: the
 * quickest of them is no typical one where two ways are left to chance, as those are in which the
 * copy behind a kernel begins (a search by cuBLAS takes 16.2 or 20.5 us on an H200). Of two the
 * quicker one does where the other is clearly slower (sample_merge), else both. */
#ifndef FATHOM_REPEATS_H
#define FATHOM_REPEATS_H

#include "lib/base/base.h"
#include "probe.h"

enum { REPEAT_ARGS = 3 };

struct repeats {
	struct repeated_point {
		const char *series;
		struct arg args[REPEAT_ARGS];
		size_t arg_count, repeats;
		struct measurement *repeat;
	} * point;
	size_t count;
};

/* One more visit of the point of this series and arguments. series must last. */
void repeats_add(struct repeats *repeats, const char *series, const struct arg *args,
        size_t arg_count, const struct measurement *measurement);

bool repeats_has(const struct repeats *repeats, const char *series, const struct arg *args,
        size_t arg_count);

/* The points go to the curve in the order of their first visits, and are forgotten. */
void repeats_record(struct repeats *repeats, struct probe_run *run);

#endif
