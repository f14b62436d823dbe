/* SPDX-License-Identifier: MIT */
#include "curve_resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NOISY = 200 }; /* the noisiest points are measured again */

/* Relative half-width; infinite for an unknown value. */
static double half_width(const struct estimate *e)
{
	const double width = (e->high - e->low) / (2 * fabs(e->value));

	return width >= 0 ? width : INFINITY;
}

static int noisiest_first(const void *a, const void *b)
{
	const struct point *p = a, *q = b;
	const double first = half_width(&p->seconds), second = half_width(&q->seconds);

	return first != second ? (first < second) - (first > second)
	                       : (p->row > q->row) - (p->row < q->row);
}

struct table *curve_wanted(
        const struct table *curve, bool noisy, curve_chance by_chance, size_t processes)
{
	struct table *wanted = table_new((const char *const *)curve->column, curve->column_count);
	struct point *points;
	const size_t count = curve_points(curve, NULL, &points);

	qsort(points, count, sizeof *points, noisiest_first);
	for (size_t i = 0; i < count; i++) {
		const struct point *p = &points[i];
		const bool is_noisy = noisy && i < MOST_NOISY && stats_noisy(&p->seconds);
		const bool too_few = by_chance && p->processes < processes &&
		                     by_chance(p->series, p->seconds.value);
		if (is_noisy || too_few)
			table_copy_row(wanted, curve, p->row);
	}
	free(points);
	if (wanted->row_count > 0)
		return wanted;
	table_free(wanted);
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

void curve_resample(struct table *curve, const struct table *again)
{
	const size_t rows = curve->row_count;

	for (size_t repeat = 0; repeat < again->row_count; repeat++) {
		size_t row = 0;
		while (row < rows && !curve_same_keys(curve, row, again, repeat))
			row++;
		if (row < rows && !(table_real(again, repeat, "busy") > 0) &&
		        curve_row(again, repeat).seconds.samples > 0)
			table_copy_row(curve, again, repeat);
	}
}
