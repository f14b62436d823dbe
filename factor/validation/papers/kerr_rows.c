/* SPDX-License-Identifier: MIT */
#include "kerr_rows.h"

#include "lib/base/msg.h"
#include "factor/validation/fields.h"

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

#define MEMBER(kind, column, member) FIELD(struct kerr_row, kind, column, member)

static const struct field fields[] = {MEMBER(FIELD_TEXT, "variant", variant),
        MEMBER(FIELD_TEXT, "phase", phase), MEMBER(FIELD_WHOLE, "m", m),
        MEMBER(FIELD_WHOLE, "n", n), MEMBER(FIELD_WHOLE, "r", r),
        MEMBER(FIELD_WHOLE, "threads", threads), MEMBER(FIELD_REAL, "flops", flops),
        MEMBER(FIELD_REAL, "seconds", seconds.value), MEMBER(FIELD_REAL, "low", seconds.low),
        MEMBER(FIELD_REAL, "high", seconds.high), MEMBER(FIELD_COUNT, "repeats", seconds.samples),
        MEMBER(FIELD_REAL, "predicted", predicted), MEMBER(FIELD_REAL, "residual", residual),
        MEMBER(FIELD_REAL, "orthogonality", orthogonality),
        MEMBER(FIELD_REAL, "triangularity", triangularity), MEMBER(FIELD_REAL, "limit", limit),
        MEMBER(FIELD_TEXT, "note", note)};

bool kerr_rows_write(const struct kerr_rows *rows, const char *path, struct fault *fault)
{
	struct table *table = table_new(columns, ARRAY_LEN(columns));

	table_meta_add(table, rows->table);
	for (size_t i = 0; i < rows->count; i++) {
		const struct kerr_row *row = &rows->row[i];
		size_t r = table_add_row(table);
		fields_write(table, r, fields, ARRAY_LEN(fields), row);
		table_set_real(table, r, "gflops", row->flops / row->seconds.value * 1e-9);
	}
	bool ok = table_write(table, path, fault);
	table_free(table);
	return ok;
}

/* Counts are whole numbers from 0 on. */
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
		struct kerr_row row;
		fields_read(table, i, fields, ARRAY_LEN(fields), &row);
		if (!readable(table, i) || kerr_rows_find(rows, &row))
			ok = fault_set(fault,
			        "%s, row %zu: an impossible count or time, or a row "
			        "for the second time",
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
