/* SPDX-License-Identifier: MIT */
#include "errors_tables.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void show(struct table *table, size_t row, const char *column, int digits, bool is_signed,
        double value)
{
	char text[32];

	if (is_signed)
		snprintf(text, sizeof text, "%+.*f", digits, value);
	else
		snprintf(text, sizeof text, "%.*f", digits, value);
	table_set_text(table, row, column, isnan(value) ? "-" : text);
}

/* One line of a table of cases. */
static void add_case(struct table *table, const struct comparison *row)
{
	const struct result *p = row->predicted;
	char text[64], phase[16] = "";
	size_t r = table_add_row(table);

	snprintf(text, sizeof text, "%s %.40s", p->executor, row->family);
	table_set_text(table, r, "case", text);
	if (results_option(p->options, "phase", phase, sizeof phase) &&
	        table_column(table, "phase") >= 0)
		table_set_text(table, r, "phase", phase);
	table_set_int(table, r, "m", p->m);
	table_set_int(table, r, "n", p->n);
	show(table, r, "hardware us", 2, false, row->hardware * 1e6);
	show(table, r, "predicted us", 2, false, p->seconds.value * 1e6);
	show(table, r, "measured us", 2, false, row->measured->seconds.value * 1e6);
	show(table, r, "reached %", 1, false, row->of_measured * 100);
	show(table, r, "error %", 1, true, row->error * 100);
	table_set_text(table, r, "verdict", verdict_name[row->verdict]);
}

static int worst_first(const void *a, const void *b)
{
	const struct comparison *x = *(const struct comparison *const *)a;
	const struct comparison *y = *(const struct comparison *const *)b;
	return (fabs(x->error) < fabs(y->error)) - (fabs(x->error) > fabs(y->error));
}

static bool is_bad(const struct comparison *row)
{
	return row->verdict != VERDICT_OK && errors_counts(row);
}

static bool is_disturbed(const struct comparison *row)
{
	return row->verdict == VERDICT_DISTURBED;
}

/* With the reason in place of the verdict, where there is one. */
static void print_cases(const struct comparison *rows, size_t count,
        bool (*which)(const struct comparison *), const char *title, size_t most, FILE *out)
{
	static const char *const columns[] = {"case", "m", "n", "hardware us", "predicted us",
	        "measured us", "reached %", "error %", "verdict"};
	const struct comparison **listed = xmalloc((count + 1) * sizeof *listed);
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (!rows[i].phase && rows[i].level == 2 && which(&rows[i]))
			listed[n++] = &rows[i];
	qsort(listed, n, sizeof *listed, worst_first);
	for (size_t i = 0; i < n && i < most; i++) {
		add_case(table, listed[i]);
		if (listed[i]->reason[0])
			table_set_text(table, i, "verdict", listed[i]->reason);
	}
	fprintf(out, "%s: %zu%s\n", title, n, n > most ? ", the worst:" : "");
	if (n)
		table_print(table, NULL, 0, out);
	table_free(table);
	free(listed);
}

static void print_skipped(const struct comparison *rows, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		size_t same = 0;
		bool seen = rows[i].level != 2 || rows[i].verdict != VERDICT_SKIPPED;
		for (size_t j = 0; j < count && !seen; j++) {
			bool alike = rows[j].level == 2 && rows[j].verdict == VERDICT_SKIPPED &&
			             strcmp(rows[i].reason, rows[j].reason) == 0 &&
			             strcmp(rows[i].family, rows[j].family) == 0;
			seen = alike && j < i;
			same += alike;
		}
		if (!seen)
			fprintf(out, "SKIPPED(%s): %zu x %s %s, first %lld x %lld\n",
			        rows[i].reason, same, rows[i].predicted->executor, rows[i].family,
			        (long long)rows[i].predicted->m, (long long)rows[i].predicted->n);
	}
}

/* Columns of numbers: their heads, and where they come from. Fractions are shown in percent. */
struct family_columns {
	const char *head, *source;
	bool is_signed;
};

