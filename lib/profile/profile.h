/* SPDX-License-Identifier: MIT */
/* The machine profile: every number that the model may read, each with unit, 95 % interval,
 * samples, method, regime and status. A function is several rows of one name with arguments in
 * brackets: gpu.barrier.grid[blocks=132,threads=256]. */
#pragma once

#include "lib/base/base.h"
#include "lib/stats/stats.h"
#include "lib/base/table.h"

#include <string.h>

enum { PROFILE_ARGS = 4 };

struct parameter {
	char *name;                   /* without the brackets */
	uint32_t name_key, next;      /* for the profile's index */
	char *arg_name[PROFILE_ARGS]; /* in the order written; NULL beyond arg_count */
	double arg[PROFILE_ARGS];
	size_t arg_count;
	char unit[16]; /* SI base: s B B/s Hz flop/s count ratio */
	struct estimate estimate;
	char *method;
	char *regime;     /* hardware | library | calibrated */
	char *status;     /* ok | noisy | bounded | failed */
	uint64_t changed; /* a bit for each what-if that moved the row */
	bool read;        /* a value of the profile came from it */
	/* Of a timing whose work is known: seconds to start, and seconds that the hardware needs
	 * for the rest; 0: not known. */
	double start, hardware;
	/* Of the time beyond the start: what interpolation near the row leaves open, relative; 0:
	 * nothing, or not known (factor/model/efficiency/efficiency.h). */
	double spread;
};

struct profile {
	struct parameter *row;
	size_t count;
	int changes;                 /* what-ifs so far, of PROFILE_CHANGES at most */
	struct table *source;        /* metadata of the file it was read from, or NULL */
	struct profile *by_hardware; /* the same with all efficiencies 1, or NULL */
	/* The index by names (profile_index.c). */
	struct profile_name *name;
	size_t slots, names;
	bool hardware_alone; /* all efficiencies are 1: values rest on no timing */
};

/* The rows of one name: the position of the first, `count` when there is none, and of the next one
 * after the i-th row. */
size_t profile_first(const struct profile *profile, const char *name);
static inline size_t profile_next(const struct profile *profile, size_t i)
{
	return profile->row[i].next ? profile->row[i].next : profile->count;
}

/* Goes through them in the order of the file. */
#define EACH_ROW(i, profile, name)                                                                 \
	for (size_t i = profile_first(profile, name); i < (profile)->count;                        \
	        i = profile_next(profile, i))

/* What a number rests on: no timing of a kernel or a library call; timings of library calls;
 * timings of our own kernels. NULL means hardware. A number that rests on several has the last of
 * them. */
enum { REGIMES = 3 };
extern const char *const regime_name[REGIMES];
const char *regime_of_both(const char *a, const char *b);

/* Whether it is a timing of kernels or calls. */
bool regime_is_timing(const char *regime);

struct profile *profile_new(void);
struct profile *profile_copy(const struct profile *profile);
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

/* Adds a row. status is failed when the estimate has no samples, its value lies outside the spec's
 * bounds or its interval below 0 (but for a ratio), noisy when `busy` or the half-width exceeds 20
 * % of the value, else ok. */
void profile_add(struct profile *profile, const struct parameter_spec *spec, const struct arg *args,
        size_t arg_count, struct estimate estimate, bool busy);

/* Adds a row without a value, of which only bounds are known (NaN: no bound). profile_get does not
 * see it. */
void profile_add_bounded(struct profile *profile, const struct parameter_spec *spec,
        const struct arg *args, size_t arg_count, double low, double high, size_t samples);

/* Table with columns parameter value unit low high samples method regime status, and back. Reading
 * takes the table over and rejects malformed names, unknown status words, duplicate parameters and
 * inverted intervals. */
struct table *profile_to_table(const struct profile *profile);
struct profile *profile_from_table(struct table *table, struct fault *fault);
struct profile *profile_read(const char *path, struct fault *fault);

/* The profile of a data folder; ends the program where there is none. */
struct profile *profile_open(const char *folder);

/* Warns where FATHOM_SMS names another number of multiprocessors than the profile: for programs
 * that answer from a profile, which the variable does not change. */
void profile_warn_sms(const struct profile *profile);

