/* SPDX-License-Identifier: MIT */
/* Plain TSV files: `# key: value` metadata, one row of column names, rows. Text cells; numbers are
 * parsed when asked for. `nan`, and an empty cell, means not measured. */
#pragma once

#include "base.h"
#include <stdio.h>

struct table {
	char **meta_key, **meta_value;
	size_t meta_count;
	char **column;
	size_t column_count;
	char **cell; /* row-major */
	size_t row_count;
	char *path; /* of the file it was read from, and the line of its column names; NULL: none */
	size_t head_line;
};

/* An empty table with the given column names (copied). */
struct table *table_new(const char *const *columns, size_t count);
void table_free(struct table *table);

/* Metadata: set replaces; get returns NULL when the key is absent. */
void table_meta_set(struct table *table, const char *key, const char *format, ...)
        PRINTF_LIKE(3, 4);
const char *table_meta(const struct table *table, const char *key);

/* Adds the metadata of `from` whose keys the table lacks. */
void table_meta_add(struct table *table, const struct table *from);

/* Index of a column, or -1. */
int table_column(const struct table *table, const char *name);

/* Appends a row of "nan" cells and returns its index. */
size_t table_add_row(struct table *table);

/* Appends a row of another table whose columns `to` has. */
void table_copy_row(struct table *to, const struct table *from, size_t row);

/* Cell access by column name. Setting an unknown column or row is a programming error (ends the
 * program). table_text returns "" and table_real NaN for a missing column. Tabs and newlines in
 * text become spaces. Reals are written with 9 significant digits. */
void table_set_text(struct table *table, size_t row, const char *column, const char *text);
void table_set_real(struct table *table, size_t row, const char *column, double value);
void table_set_int(struct table *table, size_t row, const char *column, int64_t value);
const char *table_text(const struct table *table, size_t row, const char *column);
double table_real(const struct table *table, size_t row, const char *column);

/* Writes to a temporary name in the same folder, flushes, and renames; creates the folder. A killed
 * run leaves the old file or the new one; its temporary file goes when the next table is written in
 * the folder. False with a fault when the disk refuses. */
bool table_write(const struct table *table, const char *path, struct fault *fault);

/* table_write to a formatted path; ends the program when the disk refuses. */
void table_save(const struct table *table, const char *format, ...) PRINTF_LIKE(2, 3);

/* The same text to an open file. False when writing failed (errno says why). */
bool table_write_stream(const struct table *table, FILE *out);

/* Reads what table_write wrote. NULL with a fault that names file and line for: a missing file, no
 * column row, a row with a different number of cells, duplicate column names, an over-long or
 * binary file, bytes that are not UTF-8. */
struct table *table_read(const char *path, struct fault *fault);

/* Fills a fault on a row: "file:line: ..." where the table was read from a file. Returns false. */
bool table_fault(const struct table *table, size_t row, struct fault *fault, const char *format,
        ...) PRINTF_LIKE(4, 5);

/* The same content as JSON {"meta": {...}, "rows": [{...}]}; numbers as numbers, nan and empty
 * cells as null. */
void table_write_json(const struct table *table, FILE *out);

/* Human print: columns aligned, numbers right-aligned, to out. Only the named columns when columns
 * != NULL. Cells of a table wider than 100 columns continue on the next line. */
void table_print(const struct table *table, const char *const *columns, size_t count, FILE *out);

/* Lower-case hex sha256 of a file, by coreutils' sha256sum. False with a fault when it can't be
 * read. */
bool table_sha256(const char *path, char hex[65], struct fault *fault);
