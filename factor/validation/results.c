/* SPDX-License-Identifier: MIT */
#include "results.h"

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

const char *results_factorization(const char *operation)
{
	static const char *const heads[] = {RESULTS_ERROR, RESULTS_PANEL};

	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		if (starts_with(operation, heads[i]))
			return operation + strlen(heads[i]);
	return operation;
}

double results_flops(const struct result *row)
{
	double m = (double)row->m, n = (double)row->n;

	if (strcmp(row->operation, "ger") == 0)
		return model_flops_ger(m, n);
	if (strcmp(row->operation, "gemm") == 0 || strcmp(row->operation, "small_gemm") == 0 ||
	        strcmp(row->operation, "thin_gemm") == 0)
		return 2 * m * n * (double)row->k;
	if (strcmp(row->operation, "syrk") == 0)
		return n * (n + 1) * (double)row->k;
	if (strcmp(row->operation, "gemv") == 0)
		return 2 * m * n;
	if (strcmp(row->operation, "gramschmidt") == 0) {
		double rest = row->k ? n - (double)row->k : 0;
		return 2 * m * (n * n - rest * rest);
	}
	if (strcmp(row->operation, "gram_fused") == 0 || strcmp(row->operation, "gram_apply") == 0)
		return 4 * m * n * fmax(1, (double)row->k);
	if (strncmp(row->operation, "gram_", 5) == 0)
		return 2 * m * n;
	if (strcmp(row->operation, "trsm") == 0 || strcmp(row->operation, "trmm") == 0)
		return m * m * n;
	if (strcmp(row->operation, "transpose") == 0 || strcmp(row->operation, "laswp") == 0)
		return NAN;
	return model_factor_flops(results_factorization(row->operation), m, n);
}

/* ---- writing ---- */

static void write_size(struct table *table, size_t r, const char *column, int64_t size)
{
	if (size > 0)
		table_set_int(table, r, column, size);
}

static void write_row(struct table *table, const struct result *row)
{
	size_t r = table_add_row(table);
	char precision[2] = {(char)row->precision, 0};

	table_set_text(table, r, "operation", row->operation);
	table_set_text(table, r, "variant", row->variant);
	table_set_text(table, r, "precision", precision);
	table_set_text(table, r, "math", row->precision == SINGLE ? math_name[row->math] : "fp64");
	table_set_int(table, r, "m", row->m);
	table_set_int(table, r, "n", row->n);
	write_size(table, r, "k", row->k);
	write_size(table, r, "p", row->p);
	write_size(table, r, "nb", row->nb);
	table_set_text(table, r, "options", row->options);
	table_set_text(table, r, "executor", row->executor);
	table_set_text(table, r, "plan", row->plan[0] ? row->plan : "nan");
	table_set_real(table, r, "seconds", row->seconds.value);
	table_set_real(table, r, "low", row->seconds.low);
	table_set_real(table, r, "high", row->seconds.high);
	table_set_int(table, r, "repeats", (int64_t)row->seconds.samples);
	/* A phase alone does not do the operation's arithmetic: its rate would mean nothing. */
	if (!results_option(row->options, "phase", NULL, 0))
		table_set_real(table, r, "gflops", results_flops(row) / row->seconds.value / 1e9);
	table_set_real(table, r, "residual", row->residual);
	table_set_real(table, r, "orthogonality", row->orthogonality);
	table_set_text(table, r, "regime", row->regime[0] ? row->regime : "nan");
	table_set_text(table, r, "note", row->note[0] ? row->note : "nan");
}

static void copy_metadata(struct table *to, const struct table *from)
{
	for (size_t i = 0; i < from->meta_count; i++)
		table_meta_set(to, from->meta_key[i], "%s", from->meta_value[i]);
}

bool results_write(struct results *results, const char *path, struct fault *fault)
{
	struct table *table = table_new(columns, ARRAY_LEN(columns));
	copy_metadata(table, results->table);
	for (size_t i = 0; i < results->count; i++)
		write_row(table, &results->row[i]);
	bool ok = table_write(table, path, fault);
	table_free(table);
	return ok;
}

/* ---- reading ---- */

static void read_text(
        char *to, size_t size, const struct table *table, size_t r, const char *column)
{
	const char *text = table_text(table, r, column);
	snprintf(to, size, "%s", strcmp(text, "nan") == 0 ? "" : text);
}

static int64_t read_size(const struct table *table, size_t r, const char *column)
{
	double value = table_real(table, r, column);
	return value >= 1 && value <= 1e15 && floor(value) == value ? (int64_t)value : 0;
}

