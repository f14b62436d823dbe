/* SPDX-License-Identifier: MIT */
#include "results.h"

#include "fields.h"
#include "lib/base/cli.h"
#include "lib/profile/model.h"
#include "lib/base/msg.h"
#include "factor/model/predictions/model_factor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"operation", "variant", "precision", "math", "m", "n", "k",
        "p", "nb", "options", "executor", "plan", "seconds", "low", "high", "repeats", "gflops",
        "residual", "orthogonality", "regime", "note"};

struct result result_new(const char *operation, const char *variant, const char *executor,
        enum precision precision, int64_t m, int64_t n)
{
	struct result row = {
	        .precision = precision, .m = m, .n = n, .residual = NAN, .orthogonality = NAN};

	snprintf(row.operation, sizeof row.operation, "%s", operation);
	snprintf(row.variant, sizeof row.variant, "%s", variant);
	snprintf(row.executor, sizeof row.executor, "%s", executor);
	results_options(row.options, executor, NULL, 2);
	return row;
}

struct results *results_new(void)
{
	struct results *results = xcalloc(1, sizeof *results);
	results->table = table_new(columns, ARRAY_LEN(columns));
	return results;
}

void results_free(struct results *results)
{
	if (!results)
		return;
	table_free(results->table);
	free(results->row);
	free(results);
}

void results_add(struct results *results, const struct result *row)
{
	size_t bytes = (results->count + 1) * sizeof *results->row;
	results->row = xrealloc(results->row, bytes);
	results->row[results->count++] = *row;
}

void results_append(struct results *results, const struct results *others)
{
	for (size_t i = 0; i < others->count; i++)
		results_add(results, &others->row[i]);
}

static bool starts_with(const char *text, const char *head)
{
	return strncmp(text, head, strlen(head)) == 0;
}

bool results_is_panel(const struct result *row)
{
	return strcmp(row->operation, "ger") == 0 || starts_with(row->operation, RESULTS_PANEL);
}

bool results_is_lu_panel(const struct result *row)
{
	return strcmp(row->operation, "ger") == 0 || strcmp(row->operation, "panel_getrf") == 0;
}

bool results_is_error(const struct result *row)
{
	return starts_with(row->operation, RESULTS_ERROR);
}

bool results_is_stage(const struct result *row)
{
	return starts_with(row->operation, RESULTS_STAGE);
}

bool results_is_widths(const struct result *row)
{
	return starts_with(row->operation, RESULTS_WIDTHS);
}

const char *results_factorization(const char *operation)
{
	static const char *const heads[] = {
	        RESULTS_ERROR, RESULTS_PANEL, RESULTS_STAGE, RESULTS_WIDTHS};

	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		if (starts_with(operation, heads[i]))
			return operation + strlen(heads[i]);
	return operation;
}

static bool is_one_of(const char *text, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(text, *names) == 0)
			return true;
	return false;
}

double results_flops(const struct result *row)
{
	static const char *const gemm[] = {"gemm", "small_gemm", "thin_gemm", NULL},
	                         *const two[] = {"gram_fused", "gram_apply", NULL},
	                         *const triangle[] = {"trsm", "trmm", NULL},
	                         *const moves[] = {"transpose", "laswp", "scopy", NULL};
	const char *operation = row->operation;
	const double m = (double)row->m, n = (double)row->n, k = (double)row->k;

	if (strcmp(operation, "ger") == 0)
		return model_flops_ger(m, n);
	if (is_one_of(operation, gemm))
		return 2 * m * n * k;
	if (strcmp(operation, "syrk") == 0)
		return n * (n + 1) * k;
	if (strcmp(operation, "gramschmidt") == 0) {
		const double rest = row->k ? n - k : 0;
		return 2 * m * (n * n - rest * rest);
	}
	if (strcmp(operation, "qr_whole_q") == 0) /* geqrf, and orgqr of all m columns */
		return model_factor_flops("geqrf", m, n) + 4 * m * m * n - 4 * m * n * n +
		       4 * n * n * n / 3;
	if (is_one_of(operation, two))
		return 4 * m * n * fmax(1, k);
	if (strcmp(operation, "gemv") == 0 || starts_with(operation, "gram_"))
		return 2 * m * n;
	if (is_one_of(operation, triangle))
		return m * m * n;
	if (is_one_of(operation, moves))
		return NAN;
	const char *whole = results_factorization(operation);
	if (results_is_stage(row)) /* the first k reflectors, applied to all columns */
		return model_factor_flops(whole, m, n) - model_factor_flops(whole, m - k, n - k);
	return model_factor_flops(whole, m, n);
}

