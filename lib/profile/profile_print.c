/* SPDX-License-Identifier: MIT */
/* Prints the profile: an aligned line for each parameter, functions of many rows shortened. */
#include "profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/msg.h"

enum { SHORT_FUNCTION = 3 }; /* functions of at most this many rows are shown in full */

size_t profile_with_status(const struct profile *profile, const char *status, const char *part)
{
	const size_t length = strlen(part);
	size_t count = 0;

	for (size_t i = 0; i < profile->count; i++)
		count += strcmp(profile->row[i].status, status) == 0 &&
		         strncmp(profile->row[i].name, part, length) == 0;
	return count;
}

size_t profile_failed(const struct profile *profile)
{
	return profile_with_status(profile, "failed", "");
}

/* "3.21 us" in two cells: numbers are right-aligned. */
static void set_quantity(struct table *shown, size_t r, double value, const char *unit)
{
	char text[64];
	char *space = strchr(cli_format_quantity(text, sizeof text, value, unit), ' ');

	if (space)
		*space++ = '\0';
	table_set_text(shown, r, "value", text);
	table_set_text(shown, r, "unit", space ? space : unit);
}

/* The bounds of a parameter without a value. */
static void set_bounds(struct table *shown, size_t r, const struct parameter *row)
{
	const struct estimate *e = &row->estimate;
	char low[64], high[64];

	cli_format_quantity(low, sizeof low, e->low, row->unit);
	cli_format_quantity(high, sizeof high, e->high, row->unit);
	char *text = isfinite(e->low) && isfinite(e->high) ? xasprintf("%s .. %s", low, high)
	             : isfinite(e->low)                    ? xasprintf("> %s", low)
	             : isfinite(e->high)                   ? xasprintf("< %s", high)
	                                                   : xstrdup("not resolved");
	table_set_text(shown, r, "value", text);
	table_set_text(shown, r, "unit", "");
	free(text);
}

static void show_row(struct table *shown, const struct parameter *row)
{
	const struct estimate *e = &row->estimate;
	double half = 100 * (e->high - e->low) / 2 / fabs(e->value);
	char percent[32] = "nan";
	char *name = profile_row_name(row);
	size_t r = table_add_row(shown);

	if (!isnan(half))
		snprintf(percent, sizeof percent, half < 99.95 ? "%.1f" : "%.0f", half);
	table_set_text(shown, r, "parameter", name);
	if (strcmp(row->status, "bounded") == 0) {
		set_bounds(shown, r, row);
		table_set_text(shown, r, "+- %", "");
	} else {
		set_quantity(shown, r, e->value, row->unit);
		table_set_text(shown, r, "+- %", percent);
	}
	table_set_int(shown, r, "samples", (int64_t)e->samples);
	table_set_text(shown, r, "status", row->status);
	free(name);
}

static void show_hidden(struct table *shown, size_t hidden, size_t noisy)
{
	size_t r = table_add_row(shown);
	char *text = noisy ? xasprintf("  ... %zu rows, %zu not ok", hidden, noisy)
	                   : xasprintf("  ... %zu rows, all ok", hidden);

	table_set_text(shown, r, "parameter", text);
	for (size_t i = 1; i < shown->column_count; i++)
		table_set_text(shown, r, shown->column[i], "");
	free(text);
}

/* Rows first .. end - 1 are one function. */
static void show_function(
        struct table *shown, const struct profile *profile, size_t first, size_t end, bool verbose)
{
	bool full = verbose || end - first <= SHORT_FUNCTION;
	size_t hidden = 0, noisy = 0;

	for (size_t i = first; i < end; i++) {
		const struct parameter *row = &profile->row[i];
		bool last = i + 1 == end;
		if (last && hidden)
			show_hidden(shown, hidden, noisy);
		if (full || i == first || last || strcmp(row->status, "failed") == 0) {
			show_row(shown, row);
		} else {
			hidden++;
			noisy += strcmp(row->status, "ok") != 0;
		}
	}
}

void profile_print(const struct profile *profile, bool verbose, FILE *out)
{
	static const char *const columns[] = {
	        "parameter", "value", "unit", "+- %", "samples", "status"};
	struct table *shown = table_new(columns, ARRAY_LEN(columns));

	for (size_t first = 0, end; first < profile->count; first = end) {
		end = first + 1;
		while (end < profile->count &&
		        strcmp(profile->row[end].name, profile->row[first].name) == 0)
			end++;
		show_function(shown, profile, first, end, verbose);
	}
	table_print(shown, NULL, 0, out);
	table_free(shown);
}

void profile_print_counts(const struct profile *profile, FILE *out)
{
	static const char *const parts[] = {"host.", "gpu.", "link."};
	const size_t noisy = profile_with_status(profile, "noisy", "");
	const char *before = " (";

	fprintf(out, "%zu parameters: %zu ok, %zu noisy", profile->count,
	        profile_with_status(profile, "ok", ""), noisy);
	for (size_t p = 0; p < ARRAY_LEN(parts) && noisy; p++) {
		const size_t here = profile_with_status(profile, "noisy", parts[p]);
		if (!here)
			continue;
		fprintf(out, "%s%.*s %zu", before, (int)strlen(parts[p]) - 1, parts[p], here);
		before = ", ";
	}
	fprintf(out, "%s, %zu bounded, %zu failed\n", noisy ? ")" : "",
	        profile_with_status(profile, "bounded", ""), profile_failed(profile));
}
