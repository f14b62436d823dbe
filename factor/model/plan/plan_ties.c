/* SPDX-License-Identifier: MIT */
/* Plans of nearly the same cost: which one is taken, by measurements
 * (docs/experiments/model-plans.md). */
#include "plan_search.h"

#include "factor/algorithms/plan_default.h"
#include "factor/algorithms/schedule.h"

#include <string.h>

/* Of single widths within this part of the least cost, the widest that makes several blocks is
 * taken: it has fewer panels beside products, which disturb each other more than the model knows.
 * With two blocks most of the time is the panels', which are made of narrow leaves. */
static const double tied = 0.01;
enum { SEVERAL = 4 };

void plan_tie_widths(struct search *s, double *best)
{
	struct plan_choice *c = s->choice;
	const double least = *best;
	const int64_t columns = min_int64(s->asked.m, s->asked.n);

	if (c->plan.count > 1)
		return;
	for (size_t i = 0; i < PLAN_WIDTHS; i++) {
		if (plan_widths[i] <= c->widths[0] || SEVERAL * plan_widths[i] > columns ||
		        !plan_width_free(s, plan_widths[i]))
			continue;
		struct plan plan = c->plan;
		plan.widths = &plan_widths[i];
		const double seconds = plan_screen(s, &plan, 0);
		if (seconds <= least * (1 + tied)) {
			c->by_rule |= seconds > least;
			c->widths[0] = plan_widths[i];
			*best = seconds;
		}
	}
}

/* The default plan, whose blocks become narrower step by step, is taken where its cost is at most
 * this part above the choice's. The model's sequences for LU have too many narrow blocks; beyond
 * LU_MODEL_MOST columns they are better than the default plan. With split operands updates are so
 * short that the model's sequences are almost all of the narrowest blocks, and their costs are too
 * low by more. */
static const double as_long = 0.015, as_long_by_splits = 0.05;
enum { LU_MODEL_MOST = 14000 };

static double own_margin(const struct factor_question *asked, enum operation operation)
{
	return operation == GETRF && asked->math != MATH_FP32 ? as_long_by_splits : as_long;
}

static void take_own(struct search *s, enum operation operation)
{
	struct plan_choice *c = s->choice;
	struct default_plan own;

	plan_default(s->e, operation, s->asked.m, s->asked.n, s->asked.precision, false, &own);
	/* its last leaf may be narrow (join_last), which plan_screen refuses */
	const double seconds = plan_seconds(s, &own.plan, 0);
	if (seconds > c->seconds * (1 + own_margin(&s->asked, operation)))
		return;
	c->by_rule = c->by_rule || seconds > c->seconds;
	c->seconds = seconds;
	c->parts = executor_model_result(s->e);
	c->plan = own.plan;
	memcpy(c->widths, own.widths, (size_t)own.plan.count * sizeof *own.widths);
	c->plan.widths = c->widths;
	/* widths grow after the first block alone */
	const int64_t widest = plan_widest(&own.plan, min_int64(s->asked.m, s->asked.n));
	if (own.widths[0] == widest && own.widths[own.plan.count - 1] == widest)
		c->plan.count = 1;
}

static bool all_free_on_device(const struct plan_fixed *fixed)
{
	return !fixed->nb && fixed->hybrid <= 0 && fixed->lookahead < 0 && !fixed->leaf &&
	       fixed->inverse < 0 && !fixed->panel && !fixed->multiple;
}

void plan_tie_own(const struct profile *profile, const struct factor_question *asked,
        const struct plan_fixed *fixed, struct plan_choice *choice)
{
	const bool lu = strcmp(asked->operation, "getrf") == 0;
	const enum operation operation = lu                                       ? GETRF
	                                 : strcmp(asked->operation, "potrf") == 0 ? POTRF
	                                                                          : GEQRF;
	struct search s = {.asked = *asked, .choice = choice, .fixed = fixed};

	if (!all_free_on_device(fixed) || (!lu && asked->math != MATH_FP32) ||
	        (lu && min_int64(asked->m, asked->n) > LU_MODEL_MOST))
		return;
	s.e = model_factor_executor(profile, MODEL_CUDA, asked, 2);
	take_own(&s, operation);
	executor_free(s.e);
}
