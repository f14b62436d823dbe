/* SPDX-License-Identifier: MIT */
/* Plans that the model costs alike: which of them is taken, by what was measured. */
#include "plan_search.h"

#include "factor/algorithms/plan_default.h"
#include "factor/algorithms/schedule.h"

#include <string.h>

/* Where one width is taken throughout, of those that take as long the widest that makes several
 * blocks: it has fewer panels beside products, which disturb each other more than the model knows
 * (H200: QR of 32768 in fp32 by 256 and 512 columns 1.149 and 1.056 s on one GPU, 1.190 and 1.096
 * on another, estimated 1.025 and 1.029, 1.160 and 1.067 on a third, estimated 1.034 and 1.042). Over the
 * widths measured in three runs (152 shapes, modes and factorizations) those chosen so take 0.74 %
 * longer than the best in the mean with 0.005, 0.69 with 0.01 to 0.02. Of two blocks the panels are
 * most, and theirs are made of narrow leaves with products between (H100, QR of 30000 x 500 by 64,
 * 128 and 256 columns 1.328, 1.348 and 1.451 ms, estimated 1.362, 1.319 and 1.326). */
static const double tied = 0.01;
enum { SEVERAL = 4 };

static void take_widest(struct search *s, double *best)
{
	struct plan_choice *c = s->choice;
	const double least = *best;
	const int64_t columns = min_int64(s->asked.m, s->asked.n);

	for (size_t i = 0; i < PLAN_WIDTHS; i++) {
		if (plan_widths[i] <= c->widths[0] || SEVERAL * plan_widths[i] > columns)
			continue;
		struct plan plan = c->plan;
		plan.widths = &plan_widths[i];
		const double seconds = plan_screen(s, &plan, 0);
		if (seconds <= least * (1 + tied)) {
			c->widths[0] = plan_widths[i];
			*best = seconds;
		}
	}
}

/* The library's own plan, whose blocks become narrower step by step, where it takes as long: most
 * of those are quicker than they are estimated. Of the benchmark's squares and tall matrices (H200,
 * H100) the choices between the two of Cholesky and QR take 0.41 and 0.41 % longer than the better
 * one in the mean without this, and 4 and 4 more than 3 %; with 0.01 0.41 and 0.39 %, 2 and 3; with
 * 0.015 0.46 and 0.34 %, 2 and 2; with 0.03 0.54 and 0.43 %, 5 and 4. Of LU, whose chosen sequences
 * have more of the narrowest blocks than is good, 0.48 % without it, of 78 two more than 3 %; with
 * 0.01 and 0.015 0.10 and 0.11 %, none more than 2.5; but beyond so many columns it would take
 * worse ones (fp64 of 16384 and 32768 2 to 5 %). By split operands updates are so short that the
 * chosen sequences are nearly all of the narrowest blocks, with look-ahead 2: of 2500 to 8192
 * columns they are estimated up to 6.4 % below the library's own plans and take 0.4 % less to 7.0 %
 * more, 2.1 % more in the mean (H200, 15 sizes and modes); of 9000 and more those of which that is
 * not so are estimated 8 and 10 % below (10007 and 13000 by 3xTF32). */
static const double as_long = 0.015, as_long_by_splits = 0.05;
enum { LU_OWN_MOST = 14000 };

static double own_margin(const struct factor_question *asked, enum operation operation)
{
	return operation == GETRF && asked->math != MATH_FP32 ? as_long_by_splits : as_long;
}

static void take_own(struct search *s, enum operation operation)
{
	struct plan_choice *c = s->choice;
	struct default_plan own;

	plan_default(s->e, operation, s->asked.m, s->asked.n, s->asked.precision, false, &own);
	const double seconds = plan_screen(s, &own.plan, 0);
	if (seconds > c->seconds * (1 + own_margin(&s->asked, operation)))
		return;
	c->seconds = seconds;
	c->parts = executor_model_result(s->e);
	c->plan = own.plan;
	memcpy(c->widths, own.widths, (size_t)own.plan.count * sizeof *own.widths);
	c->plan.widths = c->widths;
	if (own.widths[own.plan.count - 1] == own.widths[0]) /* they become narrower, never wider */
		c->plan.count = 1;
}

static bool all_free_on_device(const struct plan_fixed *fixed)
{
	return !fixed->nb && fixed->hybrid <= 0 && fixed->lookahead < 0 && !fixed->leaf &&
	       fixed->inverse < 0 && !fixed->panel;
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
	        (lu && min_int64(asked->m, asked->n) > LU_OWN_MOST))
		return;
	s.e = model_factor_executor(profile, MODEL_CUDA, asked, 2);
	take_own(&s, operation);
	executor_free(s.e);
}

void plan_tie_widths(struct search *s, double *best)
{
	if (s->choice->plan.count == 1)
		take_widest(s, best);
}
