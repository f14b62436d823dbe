/* SPDX-License-Identifier: MIT */
/* The search for a plan (plan_choice.h), as its parts share it. */
#ifndef FATHOM_PLAN_SEARCH_H
#define FATHOM_PLAN_SEARCH_H

#include "plan_choice.h"

enum { PLAN_WIDTHS = 11 };
extern const int64_t plan_widths[PLAN_WIDTHS]; /* of blocks, that are tried */

enum { TYPICAL_LEAF = 64 }; /* of LU on the device */

struct search {
	struct executor *e;
	struct factor_question asked;
	struct plan_choice *choice;
	const struct plan_fixed *fixed;
	struct fault fault; /* of the first plan that was refused */
};

/* Seconds of the trailing matrix from column j on; infinite when the plan is refused or cannot be
 * estimated (plan_screening.c). */
double plan_screen(struct search *s, const struct plan *plan, int64_t j);

/* The choice's blocks of one width replaced by a sequence of widths where that is faster; so is
 * *best, its seconds. */
void plan_sequence(struct search *s, double *best);

/* Of plans that are estimated as the choice is, or nearly so, another one where that has been seen to
 * be quicker (plan_ties.c). Of one width throughout a wider one; *best are then its seconds. */
void plan_tie_widths(struct search *s, double *best);

/* The library's own plan, where nothing is fixed but that panels stay on the device. */
void plan_tie_own(const struct profile *profile, const struct factor_question *asked,
        const struct plan_fixed *fixed, struct plan_choice *choice);

#endif
