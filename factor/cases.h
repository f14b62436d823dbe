/* SPDX-License-Identifier: MIT */
/* The hold-out list: the operations that are predicted first and measured afterwards. Every m and n
 * here is off the powers of two that the probes use, so no fit has seen them. */
#ifndef FATHOM_CASES_H
#define FATHOM_CASES_H

#include "executor.h"

struct panel_case {
	const char *
	        operation; /* panel_getrf, or ger (rank-1 update of the whole panel: the ceiling) */
	const char *variant, *executor;
	enum precision precision;
	int64_t m, n;
	bool phases; /* also predicted and timed phase by phase */
};

/* The list for one executor (cuda, host), shapes in ascending order, the variants of a shape
 * together; `quick` keeps a few shapes. Returns the number of cases; the caller frees *cases. An
 * unknown executor has none. */
size_t cases_holdout(const char *executor, bool quick, struct panel_case **cases);

/* The shapes whose cuSOLVER times the documentation quotes, for `measure --bench`. Ends with m = 0.
 */
struct bench_shape {
	int64_t m, n;
};
extern const struct bench_shape cases_bench[];

#endif
