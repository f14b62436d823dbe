/* SPDX-License-Identifier: MIT */
/* A table in memory. Cells are text; numbers are formatted when set and parsed when read. */
#include "table.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"

/* Tabs, newlines and other control characters would break the file: they become spaces. */
static char *one_line(char *text)
{
	for (char *c = text; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	return text;
}

struct table *table_new(const char *const *columns, size_t count)
{
	struct table *table = xcalloc(1, sizeof *table);

	table->column = xcalloc(count, sizeof *table->column);
	table->column_count = count;
	for (size_t i = 0; i < count; i++)
		table->column[i] = one_line(xstrdup(columns[i]));
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->meta_count; i++) {
		free(table->meta_key[i]);
		free(table->meta_value[i]);
	}
	for (size_t i = 0; i < table->column_count; i++)
		free(table->column[i]);
	for (size_t i = 0; i < table->row_count * table->column_count; i++)
		free(table->cell[i]);
	free(table->meta_key);
	free(table->meta_value);
	free(table->column);
	free(table->cell);
	free(table->path);
	free(table);
}

static char **meta_find(const struct table *table, const char *key)
{
	for (size_t i = 0; i < table->meta_count; i++)
		if (strcmp(table->meta_key[i], key) == 0)
			return &table->meta_value[i];
	return NULL;
}

void table_meta_set(struct table *table, const char *key, const char *format, ...)
{
	va_list args;
	char *value = NULL, *name = one_line(xstrdup(key)), **old = meta_find(table, name);

	va_start(args, format);
	if (vasprintf(&value, format, args) < 0)
		msg_die(EXIT_MEASURE_FAILED, "out of memory");
	va_end(args);
	one_line(value);
	if (old) {
		free(*old);
		free(name);
		*old = value;
		return;
	}
	size_t n = table->meta_count++;
	table->meta_key = xrealloc(table->meta_key, (n + 1) * sizeof *table->meta_key);
	table->meta_value = xrealloc(table->meta_value, (n + 1) * sizeof *table->meta_value);
	table->meta_key[n] = name;
	table->meta_value[n] = value;
}

const char *table_meta(const struct table *table, const char *key)
{
	char **value = meta_find(table, key);

	return value ? *value : NULL;
}

void table_meta_add(struct table *table, const struct table *from)
{
	for (size_t i = 0; i < from->meta_count; i++)
		if (!meta_find(table, from->meta_key[i]))
			table_meta_set(table, from->meta_key[i], "%s", from->meta_value[i]);
}

int table_column(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (strcmp(table->column[i], name) == 0)
			return (int)i;
	return -1;
}

size_t table_add_row(struct table *table)
{
	size_t row = table->row_count, width = table->column_count;

	/* The room doubles whenever the number of rows is a power of two (or none). */
	if ((row & (row - 1)) == 0) {
		size_t room = row ? 2 * row : 1;
		table->cell = xrealloc(table->cell, (room * width + 1) * sizeof *table->cell);
	}
	for (size_t i = 0; i < width; i++)
		table->cell[row * width + i] = xstrdup("nan");
	table->row_count++;
	return row;
}

void table_copy_row(struct table *to, const struct table *from, size_t row)
{
	const size_t fresh = table_add_row(to);

	for (size_t i = 0; i < from->column_count; i++)
		table_set_text(
		        to, fresh, from->column[i], from->cell[row * from->column_count + i]);
}

void table_set_text(struct table *table, size_t row, const char *column, const char *text)
{
	int index = table_column(table, column);

	if (index < 0 || row >= table->row_count)
		msg_die(EXIT_MEASURE_FAILED, "bug: the table has no cell in row %zu, column %s",
		        row, column);
	char **cell = &table->cell[row * table->column_count + (size_t)index];
	char *copy = one_line(xstrdup(text));
	free(*cell);
	*cell = copy;
}

void table_set_real(struct table *table, size_t row, const char *column, double value)
{
	char text[32] = "nan"; /* printf would write some of them as -nan */

	if (!isnan(value))
		snprintf(text, sizeof text, "%.9g", value);
	table_set_text(table, row, column, text);
}

void table_set_int(struct table *table, size_t row, const char *column, int64_t value)
{
	char text[32];

	snprintf(text, sizeof text, "%lld", (long long)value);
	table_set_text(table, row, column, text);
}

const char *table_text(const struct table *table, size_t row, const char *column)
{
	int index = table_column(table, column);

	if (index < 0 || row >= table->row_count)
		return "";
	return table->cell[row * table->column_count + (size_t)index];
}

double table_real(const struct table *table, size_t row, const char *column)
{
	const char *text = table_text(table, row, column);
	char *end;
	double value = strtod(text, &end);

	return end != text && *end == '\0' ? value : NAN;
}
