/* SPDX-License-Identifier: MIT */
/* Rows of a profile and points of a curve in tests, written as in a profile's file:
 * "gpu.copy.time[bytes=4096]". */
#pragma once

#include "lib/profile/profile_row.h"
#include "tests/tap.h"

enum { WRITTEN_ARGS = 6 };

/* Cuts "name[a=1,b=2]" into name (at least 64 characters) and arguments, whose names point into
 * text; text is changed. */
static inline size_t point_parse(char *text, struct arg *args)
{
	size_t count = 0;
	char *at = strpbrk(text, "[");

	while (at && count < WRITTEN_ARGS) {
		*at = '\0';
		args[count].name = at + 1;
		at = strpbrk(at + 1, "=");
		*at = '\0';
		args[count++].value = strtod(at + 1, &at);
		at = *at == ',' ? at : NULL;
	}
	return count;
}

/* The row of that name and arguments; a name without arguments finds the first row of the name. An
 * absent row has the status "absent" and no value. */
static inline const struct parameter *row_of(const struct profile *profile, const char *written)
{
	static const struct parameter absent = {.estimate = {NAN, NAN, NAN, 0},
	        .unit = "",
	        .regime = "",
	        .method = "",
	        .status = "absent"};
	char text[128];
	struct parameter like = {0};
	const struct parameter *row;

	snprintf(text, sizeof text, "%s", written);
	if (profile_parse_name(text, &like))
		return &absent;
	row = profile_find_row(profile, &like);
	for (size_t i = 0; !row && like.arg_count == 0 && i < profile->count; i++)
		if (strcmp(profile->row[i].name, like.name) == 0)
			row = &profile->row[i];
	return row ? row : &absent;
}

/* profile_get for a row as it is written: between the rows of a surface, too. */
static inline struct lookup lookup_of(const struct profile *profile, const char *written)
{
	struct arg args[WRITTEN_ARGS];
	char text[128];

	snprintf(text, sizeof text, "%s", written);
	const size_t count = point_parse(text, args);
	return profile_get(profile, text, args, count);
}

static inline bool is_status(const struct profile *profile, const char *name, const char *status)
{
	char what[160];

	snprintf(what, sizeof what, "%s is %s", name, status);
	return is_text(row_of(profile, name)->status, status, what);
}

/* The value at the arguments written, exact or between rows, and whether it is extrapolated. */
static inline void is_at(const struct profile *profile, const char *written, double value,
        double relative, bool extrapolated, const char *what)
{
	const struct lookup found = lookup_of(profile, written);

	is_real(found.estimate.value, value, relative, what);
	ok(found.found && found.extrapolated == extrapolated, "%s is %sextrapolated", written,
	        extrapolated ? "" : "not ");
}
