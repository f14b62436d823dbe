/* SPDX-License-Identifier: MIT */
/* Internals of the search for a plan (plan_choice.h). */
#pragma once

#include "plan_choice.h"

enum { PLAN_WIDTHS = 11 };
extern const int64_t plan_widths[PLAN_WIDTHS]; /* widths of blocks that are tried */

enum { TYPICAL_LEAF = 64 }; /* of LU on the device */

struct search {
	struct executor *e;
	struct factor_question asked;
	struct plan_choice *choice;
	const struct plan_fixed *fixed;
	struct fault fault; /* of the first plan that was refused */
};

/* Whether blocks may have this width. */
static inline bool plan_width_free(const struct search *s, int64_t width)
{
	return !s->fixed->multiple || width % s->fixed->multiple == 0;
}

/* Seconds of the trailing matrix from column j on; infinite when the plan is refused or has no cost
 * (plan_screening.c). */
double plan_screen(struct search *s, const struct plan *plan, int64_t j);

/* The same of a plan that is not refused. */
double plan_seconds(struct search *s, const struct plan *plan, int64_t j);

/* Replaces the choice's blocks of one width by a sequence of widths where that is faster, and its
 * seconds in *best. */
void plan_sequence(struct search *s, double *best);

/* Puts the first block of LU by split operands before the choice's blocks where these are wider,
 * for accuracy; *best becomes the seconds. */
void plan_begin_narrow(struct search *s, double *best);

/* Plans of nearly the same cost (plan_ties.c): takes another one where measurements favour it. Of
 * one width throughout a wider one; *best becomes its seconds. */
void plan_tie_widths(struct search *s, double *best);

/* The default plan, where nothing is fixed but that panels stay on the device. */
void plan_tie_own(const struct profile *profile, const struct factor_question *asked,
        const struct plan_fixed *fixed, struct plan_choice *choice);
