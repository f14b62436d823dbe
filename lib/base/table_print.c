/* SPDX-License-Identifier: MIT */
/* Tables for readers: aligned text and JSON. */
#include "table.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"
#include "utf8.h"
#include "wrap.h"

/* True when text is a number, nan and inf included. */
static bool is_number(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && *end == '\0' && !isspace((unsigned char)*text);
}

/* A JSON string; bytes that are not UTF-8 become '?'. */
static void json_string(const char *text, FILE *out)
{
	fputc('"', out);
	for (size_t bytes; *text; text += bytes ? bytes : 1) {
		bytes = utf8_bytes(text, NULL);
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(out, "\\u%04x", (unsigned)*text);
		else if (bytes)
			fwrite(text, 1, bytes, out);
		else
			fputc('?', out);
	}
	fputc('"', out);
}

/* JSON's numbers have no leading zero, plus sign, bare point or hexadecimal form. */
static bool is_json_number(const char *c)
{
	c += *c == '-';
	if (!isdigit((unsigned char)*c) || (*c == '0' && isdigit((unsigned char)c[1])))
		return false;
	c += strspn(c, "0123456789");
	if (*c == '.') {
		size_t digits = strspn(c + 1, "0123456789");
		if (digits == 0)
			return false;
		c += 1 + digits;
	}
	if (*c == 'e' || *c == 'E') {
		c += 1 + (c[1] == '+' || c[1] == '-');
		size_t digits = strspn(c, "0123456789");
		if (digits == 0)
			return false;
		c += digits;
	}
	return *c == '\0';
}

static void json_value(const char *text, FILE *out)
{
	double value;

	if (!text[0] || strcmp(text, "nan") == 0 || strcmp(text, "inf") == 0 ||
	        strcmp(text, "-inf") == 0)
		fputs("null", out);
	else if (is_json_number(text) && is_number(text, &value) && isfinite(value))
		fputs(text, out);
	else
		json_string(text, out);
}

static void json_members(
        char *const *key, char *const *value, size_t count, const char *between, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		fputs(i ? between : "", out);
		json_string(key[i], out);
		fputs(": ", out);
		json_value(value[i], out);
	}
}

void table_write_json(const struct table *table, FILE *out)
{
	size_t width = table->column_count;

	fputs("{\n\"meta\": {", out);
	json_members(table->meta_key, table->meta_value, table->meta_count, ",\n\t", out);
	fputs("},\n\"rows\": [", out);
	for (size_t row = 0; row < table->row_count; row++) {
		fputs(row ? ",\n\t{" : "\n\t{", out);
		json_members(table->column, table->cell + row * width, width, ", ", out);
		fputs("}", out);
	}
	fputs("\n]\n}\n", out);
}

struct layout {
	const char *name;
	size_t cells, width; /* of the widest cell; with the head, until the table has to fit */
	size_t least;        /* what it must keep then */
	bool right;          /* every cell is a number */
};

enum { LEAST_TEXT = 12 };

static struct layout column_layout(const struct table *table, const char *name)
{
	struct layout layout = {.name = name, .right = true};

	for (size_t row = 0; row < table->row_count; row++) {
		const char *text = table_text(table, row, name);
		size_t width = wrap_length(text);
		double value;
		if (width > layout.width)
			layout.width = width;
		if (*text && !is_number(text, &value))
			layout.right = false;
	}
	layout.cells = layout.width;
	layout.least = layout.right || layout.width < LEAST_TEXT ? layout.width : LEAST_TEXT;
	for (const char *part = name; *part;
	        part += *part != '\0') { /* words of the head stay whole */
		const size_t length = strcspn(part, " _");
		if (length + (part[length] == '_') > layout.least)
			layout.least = length + (part[length] == '_');
		part += length;
	}
	if (wrap_length(name) > layout.width)
		layout.width = wrap_length(name);
	return layout;
}

/* The widest column that can give way: first one whose head is wider than its cells. */
static struct layout *giving_way(struct layout *layout, size_t count, bool heads)
{
	struct layout *widest = NULL;

	for (size_t i = 0; i < count; i++) {
		const size_t keep = heads && layout[i].cells > layout[i].least ? layout[i].cells
		                                                               : layout[i].least;
		if (layout[i].width > keep && (!widest || layout[i].width > widest->width))
			widest = &layout[i];
	}
	return widest;
}

static void fit_width(struct layout *layout, size_t count)
{
	size_t total = 2 * (count - 1);

	for (size_t i = 0; i < count; i++)
		total += layout[i].width;
	for (; total > WRAP_WIDTH; total--) {
		struct layout *widest = giving_way(layout, count, true);
		if (!widest && !(widest = giving_way(layout, count, false)))
			return;
		widest->width--;
	}
}

/* Bytes of the text that a line of a cell takes: up to a space, else behind a mark inside a name.
 */
static size_t line_bytes(const char *text, size_t width)
{
	size_t taken = 0, space = 0, mark = 0;

	if (wrap_length(text) <= width)
		return strlen(text);
	for (const char *c = text; *c; c++) {
		if (((unsigned char)*c & 0xc0) != 0x80 && taken++ == width)
			return space ? space : mark ? mark : (size_t)(c - text);
		if (*c == ' ')
			space = (size_t)(c - text);
		else if (strchr("._,[/", *c))
			mark = (size_t)(c - text) + (*c != '[');
	}
	return strlen(text);
}

/* One line of a row; the texts become what is left of them. No spaces follow the last cell. */
static bool print_line(const struct layout *layout, const char **text, size_t count, FILE *out)
{
	size_t column = 0, at = 0; /* printed, due */
	bool left = false;

	for (size_t i = 0; i < count; i++) {
		const size_t bytes = line_bytes(text[i], layout[i].width);
		char *part = xasprintf("%.*s", (int)bytes, text[i]);
		const size_t width = wrap_length(part),
		             pad = layout[i].right ? layout[i].width - width : 0;
		if (bytes) {
			fprintf(out, "%*s%s", (int)(at + pad - column), "", part);
			column = at + pad + width;
		}
		at += layout[i].width + 2;
		text[i] += bytes + strspn(text[i] + bytes, " ");
		left = left || *text[i];
		free(part);
	}
	fputc('\n', out);
	return left;
}

static void print_row(const struct layout *layout, const char **text, size_t count, FILE *out)
{
	while (print_line(layout, text, count, out))
		;
}

void table_print(const struct table *table, const char *const *columns, size_t count, FILE *out)
{
	if (!columns)
		count = table->column_count;
	struct layout *layout = xcalloc(count, sizeof *layout);
	const char **text = xcalloc(count, sizeof *text);

	for (size_t i = 0; i < count; i++) {
		text[i] = columns ? columns[i] : table->column[i];
		layout[i] = column_layout(table, text[i]);
	}
	fit_width(layout, count);
	print_row(layout, text, count, out);
	for (size_t row = 0; row < table->row_count; row++) {
		for (size_t i = 0; i < count; i++) {
			text[i] = table_text(table, row, layout[i].name);
			if (strcmp(text[i], "nan") == 0)
				text[i] = "-";
		}
		print_row(layout, text, count, out);
	}
	free(text);
	free(layout);
}
