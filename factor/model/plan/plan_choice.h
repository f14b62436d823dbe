/* SPDX-License-Identifier: MIT */
/* The plan of a factorization from the model alone: no tables, nothing is run. */
#ifndef FATHOM_PLAN_CHOICE_H
#define FATHOM_PLAN_CHOICE_H

#include "factor/model/predictions/model_factor.h"

enum { PLAN_CHOICE_BLOCKS = 2048 };

struct plan_choice {
	struct plan plan;                   /* its widths are those below: do not copy */
	int64_t widths[PLAN_CHOICE_BLOCKS]; /* the sequence that the dynamic programme found */
	double seconds;                     /* predicted */
	struct model_result parts;
	int64_t uniform;        /* the best single width for the same plan, */
	double uniform_seconds; /* and what it takes */
	int64_t runs;           /* of the model executor */
	struct fault fault;
};

/* What the caller decides: fields of `fixed` that are set stay. */
struct plan_fixed {
	int64_t nb;        /* 0: free */
	int hybrid;        /* -1: free, 0: panels on the device, 1: on the host */
	int lookahead;     /* -1: free */
	int64_t leaf;      /* 0: free */
	int64_t inverse;   /* -1: free */
	const char *panel; /* NULL: free */
};
static const struct plan_fixed plan_free = {0, -1, -1, 0, -1, NULL};

/* The fastest plan at level 2. First, for the panels in each place and with look-ahead or without,
 * every field in turn, the others as they are, for blocks of one width, until nothing gets better;
 * then the sequence of widths, from the right end to the left: the best first block of every
 * trailing matrix is the one with which the model executor, which then goes on with the best
 * sequence of what is left, is done first (LAWN 202, section 5); then the borders between its
 * widths are moved as long as that makes the whole faster. One width is taken where a sequence is
 * not faster, look-ahead where plans without it are not clearly so, the default plan
 * (plan_default.h) where nothing found is. LU's with look-ahead is chosen with 1 and with 2, and
 * the former taken where it is clearly faster. False with choice->fault when no plan can be estimated.
 * asked->plan is not used. */
bool plan_choose(const struct profile *profile, const struct factor_question *asked,
        const struct plan_fixed *fixed, struct plan_choice *choice);

#endif
