/* SPDX-License-Identifier: MIT */
/* Blocks of several widths: the best sequence of every trailing matrix in turn, from the right end
 * to the left (LAWN 202, section 5), and then improvements of the whole. */
#include "plan_search.h"

#include "factor/algorithms/plan_default.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POSITIONS = 40, FINEST = 32 };

/* One width is taken throughout unless a sequence is faster by this part
 * (docs/experiments/model-plans.md). */
static const double gained = 0.003;

/* ---- from the right end to the left ---- */

/* The best sequence of the trailing matrix at each position, by its first blocks. */
struct sequence {
	int64_t width, blocks; /* blocks of that width, then the sequence at `next` */
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

static int64_t write_out(const struct sequence *at, int position, int64_t *widths)
{
	int64_t count = 0;

	while (position >= 0) {
		for (int64_t i = 0; i < at[position].blocks && count < PLAN_CHOICE_BLOCKS; i++)
			widths[count++] = at[position].width;
		position = at[position].next;
	}
	return count;
}

/* The first blocks of one width from `position`, as many as end on the grid again. No block is
 * narrower than those after it: further right, the panels are a larger part of the time. Costs that
 * say otherwise are wrong (docs/experiments/model-plans.md). */
static bool first_blocks(const struct sequence *at, int position, int positions, int64_t grid,
        int64_t width, struct sequence *found)
{
	int64_t whole = width > grid ? width : grid;

	if (whole % width != 0 || whole % grid != 0)
		return false;
	int64_t next = position + whole / grid;
	*found = (struct sequence){
	        width, whole / width, next < positions ? (int)next : -1, INFINITY};
	return found->next < 0 || width >= at[found->next].width;
}

/* ---- improvements of a sequence ---- */

/* A run of blocks of one width. */
struct run {
	int64_t width, blocks;
};

static int runs_of(const struct plan *plan, struct run *run)
{
	int count = 0;

	for (int64_t i = 0; i < plan->count; i++) {
		if (i == 0 || plan->widths[i] != plan->widths[i - 1])
			run[count++] = (struct run){plan->widths[i], 0};
		run[count - 1].blocks++;
	}
	return count;
}

/* Moves columns, so many of the wider run's blocks, from the second run to the first (blocks < 0:
 * the other way). False when that is impossible. */
static bool move_border(struct run *first, struct run *second, int64_t blocks)
{
	int64_t wide = first->width > second->width ? first->width : second->width;
	int64_t columns = blocks * wide;

	if (wide % first->width || wide % second->width)
		return false;
	first->blocks += columns / first->width;
	second->blocks -= columns / second->width;
	return first->blocks > 0 && second->blocks > 0;
}

/* Makes the plan of the runs; its seconds, infinite when there are too many blocks. */
static double screening_runs(
        struct search *s, const struct run *run, int runs, struct plan *plan, int64_t *widths)
{
	plan->count = 0;
	for (int i = 0; i < runs; i++)
		for (int64_t b = 0; b < run[i].blocks; b++) {
			if (plan->count == PLAN_CHOICE_BLOCKS)
				return INFINITY;
			widths[plan->count++] = run[i].width;
		}
	plan->widths = widths;
	return plan_screen(s, plan, 0);
}

struct better {
	struct search *s;
	struct plan *plan; /* the best so far */
	int64_t *widths;   /* its blocks */
	double seconds;
	struct run *run; /* its runs */
	int runs, screening;
	int64_t *tried; /* room for another plan's blocks */
};

/* Keeps the present runs when they are faster. */
static bool keep_faster(struct better *b)
{
	struct plan plan = *b->plan;
	double seconds = screening_runs(b->s, b->run, b->runs, &plan, b->tried);

	b->screening++;
	if (!(seconds < b->seconds * (1 - 1e-4)))
		return false;
	b->seconds = seconds;
	memcpy(b->widths, b->tried, (size_t)plan.count * sizeof *b->tried);
	b->plan->count = plan.count;
	return true;
}

static bool try_border(struct better *b, int i, int64_t blocks)
{
	struct run kept[2];

	memcpy(kept, b->run + i, sizeof kept);
	if (move_border(b->run + i, b->run + i + 1, blocks) && keep_faster(b))
		return true;
	memcpy(b->run + i, kept, sizeof kept);
	return false;
}

/* Tries wider blocks before the others. */
static bool try_wider(struct better *b)
{
	enum { BLOCKS = 4 };
	struct run first = b->run[0], wider = {2 * first.width, BLOCKS};

	if (wider.width > plan_widths[PLAN_WIDTHS - 1] || first.blocks <= 2 * BLOCKS)
		return false;
	memmove(b->run + 1, b->run, (size_t)b->runs++ * sizeof *b->run);
	b->run[0] = wider;
	b->run[1].blocks -= 2 * BLOCKS;
	if (keep_faster(b))
		return true;
	memmove(b->run, b->run + 1, (size_t)--b->runs * sizeof *b->run);
	b->run[0] = first;
	return false;
}

/* Moves borders between runs, and puts wider blocks before them, while that makes the whole faster.
 * The sequence at each position is the best of a trailing matrix alone, without the operations that
 * the blocks before it leave in the queues. */
static void improve_sequence(struct search *s, struct plan *plan, int64_t *widths, double *seconds)
{
	enum { MOST_SCREENED = 128, MOST_WIDER = 8 };
	static const int64_t moves[] = {4, -4, 1, -1};
	struct better b = {.s = s,
	        .plan = plan,
	        .widths = widths,
	        .seconds = *seconds,
	        .run = xcalloc((size_t)plan->count + MOST_WIDER, sizeof *b.run),
	        .tried = xcalloc(PLAN_CHOICE_BLOCKS, sizeof *b.tried)};
	bool better = true;

	b.runs = runs_of(plan, b.run);
	for (int wider = 0; wider < MOST_WIDER && better; wider++) {
		while (better) {
			better = false;
			for (int i = 0; i + 1 < b.runs; i++)
				for (size_t k = 0; k < ARRAY_LEN(moves); k++)
					better |= b.screening < MOST_SCREENED &&
					          try_border(&b, i, moves[k]);
		}
		better = try_wider(&b);
	}
	*seconds = b.seconds;
	free(b.tried);
	free(b.run);
}

/* One width throughout, or half of it for the second half of the columns. The search from right to
 * left misses such sequences where blocks hide behind those before, and where few wide blocks are
 * best for the last columns (docs/experiments/model-plans.md). */
static bool one_width(
        struct plan *plan, int64_t *widths, int64_t width, int64_t columns, bool halved)
{
	enum { FEWEST = 8 };
	int64_t blocks = columns / width, wide = halved ? blocks / 2 : blocks;

