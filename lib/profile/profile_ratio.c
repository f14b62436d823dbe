/* SPDX-License-Identifier: MIT */
#include "profile_ratio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/msg.h"
#include "profile_row.h"

const char *const ratio_verdict_name[RATIO_VERDICTS] = {
        "same", "faster", "slower", "more", "less", "open", "mixed"};

static const double known = 0.1; /* of a ratio that is the same */

static bool is_time(const char *unit)
{
	return strcmp(unit, "s") == 0 || strcmp(unit, "cycle") == 0;
}

static bool is_rate(const char *unit)
{
	return strcmp(unit, "Hz") == 0 || strstr(unit, "/s");
}

double ratio_slowdown(double ratio, const char *unit)
{
	return is_time(unit) ? ratio : is_rate(unit) ? 1 / ratio : NAN;
}

static enum ratio_verdict verdict_of(const struct ratio *r, const char *unit)
{
	if (fabs(r->value - 1) <= change_allowed(unit))
		return r->low > 1 - known && r->high < 1 + known ? RATIO_SAME : RATIO_OPEN;
	if (!(r->low > 1 || r->high < 1))
		return RATIO_OPEN;
	if (!is_time(unit) && !is_rate(unit))
		return r->value > 1 ? RATIO_MORE : RATIO_LESS;
	return ratio_slowdown(r->value, unit) > 1 ? RATIO_SLOWER : RATIO_FASTER;
}

struct ratio ratio_of(struct estimate first, struct estimate second, const char *unit)
{
	if (first.value == second.value)
		return (struct ratio){1, 1, 1, RATIO_SAME};
	if (!(first.value > 0 && second.value > 0))
		return (struct ratio){NAN, NAN, NAN, RATIO_OPEN};
	const double down = hypot(1 - second.low / second.value, first.high / first.value - 1);
	const double up = hypot(second.high / second.value - 1, 1 - first.low / first.value);
	struct ratio r = {.value = second.value / first.value};

	r.low = r.value * fmax(0, 1 - down);
	r.high = r.value * (1 + up);
	r.verdict = verdict_of(&r, unit);
	return r;
}

struct ratio ratio_of_rows(const struct parameter *first, const struct parameter *second)
{
	struct ratio r = ratio_of(first->estimate, second->estimate, first->unit);

	if (strcmp(first->status, "ok") != 0 || strcmp(second->status, "ok") != 0)
		r.verdict = RATIO_OPEN;
	return r;
}

/* ---- families ---- */

static enum ratio_verdict most_common(const size_t votes[RATIO_VERDICTS], size_t count)
{
	for (int v = 0; v < RATIO_VERDICTS; v++)
		if (2 * votes[v] > count)
			return (enum ratio_verdict)v;
	return RATIO_MIXED;
}

/* All rows of the name that begins at row i, whose ratios go into `each`. */
static struct family_ratio family_of(
        const struct profile *first, const struct profile *second, size_t i, double *each)
{
	struct family_ratio family = {.ratio = {.low = INFINITY, .high = -INFINITY}};
	struct ratio *r = &family.ratio, one = {0};
	size_t votes[RATIO_VERDICTS] = {0};

	for (; i < first->count; i = profile_next(first, i)) {
		const struct parameter *row = &first->row[i],
		                       *other = profile_find_row(second, row);
		if (!profile_row_usable(row) || !other || !profile_row_usable(other))
			continue;
		one = ratio_of_rows(row, other);
		if (isnan(one.value))
			continue;
		if (!family.first) {
			family.first = row;
			family.second = other;
		}
		each[family.count++] = one.value;
		r->low = fmin(r->low, one.value);
		r->high = fmax(r->high, one.value);
		votes[one.verdict]++;
	}
	if (family.count == 1) {
		*r = one;
	} else if (family.count) {
		r->value = stats_median(each, family.count);
		r->verdict = most_common(votes, family.count);
	}
	return family;
}

struct family_ratio *profile_ratios(
        const struct profile *first, const struct profile *second, size_t *count)
{
	struct family_ratio *family = xcalloc(first->count + 1, sizeof *family);
	double *each = xcalloc(first->count + 1, sizeof *each);

	*count = 0;
	for (size_t i = 0; i < first->count; i++) {
		if (profile_first(first, first->row[i].name) != i)
			continue;
		family[*count] = family_of(first, second, i, each);
		*count += family[*count].count > 0;
	}
	free(each);
	return family;
}
