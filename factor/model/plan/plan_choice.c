/* SPDX-License-Identifier: MIT */
#include "plan_search.h"

#include "lib/base/msg.h"
#include "factor/algorithms/panel_getrf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int64_t plan_widths[PLAN_WIDTHS] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048};
static const int64_t all_leaves[] = {16, 32, 64, 128, 256, 512};
static const int64_t all_inverses[] = {0, 32, 64, 128};
static const char *const all_panels[] = {"persistent", "fused"};

/* How LU's panels are factorized on the device, with the leaves to begin with. */
struct panels {
	const char *variant;
	int64_t leaf;
};

/* ---- blocks of one width ---- */

/* Look-ahead hides time that the model does not know. A plan without it is taken only where it is
 * faster by more than this part of the time that look-ahead can hide: of all panels but the first,
 * or of the updates that run beside panels, whichever is less (docs/experiments/model-plans.md). */
static const double hidden = 0.2;

/* That time, relative, for the plan chosen so far, which has no look-ahead. */
static double hidden_in(struct search *s)
{
	const double seconds = plan_screen(s, &s->choice->plan, 0);

	if (isinf(seconds))
		return hidden / 2;
	const struct model_result result = executor_model_result(s->e);
	const double panels = result.phase[PHASE_PANEL] + result.phase[PHASE_TRANSFER];
	const double columns = (double)(s->asked.m < s->asked.n ? s->asked.m : s->asked.n);
	const double blocks = fmax(2, ceil(columns / (double)s->choice->widths[0]));
	return hidden / (result.seconds * blocks) *
	       fmin((blocks - 1) * panels, (blocks - 2) * (result.seconds - panels));
}

static void consider(struct search *s, const struct plan *plan, double *best)
{
	struct plan_choice *c = s->choice;
	int64_t width = plan->widths[0];
	double seconds = plan_screen(s, plan, 0);

	if (seconds < *best) {
		*best = seconds;
		c->plan = *plan;
		c->widths[0] = width;
		c->plan.widths = c->widths;
	}
}

static void try_widths(struct search *s, double *best)
{
	for (size_t i = 0; i < PLAN_WIDTHS && !s->fixed->nb; i++) {
		struct plan plan = s->choice->plan;
		plan.widths = &plan_widths[i];
		if ((i == 0 || plan_widths[i - 1] < s->asked.n) &&
		        plan_width_free(s, plan_widths[i]))
			consider(s, &plan, best);
	}
}

/* Tries every value of one field after the other, in the plan chosen so far. */
static void try_fields(struct search *s, double *best)
{
	const size_t leaves = s->fixed->leaf ? 0 : ARRAY_LEN(all_leaves),
	             inverses = s->fixed->inverse < 0 ? ARRAY_LEN(all_inverses) : 0;

	for (size_t i = 0; i < leaves + inverses; i++) {
		struct plan plan = s->choice->plan;
		const int64_t width = plan.widths[0];
		plan.widths = &width;
		if (i < leaves)
			plan.leaf = all_leaves[i];
		else
			plan.inverse = all_inverses[i - leaves];
		consider(s, &plan, best);
	}
}

/* The best plan with the panels in one place: until nothing improves. */
static double descend(struct search *s, bool hybrid, int lookahead, struct panels panels)
{
	struct plan_choice *c = s->choice;
	const struct plan_fixed *fixed = s->fixed;
	double best, before;

	c->widths[0] = fixed->nb ? fixed->nb : 128;
	c->plan = (struct plan){.hybrid = hybrid,
	        .panel = panels.variant,
	        .widths = c->widths,
	        .count = 1,
	        .leaf = panels.leaf,
	        .inverse = fixed->inverse >= 0 ? fixed->inverse : 0,
	        .lookahead = lookahead};
	best = plan_screen(s, &c->plan, 0);
	do {
		before = best;
		try_fields(s, &best);
		try_widths(s, &best);
	} while (best < before * (1 - 1e-3));
	return best;
}

/* Seconds of a column of one panel by a variant of panel_getrf. */
static double panel_screened(struct search *s, struct panels panels, int64_t m)
{
	int64_t n = m < panels.leaf ? m : panels.leaf;
	struct matrix a = {NULL, 0, m, n, m, s->asked.precision};

	executor_model_restart(s->e, false);
	bool ok = panel_getrf_work(s->e, panels.variant, a) >= 0 &&
	          panel_getrf(s->e, panels.variant, a, NULL, (struct pivots){NULL, a.n});
	double seconds = executor_model_seconds(s->e);
	return ok && !isnan(seconds) ? seconds / (double)n : INFINITY;
}

/* The first panel and one half as tall together. */
static double panels_screened(struct search *s, struct panels panels)
{
	return panel_screened(s, panels, s->asked.m) +
	       panel_screened(s, panels, (s->asked.m + 1) / 2);
}

