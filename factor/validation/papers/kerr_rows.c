/* SPDX-License-Identifier: MIT */
#include "kerr_rows.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"variant", "phase", "m", "n", "r", "threads", "flops",
        "seconds", "low", "high", "repeats", "gflops", "predicted", "residual", "orthogonality",
        "triangularity", "limit", "note"};

struct kerr_rows *kerr_rows_new(void)
{
	struct kerr_rows *rows = xcalloc(1, sizeof *rows);

	rows->table = table_new(columns, ARRAY_LEN(columns));
	return rows;
}

void kerr_rows_free(struct kerr_rows *rows)
{
	if (!rows)
		return;
	table_free(rows->table);
	free(rows->row);
	free(rows);
}

void kerr_rows_add(struct kerr_rows *rows, const struct kerr_row *row)
{
	rows->row = xrealloc(rows->row, (rows->count + 1) * sizeof *rows->row);
	rows->row[rows->count++] = *row;
}

const struct kerr_row *kerr_rows_find(const struct kerr_rows *rows, const struct kerr_row *like)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *row = &rows->row[i];
		if (strcmp(row->variant, like->variant) == 0 &&
		        strcmp(row->phase, like->phase) == 0 && row->m == like->m &&
		        row->n == like->n && row->r == like->r && row->threads == like->threads)
			return row;
	}
	return NULL;
}

/* ---- the file ---- */

static void write_row(struct table *table, const struct kerr_row *row)
{
	size_t i = table_add_row(table);

	table_set_text(table, i, "variant", row->variant);
	table_set_text(table, i, "phase", row->phase);
	table_set_int(table, i, "m", row->m);
	table_set_int(table, i, "n", row->n);
	table_set_int(table, i, "r", row->r);
	table_set_int(table, i, "threads", row->threads);
	table_set_real(table, i, "flops", row->flops);
	table_set_real(table, i, "seconds", row->seconds.value);
	table_set_real(table, i, "low", row->seconds.low);
	table_set_real(table, i, "high", row->seconds.high);
	table_set_int(table, i, "repeats", (int64_t)row->seconds.samples);
	table_set_real(table, i, "gflops", row->flops / row->seconds.value * 1e-9);
	table_set_real(table, i, "predicted", row->predicted);
	table_set_real(table, i, "residual", row->residual);
	table_set_real(table, i, "orthogonality", row->orthogonality);
	table_set_real(table, i, "triangularity", row->triangularity);
	table_set_real(table, i, "limit", row->limit);
	table_set_text(table, i, "note", row->note[0] ? row->note : "nan");
}

bool kerr_rows_write(const struct kerr_rows *rows, const char *path, struct fault *fault)
{
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	table_meta_add(table, rows->table);
	for (size_t i = 0; i < rows->count; i++)
		write_row(table, &rows->row[i]);
	bool ok = table_write(table, path, fault);
	table_free(table);
	return ok;
}

static void read_text(char *to, size_t size, const struct table *t, size_t i, const char *column)
{
	const char *text = table_text(t, i, column);

	snprintf(to, size, "%s", strcmp(text, "nan") == 0 ? "" : text);
}

static struct kerr_row read_row(const struct table *t, size_t i)
{
	struct kerr_row row = {.m = (int64_t)table_real(t, i, "m"),
	        .n = (int64_t)table_real(t, i, "n"),
	        .r = (int64_t)table_real(t, i, "r"),
	        .threads = (int64_t)table_real(t, i, "threads"),
	        .flops = table_real(t, i, "flops"),
	        .seconds = {table_real(t, i, "seconds"), table_real(t, i, "low"),
	                table_real(t, i, "high"), (size_t)table_real(t, i, "repeats")},
	        .predicted = table_real(t, i, "predicted"),
	        .residual = table_real(t, i, "residual"),
	        .orthogonality = table_real(t, i, "orthogonality"),
	        .triangularity = table_real(t, i, "triangularity"),
	        .limit = table_real(t, i, "limit")};

	read_text(row.variant, sizeof row.variant, t, i, "variant");
	read_text(row.phase, sizeof row.phase, t, i, "phase");
	read_text(row.note, sizeof row.note, t, i, "note");
	return row;
}

/* What is counted with is a whole number from 0 on. */
static bool readable(const struct table *t, size_t i)
{
	static const char *const counts[] = {"m", "n", "r", "threads", "repeats"};

	for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
		double x = table_real(t, i, counts[c]);
		if (!(x >= 0 && x < 0x1p53 && x == floor(x)))
			return false;
	}
	return !(table_real(t, i, "seconds") <= 0);
}

struct kerr_rows *kerr_rows_read(const char *path, struct fault *fault)
{
	struct kerr_rows *rows = kerr_rows_new();
	struct table *table = table_read(path, fault);
	bool ok = table != NULL;

	for (size_t c = 0; ok && c < ARRAY_LEN(columns); c++)
		if (table_column(table, columns[c]) < 0)
			ok = fault_set(fault, "%s has no column '%s'", path, columns[c]);
	for (size_t i = 0; ok && i < table->row_count; i++) {
		struct kerr_row row = read_row(table, i);
		if (!readable(table, i) || kerr_rows_find(rows, &row))
			ok = fault_set(fault,
			        "%s, row %zu: a count or a time that cannot be, or a "
			        "row for the second time",
			        path, i + 1);
		kerr_rows_add(rows, &row);
	}
	if (ok) {
		table_free(rows->table);
		rows->table = table;
		return rows;
	}
	table_free(table);
	kerr_rows_free(rows);
	return NULL;
}
