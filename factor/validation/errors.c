/* SPDX-License-Identifier: MIT */
#include "errors.h"

#include "whole.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const verdict_name[] = {"OK", "OVER", "UNDER", "AMBIGUOUS", "DISTURBED", "SKIPPED"};

static const double verdict_band = 0.10; /* of OK */

/* ---- one row ---- */

enum verdict errors_judge(double predicted, const struct estimate *measured)
{
	double least = errors_relative(predicted, measured->high),
	       most = errors_relative(predicted, measured->low);

	if (least >= -verdict_band && most <= verdict_band)
		return VERDICT_OK;
	if (least > verdict_band)
		return VERDICT_OVER;
	if (most < -verdict_band)
		return VERDICT_UNDER;
	return VERDICT_AMBIGUOUS;
}

/* A time without an interval is of one long run: not noisy. */
static bool noisy(const struct estimate *measured)
{
	return !isnan(measured->high - measured->low) && stats_noisy(measured);
}

/* The reason to skip a row; NULL: none. */
static const char *skipped(const struct result *predicted, const struct result *measured)
{
	if (isnan(predicted->seconds.value))
		return predicted->note[0] ? predicted->note : "not predicted";
	if (!measured)
		return "not measured";
	if (isnan(measured->seconds.value))
		return measured->note[0] ? measured->note : "no time measured";
	return NULL;
}

static void compare_row(struct comparison *row)
{
	const struct estimate *predicted = &row->predicted->seconds,
	                      *measured = row->measured ? &row->measured->seconds : NULL;
	const char *reason = skipped(row->predicted, row->measured);

	row->error = row->half_width = row->of_measured = row->peak_error = row->scaled_error =
	        row->interpolated_error = NAN;
	row->verdict = VERDICT_SKIPPED;
	if (reason) {
		snprintf(row->reason, sizeof row->reason, "%s", reason);
	} else if (noisy(measured)) {
		snprintf(row->reason, sizeof row->reason, "measured too noisily: %.3g to %.3g ms",
		        measured->low * 1e3, measured->high * 1e3);
	} else {
		row->error = errors_relative(predicted->value, measured->value);
		row->half_width = (predicted->high - predicted->low) / 2 / predicted->value;
		row->of_measured = row->hardware / measured->value;
		row->covered =
		        predicted->low <= measured->value && measured->value <= predicted->high;
		row->verdict = errors_judge(predicted->value, measured);
		if (results_disturbed(row->measured)) {
			row->verdict = VERDICT_DISTURBED;
			snprintf(row->reason, sizeof row->reason, "%s", row->measured->note);
		}
	}
}

/* The prediction by the hardware alone follows that of the full model. */
static double hardware_seconds(const struct results *predictions, size_t i)
{
	const struct result *row = &predictions->row[i], *next = row + 1;

	return i + 1 < predictions->count && results_level(row) == LEVEL_FULL &&
	                       results_level(next) == LEVEL_HARDWARE && result_same_case(row, next)
	               ? next->seconds.value
	               : NAN;
}

size_t errors_compare(const struct results *predictions, const struct results *measurements,
        struct comparison **out)
{
	size_t count = predictions->count;
	struct comparison *rows = xcalloc(count + 1, sizeof *rows);

	for (size_t i = 0; i < count; i++) {
		struct comparison *row = &rows[i];
		const struct result *predicted = &predictions->row[i];
		row->predicted = predicted;
		row->measured = results_find(measurements, predicted);
		row->level = results_level(predicted);
		row->hardware = hardware_seconds(predictions, i);
		row->phase = result_has(predicted, "phase");
		row->drawn = result_seed(predicted) != NOT_DRAWN;
		snprintf(row->family, sizeof row->family, "%s/%s/%c%s%s%s", predicted->operation,
		        predicted->variant, (char)predicted->precision,
		        predicted->math == MATH_FP32 ? "" : "/",
		        predicted->math == MATH_FP32 ? "" : math_name[predicted->math],
		        result_has(predicted, "from") ? "/from host" : "");
		compare_row(row);
	}
	errors_baseline_scaled(rows, count);
	*out = rows;
	return count;
}

