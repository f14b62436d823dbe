/* SPDX-License-Identifier: MIT */
/* Rows of a curve file and their combination over the processes. */
#include "curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/msg.h"

static const char *const result_columns[] = {CURVE_COLUMNS};

struct table *curve_new(const char *const *arg_columns, size_t count)
{
	const char **column = xcalloc(1 + count + ARRAY_LEN(result_columns), sizeof *column);

	column[0] = "series";
	for (size_t i = 0; i < count; i++)
		column[1 + i] = arg_columns[i];
	for (size_t i = 0; i < ARRAY_LEN(result_columns); i++)
		column[1 + count + i] = result_columns[i];
	struct table *curve = table_new(column, 1 + count + ARRAY_LEN(result_columns));
	free(column);
	return curve;
}

/* Files stay small: an unknown number is an empty cell. */
static void set_known(struct table *curve, size_t row, const char *column, double value)
{
	if (isfinite(value))
		table_set_real(curve, row, column, value);
	else
		table_set_text(curve, row, column, "");
}

/* Arguments are mostly counts and sizes, which must come back exactly however large they are. */
static void set_arg(struct table *curve, size_t row, const struct arg *arg)
{
	if (arg->value == nearbyint(arg->value) && fabs(arg->value) < 0x1p53)
		table_set_int(curve, row, arg->name, (int64_t)arg->value);
	else
		set_known(curve, row, arg->name, arg->value);
}

void curve_add(struct table *curve, const char *series, const struct arg *args, size_t arg_count,
        int process, const struct measurement *measurement, bool busy)
{
	const size_t row = table_add_row(curve);
	const struct estimate *seconds = &measurement->seconds;
	const double hz = measurement->hz;
	const bool interval = seconds->samples > 1; /* curve_row gives it back to a single sample */

	for (size_t i = 0; i < curve->column_count; i++)
		table_set_text(curve, row, curve->column[i], "");
	table_set_text(curve, row, "series", series);
	for (size_t i = 0; i < arg_count; i++)
		set_arg(curve, row, &args[i]);
	table_set_int(curve, row, "process", process);
	set_known(curve, row, "seconds", seconds->value);
	set_known(curve, row, "low_seconds", interval ? seconds->low : NAN);
	set_known(curve, row, "high_seconds", interval ? seconds->high : NAN);
	table_set_int(curve, row, "samples", (int64_t)seconds->samples);
	table_set_int(curve, row, "discarded", (int64_t)measurement->discarded);
	table_set_int(curve, row, "disturbed", (int64_t)measurement->disturbed);
	if (isfinite(hz))
		table_set_int(curve, row, "sm_hz", (int64_t)round(hz));
	table_set_int(curve, row, "busy", busy || measurement->throttled);
}

/* ---- reading ---- */

static bool is_number(const char *text)
{
	char *end;
	const double value = strtod(text, &end);

	return end != text && *end == '\0' && isfinite(value);
}

/* What is wrong with a cell, or NULL. */
static const char *wrong_cell(const struct table *curve, size_t row, int column)
{
	const char *text = curve->cell[row * curve->column_count + (size_t)column],
	           *name = curve->column[column];
	const bool count = strcmp(name, "process") == 0 || strcmp(name, "samples") == 0;

	if (strcmp(name, "series") == 0)
		return *text ? NULL : "there is no series";
	if (count && (!*text || text[strspn(text, "0123456789")] || strlen(text) > 15))
		return "no whole number";
	return !*text || strcmp(text, "nan") == 0 || is_number(text) ? NULL : "no number";
}

static bool check_row(const struct table *curve, size_t row, struct fault *fault)
{
	const double value = table_real(curve, row, "seconds");

	for (int c = 0; c < (int)curve->column_count; c++) {
		const char *wrong = wrong_cell(curve, row, c);
		if (wrong)
			return table_fault(curve, row, fault, "%.40s '%.40s': %s", curve->column[c],
			        curve->cell[row * curve->column_count + (size_t)c], wrong);
	}
	if (value < table_real(curve, row, "low_seconds") ||
	        value > table_real(curve, row, "high_seconds"))
		return table_fault(curve, row, fault,
		        "seconds do not lie between low_seconds and high_seconds");
	return true;
}

struct table *curve_read(const char *path, struct fault *fault)
{
	static const char *const needed[] = {
	        "series", "process", "seconds", "low_seconds", "high_seconds", "samples"};
	struct table *curve = table_read(path, fault);
	bool ok = curve != NULL;

