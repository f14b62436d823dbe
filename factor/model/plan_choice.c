/* SPDX-License-Identifier: MIT */
#include "plan_choice.h"

#include "../../lib/msg.h"
#include "../panel_getrf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t all_widths[] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048};
static const int64_t all_leaves[] = {16, 32, 64, 128, 256, 512};
static const int64_t all_inverses[] = {0, 32, 64, 128};
static const char *const all_panels[] = {"persistent", "fused"};

enum { MOST_POSITIONS = 40, FINEST = 32, TYPICAL_LEAF = 64 };

struct search {
	struct executor *e;
	struct factor_question asked;
	struct plan_choice *choice;
	const struct plan_fixed *fixed;
	struct fault fault; /* of the first plan that was refused */
};

/* Seconds of the trailing matrix from column j on; infinite when the plan is refused or cannot be
 * priced. */
static double trial(struct search *s, const struct plan *plan, int64_t j)
{
	struct factor_question part = s->asked;

	part.plan = plan;
	part.m -= j;
	part.n -= j;
	s->choice->runs++;
	s->e->fault.text[0] = '\0';
	executor_model_restart(s->e, false);
	bool ok = model_factor_run(s->e, &part);
	double seconds = executor_model_seconds(s->e);
	if (!ok && !s->fault.text[0])
		s->fault = s->e->fault;
	return ok && !isnan(seconds) ? seconds : INFINITY;
}

/* ---- blocks of one width ---- */

/* Plans closer than that are one to the model. Between them one width throughout is taken, as a
 * sequence is priced less surely. */
static const double clearly = 0.01;

/* And look-ahead, which hides what the model does not know, where a plan without is no more than
 * that faster (H200: Cholesky by 3xTF32 of n = 5555, 10007, 16384, 20000 with it took 14, 10, 3 and
 * 2 % less, priced 2, 2, 3 and 8 % above; of 32768 4 % more, priced 4 % above). */
static const double hidden = 0.035;

static void consider(struct search *s, const struct plan *plan, double *best)
{
	struct plan_choice *c = s->choice;
	int64_t width = plan->widths[0];
	double seconds = trial(s, plan, 0);

	if (seconds < *best) {
		*best = seconds;
		c->plan = *plan;
		c->widths[0] = width;
		c->plan.widths = c->widths;
	}
}

static void try_widths(struct search *s, double *best)
{
	for (size_t i = 0; i < ARRAY_LEN(all_widths) && !s->fixed->nb; i++) {
		struct plan plan = s->choice->plan;
		plan.widths = &all_widths[i];
		if (i == 0 || all_widths[i - 1] < s->asked.n)
			consider(s, &plan, best);
	}
}

/* The plan chosen so far with one field changed. */
static struct plan changed(const struct search *s, int64_t *width)
{
	struct plan plan = s->choice->plan;

	*width = plan.widths[0];
	plan.widths = width;
	return plan;
}

/* Every value of one field after the other. */
static void try_fields(struct search *s, double *best)
{
	int64_t width;

	for (size_t i = 0; i < ARRAY_LEN(all_leaves) && !s->fixed->leaf; i++) {
		struct plan plan = changed(s, &width);
		plan.leaf = all_leaves[i];
		consider(s, &plan, best);
	}
	for (size_t i = 0; i < ARRAY_LEN(all_inverses) && s->fixed->inverse < 0; i++) {
		struct plan plan = changed(s, &width);
		plan.inverse = all_inverses[i];
		consider(s, &plan, best);
	}
}

/* With the panels in one place, until nothing gets better. */
static double descend(struct search *s, bool hybrid, int lookahead, const char *panel)
{
	struct plan_choice *c = s->choice;
	const struct plan_fixed *fixed = s->fixed;
	double best, before;

	c->widths[0] = fixed->nb ? fixed->nb : 128;
	c->plan = (struct plan){.hybrid = hybrid,
	        .panel = panel,
	        .widths = c->widths,
	        .count = 1,
	        .leaf = fixed->leaf ? fixed->leaf : 64,
	        .inverse = fixed->inverse >= 0 ? fixed->inverse : 0,
	        .lookahead = lookahead};
	best = trial(s, &c->plan, 0);
	do {
		before = best;
		try_fields(s, &best);
		try_widths(s, &best);
	} while (best < before * (1 - 1e-3));
	return best;
}

/* Seconds of one panel by a variant of panel_getrf. */
static double panel_trial(struct search *s, const char *panel, int64_t m)
{
	struct matrix a = {NULL, 0, m, m < TYPICAL_LEAF ? m : TYPICAL_LEAF, m, s->asked.precision};

	executor_model_restart(s->e, false);
	bool ok = panel_getrf_work(s->e, panel, a) >= 0 &&
	          panel_getrf(s->e, panel, a, NULL, (struct pivots){NULL, a.n});
	double seconds = executor_model_seconds(s->e);
	return ok && !isnan(seconds) ? seconds : INFINITY;
}