	if (blocks < FEWEST || (halved && width / 2 < plan->leaf))
		return false;
	plan->count = 0;
	for (int64_t j = 0; j < columns && plan->count < PLAN_CHOICE_BLOCKS; plan->count++) {
		widths[plan->count] = halved && plan->count >= wide ? width / 2 : width;
		j += widths[plan->count];
	}
	return plan->count < PLAN_CHOICE_BLOCKS;
}

/* Improves the plan, and takes it where it is faster than `most` and than the best so far. Whether
 * it is faster and was not taken. */
static bool take_sequence(
        struct search *s, struct plan *plan, int64_t *widths, double most, double *best)
{
	struct plan_choice *c = s->choice;
	double seconds = plan_screen(s, plan, 0);

	improve_sequence(s, plan, widths, &seconds);
	if (!(seconds < most && seconds < *best))
		return seconds < *best;
	*best = seconds;
	memcpy(c->widths, plan->widths, (size_t)plan->count * sizeof *plan->widths);
	c->plan.count = plan->count;
	return false;
}

void plan_sequence(struct search *s, double *best)
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
		for (size_t i = 0; i < PLAN_WIDTHS; i++) {
			struct sequence first;
			if (!plan_width_free(s, plan_widths[i]) ||
			        !first_blocks(at, p, positions, grid, plan_widths[i], &first))
				continue;
			struct sequence kept = at[p];
			at[p] = first;
			plan.count = write_out(at, p, widths);
			at[p].seconds = plan_screen(s, &plan, p * grid);
			if (!(at[p].seconds < kept.seconds))
				at[p] = kept;
		}
		if (isinf(at[p].seconds))
			return;
	}
	if (!positions)
		return;
	const double most = *best * (1 - gained);
	const int64_t width = c->plan.widths[0];
	plan.count = write_out(at, 0, widths);
	bool left = take_sequence(s, &plan, widths, most, best);
	for (int halved = 0; halved < 2; halved++)
		if (plan_width_free(s, halved ? width / 2 : width) &&
		        one_width(&plan, widths, width, columns, halved))
			left |= take_sequence(s, &plan, widths, most, best);
	c->by_rule |= left && c->plan.count == 1;
}

void plan_begin_narrow(struct search *s, double *best)
{
	struct plan_choice *c = s->choice;
	const int64_t most =
	        strcmp(s->asked.operation, "getrf") == 0
	                ? plan_first_most(s->e, GETRF, s->asked.m, s->asked.n, s->asked.precision)
	                : INT64_MAX;

	if (c->widths[0] <= most || c->plan.count == PLAN_CHOICE_BLOCKS)
		return;
	memmove(c->widths + 1, c->widths, (size_t)c->plan.count++ * sizeof *c->widths);
	c->widths[0] = most;
	*best = plan_screen(s, &c->plan, 0);
}