	for (size_t i = 0; ok && i < ARRAY_LEN(needed); i++)
		if (table_column(curve, needed[i]) < 0)
			ok = fault_set(fault, "%s has no column %s", path, needed[i]);
	for (size_t row = 0; ok && row < curve->row_count; row++)
		ok = check_row(curve, row, fault);
	if (ok)
		return curve;
	table_free(curve);
	return NULL;
}

/* ---- combining ---- */

/* The number of leading columns that tell points apart: all columns before the process, or all. */
static size_t key_columns_of(const struct table *curve)
{
	const int process = table_column(curve, "process");

	return process > 0 ? (size_t)process : curve->column_count;
}

bool curve_same_keys(const struct table *a, size_t row_a, const struct table *b, size_t row_b)
{
	const size_t keys = key_columns_of(a);
	char **cell_a = a->cell + row_a * a->column_count,
	     **cell_b = b->cell + row_b * b->column_count;

	for (size_t i = 0; i < keys; i++)
		if (strcmp(cell_a[i], cell_b[i]) != 0)
			return false;
	return true;
}

bool curve_same_point(const struct table *curve, size_t a, size_t b)
{
	return curve_same_keys(curve, a, curve, b);
}

/* FNV-1a hash, equal for rows of one point. */
static uint64_t point_hash(const struct table *curve, size_t row, size_t key_columns)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < key_columns; i++)
		for (const char *c = curve->cell[row * curve->column_count + i]; *c; c++)
			hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
	return hash;
}

static size_t read_count(const struct table *curve, size_t row, const char *column)
{
	double value = table_real(curve, row, column);

	return value >= 1 && value < 0x1p53 ? (size_t)value : 0;
}

struct measurement curve_row(const struct table *curve, size_t row)
{
	struct measurement m = {
	        .seconds = {.value = table_real(curve, row, "seconds"),
	                .low = table_real(curve, row, "low_seconds"),
	                .high = table_real(curve, row, "high_seconds"),
	                .samples = read_count(curve, row, "samples")},
	        .discarded = read_count(curve, row, "discarded"),
	        .hz = table_real(curve, row, "sm_hz"),
	        .disturbed = read_count(curve, row, "disturbed"),
	};

	if (!isfinite(m.seconds.value))
		m.seconds.samples = 0;
	if (m.seconds.samples == 1 && isnan(m.seconds.low))
		m.seconds.low = m.seconds.high = m.seconds.value;
	return m;
}

static const char slow_key[] = "disturbed_beyond";
static const double slow = 4.0 / 3; /* of the quickest process */

void curve_slow_are_disturbed(struct table *curve)
{
	table_meta_set(curve, slow_key, "%.4g of the quickest process", slow);
}

/* Drops the processes more than `beyond` times slower than the quickest. Returns their samples. */
static size_t drop_slow(struct estimate *estimate, size_t n, double beyond)
{
	double least = INFINITY;
	size_t left = 0, dropped = 0;

	for (size_t i = 0; i < n; i++)
		if (estimate[i].samples > 0)
			least = fmin(least, estimate[i].value);
	for (size_t i = 0; i < n; i++)
		left += estimate[i].samples > 0 && estimate[i].value <= beyond * least;
	for (size_t i = 0; i < n && left >= 2; i++)
		if (estimate[i].samples > 0 && estimate[i].value > beyond * least) {
			dropped += estimate[i].samples;
			estimate[i].samples = 0;
		}
	return dropped;
}

/* The combination of n rows that are one point. */
static struct point combine(const struct table *curve, const size_t *member, size_t n)
{
	struct point point = {.series = table_text(curve, member[0], "series"), .row = member[0]};
	struct estimate *estimate = xcalloc(n, sizeof *estimate);
	double *hz = xcalloc(n, sizeof *hz);
	const char *beyond = table_meta(curve, slow_key);
	size_t hz_count = 0, disturbed = 0;

	for (size_t i = 0; i < n; i++) {
		size_t row = member[i];
		const struct measurement m = curve_row(curve, row);
		estimate[i] = m.seconds;
		point.processes += estimate[i].samples > 0;
		point.discarded += m.discarded;
		disturbed += m.disturbed;
		if (table_real(curve, row, "busy") > 0)
			point.busy = true;
		hz[hz_count] = m.hz;
		if (isfinite(hz[hz_count]))
			hz_count++;
	}
	if (beyond && atof(beyond) > 1) {
		const size_t dropped = drop_slow(estimate, n, atof(beyond));
		point.discarded += dropped;
		disturbed += dropped;
	}
	point.seconds = stats_combine(estimate, n);
	point.hz = stats_median(hz, hz_count);
	if (point.discarded > point.seconds.samples + disturbed)
		point.busy = true;
	free(estimate);
	free(hz);
	return point;
}