/* The fastest variant of LU's panels on the device, at the first panel and at one half as tall. */
static const char *choose_panel(struct search *s)
{
	const char *best = s->fixed->panel;
	double least = INFINITY;

	for (size_t i = 0; i < ARRAY_LEN(all_panels) && !s->fixed->panel; i++) {
		double seconds = panel_trial(s, all_panels[i], s->asked.m) +
		                 panel_trial(s, all_panels[i], (s->asked.m + 1) / 2);
		if (!best || seconds < least) {
			least = seconds;
			best = all_panels[i];
		}
	}
	return best;
}

/* The best of both places for the panels, each with look-ahead and, where that is clearly faster,
 * without. */
static double choose_uniform(struct search *s)
{
	struct plan_choice *c = s->choice;
	struct plan plan = {.count = 0};
	const char *panel = choose_panel(s);
	double best = INFINITY;
	int64_t width = 0;

	for (int way = 0; way < (s->fixed->lookahead < 0 ? 4 : 2); way++) {
		const int hybrid = way % 2;
		const int lookahead = s->fixed->lookahead < 0 ? way < 2 : s->fixed->lookahead;
		if (s->fixed->hybrid >= 0 && s->fixed->hybrid != hybrid)
			continue;
		double seconds = descend(s, hybrid, lookahead, panel);
		if (!plan.count || seconds < best * (lookahead ? 1 : 1 - hidden)) {
			best = seconds;
			plan = c->plan;
			width = c->widths[0];
		}
	}
	c->plan = plan;
	c->widths[0] = width;
	return best;
}

/* ---- the sequence ---- */

/* The best sequence of the trailing matrix at each position, by its first blocks. */
struct sequence {
	int64_t width, blocks; /* of that width, and then the sequence at `next` */
	int next;
	double seconds;
};

static int64_t finest_grid(int64_t columns)
{
	int64_t grid = FINEST;

	while (columns > grid * (MOST_POSITIONS - 1))
		grid *= 2;
	return grid;
}

static int64_t write_out(const struct sequence *at, int position, int64_t *widths, int64_t count)
{
	while (position >= 0) {
		for (int64_t i = 0; i < at[position].blocks && count < PLAN_CHOICE_BLOCKS; i++)
			widths[count++] = at[position].width;
		position = at[position].next;
	}
	return count;
}

/* The first blocks of one width from `position`, as many as end on the grid again. */
static bool first_blocks(
        int position, int positions, int64_t grid, int64_t width, struct sequence *found)
{
	int64_t whole = width > grid ? width : grid;

	if (whole % width != 0 || whole % grid != 0)
		return false;
	int64_t next = position + whole / grid;
	*found = (struct sequence){
	        width, whole / width, next < positions ? (int)next : -1, INFINITY};
	return true;
}

static void choose_sequence(struct search *s, double *best)
{
	struct plan_choice *c = s->choice;
	struct plan plan = c->plan;
	struct sequence at[MOST_POSITIONS];
	int64_t widths[PLAN_CHOICE_BLOCKS];
	int64_t columns = s->asked.m < s->asked.n ? s->asked.m : s->asked.n;
	int64_t grid = finest_grid(columns);
	int positions = (int)((columns + grid - 1) / grid);

	plan.widths = widths;
	for (int p = positions - 1; p >= 0; p--) {
		at[p].seconds = INFINITY;
		for (size_t i = 0; i < ARRAY_LEN(all_widths); i++) {
			struct sequence first;
			if (!first_blocks(p, positions, grid, all_widths[i], &first))
				continue;
			struct sequence kept = at[p];
			at[p] = first;
			plan.count = write_out(at, p, widths, 0);
			at[p].seconds = trial(s, &plan, p * grid);
			if (!(at[p].seconds < kept.seconds))
				at[p] = kept;
		}
		if (isinf(at[p].seconds))
			return;
	}
	if (positions && at[0].seconds < *best * (1 - clearly)) {
		*best = at[0].seconds;
		c->plan.count = write_out(at, 0, c->widths, 0);
	}
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
		choose_sequence(&s, &best);
	choice->seconds = best;
	if (isfinite(best)) {
		trial(&s, &choice->plan, 0);
		choice->parts = executor_model_result(s.e);
	} else {
		choice->fault = executor_model_reader(s.e)->model.missing
		                        ? executor_model_fault(s.e)
		                        : s.fault;
	}
	executor_free(s.e);
	return isfinite(best);
}

/* ---- how early the update beside a panel begins ---- */

/* The other one, which hides more of what the model does not know, unless the choice is clearly
 * faster, as two sequences are, each of which was taken for one of those within that. */
static void take(struct plan_choice *choice, const struct plan_choice *other)
{
	int64_t runs = choice->runs + other->runs;

	if (other->seconds < choice->seconds * (1 + 2 * clearly)) {
		*choice = *other;
		choice->plan.widths = choice->widths;
	}
	choice->runs = runs;
}

/* Earlier than the plan's, which is for those to choose who have something to begin with: LU, and
 * Cholesky where operands are split. */
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
	                (strcmp(asked->operation, "potrf") == 0 && asked->math == MATH_3XTF32)))
		choose_earlier(profile, asked, fixed, choice);
	return ok;
}
