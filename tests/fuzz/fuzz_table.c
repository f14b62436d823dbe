/* SPDX-License-Identifier: MIT */
/* Tables: what is read is written and read again the same, printed, and valid as JSON. */
#include "fuzz.h"

#include "lib/base/table.h"
#include "lib/base/utf8.h"

#include <stdlib.h>
#include <string.h>

static bool same(char *const *a, char *const *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

static void read_again(const struct table *table)
{
	char *text = NULL;
	size_t size = 0;
	struct fault fault;
	FILE *out = open_memstream(&text, &size);

	table_write_stream(table, out);
	fclose(out);
	struct table *again = table_read(fuzz_file((const uint8_t *)text, size), &fault);
	fuzz_require(again && again->column_count == table->column_count &&
	             again->row_count == table->row_count &&
	             again->meta_count == table->meta_count);
	fuzz_require(same(again->column, table->column, table->column_count));
	fuzz_require(same(again->cell, table->cell, table->column_count * table->row_count));
	fuzz_require(same(again->meta_key, table->meta_key, table->meta_count));
	fuzz_require(same(again->meta_value, table->meta_value, table->meta_count));
	table_free(again);
	free(text);
}

static void print(const struct table *table)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	table_print(table, NULL, 0, out);
	table_write_json(table, out);
	fclose(out);
	fuzz_require(utf8_text(text));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fault fault = {.text = ""};
	struct table *table = table_read(fuzz_file(data, size), &fault);

	fuzz_require(table || fault.text[0]);
	if (!table)
		return 0;
	read_again(table);
	print(table);
	table_free(table);
	return 0;
}
