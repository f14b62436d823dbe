/* SPDX-License-Identifier: MIT */
/* The model's plan of a factorization: no tables, and nothing is run. */
#pragma once

#include "factor/model/predictions/model_factor.h"

enum { PLAN_CHOICE_BLOCKS = 2048 };

struct plan_choice {
	struct plan plan;                   /* it points to `widths`: do not copy */
	int64_t widths[PLAN_CHOICE_BLOCKS]; /* of the blocks */
	double seconds;                     /* predicted */
	struct model_result parts;
	int64_t uniform;        /* the best single width for the same plan */
	double uniform_seconds; /* and its time */
	bool by_rule;           /* a rule took it instead of a plan of less cost */
	int64_t runs;           /* of the model executor */
	struct fault fault;
};

/* The caller's decisions: fields that are set stay. */
struct plan_fixed {
	int64_t nb;        /* 0: free */
	int hybrid;        /* -1: free, 0: panels on the device, 1: on the host */
	int lookahead;     /* -1: free */
	int64_t leaf;      /* 0: free */
	int64_t inverse;   /* -1: free */
	const char *panel; /* NULL: free */
	int64_t multiple;  /* of which all widths are; 0: free */
};
static const struct plan_fixed plan_free = {0, -1, -1, 0, -1, NULL, 0};

/* The fastest plan at level 2. First every field in turn, the others as they are, for blocks of one
 * width, until nothing improves: for panels in each place, with look-ahead and without. Then the
 * sequence of widths, from the right end to the left: the best first block of every trailing matrix
 * is the one with which the model executor, going on with the best sequence of the rest, ends first
 * (LAWN 202, section 5). Then the borders between widths move while that makes the whole faster. LU
 * by split operands begins with a block as narrow as the default plan's.
 *
 * One width is taken unless a sequence is faster; look-ahead, unless a plan without it is clearly
 * faster; the default plan (plan_default.h), unless the found one is faster. LU's look-ahead is 2
 * or 1, and 1 only where it is clearly faster. False with choice->fault when no plan has a cost.
 * asked->plan is not used. */
bool plan_choose(const struct profile *profile, const struct factor_question *asked,
        const struct plan_fixed *fixed, struct plan_choice *choice);
