/* SPDX-License-Identifier: MIT */
/* What the tests of the fits share: a curve is written as points, the fit runs, and the profile is
 * compared with the rows expected. A point and a row are written as in a profile:
 * "copy[bytes=4096,gpus=2]". */
#pragma once

#include "lib/probe/curve.h"
#include "lib/probe/probe.h"
#include "tests/profile_rows.h"
#include "lib/base/random.h"

enum { FIT_PROCESSES = 3 };

typedef void fit_function(const struct table *curve, struct profile *profile);

/* How processes differ, and how wide each one's interval is (parts of the value). */
struct fit_noise {
	double between, within;
};
static const struct fit_noise usual_noise = {0.002, 0.002};

/* One process's measurement of a point. */
static inline void add_process(struct table *curve, const char *point, int process, double seconds,
        double within, double hz)
{
	struct arg args[WRITTEN_ARGS];
	char text[128];

	snprintf(text, sizeof text, "%s", point);
	const size_t count = point_parse(text, args);
	const struct measurement m = {
	        .seconds = {seconds, (1 - within) * seconds, (1 + within) * seconds, 20}, .hz = hz};
	curve_add(curve, text, args, count, process, &m, false);
}

/* Three processes. */
static inline void add_noisy(
        struct table *curve, const char *point, double seconds, struct fit_noise noise, double hz)
{
	for (int process = 0; process < FIT_PROCESSES; process++)
		add_process(curve, point, process, seconds * (1 + noise.between * (process - 1)),
		        noise.within, hz);
}

/* Three processes that agree within half a percent, at 2 GHz; the point's text is a format. */
PRINTF_LIKE(3, 4)
static inline void add_point(struct table *curve, double seconds, const char *format, ...)
{
	char point[128];
	va_list args;

	va_start(args, format);
	vsnprintf(point, sizeof point, format, args);
	va_end(args);
	add_noisy(curve, point, seconds, usual_noise, 2e9);
}

/* A table of points. */
struct timed_point {
	const char *point;
	double seconds;
};

static inline void add_points(struct table *curve, const struct timed_point *point, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_point(curve, point[i].seconds, "%s", point[i].point);
}

/* Frees the curve. */
static inline struct profile *profile_of(fit_function *fit, struct table *curve)
{
	struct profile *profile = profile_new();

	fit(curve, profile);
	table_free(curve);
	return profile;
}

static inline void is_empty_fit(fit_function *fit, const char *const *columns, size_t count)
{
	struct profile *profile = profile_of(fit, curve_new(columns, count));

	ok(profile->count == 0, "an empty curve gives no parameters");
	profile_free(profile);
}

/* A row that is ok, within a part `relative` of its true value, with its interval around that. */
static inline void is_within(
        const struct profile *profile, const char *name, double value, double relative)
{
	const struct estimate e = row_of(profile, name)->estimate;
	const double hair = fmax(relative, 1e-6) * fabs(value);

	is_status(profile, name, "ok");
	is_real(e.value, value, relative, name);
	ok(e.low <= value + hair && e.high >= value - hair, "%s: its interval holds the value",
	        name);
}

/* A row expected; status NULL: "ok"; of other statuses a value of 0 is not compared. */
struct expected_row {
	const char *name;
	double value;
	const char *status;
};

static inline void is_row(const struct profile *profile, struct expected_row want)
{
	if (!want.status) {
		is_within(profile, want.name, want.value, 1e-6);
		return;
	}
	is_status(profile, want.name, want.status);
	if (want.value != 0)
		is_real(row_of(profile, want.name)->estimate.value, want.value, 1e-6, want.name);
}

static inline void is_rows(
        const struct profile *profile, const struct expected_row *want, size_t count)
{
	for (size_t i = 0; i < count; i++)
		is_row(profile, want[i]);
}

/* The rows that the fit makes of a curve, which is freed. */
static inline void fits_rows(
        fit_function *fit, struct table *curve, const struct expected_row *want, size_t count)
{
	struct profile *profile = profile_of(fit, curve);

	is_rows(profile, want, count);
	profile_free(profile);
}
#define FITS_ROWS(fit, curve, rows) fits_rows(fit, curve, rows, ARRAY_LEN(rows))

/* A whole test in two tables: points, and the rows that the fit makes of them. */
#define CHECK_FIT(fit, columns, points, rows)                                                      \
	do {                                                                                       \
		struct table *curve_ = curve_new(columns, ARRAY_LEN(columns));                     \
		add_points(curve_, points, ARRAY_LEN(points));                                     \
		FITS_ROWS(fit, curve_, rows);                                                      \
	} while (0)
