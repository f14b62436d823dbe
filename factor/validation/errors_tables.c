/* SPDX-License-Identifier: MIT */
#include "errors_tables.h"

#include "lib/base/msg.h"
#include "fields.h"

#include <stdlib.h>
#include <string.h>

const char *const errors_shapes_name[] = {"all", "drawn", "fixed"};

/* ---- validation.tsv ---- */

#define MEMBER(kind, column, member) FIELD(struct error_summary, kind, column, member)

static void add_family(struct table *table, const struct comparison *rows, size_t count,
        const struct errors_filter *filter)
{
	static const struct field fields[] = {MEMBER(FIELD_COUNT, "cases", cases),
	        MEMBER(FIELD_REAL, "median_abs_error", median_abs),
	        MEMBER(FIELD_REAL, "p90_abs_error", p90_abs),
	        MEMBER(FIELD_REAL, "worst_error", worst), MEMBER(FIELD_REAL, "bias", bias),
	        MEMBER(FIELD_REAL, "within5", within[0]), MEMBER(FIELD_REAL, "within10", within[1]),
	        MEMBER(FIELD_REAL, "within20", within[2]),
	        MEMBER(FIELD_REAL, "within30", within[3]), MEMBER(FIELD_REAL, "coverage", coverage),
	        MEMBER(FIELD_REAL, "baseline_peak", peak),
	        MEMBER(FIELD_REAL, "baseline_scaled", scaled),
	        MEMBER(FIELD_REAL, "baseline_interpolated", interpolated),
	        MEMBER(FIELD_REAL, "half_width", half_width),
	        MEMBER(FIELD_REAL, "hardware_over_measured", of_measured),
	        MEMBER(FIELD_COUNT, "disturbed", disturbed),
	        MEMBER(FIELD_COUNT, "skipped", skipped)};
	struct error_summary s = errors_summary(rows, count, filter);

	if (s.cases == 0)
		return;
	size_t r = table_add_row(table);
	table_set_text(table, r, "family", filter->family ? filter->family : "all");
	table_set_text(table, r, "executor", filter->executor);
	table_set_text(table, r, "shapes", errors_shapes_name[filter->shapes]);
	table_set_text(table, r, "regime", filter->regime ? filter->regime : "any");
	table_set_text(table, r, "level", results_level_name(filter->level));
	fields_write(table, r, fields, ARRAY_LEN(fields), &s);
	struct errors_filter chosen = *filter;
	chosen.choice = CHOICE_MODEL;
	table_set_real(table, r, "regret", errors_regret(rows, count, &chosen).median);
	chosen.choice = CHOICE_RULE;
	table_set_real(table, r, "regret_rule", errors_regret(rows, count, &chosen).median);
}

static bool same_family(const struct comparison *a, const struct comparison *b)
{
	return a->level == b->level && a->drawn == b->drawn && strcmp(a->family, b->family) == 0 &&
	       strcmp(a->predicted->executor, b->predicted->executor) == 0 &&
	       strcmp(a->predicted->regime, b->predicted->regime) == 0;
}

static void add_families(struct table *table, const struct comparison *rows, size_t count,
        int level, enum shapes shapes)
{
	for (size_t i = 0; i < count; i++) {
		bool seen = rows[i].phase || rows[i].level != level ||
		            rows[i].drawn != (shapes == SHAPES_DRAWN) || !errors_counts(&rows[i]);
		for (size_t j = 0; j < i && !seen; j++)
			seen = !rows[j].phase && errors_counts(&rows[j]) &&
			       same_family(&rows[i], &rows[j]);
		if (!seen)
			add_family(table, rows, count,
			        &(struct errors_filter){.family = rows[i].family,
			                .executor = rows[i].predicted->executor,
			                .regime = rows[i].predicted->regime,
			                .level = level,
			                .shapes = shapes});
	}
}

struct table *errors_family_table(const struct comparison *rows, size_t count)
{
	static const char *const columns[] = {"family", "executor", "shapes", "regime", "level",
	        "cases", "median_abs_error", "p90_abs_error", "worst_error", "bias", "within5",
	        "within10", "within20", "within30", "coverage", "regret", "regret_rule",
	        "baseline_peak", "baseline_scaled", "baseline_interpolated", "half_width",
	        "hardware_over_measured", "disturbed", "skipped"};
	static const char *const executors[] = {"cuda", "host"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (enum shapes shapes = SHAPES_DRAWN; shapes <= SHAPES_FIXED; shapes++)
		for (int level = LEVELS - 1; level >= 0; level--)
			add_families(table, rows, count, level, shapes);
	for (enum shapes shapes = SHAPES_DRAWN; shapes <= SHAPES_FIXED; shapes++)
		for (size_t e = 0; e < ARRAY_LEN(executors); e++)
			for (int level = LEVELS - 1; level >= 0; level--)
				for (size_t g = 0; g <= REGIMES; g++)
					add_family(table, rows, count,
					        &(struct errors_filter){.executor = executors[e],
					                .regime = g ? regime_name[g - 1] : NULL,
					                .level = level,
					                .shapes = shapes});
	return table;
}

/* ---- errors.tsv ---- */

struct table *errors_row_table(const struct comparison *rows, size_t count)
{
	static const char *const columns[] = {"operation", "variant", "precision", "math", "m", "n",
	        "k", "nb", "options", "executor", "shapes", "regime", "level", "predicted",
	        "predicted_low", "predicted_high", "measured", "measured_low", "measured_high",
	        "hardware", "hardware_over_measured", "error", "covered", "baseline_peak",
	        "baseline_scaled", "baseline_interpolated", "choice", "verdict", "reason"};
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	for (size_t i = 0; i < count; i++) {
		const struct comparison *row = &rows[i];
		const struct result *p = row->predicted;
		size_t r = table_add_row(table);
		result_write(table, r, p);
		table_set_text(table, r, "level", results_level_name(row->level));
		table_set_text(table, r, "shapes",
		        errors_shapes_name[row->drawn ? SHAPES_DRAWN : SHAPES_FIXED]);
		if (result_has_value(p, "plan", "model"))
			table_set_text(table, r, "choice", results_by_rule(p) ? "rule" : "model");
		table_set_real(table, r, "predicted", p->seconds.value);
		table_set_real(table, r, "predicted_low", p->seconds.low);
		table_set_real(table, r, "predicted_high", p->seconds.high);
		if (row->measured) {
			table_set_real(table, r, "measured", row->measured->seconds.value);
			table_set_real(table, r, "measured_low", row->measured->seconds.low);
			table_set_real(table, r, "measured_high", row->measured->seconds.high);
		}
		table_set_real(table, r, "hardware", row->hardware);
		table_set_real(table, r, "hardware_over_measured", row->of_measured);
		table_set_real(table, r, "error", row->error);
		if (row->verdict != VERDICT_SKIPPED)
			table_set_int(table, r, "covered", row->covered);
		table_set_real(table, r, "baseline_peak", row->peak_error);
		table_set_real(table, r, "baseline_scaled", row->scaled_error);
		table_set_real(table, r, "baseline_interpolated", row->interpolated_error);
		table_set_text(table, r, "verdict", verdict_name[row->verdict]);
		table_set_text(table, r, "reason", row->reason[0] ? row->reason : "nan");
	}
	return table;
}
