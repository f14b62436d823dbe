/* SPDX-License-Identifier: MIT */
#include "profile_compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/msg.h"
#include "profile_row.h"

const char *const change_kind_name[CHANGE_KINDS] = {
        "latency", "size", "bandwidth", "other", "surface"};
const size_t most_noisy = 5;

static bool is_rate(const char *unit)
{
	static const char *const rates[] = {"B/s", "flop/s", "Hz"};

	return profile_word_in(unit, rates, ARRAY_LEN(rates));
}

static enum change_kind change_kind_of(const struct parameter *row)
{
	static const char *const times[] = {"s", "cycle"}, *const sizes[] = {"B", "count"};

	if (regime_is_timing(row->regime))
		return CHANGE_SURFACE;
	if (is_rate(row->unit))
		return CHANGE_BANDWIDTH;
	if (profile_word_in(row->unit, times, ARRAY_LEN(times)))
		return CHANGE_LATENCY;
	return profile_word_in(row->unit, sizes, ARRAY_LEN(sizes)) ? CHANGE_SIZE : CHANGE_OTHER;
}

double change_allowed(const char *unit)
{
	return is_rate(unit) ? 0.03 : 0.02;
}

static bool is(const struct parameter *row, const char *status)
{
	return strcmp(row->status, status) == 0;
}

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

/* Whether the intervals of both overlap. */
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
	if (fabs(change) <= change_allowed(before->unit))
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

/* Whether both rows are of one part of the machine, the name's first word, and of one kind. */
static bool same_group(const struct parameter *a, const struct parameter *b)
{
	const size_t part = strcspn(a->name, ".");

	return part == strcspn(b->name, ".") && strncmp(a->name, b->name, part) == 0 &&
	       change_kind_of(a) == change_kind_of(b);
}

static bool same_family(const struct parameter *a, const struct parameter *b)
{
	return strcmp(a->name, b->name) == 0;
}

/* The changes of all rows of `before` that are like `first`. */
static struct family_change compare_like(const struct profile *before, const struct profile *now,
        const struct parameter *first,
        bool (*like)(const struct parameter *, const struct parameter *), double *changes)
{
	struct family_change all = {.name = first->name,
	        .kind = change_kind_of(first),
	        .allowed = change_allowed(first->unit)};

	for (size_t i = 0; i < before->count; i++) {
		const struct parameter *row = &before->row[i];
		const struct parameter *other =
		        like(first, row) ? profile_find_row(now, row) : NULL;
		if (has_value(row) && has_value(other))
			count_change(&all, row, other, changes);
	}
	all.median = stats_median(changes, all.compared);
	return all;
}

/* A change for each set of like rows, in the first profile's order. Returns their number. */
static size_t compare_all(const struct profile *before, const struct profile *now,
        bool (*like)(const struct parameter *, const struct parameter *),
        struct family_change *change)
{
	const struct parameter **first = xcalloc(before->count + 1, sizeof *first);
	double *changes = xcalloc(before->count + 1, sizeof *changes);
	size_t kinds = 0, count = 0;

	for (size_t i = 0; i < before->count; i++) {
		const struct parameter *row = &before->row[i];
		size_t k = 0;
		while (k < kinds && !like(first[k], row))
			k++;
		if (k < kinds)
			continue;
		first[kinds++] = row;
		change[count] = compare_like(before, now, row, like, changes);
		count += change[count].compared + change[count].noisy > 0;
	}
	free(changes);
	free(first);
	return count;
}

struct profile_changes profile_compare(const struct profile *before, const struct profile *now)
{
	struct profile_changes all = {.family = xcalloc(before->count + 1, sizeof *all.family),
	        .group = xcalloc(before->count + 1, sizeof *all.group),
	        .missing = find_missing(before, now) + find_missing(now, before),
	        .noisy_before = profile_with_status(before, "noisy", ""),
	        .noisy_now = profile_with_status(now, "noisy", "")};

	all.count = compare_all(before, now, same_family, all.family);
	all.group_count = compare_all(before, now, same_group, all.group);
	for (size_t i = 0; i < all.count; i++) {
		all.compared += all.family[i].compared;
		all.noisy += all.family[i].noisy;
		all.beyond += all.family[i].beyond;
		all.real += all.family[i].real;
	}
	return all;
}

bool change_repeats(const struct family_change *change)
{
	return change->kind == CHANGE_SURFACE || change->beyond == 0;
}

bool profile_changes_repeat(const struct profile_changes *changes)
{
	for (size_t i = 0; i < changes->group_count; i++)
		if (!change_repeats(&changes->group[i]))
			return false;
	return changes->noisy_before <= most_noisy && changes->noisy_now <= most_noisy;
}

void profile_changes_free(struct profile_changes *changes)
{
	free(changes->family);
	free(changes->group);
	*changes = (struct profile_changes){0};
}