static void print_family_table(const struct table *families, size_t texts,
        const struct family_columns *column, size_t count, FILE *out)
{
	static const char *const text[] = {"family", "shapes", "regime", "cases"};
	const char *names[ARRAY_LEN(text) + 8];
	size_t width = 0;

	for (size_t c = 0; c < texts; c++)
		names[width++] = text[c];
	for (size_t c = 0; c < count; c++)
		names[width++] = column[c].head;
	struct table *table = table_new(names, width);
	for (size_t i = 0; i < families->row_count; i++) {
		const char *family = table_text(families, i, "family"),
		           *level = table_text(families, i, "level");
		const bool all = strcmp(family, "all") == 0;
		if (!all && strcmp(level, results_level_name(LEVEL_FULL)) != 0)
			continue; /* per family in validation.tsv */
		char *name = xasprintf("%s %s", table_text(families, i, "executor"), family);
		if (all)
			xappend(&name, " %s, level %s", table_text(families, i, "regime"), level);
		const size_t r = table_add_row(table);
		for (size_t c = 1; c < texts; c++)
			table_set_text(table, r, text[c], table_text(families, i, text[c]));
		table_set_text(table, r, "family", name);
		for (size_t c = 0; c < count; c++)
			show(table, r, column[c].head, 1, column[c].is_signed,
			        100 * table_real(families, i, column[c].source));
		free(name);
	}
	table_print(table, NULL, 0, out);
	table_free(table);
}

static void print_families(const struct comparison *rows, size_t count, FILE *out)
{
	static const struct family_columns errors[] = {{"median", "median_abs_error", false},
	        {"p90", "p90_abs_error", false}, {"worst", "worst_error", true},
	        {"bias", "bias", true}, {"in 10", "within10", false}, {"in 20", "within20", false}},
	                                   beside[] = {{"covered", "coverage", false},
	                                           {"half", "half_width", false},
	                                           {"reached", "hardware_over_measured", false},
	                                           {"regret", "regret", false},
	                                           {"rule", "regret_rule", false},
	                                           {"peak", "baseline_peak", false},
	                                           {"scaled", "baseline_scaled", false},
	                                           {"interp.", "baseline_interpolated", false}};
	struct table *families = errors_family_table(rows, count);

	fprintf(out, "\nErrors (predicted / measured - 1) in %%, by family\n");
	print_family_table(families, 4, errors, ARRAY_LEN(errors), out);
	fprintf(out,
	        "\nCoverage of the intervals, and their half-width, in %%; reached: the time by "
	        "the "
	        "hardware alone over the measured one, the rest is left on the table; regret of "
	        "choices by the model and by a rule; median errors of the baselines: peak, scaled "
	        "and interpolated\n");
	print_family_table(families, 2, beside, ARRAY_LEN(beside), out);
	table_free(families);
}

static void print_regret(const struct comparison *rows, size_t count, struct errors_filter filter,
        enum choice choice, FILE *out)
{
	filter.choice = choice;
	const struct regret regret = errors_regret(rows, count, &filter);

	if (regret.shapes == 0)
		return;
	fprintf(out,
	        "; regret of the choice%s: median %.1f %%, worst %.1f %% over %zu shapes with %zu "
	        "to %zu measured ways",
	        choice == CHOICE_RULE ? " by a rule" : "", 100 * regret.median, 100 * regret.worst,
	        regret.shapes, regret.fewest, regret.most);
	if (regret.missing)
		fprintf(out, " (%zu predicted ways are not measured)", regret.missing);
}

static void print_choice(
        const struct comparison *rows, size_t count, const struct errors_filter *filter, FILE *out)
{
	const struct ranking ranking = errors_ranking(rows, count, filter);

	if (errors_regret(rows, count, filter).shapes == 0)
		return;
	fprintf(out, "%s %s, %s shapes: of %zu pairs of variants within 2x, %zu ranked right",
	        filter->executor, filter->operation, errors_shapes_name[filter->shapes],
	        ranking.pairs, ranking.right);
	if (ranking.pairs)
		fprintf(out, " (%.0f %%)", 100 * (double)ranking.right / (double)ranking.pairs);
	for (enum choice choice = CHOICE_MODEL; choice <= CHOICE_RULE; choice++)
		print_regret(rows, count, *filter, choice, out);
	fputc('\n', out);
}

static void print_choices(
        const struct comparison *rows, size_t count, enum shapes shapes, FILE *out)
{
	static const char *const executors[] = {"cuda", "host"};
	static const char *const operations[] = {
	        "panel_getrf", "panel_geqrf", "panel_potrf", "gemm", "getrf", "geqrf", "potrf"};

	for (size_t e = 0; e < ARRAY_LEN(executors); e++)
		for (size_t o = 0; o < ARRAY_LEN(operations); o++)
			print_choice(rows, count,
			        &(struct errors_filter){.operation = operations[o],
			                .executor = executors[e],
			                .level = 2,
			                .shapes = shapes},
			        out);
}