double results_gflops(const struct result *row)
{
	return row ? results_flops(row) / row->seconds.value * 1e-9 : NAN;
}

/* ---- files ---- */

#define MEMBER(kind, column, member) FIELD(struct result, kind, column, member)

static const struct field fields[] = {MEMBER(FIELD_TEXT, "operation", operation),
        MEMBER(FIELD_TEXT, "variant", variant), MEMBER(FIELD_SIZE, "m", m),
        MEMBER(FIELD_SIZE, "n", n), MEMBER(FIELD_SIZE, "k", k), MEMBER(FIELD_SIZE, "p", p),
        MEMBER(FIELD_SIZE, "nb", nb), MEMBER(FIELD_TEXT, "options", options),
        MEMBER(FIELD_TEXT, "executor", executor), MEMBER(FIELD_TEXT, "plan", plan),
        MEMBER(FIELD_REAL, "seconds", seconds.value), MEMBER(FIELD_REAL, "low", seconds.low),
        MEMBER(FIELD_REAL, "high", seconds.high), MEMBER(FIELD_COUNT, "repeats", seconds.samples),
        MEMBER(FIELD_REAL, "residual", residual),
        MEMBER(FIELD_REAL, "orthogonality", orthogonality), MEMBER(FIELD_TEXT, "regime", regime),
        MEMBER(FIELD_TEXT, "note", note)};

void result_write(struct table *table, size_t r, const struct result *row)
{
	const char precision[2] = {(char)row->precision, 0};

	fields_write(table, r, fields, ARRAY_LEN(fields), row);
	table_set_text(table, r, "precision", precision);
	table_set_text(table, r, "math", row->precision == SINGLE ? math_name[row->math] : "fp64");
}

static struct table *results_table(const struct results *results)
{
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	table_meta_add(table, results->table);
	for (size_t i = 0; i < results->count; i++) {
		const struct result *row = &results->row[i];
		size_t r = table_add_row(table);
		result_write(table, r, row);
		/* One phase does not do the operation's arithmetic: it has no rate. */
		if (!result_has(row, "phase"))
			table_set_real(
			        table, r, "gflops", results_flops(row) / row->seconds.value / 1e9);
	}
	return table;
}

bool results_write(struct results *results, const char *path, struct fault *fault)
{
	struct table *table = results_table(results);
	bool ok = table_write(table, path, fault);
	table_free(table);
	return ok;
}

void results_write_json(const struct results *results)
{
	struct table *table = results_table(results);

	cli_write_json(table, "results");
	table_free(table);
}

const char *result_read(const struct table *table, size_t r, struct result *row)
{
	const char *precision = table_text(table, r, "precision");
	const char *math = table_text(table, r, "math");

	*row = (struct result){.m = 0};
	const bool whole = fields_read(table, r, fields, ARRAY_LEN(fields), row);

	if (!whole && row->m > 0 && row->n > 0)
		return "a text is longer than this version writes, or a number is none";
	if (!row->operation[0] || !row->variant[0] || !row->executor[0])
		return "operation, variant or executor is missing";
	if (strcmp(precision, "s") != 0 && strcmp(precision, "d") != 0)
		return "precision is neither s nor d";
	row->precision = precision[0] == 's' ? SINGLE : DOUBLE;
	if (!math_find(math, &row->math) && strcmp(math, "fp64") != 0)
		return "math is none of fp32, 3xtf32, 3xfp16 and fp64";
	if (row->m < 1 || row->n < 1)
		return "m and n must be whole numbers from 1 on";
	if (isinf(row->seconds.value) || row->seconds.value <= 0)
		return "seconds must be positive, or nan where there is no time";
	if (row->seconds.low > row->seconds.value || row->seconds.value > row->seconds.high)
		return "the interval low..high does not hold seconds";
	return NULL;
}

bool result_same_problem(const struct result *a, const struct result *b)
{
	return a->m == b->m && a->n == b->n && a->precision == b->precision &&
	       strcmp(a->operation, b->operation) == 0;
}

/* Length of the options without the level, which is last. */
static size_t case_length(const char *options)
{
	const char *level = strstr(options, ",level=");
	return level ? (size_t)(level - options) : strlen(options);
}

bool result_same_case(const struct result *a, const struct result *b)
{
	size_t length = case_length(a->options);
	return result_same_problem(a, b) && a->k == b->k && a->p == b->p && a->nb == b->nb &&
	       a->math == b->math && strcmp(a->variant, b->variant) == 0 &&
	       strcmp(a->executor, b->executor) == 0 && length == case_length(b->options) &&
	       strncmp(a->options, b->options, length) == 0;
}

