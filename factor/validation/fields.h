/* SPDX-License-Identifier: MIT */
/* Members of a struct as columns of a table, written and read by one list of fields. */
#pragma once

#include "lib/base/table.h"

enum field_kind {
	FIELD_TEXT,  /* char[]; empty is nan in the file */
	FIELD_SIZE,  /* int64_t; 0 where the row has none, nan in the file */
	FIELD_WHOLE, /* int64_t; 0 is written */
	FIELD_COUNT, /* size_t */
	FIELD_REAL   /* double */
};

struct field {
	const char *column;
	enum field_kind kind;
	size_t offset, size;
};

#define FIELD(type, kind, column, member)                                                          \
	{                                                                                          \
		column, kind, offsetof(type, member), sizeof((type *)0)->member                    \
	}

/* Writes the fields whose columns the table has. */
void fields_write(
        struct table *table, size_t row, const struct field *field, size_t count, const void *from);

/* Reads all fields. A size or count that is none becomes 0. False when a text was cut, a number is
 * neither a number nor nan, or a size or count is none. */
bool fields_read(
        const struct table *table, size_t row, const struct field *field, size_t count, void *to);

/* Reads a table that has all these columns; else NULL with a fault. */
struct table *fields_table_read(
        const char *path, const char *const *columns, size_t count, struct fault *fault);
