/* SPDX-License-Identifier: MIT */
#include "base.h"
#include "profile_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "msg.h"
#include "profile_row.h"

static double allowed(const char *unit)
{
	static const char *const rates[] = {"B/s", "flop/s", "Hz"};

	for (size_t i = 0; i < ARRAY_LEN(rates); i++)
		if (strcmp(unit, rates[i]) == 0)
			return 0.03;
	return 0.02;
}

static bool is(const struct parameter *row, const char *status)
{
	return strcmp(row->status, status) == 0;
}

/* One that was seen. */
static bool has_value(const struct parameter *row)
{
	return row && (is(row, "ok") || is(row, "noisy"));
}

/* NaN when it cannot be compared. */
static double change_of(const struct parameter *before, const struct parameter *now)
{
	if (!has_value(before) || !has_value(now))
		return NAN;
	if (before->estimate.value == now->estimate.value)
		return 0;
	return now->estimate.value / before->estimate.value - 1;
}

/* The intervals of both meet. */
static bool explained(const struct parameter *before, const struct parameter *now)
{
	return before->estimate.low <= now->estimate.high &&
	       now->estimate.low <= before->estimate.high;
}

static void count_change(struct family_change *family, const struct parameter *before,
        const struct parameter *now, double *changes)
{
	const double change = change_of(before, now);

	if (is(before, "noisy") || is(now, "noisy")) {
		family->noisy++;
		return;
	}
	changes[family->compared++] = fabs(change);
	if (!(fabs(change) <= fabs(family->worst_change)) || !family->worst) {
		family->worst_change = change;
		family->worst = before;
	}
	if (fabs(change) <= allowed(before->unit))
		return;
	family->beyond++;
	family->real += !explained(before, now);
}

static size_t find_missing(const struct profile *a, const struct profile *b)
{
	size_t missing = 0;

	for (size_t i = 0; i < a->count; i++)
		missing += has_value(&a->row[i]) && !has_value(profile_find_row(b, &a->row[i]));
	return missing;
}

/* Rows first .. end - 1 of `before` are one family. */
static struct family_change compare_family(const struct profile *before, const struct profile *now,
        size_t first, size_t end, double *changes)
{
	struct family_change family = {.name = before->row[first].name};

	for (size_t i = first; i < end; i++) {
		const struct parameter *row = &before->row[i];
		const struct parameter *other = profile_find_row(now, row);
		if (has_value(row) && has_value(other))
			count_change(&family, row, other, changes);
	}
	family.median = stats_median(changes, family.compared);
	return family;
}

static void add_family(struct profile_changes *all, struct family_change family)
{
	all->compared += family.compared;
	all->noisy += family.noisy;
	all->beyond += family.beyond;
	all->real += family.real;
	if (family.compared + family.noisy > 0)
		all->family[all->count++] = family;
}

struct profile_changes profile_compare(const struct profile *before, const struct profile *now)
{
	struct profile_changes all = {.family = xcalloc(before->count + 1, sizeof *all.family),
	        .missing = find_missing(before, now) + find_missing(now, before)};
	double *changes = xcalloc(before->count + 1, sizeof *changes);

	for (size_t first = 0, end; first < before->count; first = end) {
		for (end = first + 1; end < before->count; end++)
			if (strcmp(before->row[end].name, before->row[first].name) != 0)
				break;
		add_family(&all, compare_family(before, now, first, end, changes));
	}
	free(changes);
	return all;
}

void profile_changes_free(struct profile_changes *changes)
{
	free(changes->family);
	*changes = (struct profile_changes){0};
}
