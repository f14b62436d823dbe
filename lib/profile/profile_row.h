/* SPDX-License-Identifier: MIT */
/* Internals of the profile, shared by its rows and its file, and for those that derive one profile
 * from another. Others use profile.h. */
#pragma once

#include "profile.h"

/* Whether a text is one of these words. */
bool profile_word_in(const char *text, const char *const *words, size_t count);

/* Cuts name[arg=value,arg=value] into the row's name and arguments, which point into the text; the
 * text is changed. Returns NULL, or the error. */
const char *profile_parse_name(char *text, struct parameter *row);

/* The row of the same name and arguments, or NULL. */
struct parameter *profile_find_row(const struct profile *profile, const struct parameter *like);

/* Adds a copy of a row, texts included. */
void profile_append(struct profile *profile, const struct parameter *from);

/* Removes the rows for which `which` is true. */
void profile_remove_if(struct profile *profile,
        bool (*which)(const struct parameter *, const void *), const void *context);

/* Frees the texts of a row. */
void profile_clear_row(struct parameter *row);

/* Values of the rows that others contain: seconds, or seconds a byte; 0 where there is none. */
enum { PROFILE_PARTS = 21 };
void profile_parts(const struct profile *profile, double value[PROFILE_PARTS]);

/* Seconds of these parts that a row contains. */
double profile_parts_in(const double parts[PROFILE_PARTS], const struct parameter *row);

/* Moves what contains the rows of a what-if, which have its bit; before: the values then. */
void profile_follow(struct profile *profile, const double before[PROFILE_PARTS], uint64_t bit);
