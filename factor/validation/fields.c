/* SPDX-License-Identifier: MIT */
#include "fields.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void fields_write(
        struct table *table, size_t row, const struct field *field, size_t count, const void *from)
{
	for (const struct field *f = field; f < field + count; f++) {
		const void *at = (const char *)from + f->offset;
		if (table_column(table, f->column) < 0)
			continue;
		if (f->kind == FIELD_TEXT)
			table_set_text(table, row, f->column, *(const char *)at ? at : "nan");
		else if (f->kind == FIELD_REAL)
			table_set_real(table, row, f->column, *(const double *)at);
		else if (f->kind == FIELD_COUNT)
			table_set_int(table, row, f->column, (int64_t) * (const size_t *)at);
		else if (f->kind == FIELD_WHOLE || *(const int64_t *)at > 0)
			table_set_int(table, row, f->column, *(const int64_t *)at);
	}
}

bool fields_read(
        const struct table *table, size_t row, const struct field *field, size_t count, void *to)
{
	bool whole = true;

	for (const struct field *f = field; f < field + count; f++) {
		void *at = (char *)to + f->offset;
		const char *text = table_text(table, row, f->column);
		const double value = table_real(table, row, f->column),
		             most = f->kind == FIELD_COUNT ? 1e9 : 1e15;
		const bool number = value >= 0 && value <= most && floor(value) == value,
		           none = !*text || strcmp(text, "nan") == 0;
		whole &= f->kind == FIELD_TEXT || none ||
		         (f->kind == FIELD_REAL ? !isnan(value) : number);
		if (f->kind == FIELD_TEXT)
			whole &= snprintf(at, f->size, "%s", strcmp(text, "nan") == 0 ? "" : text) <
			         (int)f->size;
		else if (f->kind == FIELD_REAL)
			*(double *)at = value;
		else if (f->kind == FIELD_COUNT)
			*(size_t *)at = number ? (size_t)value : 0;
		else
			*(int64_t *)at = number ? (int64_t)value : 0;
	}
	return whole;
}

struct table *fields_table_read(
        const char *path, const char *const *columns, size_t count, struct fault *fault)
{
	struct table *table = table_read(path, fault);

	for (size_t c = 0; table && c < count; c++)
		if (table_column(table, columns[c]) < 0) {
			fault_set(fault, "%s has no column '%s': write it again with this version",
			        path, columns[c]);
			table_free(table);
			table = NULL;
		}
	return table;
}
