/* SPDX-License-Identifier: MIT */
#include "base.h"
#include "curve_again.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"

enum { MOST_NOISY = 200 }; /* points that a second visit goes through */

/* Of the columns, those that tell points apart. */
static size_t key_columns(const struct table *curve)
{
	const int process = table_column(curve, "process");
	return process > 0 ? (size_t)process : curve->column_count;
}

static bool same_point(
        const struct table *a, size_t row_a, const struct table *b, size_t row_b, size_t keys)
{
	for (size_t i = 0; i < keys; i++)
		if (strcmp(a->cell[row_a * a->column_count + i],
		            b->cell[row_b * b->column_count + i]) != 0)
			return false;
	return true;
}

static void copy_row(struct table *to, const struct table *from, size_t row)
{
	const size_t fresh = table_add_row(to);

	for (size_t i = 0; i < from->column_count; i++)
		table_set_text(
		        to, fresh, from->column[i], from->cell[row * from->column_count + i]);
}

struct table *curve_noisy(const struct table *curve)
{
	struct table *noisy = table_new((const char *const *)curve->column, curve->column_count);
	struct point *points;
	const size_t count = curve_points(curve, NULL, &points);

	for (size_t i = 0; i < count; i++)
		if (stats_noisy(&points[i].seconds))
			copy_row(noisy, curve, points[i].row);
	free(points);
	if (noisy->row_count > 0 && noisy->row_count <= MOST_NOISY)
		return noisy;
	table_free(noisy);
	return NULL;
}

bool curve_lists(
        const struct table *points, const char *series, const struct arg *args, size_t arg_count)
{
	for (size_t row = 0; row < points->row_count; row++)
		if (strcmp(table_text(points, row, "series"), series) == 0 &&
		        curve_row_has(points, row, args, arg_count))
			return true;
	return false;
}

static void write_row(struct table *curve, size_t row, const struct measurement *m)
{
	table_set_real(curve, row, "seconds", m->seconds.value);
	table_set_real(curve, row, "low_seconds", m->seconds.low);
	table_set_real(curve, row, "high_seconds", m->seconds.high);
	table_set_int(curve, row, "samples", (int64_t)m->seconds.samples);
	table_set_int(curve, row, "discarded", (int64_t)m->discarded);
	table_set_int(curve, row, "disturbed", (int64_t)m->disturbed);
	table_set_real(curve, row, "sm_hz", m->hz);
}

/* The row of the slowest process; row_count when there is none. */
static size_t slowest(const struct table *curve, const struct table *again, size_t visit)
{
	const size_t keys = key_columns(curve), rows = curve->row_count;
	size_t found = rows;
	double most = 0;

	for (size_t row = 0; row < rows; row++) {
		const double seconds = table_real(curve, row, "seconds");
		if (same_point(curve, row, again, visit, keys) && seconds > most) {
			most = seconds;
			found = row;
		}
	}
	return found;
}

/* Whether somebody else was there at the slower of two visits. */
static bool was_disturbed(const struct measurement *slow, const struct measurement *quick)
{
	return slow->seconds.samples > 1 && quick->seconds.samples > 1 &&
	       slow->seconds.value > quick->seconds.high &&
	       slow->seconds.value > (1 + stats_noise) * quick->seconds.value;
}

void curve_visit_again(struct table *curve, const struct table *again)
{
	for (size_t visit = 0; visit < again->row_count; visit++) {
		const size_t row = slowest(curve, again, visit);
		const struct measurement fresh = curve_row(again, visit);
		if (row == curve->row_count || table_real(again, visit, "busy") > 0 ||
		        fresh.seconds.samples == 0)
			continue;
		const struct measurement most = curve_row(curve, row);
		const struct measurement both = sample_merge(most, fresh);
		if (was_disturbed(&most, &fresh) || was_disturbed(&fresh, &most))
			write_row(curve, row, &both);
		else
			copy_row(curve, again, visit);
	}
}