/* How values are interpolated between two rows: linearly in the logarithms of argument and value
 * where both are positive, or linearly in the numbers. */
enum profile_scale { PROFILE_LOGARITHMIC, PROFILE_LINEAR };

/* y at x on the line through (x0, y0) and (x1, y1), on that scale. */
double profile_between(
        enum profile_scale scale, double x, double x0, double y0, double x1, double y1);

/* The value at the given arguments; of a scalar, with no arguments. The rows of a function form a
 * grid; in its holes the nearest existing rows along an argument serve. Interpolation goes argument
 * by argument. Beyond the rows the logarithmic slope at the end is kept, and extrapolated is set.
 * low and high are interpolated as the value is; beyond the rows they keep the end row's relative
 * width. found is false when the name is unknown or every row of it has failed. */
struct lookup {
	struct estimate estimate;
	bool found, extrapolated;
	const char *regime, *status; /* the last regime and the worst status of the rows used */
};
struct lookup profile_get(
        const struct profile *profile, const char *name, const struct arg *args, size_t arg_count);

/* The value alone, without an interval, on a scale between the rows. */
struct lookup profile_interpolate(const struct profile *profile, enum profile_scale scale,
        const char *name, const struct arg *args, size_t arg_count);

/* Whether the row has a value; its argument of that name, NaN when it has none. */
bool profile_row_usable(const struct parameter *row);
double profile_row_argument(const struct parameter *row, const char *name);

/* Whether two arguments are so close that a change between them is a step, as from a power of two
 * rows to a few more. The slope of a step must not go on beyond the last row. */
static inline bool profile_hard_by(double less, double more)
{
	return less > 0 && more < 1.1 * less;
}

/* Smallest and largest value of an argument among the usable rows of a function; false when there
 * are none. */
bool profile_range(const struct profile *profile, const char *name, const char *arg, double *low,
        double *high);

/* Whether a name matches a pattern as file names match in the shell; most do not, at once. */
bool profile_name_matches(const char *name, const char *pattern);

/* Whether the profile has a row, not failed, whose name begins so. */
bool profile_has(const struct profile *profile, const char *prefix);

/* What-ifs. --set NAME=VALUE replaces the value of a scalar; a function named without brackets
 * becomes that constant; named with brackets it gets the value in that row alone. --scale
 * PATTERN=FACTOR multiplies all rows whose names (without brackets) match, as file names match in
 * the shell. Rows that contain the changed ones (profile_parts.c) move with them, unless they
 * match themselves or are set. False with a fault. */
enum { PROFILE_CHANGES = 63 };
bool profile_set(struct profile *profile, const char *assignment, struct fault *fault);
bool profile_scale(struct profile *profile, const char *assignment, struct fault *fault);

/* The same for one name. Of `profile` only the rows' numbers change: they may be copies that share
 * their texts. */
void profile_scale_rows(struct profile *profile, const char *name, double factor);

/* Whether a value has come from a row that the what-if moved; what-ifs count from 0 on. */
bool profile_change_is_read(const struct profile *profile, int change);

/* A copy in which every row of `name` has the high (side > 0) or low (side < 0) end of its interval
 * as its value: for the propagation of intervals. It shares nothing with the original. */
struct profile *profile_shifted(const struct profile *profile, const char *name, int side);

/* In a copy with the same rows: those of `name` at one end of their intervals (side -1 or 1), or at
 * their values (0). A row's interval and its spread add in quadrature. Returns whether any is not
 * at its value. */
bool profile_move_rows(
        struct profile *shifted, const struct profile *profile, const char *name, int side);

/* "name[arg=value,arg=value]" as in the file; the caller frees it. */
char *profile_row_name(const struct parameter *row);

/* Number of rows of a status whose names begin with `part`; of the failed rows. */
size_t profile_with_status(const struct profile *profile, const char *status, const char *part);
size_t profile_failed(const struct profile *profile);

/* Prints a table: value with scaled unit, half-width in percent, samples, status. Of a function
 * with many rows it has the first, the last and every failed row, unless verbose. */
void profile_print(const struct profile *profile, bool verbose, FILE *out);

/* Prints one line: the number of parameters by status, of the noisy ones also by part of the
 * machine (the first word of their names). */
void profile_print_counts(const struct profile *profile, FILE *out);