/* ---- summaries ---- */

static bool is_of(const struct comparison *row, enum shapes shapes)
{
	return shapes == SHAPES_ALL || row->drawn == (shapes == SHAPES_DRAWN);
}

enum interval_kind errors_interval_kind(const struct comparison *row)
{
	const struct result *p = row->predicted;
	const bool with_host = strcmp(p->executor, "host") == 0 || whole_panels_on_host(p->variant);

	return row->level == LEVEL_FULL ? interval_kind_of(p->regime, with_host) : INTERVAL_ALONE;
}

static bool passes(const struct comparison *row, const struct errors_filter *filter)
{
	return !row->phase && row->level == filter->level && is_of(row, filter->shapes) &&
	       (!filter->operation || strcmp(row->predicted->operation, filter->operation) == 0) &&
	       (!filter->family || strcmp(row->family, filter->family) == 0) &&
	       (!filter->executor || strcmp(row->predicted->executor, filter->executor) == 0) &&
	       (!filter->regime || strcmp(row->predicted->regime, filter->regime) == 0) &&
	       (!filter->interval || strcmp(interval_kind_name[errors_interval_kind(row)],
	                                     filter->interval) == 0);
}

/* Median magnitude of one field of the selected rows, without NaN. */
static double median_abs_of(const struct comparison *const *rows, size_t count, size_t field)
{
	double *x = xmalloc((count + 1) * sizeof *x);
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		double value = *(const double *)(const void *)((const char *)rows[i] + field);
		if (!isnan(value))
			x[n++] = fabs(value);
	}
	double median = stats_median(x, n);
	free(x);
	return median;
}

static void summarize(struct error_summary *summary, const struct comparison *const *rows)
{
	static const double bands[4] = {0.05, 0.10, 0.20, 0.30};
	size_t n = summary->cases, covered = 0, within[4] = {0};
	double *error = xmalloc(2 * n * sizeof *error), *magnitude = error + n;

	summary->worst = 0;
	for (size_t i = 0; i < n; i++) {
		error[i] = rows[i]->error;
		magnitude[i] = fabs(error[i]);
		covered += rows[i]->covered;
		if (magnitude[i] > fabs(summary->worst))
			summary->worst = error[i];
		for (size_t b = 0; b < ARRAY_LEN(bands); b++)
			within[b] += magnitude[i] <= bands[b];
	}
	summary->median_abs = stats_median(magnitude, n);
	summary->p90_abs = stats_quantile(magnitude, n, 0.9);
	summary->bias = stats_median(error, n);
	for (size_t b = 0; b < ARRAY_LEN(bands); b++)
		summary->within[b] = (double)within[b] / (double)n;
	summary->coverage = (double)covered / (double)n;
	summary->half_width = median_abs_of(rows, n, offsetof(struct comparison, half_width));
	summary->of_measured = median_abs_of(rows, n, offsetof(struct comparison, of_measured));
	summary->peak = median_abs_of(rows, n, offsetof(struct comparison, peak_error));
	summary->scaled = median_abs_of(rows, n, offsetof(struct comparison, scaled_error));
	summary->interpolated =
	        median_abs_of(rows, n, offsetof(struct comparison, interpolated_error));
	free(error);
}

struct error_summary errors_summary(
        const struct comparison *rows, size_t count, const struct errors_filter *filter)
{
	struct error_summary summary = {.median_abs = NAN,
	        .p90_abs = NAN,
	        .worst = NAN,
	        .bias = NAN,
	        .within = {NAN, NAN, NAN, NAN},
	        .coverage = NAN,
	        .half_width = NAN,
	        .of_measured = NAN,
	        .peak = NAN,
	        .scaled = NAN,
	        .interpolated = NAN};
	const struct comparison **selected = xmalloc((count + 1) * sizeof *selected);

	for (size_t i = 0; i < count; i++) {
		if (!passes(&rows[i], filter))
			continue;
		summary.skipped += rows[i].verdict == VERDICT_SKIPPED;
		summary.disturbed += rows[i].verdict == VERDICT_DISTURBED;
		if (errors_counts(&rows[i]))
			selected[summary.cases++] = &rows[i];
	}
	if (summary.cases)
		summarize(&summary, selected);
	free(selected);
	return summary;
}

