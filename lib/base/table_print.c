/* SPDX-License-Identifier: MIT */
/* Tables for readers: aligned text and JSON. */
#include "table.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"
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
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		size_t more = *c < 0x80 ? 0 : *c >= 0xf0 ? 3 : *c >= 0xe0 ? 2 : *c >= 0xc2 ? 1 : 4;
		size_t have = 0;
		while (have < more && (c[1 + have] & 0xc0) == 0x80)
			have++;
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c < 0x20)
			fprintf(out, "\\u%04x", *c);
		else if (have == more) {
			fwrite(c, 1, 1 + more, out);
			c += more;
		} else
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
	size_t width;
	bool right; /* every cell is a number */
};

static struct layout column_layout(const struct table *table, const char *name)
{
	struct layout layout = {name, wrap_length(name), true};

	for (size_t row = 0; row < table->row_count; row++) {
		const char *text = table_text(table, row, name);
		size_t width = wrap_length(text);
		double value;
		if (width > layout.width)
			layout.width = width;
		if (*text && !is_number(text, &value))
			layout.right = false;
	}
	return layout;
}

static void print_cell(const struct layout *layout, const char *text, FILE *out)
{
	int pad = (int)(layout->width - wrap_length(text));

	if (layout->right)
		fprintf(out, "%*s%s", pad, "", text);
	else
		fprintf(out, "%s%*s", text, pad, "");
}

/* No spaces follow the last cell with text. */
static void print_row(const struct layout *layout, const char *const *text, size_t count, FILE *out)
{
	while (count && !text[count - 1][0])
		count--;
	for (size_t i = 0; i + 1 < count; i++) {
		print_cell(&layout[i], text[i], out);
		fputs("  ", out);
	}
	if (count && layout[count - 1].right)
		print_cell(&layout[count - 1], text[count - 1], out);
	else if (count)
		fputs(text[count - 1], out);
	fputc('\n', out);
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
	print_row(layout, text, count, out);
	for (size_t row = 0; row < table->row_count; row++) {
		for (size_t i = 0; i < count; i++)
			text[i] = table_text(table, row, layout[i].name);
		print_row(layout, text, count, out);
	}
	free(text);
	free(layout);
}