static bool same_row(const struct result *a, const struct result *b)
{
	return result_same_case(a, b) && results_level(a) == results_level(b);
}

static bool read_rows(struct results *results, struct fault *fault)
{
	for (size_t r = 0; r < results->table->row_count; r++) {
		struct result row;
		const char *wrong = result_read(results->table, r, &row);
		if (wrong)
			return table_fault(results->table, r, fault, "%s", wrong);
		for (size_t i = 0; i < r; i++)
			if (same_row(&results->row[i], &row))
				return table_fault(results->table, r, fault,
				        "the same case as in line %zu",
				        results->table->head_line + 1 + i);
		results_add(results, &row);
	}
	return true;
}

struct results *results_read(const char *path, struct fault *fault)
{
	struct table *table = fields_table_read(path, columns, ARRAY_LEN(columns), fault);
	struct results *results = xcalloc(1, sizeof *results);

	results->table = table;
	if (table && read_rows(results, fault))
		return results;
	results_free(results);
	return NULL;
}

/* ---- options and keys ---- */

void results_options(
        char options[RESULT_OPTIONS], const char *executor, const char *phase, int level)
{
	snprintf(options, RESULT_OPTIONS, "%s",
	        strcmp(executor, "cuda") == 0 ? "l2=warm" : "cache=warm");
	if (phase)
		results_option_add(options, "phase", phase);
	if (level != LEVEL_FULL)
		results_option_add(options, "level", results_level_name(level));
}

void results_option_add(char options[RESULT_OPTIONS], const char *key, const char *value)
{
	char tail[RESULT_OPTIONS];
	const size_t used = case_length(options);

	snprintf(tail, sizeof tail, "%s", options + used);
	if (snprintf(options + used, RESULT_OPTIONS - used, "%s%s=%s%s", used ? "," : "", key,
	            value, tail) >= (int)(RESULT_OPTIONS - used))
		msg_die(EXIT_MEASURE_FAILED, "options longer than %d characters: %s",
		        RESULT_OPTIONS - 1, options);
}

bool results_option(const char *options, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);

	for (const char *at = options; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, key, length) == 0 && at[length] == '=') {
			const char *text = at + length + 1;
			if (value)
				snprintf(value, size, "%.*s", (int)strcspn(text, ","), text);
			return true;
		}
	}
	return false;
}

bool result_has(const struct result *row, const char *key)
{
	return results_option(row->options, key, NULL, 0);
}

bool result_has_value(const struct result *row, const char *key, const char *value)
{
	char found[24];

	return results_option(row->options, key, found, sizeof found) && strcmp(found, value) == 0;
}

bool result_same_option(const struct result *a, const struct result *b, const char *key)
{
	char x[24] = "", y[24] = "";

	results_option(a->options, key, x, sizeof x);
	results_option(b->options, key, y, sizeof y);
	return strcmp(x, y) == 0;
}

int64_t results_calls(const struct result *row)
{
	static const char calls[] = "calls=";
	const char *at = strstr(row->plan, calls);

	return at ? strtoll(at + strlen(calls), NULL, 10) : 1;
}

static const char *const level_name[LEVELS] = {
        [LEVEL_BOUND] = "0", [LEVEL_SUMS] = "1", [LEVEL_FULL] = "2", [LEVEL_HARDWARE] = "hardware"};

int results_level(const struct result *row)
{
	char text[RESULT_OPTIONS];

	if (!results_option(row->options, "level", text, sizeof text))
		return LEVEL_FULL;
	for (int level = 0; level < LEVELS; level++)
		if (strcmp(text, level_name[level]) == 0)
			return level;
	return -1;
}

const char *results_level_name(int level)
{
	return level_name[level];
}

static const char disturbed[] = "disturbed: ";

void results_disturbed_set(struct result *row, const char *how)
{
	snprintf(row->note, sizeof row->note, "%s%s", disturbed, how);
}

bool results_disturbed(const struct result *row)
{
	return !isnan(row->seconds.value) && starts_with(row->note, disturbed);
}

static const char by_rule[] = "plan chosen by a rule";

void results_by_rule_set(struct result *row)
{
	snprintf(row->note, sizeof row->note, "%s", by_rule);
}

bool results_by_rule(const struct result *row)
{
	return strcmp(row->note, by_rule) == 0;
}

size_t results_count_disturbed(const struct results *results)
{
	size_t count = 0;

	for (size_t i = 0; i < results->count; i++)
		count += results_disturbed(&results->row[i]);
	return count;
}

const struct result *results_find(const struct results *results, const struct result *like)
{
	for (size_t i = 0; i < results->count; i++)
		if (result_same_case(&results->row[i], like))
			return &results->row[i];
	return NULL;
}