/* ---- choices between variants and plans: their ranking, the regret of the chosen one ---- */

static const double close_pair = 2; /* pairs further apart are too easy to rank */

/* A predicted whole operation that has variants. */
static bool is_way(const struct comparison *row, const struct errors_filter *f)
{
	const struct result *p = row->predicted;

	return !isnan(p->seconds.value) && !row->phase && row->level == f->level &&
	       is_of(row, f->shapes) && strcmp(p->operation, "ger") != 0 &&
	       (!f->operation || strcmp(p->operation, f->operation) == 0) &&
	       (!f->executor || strcmp(p->executor, f->executor) == 0);
}

/* Predicted and measured. */
static bool is_candidate(const struct comparison *row, const struct errors_filter *f)
{
	return errors_counts(row) && is_way(row, f);
}

static bool same_problem(const struct comparison *a, const struct comparison *b)
{
	const struct result *p = a->predicted, *q = b->predicted;
	return result_same_problem(p, q) && p->k == q->k && p->math == q->math &&
	       strcmp(p->executor, q->executor) == 0 && result_same_option(p, q, "trans") &&
	       result_same_option(p, q, "uplo") && result_same_option(p, q, "from") &&
	       result_same_option(p, q, "seed");
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
};

/* The row is the first measured one of the problem; the others are mostly its neighbours. */
static bool is_first(const struct comparison *rows, size_t row, const struct errors_filter *filter)
{
	for (size_t j = row; j > 0; j--)
		if (same_problem(&rows[row], &rows[j - 1]) && is_candidate(&rows[j - 1], filter))
			return false;
	return true;
}

static struct ways ways_of(
        const struct comparison *rows, size_t count, size_t row, const struct errors_filter *filter)
{
	struct ways w = {.chosen = &rows[row], .best = &rows[row]};
	const struct comparison *choice = NULL;

	for (size_t j = 0; j < count; j++) {
		const struct comparison *other = &rows[j];
		if (!same_problem(&rows[row], other) || !is_way(other, filter))
			continue;
		/* The model's plan is not always the one predicted fastest. */
		if (result_has_value(other->predicted, "plan", "model") && sooner(other, choice))
			choice = other;
		if (!errors_counts(other)) {
			w.missing++;
			continue;
		}
		w.measured++;
		if (sooner(other, w.chosen))
			w.chosen = other;
		if (other->measured->seconds.value < w.best->measured->seconds.value)
			w.best = other;
	}
	if (choice && errors_counts(choice))
		w.chosen = choice;
	return w;
}

static bool chosen_by(const struct comparison *chosen, enum choice choice)
{
	return choice == CHOICE_ANY ||
	       results_by_rule(chosen->predicted) == (choice == CHOICE_RULE);
}

struct regret errors_regret(
        const struct comparison *rows, size_t count, const struct errors_filter *filter)
{
	struct regret regret = {.fewest = count, .median = NAN, .worst = NAN};
	double *values = xmalloc((count + 1) * sizeof *values);

	for (size_t i = 0; i < count; i++) {
		const char *operation = rows[i].predicted->operation;
		if (!is_candidate(&rows[i], filter) ||
		        (filter->family &&
		                strncmp(filter->family, operation, strlen(operation)) != 0) ||
		        !is_first(rows, i, filter)) /* each problem once */
			continue;
		const struct ways w = ways_of(rows, count, i, filter);
		if (w.measured < 2 || !chosen_by(w.chosen, filter->choice) ||
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