/* ---- the verdict ---- */

static bool is_judged(const struct comparison *row)
{
	return row->drawn && row->level == 2 && errors_counts(row);
}

static size_t count_seeds(const struct comparison *rows, size_t count)
{
	size_t seeds = 0;

	for (size_t i = 0; i < count; i++) {
		bool counted = !is_judged(&rows[i]);
		for (size_t j = i; j > 0 && !counted; j--)
			counted =
			        is_judged(&rows[j - 1]) && result_same_option(rows[j - 1].predicted,
			                                           rows[i].predicted, "seed");
		seeds += !counted;
	}
	return seeds;
}

static void print_verdict(
        const struct comparison *rows, size_t count, enum shapes shapes, FILE *out)
{
	const struct error_summary s =
	        errors_summary(rows, count, &(struct errors_filter){.level = 2, .shapes = shapes});

	if (shapes == SHAPES_DRAWN) {
		const size_t seeds = count_seeds(rows, count);
		fprintf(out, "Verdict, drawn shapes: %zu seed%s, %zu cases", seeds,
		        seeds == 1 ? "" : "s", s.cases);
	} else {
		fprintf(out, "Fixed shapes: %zu cases", s.cases);
	}
	if (s.cases)
		fprintf(out,
		        ": median |error| %.1f %%, within 10 %%: %.0f %%, worst %+.1f %%; "
		        "baselines' medians: peak %.0f %%, scaled %.0f %%",
		        100 * s.median_abs, 100 * s.within[1], 100 * s.worst, 100 * s.peak,
		        100 * s.scaled);
	if (isfinite(s.interpolated))
		fprintf(out, ", interpolated %.1f %%", 100 * s.interpolated);
	fputc('\n', out);
}

/* The model's intervals, and those of the hardware law at efficiency 1. */
static void print_intervals(
        const struct comparison *rows, size_t count, enum shapes shapes, FILE *out)
{
	bool any = false;

	for (int k = 0; k < INTERVAL_KINDS; k++) {
		const bool alone = k == INTERVAL_ALONE;
		const struct error_summary s = errors_summary(rows, count,
		        &(struct errors_filter){.interval = interval_kind_name[k],
		                .level = alone ? LEVEL_HARDWARE : LEVEL_FULL,
		                .shapes = shapes});
		if (s.cases == 0)
			continue;
		if (any)
			fprintf(out, "; ");
		else
			fprintf(out, "Intervals of 95 %%, %s shapes: ", errors_shapes_name[shapes]);
		fprintf(out, "%s%s %.1f %% of %zu covered, half-width %.1f %%", alone ? "at " : "",
		        interval_kind_name[k], 100 * s.coverage, s.cases, 100 * s.half_width);
		any = true;
	}
	if (any)
		fputc('\n', out);
}

static void print_phases(const struct comparison *rows, size_t count, FILE *out)
{
	static const char *const columns[] = {"case", "phase", "m", "n", "hardware us",
	        "predicted us", "measured us", "reached %", "error %", "verdict"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < count; i++)
		if (rows[i].phase && rows[i].level == 2 && errors_counts(&rows[i]))
			add_case(table, &rows[i]);
	if (table->row_count) {
		fprintf(out, "\nErrors by phase, each measured alone\n");
		table_print(table, NULL, 0, out);
	}
	table_free(table);
}

void errors_print(const struct comparison *rows, size_t count, size_t most, FILE *out)
{
	print_verdict(rows, count, SHAPES_DRAWN, out);
	print_verdict(rows, count, SHAPES_FIXED, out);
	print_intervals(rows, count, SHAPES_DRAWN, out);
	print_intervals(rows, count, SHAPES_FIXED, out);
	print_cases(rows, count, is_bad, "Cases with errors above 10 %", most, out);
	print_cases(rows, count, is_disturbed,
	        "Disturbed cases, left out of errors, intervals and choices", most, out);
	print_skipped(rows, count, out);
	print_families(rows, count, out);
	fputc('\n', out);
	print_choices(rows, count, SHAPES_DRAWN, out);
	print_choices(rows, count, SHAPES_FIXED, out);
	print_phases(rows, count, out);
}