static const char *read_row(const struct table *table, size_t r, struct result *row)
{
	const char *precision = table_text(table, r, "precision");
	const char *math = table_text(table, r, "math");
	double repeats = table_real(table, r, "repeats");

	*row = (struct result){.m = read_size(table, r, "m"),
	        .n = read_size(table, r, "n"),
	        .k = read_size(table, r, "k"),
	        .p = read_size(table, r, "p"),
	        .nb = read_size(table, r, "nb")};
	read_text(row->operation, sizeof row->operation, table, r, "operation");
	read_text(row->variant, sizeof row->variant, table, r, "variant");
	read_text(row->executor, sizeof row->executor, table, r, "executor");
	read_text(row->options, sizeof row->options, table, r, "options");
	read_text(row->plan, sizeof row->plan, table, r, "plan");
	read_text(row->regime, sizeof row->regime, table, r, "regime");
	read_text(row->note, sizeof row->note, table, r, "note");
	row->seconds.value = table_real(table, r, "seconds");
	row->seconds.low = table_real(table, r, "low");
	row->seconds.high = table_real(table, r, "high");
	row->seconds.samples = repeats >= 0 && repeats < 1e9 ? (size_t)repeats : 0;
	row->residual = table_real(table, r, "residual");
	row->orthogonality = table_real(table, r, "orthogonality");

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

/* Length of the options without the level, which stands last. */
static size_t case_length(const char *options)
{
	const char *level = strstr(options, ",level=");
	return level ? (size_t)(level - options) : strlen(options);
}

/* Apart from the prediction's level. */
static bool same_case(const struct result *a, const struct result *b)
{
	size_t length = case_length(a->options);
	return a->m == b->m && a->n == b->n && a->k == b->k && a->p == b->p && a->nb == b->nb &&
	       a->precision == b->precision && a->math == b->math &&
	       strcmp(a->variant, b->variant) == 0 && strcmp(a->executor, b->executor) == 0 &&
	       strcmp(a->operation, b->operation) == 0 && length == case_length(b->options) &&
	       strncmp(a->options, b->options, length) == 0;
}

static bool same_row(const struct result *a, const struct result *b)
{
	return same_case(a, b) && results_level(a) == results_level(b);
}

static bool read_rows(struct results *results, const char *path, struct fault *fault)
{
	for (size_t r = 0; r < results->table->row_count; r++) {
		struct result row;
		const char *wrong = read_row(results->table, r, &row);
		if (wrong)
			return fault_set(fault, "%s, row %zu: %s", path, r + 1, wrong);
		for (size_t i = 0; i < r; i++)
			if (same_row(&results->row[i], &row))
				return fault_set(fault, "%s: rows %zu and %zu are the same case",
				        path, i + 1, r + 1);
		results_add(results, &row);
	}
	return true;
}

struct results *results_read(const char *path, struct fault *fault)
{
	struct table *table = table_read(path, fault);
	if (!table)
		return NULL;
	struct results *results = xcalloc(1, sizeof *results);
	results->table = table;
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		if (table_column(table, columns[i]) < 0) {
			fault_set(fault, "%s has no column '%s': write it again with this version",
			        path, columns[i]);
			results_free(results);
			return NULL;
		}
	}
	if (!read_rows(results, path, fault)) {
		results_free(results);
		return NULL;
	}
	return results;
}

/* ---- options and keys ---- */

void results_options(char options[64], const char *executor, const char *phase, int level)
{
	int used = snprintf(options, 64, strcmp(executor, "cuda") == 0 ? "l2=warm" : "cache=warm");
	if (phase)
		used += snprintf(options + used, (size_t)(64 - used), ",phase=%s", phase);
	if (level < 2)
		snprintf(options + used, (size_t)(64 - used), ",level=%d", level);
}

void results_option_add(char options[64], const char *key, const char *value)
{
	size_t used = strlen(options);

	snprintf(options + used, 64 - used, "%s%s=%s", used ? "," : "", key, value);
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

int64_t results_calls(const struct result *row)
{
	static const char calls[] = "calls=";
	const char *at = strstr(row->plan, calls);

	return at ? strtoll(at + strlen(calls), NULL, 10) : 1;
}

int results_level(const struct result *row)
{
	char level[4];
	return results_option(row->options, "level", level, sizeof level) ? level[0] - '0' : 2;
}

static const char disturbed[] = "disturbed: others used the core in nearly all runs";

void results_disturbed_set(struct result *row)
{
	snprintf(row->note, sizeof row->note, "%s", disturbed);
}

bool results_disturbed(const struct result *row)
{
	return !isnan(row->seconds.value) && strcmp(row->note, disturbed) == 0;
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
		if (same_case(&results->row[i], like))
			return &results->row[i];
	return NULL;
}
