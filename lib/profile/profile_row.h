/* SPDX-License-Identifier: MIT */
/* Internals of the profile, shared by its rows and its file, and for those that derive one profile
 * from another. Others use profile.h. */
#pragma once

#include "profile.h"

/* Whether a text is one of these words. */
bool profile_word_in(const char *text, const char *const *words, size_t count);

/* The unit of a parameter, by its name; NULL where the name does not tell. */
const char *profile_unit_of(const char *name);

/* Whether values of a unit are never negative; whether they are never 0, either. How one is written
 * by the user. */
bool profile_unit_is_amount(const char *unit);
bool profile_unit_excludes_zero(const char *unit);
const char *profile_unit_example(const char *unit);

/* Cuts name[arg=value,arg=value] into the row's name and arguments, which point into the text; the
 * text is changed. Returns NULL, or the error. */
const char *profile_parse_name(char *text, struct parameter *row);

/* The row of the same name and arguments, or NULL. */
struct parameter *profile_find_row(const struct profile *profile, const struct parameter *like);

/* A hash of a name's text: its address differs between processes. */
uint32_t profile_name_key(const char *name);

/* Adds a copy of a row, texts included; profile_put: of a row that keeps its texts. */
void profile_append(struct profile *profile, const struct parameter *from);
void profile_put(struct profile *profile, const struct parameter *row);

/* A profile of the same rows: their numbers and marks are its own, their texts the other's. No rows
 * are added to it. Frees that, or what profile_put has filled. */
struct profile profile_view(const struct profile *profile);
void profile_view_free(struct profile *view);

/* Removes the rows for which `which` is true. */
void profile_remove_if(struct profile *profile,
        bool (*which)(const struct parameter *, const void *), const void *context);

/* Frees the texts of a row. */
void profile_clear_row(struct parameter *row);

/* Values of the rows that others contain: seconds, or seconds a byte; 0 where there is none. */
enum { PROFILE_PARTS = 16 };
void profile_parts(const struct profile *profile, double value[PROFILE_PARTS]);

/* Seconds of these parts that a row contains. */
double profile_parts_in(const double parts[PROFILE_PARTS], const struct parameter *row);

/* Moves what contains the rows of a what-if, which have its bit; before: the values then. names:
 * NULL, or the only ones whose rows move. */
void profile_follow(struct profile *profile, const double before[PROFILE_PARTS], uint64_t bit,
        const char *const *names, size_t count);

/* In a view: multiplies the rows of a name, and rows of `names`, which it is one of, follow.
 * Whether rows of a name have moved. Puts all back to where the profile has them. */
void profile_try(struct profile *view, const char *name, double factor, const char *const *names,
        size_t count);
bool profile_is_tried(const struct profile *view, const char *name);
void profile_try_end(struct profile *view, const struct profile *profile, const char *const *names,
        size_t count);