enum { NO_POINT = -1 };

/* Numbers the points of a series by their first rows, which first[] receives; point[] receives the
 * point of each row. Returns the number of points. */
static size_t number_points(
        const struct table *curve, const char *series, size_t *first, int64_t *point)
{
	const size_t key_columns = key_columns_of(curve);
	size_t count = 0, places = 2; /* a power of two */

	while (places < 2 * curve->row_count)
		places *= 2;
	/* a hash table of points; 0: free, else one more than the point's number */
	size_t *place = xcalloc(places, sizeof *place);
	for (size_t row = 0; row < curve->row_count; row++) {
		point[row] = NO_POINT;
		if (series && strcmp(table_text(curve, row, "series"), series) != 0)
			continue;
		size_t at = (size_t)point_hash(curve, row, key_columns) & (places - 1);
		while (place[at] && !curve_same_point(curve, first[place[at] - 1], row))
			at = (at + 1) & (places - 1);
		if (!place[at]) {
			first[count] = row;
			place[at] = ++count;
		}
		point[row] = (int64_t)place[at] - 1;
	}
	free(place);
	return count;
}

size_t curve_points(const struct table *curve, const char *series, struct point **points)
{
	const size_t rows = curve->row_count;
	size_t *first = xcalloc(3 * (rows + 1), sizeof *first);
	size_t *end = first + rows + 1, *member = end + rows + 1; /* members: rows by point */
	int64_t *point = xcalloc(rows + 1, sizeof *point);
	const size_t count = number_points(curve, series, first, point);

	for (size_t row = 0; row < rows; row++)
		if (point[row] != NO_POINT)
			end[point[row] + 1]++;
	for (size_t i = 0; i < count; i++)
		end[i + 1] += end[i];
	for (size_t row = 0; row < rows; row++)
		if (point[row] != NO_POINT)
			member[end[point[row]]++] = row;
	*points = xcalloc(count + 1, sizeof **points);
	for (size_t i = 0, start = 0; i < count; start = end[i++])
		(*points)[i] = combine(curve, member + start, end[i] - start);
	free(first);
	free(point);
	return count;
}

bool curve_row_has(const struct table *curve, size_t row, const struct arg *args, size_t arg_count)
{
	for (size_t i = 0; i < arg_count; i++) {
		double value = table_real(curve, row, args[i].name);
		if (!(fabs(value - args[i].value) <= 1e-8 * fabs(args[i].value)))
			return false;
	}
	return true;
}

struct point curve_at(
        const struct table *curve, const char *series, const struct arg *args, size_t arg_count)
{
	struct point found = {
	        .series = series, .seconds = {NAN, NAN, NAN, 0}, .hz = NAN, .row = SIZE_MAX};
	struct point *points;
	size_t n = curve_points(curve, series, &points);

	for (size_t i = 0; i < n; i++)
		if (curve_row_has(curve, points[i].row, args, arg_count)) {
			found = points[i];
			break;
		}
	free(points);
	return found;
}

double curve_arg(const struct table *curve, const struct point *point, const char *column)
{
	return table_real(curve, point->row, column);
}

/* ---- the midrange ---- */

static const double far_off = 1.25; /* times the median process */

struct estimate curve_midrange(const struct table *curve, const struct point *point)
{
	struct estimate all = point->seconds;
	double least = INFINITY, most = 0;
	size_t count = 0;

	if (point->processes < 2)
		return all;
	struct estimate *process = xcalloc(curve->row_count + 1, sizeof *process);
	double *value = xcalloc(curve->row_count + 1, sizeof *value);
	for (size_t row = point->row; row < curve->row_count; row++) {
		const struct estimate own = curve_row(curve, row).seconds;
		if (own.samples == 0 || !curve_same_point(curve, row, point->row))
			continue;
		process[count] = own;
		value[count++] = own.value;
	}
	const double limit = far_off * stats_median(value, count);
	all.low = INFINITY;
	all.high = 0;
	for (size_t i = 0; i < count; i++) {
		if (value[i] > limit)
			continue;
		least = fmin(least, value[i]);
		most = fmax(most, value[i]);
		all.low = fmin(all.low, process[i].low);
		all.high = fmax(all.high, process[i].high);
	}
	free(process);
	free(value);
	all.value = 0.5 * (least + most);
	return all;
}
