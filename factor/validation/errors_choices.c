/* SPDX-License-Identifier: MIT */
/* Choices between variants and plans: their ranking, and the regret of the chosen one. */
#include "errors.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double close_pair = 2; /* pairs further apart are too easy to rank */

/* A predicted whole operation that has variants. */
static bool is_way(const struct comparison *row, const struct errors_filter *f)
{
	const struct result *p = row->predicted;

	return !isnan(p->seconds.value) && !row->phase && row->level == f->level &&
	       strcmp(p->operation, "ger") != 0 &&
	       (!f->operation || strcmp(p->operation, f->operation) == 0) &&
	       (!f->executor || strcmp(p->executor, f->executor) == 0);
}

/* Predicted and measured. */
static bool is_candidate(const struct comparison *row, const struct errors_filter *f)
{
	return row->verdict != VERDICT_SKIPPED && is_way(row, f);
}

static bool same_problem(const struct comparison *a, const struct comparison *b)
{
	const struct result *p = a->predicted, *q = b->predicted;
	return result_same_problem(p, q) && p->k == q->k && p->math == q->math &&
	       strcmp(p->executor, q->executor) == 0 && result_same_option(p, q, "trans") &&
	       result_same_option(p, q, "uplo") && result_same_option(p, q, "from");
}

struct ranking errors_ranking(
        const struct comparison *rows, size_t count, const struct errors_filter *filter)
{
	struct ranking ranking = {0};

	for (size_t i = 0; i < count; i++) {
		if (!is_candidate(&rows[i], filter))
			continue;
		for (size_t j = i + 1; j < count; j++) {
			if (!is_candidate(&rows[j], filter) || !same_problem(&rows[i], &rows[j]))
				continue;
			double measured =
			        rows[i].measured->seconds.value / rows[j].measured->seconds.value;
			double predicted =
			        rows[i].predicted->seconds.value / rows[j].predicted->seconds.value;
			if (measured > close_pair || measured < 1 / close_pair)
				continue;
			ranking.pairs++;
			ranking.right += (measured < 1) == (predicted < 1);
		}
	}
	return ranking;
}

static bool sooner(const struct comparison *a, const struct comparison *b)
{
	return !b || a->predicted->seconds.value < b->predicted->seconds.value;
}

/* The chosen and the fastest way of the problem of a row (errors_regret). */
struct ways {
	const struct comparison *chosen, *best;
	size_t measured, missing;
	bool first; /* the row is the first measured one of the problem */
};

static struct ways ways_of(
        const struct comparison *rows, size_t count, size_t row, const struct errors_filter *filter)
{
	struct ways w = {.chosen = &rows[row], .best = &rows[row], .first = true};
	const struct comparison *choice = NULL;

	for (size_t j = 0; j < count; j++) {
		const struct comparison *other = &rows[j];
		if (!is_way(other, filter) || !same_problem(&rows[row], other))
			continue;
		/* The model's plan is not always the one predicted fastest. */
		if (result_has_value(other->predicted, "plan", "model") && sooner(other, choice))
			choice = other;
		if (other->verdict == VERDICT_SKIPPED) {
			w.missing++;
			continue;
		}
		w.first = w.first && j >= row;
		w.measured++;
		if (sooner(other, w.chosen))
			w.chosen = other;
		if (other->measured->seconds.value < w.best->measured->seconds.value)
			w.best = other;
	}
	if (choice && choice->verdict != VERDICT_SKIPPED)
		w.chosen = choice;
	return w;
}

struct regret errors_regret(
        const struct comparison *rows, size_t count, const struct errors_filter *filter)
{
	struct regret regret = {.fewest = count, .median = NAN, .worst = NAN};
	double *values = xmalloc((count + 1) * sizeof *values);

	for (size_t i = 0; i < count; i++) {
		if (!is_candidate(&rows[i], filter))
			continue;
		const struct ways w = ways_of(rows, count, i, filter);
		/* Each problem once. */
		if (!w.first || w.measured < 2 ||
		        (filter->family && strcmp(w.chosen->family, filter->family) != 0))
			continue;
		values[regret.shapes++] =
		        w.chosen->measured->seconds.value / w.best->measured->seconds.value - 1;
		regret.fewest = w.measured < regret.fewest ? w.measured : regret.fewest;
		regret.most = w.measured > regret.most ? w.measured : regret.most;
		regret.missing += w.missing;
	}
	if (regret.shapes) {
		regret.median = stats_median(values, regret.shapes);
		regret.worst = stats_quantile(values, regret.shapes, 1);
	}
	free(values);
	return regret;
}
