/* SPDX-License-Identifier: MIT */
/* The machine profile: every number the model may read, each with unit, 95 % interval, samples,
 * method, regime and status. A function is several rows of one name with arguments in brackets:
 * gpu.barrier.grid[blocks=132,threads=256]. */
#ifndef FATHOM_PROFILE_H
#define FATHOM_PROFILE_H

#include "lib/base/base.h"
#include "lib/stats/stats.h"
#include "lib/base/table.h"

#include <string.h>

enum { PROFILE_ARGS = 4 };

struct parameter {
	char *name;                   /* without the brackets */
	uint32_t name_key;            /* of a row in a profile: names with other keys differ */
	char *arg_name[PROFILE_ARGS]; /* in the order written; NULL beyond arg_count */
	double arg[PROFILE_ARGS];
	size_t arg_count;
	char unit[16]; /* SI base: s B B/s Hz flop/s count ratio */
	struct estimate estimate;
	char *method;
	char *regime; /* hardware | surface */
	char *status; /* ok | noisy | bounded | failed */
};

struct profile {
	struct parameter *row;
	size_t count;
	struct table *source; /* metadata of the file it was read from, or NULL */
};

struct profile *profile_new(void);
void profile_free(struct profile *profile);

/* One argument of a function row. */
struct arg {
	const char *name;
	double value;
};

/* How a fitted parameter enters the profile. */
struct parameter_spec {
	const char *name, *unit, *method;
	const char *regime; /* NULL means "hardware" */
	/* Plausible by physics; outside: status failed. low == high == 0: no bound. */
	double low, high;
};

/* Adds a row. status is failed when the estimate has no samples or its value lies outside the
 * spec's bounds, noisy when `busy` or the half-width exceeds 20 % of the value, else ok. */
void profile_add(struct profile *profile, const struct parameter_spec *spec, const struct arg *args,
        size_t arg_count, struct estimate estimate, bool busy);

/* Adds a row of which only bounds are known, NaN where there is none: a value "beyond low", "below
 * high", between both, or not resolved at all. It has no value, and profile_get does not see it. */
void profile_add_bounded(struct profile *profile, const struct parameter_spec *spec,
        const struct arg *args, size_t arg_count, double low, double high, size_t samples);

/* Table with columns parameter value unit low high samples method regime status, and back. Reading
 * takes the table over and rejects malformed names, unknown status words, duplicate parameters and
 * inverted intervals. */
struct table *profile_to_table(const struct profile *profile);
struct profile *profile_from_table(struct table *table, struct fault *fault);
struct profile *profile_read(const char *path, struct fault *fault);

/* The value at the given arguments. A scalar is asked for with no arguments. Between rows
 * interpolation is linear in the logarithms of arguments and value (argument by argument; the rows
 * of a function form a grid, but holes are tolerated: the nearest existing rows along that argument
 * serve); beyond them the end value's slope is kept and extrapolated is set. low/high are
 * interpolated alike (beyond the end they keep the end row's relative width). found is false when
 * the name is unknown or every row of it is failed. */
struct lookup {
	struct estimate estimate;
	bool found, extrapolated;
	const char *regime, *status; /* the worst among the rows used */
};
struct lookup profile_get(
        const struct profile *profile, const char *name, const struct arg *args, size_t arg_count);

/* Of rows of that name: others have other keys. A factorization's plan asks for a name in thousands
 * of rows thousands of times. */
uint32_t profile_name_key(const char *name);

static inline bool profile_row_has_name(const struct parameter *row, uint32_t key, const char *name)
{
	return row->name_key == key && strcmp(row->name, name) == 0;
}

/* Whether two arguments are so near each other that what lies between them is a step (panels of a
 * few rows more than a power of two), which must not go on beyond the last row as a slope. */
static inline bool profile_hard_by(double less, double more)
{
	return less > 0 && more < 1.1 * less;
}

/* Smallest and largest value of an argument among the usable rows of a function. False when
 * unknown. */
bool profile_range(const struct profile *profile, const char *name, const char *arg, double *low,
        double *high);

/* --set NAME=VALUE: replaces a scalar's value, or multiplies nothing else; a function given without
 * brackets is replaced by that constant, with brackets only that row. False with a fault. */
bool profile_set(struct profile *profile, const char *assignment, struct fault *fault);

/* Multiplies value of every row of `name` so that it lies at its high (side > 0) or low (side < 0)
 * end; used for propagating intervals. Returns a new profile that shares nothing. */
struct profile *profile_shifted(const struct profile *profile, const char *name, int side);

/* "name[arg=value,arg=value]" as the file has it; the caller frees it. */
char *profile_row_name(const struct parameter *row);

/* Number of rows whose status is failed. */
size_t profile_failed(const struct profile *profile);

/* Readers' table: value with scaled unit, half-width in percent, samples, status. Functions of many
 * rows show the first, the last and every failed row only, unless verbose. */
void profile_print(const struct profile *profile, bool verbose, FILE *out);

/* One line: how many parameters have which status, the noisy ones also by the part of the machine
 * that their names begin with. */
void profile_print_counts(const struct profile *profile, FILE *out);

#endif