/* The fastest variant, with the usual leaves or, where these do not fit, the widest that do. */
static struct panels choose_panels(struct search *s)
{
	const int64_t leaf = s->fixed->leaf ? s->fixed->leaf : TYPICAL_LEAF;
	struct panels best = {s->fixed->panel ? s->fixed->panel : all_panels[0], leaf};
	double least = INFINITY;

	for (size_t i = 0; i < ARRAY_LEN(all_panels) && !s->fixed->panel; i++) {
		struct panels panels = {all_panels[i], leaf};
		double seconds = panels_screened(s, panels);
		while (isinf(seconds) && !s->fixed->leaf && panels.leaf > all_leaves[0]) {
			panels.leaf /= 2;
			seconds = panels_screened(s, panels);
		}
		if (seconds < least) {
			least = seconds;
			best = panels;
		}
	}
	return best;
}

/* The best plan of both places for the panels, with look-ahead and, where that is clearly faster,
 * without (where one block has all columns: where it is faster at all). */
static double choose_uniform(struct search *s)
{
	struct plan_choice *c = s->choice;
	struct plan plan = {.count = 0};
	const struct panels panels = choose_panels(s);
	const int64_t columns = s->asked.m < s->asked.n ? s->asked.m : s->asked.n;
	double best = INFINITY;
	int64_t width = 0;

	for (int way = 0; way < (s->fixed->lookahead < 0 ? 4 : 2); way++) {
		const int hybrid = way % 2;
		const int lookahead = s->fixed->lookahead < 0 ? way < 2 : s->fixed->lookahead;
		if (s->fixed->hybrid >= 0 && s->fixed->hybrid != hybrid)
			continue;
		const bool hides = plan.count && !lookahead && width < columns;
		double seconds = descend(s, hybrid, lookahead, panels);
		const bool less = !plan.count || seconds < best;
		const bool taken = !plan.count || seconds < best * (hides ? 1 - hidden_in(s) : 1);
		c->by_rule |= less && !taken;
		if (taken) {
			best = seconds;
			plan = c->plan;
			width = c->widths[0];
		}
	}
	c->plan = plan;
	c->widths[0] = width;
	return best;
}

static bool choose(const struct profile *profile, const struct factor_question *asked,
        const struct plan_fixed *fixed, struct plan_choice *choice)
{
	struct search s = {.asked = *asked, .choice = choice, .fixed = fixed};

	*choice = (struct plan_choice){.runs = 0};
	s.e = model_factor_executor(profile, MODEL_CUDA, asked, 2);
	double best = choose_uniform(&s);
	choice->uniform = choice->widths[0];
	choice->uniform_seconds = best;
	if (!fixed->nb && isfinite(best))
		plan_sequence(&s, &best);
	if (!fixed->nb && isfinite(best))
		plan_tie_widths(&s, &best);
	if (!fixed->nb && isfinite(best))
		plan_begin_narrow(&s, &best);
	choice->seconds = best;
	if (isfinite(best)) {
		plan_screen(&s, &choice->plan, 0);
		choice->parts = executor_model_result(s.e);
	} else {
		choice->fault = executor_model_reader(s.e)->model.missing
		                        ? executor_model_fault(s.e)
		                        : s.fault;
	}
	executor_free(s.e);
	return isfinite(best);
}

/* ---- look-ahead 2 ---- */

/* Takes the other plan, which hides more time that the model does not know, unless the choice is
 * clearly faster. */
static void take(struct plan_choice *choice, const struct plan_choice *other)
{
	const double clearly = 0.02;
	int64_t runs = choice->runs + other->runs;

	if (other->seconds < choice->seconds * (1 + clearly)) {
		const bool by_rule = other->by_rule || other->seconds > choice->seconds;
		*choice = *other;
		choice->plan.widths = choice->widths;
		choice->by_rule = by_rule;
	}
	choice->runs = runs;
}

/* Look-ahead 2, for LU, and for Cholesky with split operands: their panels begin with work that can
 * run early. */
static void choose_earlier(const struct profile *profile, const struct factor_question *asked,
        const struct plan_fixed *fixed, struct plan_choice *choice)
{
	struct plan_fixed early = *fixed;
	struct plan_choice *other = xmalloc(sizeof *other);

	early.hybrid = 0;
	early.lookahead = PLAN_LOOKAHEAD_MAX;
	if (choose(profile, asked, &early, other))
		take(choice, other);
	free(other);
}

bool plan_choose(const struct profile *profile, const struct factor_question *asked,
        const struct plan_fixed *fixed, struct plan_choice *choice)
{
	bool ok = choose(profile, asked, fixed, choice);

	if (ok && fixed->lookahead < 0 && choice->plan.lookahead && !choice->plan.hybrid &&
	        (strcmp(asked->operation, "getrf") == 0 ||
	                (strcmp(asked->operation, "potrf") == 0 && asked->math != MATH_FP32)))
		choose_earlier(profile, asked, fixed, choice);
	if (ok)
		plan_tie_own(profile, asked, fixed, choice);
	return ok;
}
