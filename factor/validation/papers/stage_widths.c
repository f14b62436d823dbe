/* SPDX-License-Identifier: MIT */
#include "stage_widths.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

double stages_sum(const struct stages *stages, int64_t n, const int64_t *widths, size_t count)
{
	double sum = 0;

	for (size_t i = 0; n > 0; i++) {
		const int64_t w = widths[i < count ? i : count - 1], left = n - w;
		const int64_t v = widths[i + 1 < count ? i + 1 : count - 1];
		if (w > n || (left && v > left))
			return INFINITY;
		if (i > 0)
			sum -= stages->seconds(stages->context, n, w, 0);
		sum += stages->seconds(stages->context, n, w, left ? v : 0);
		n = left;
	}
	return isfinite(sum) ? sum : INFINITY;
}

/* The best sequence for the columns that are left, by its first width. */
struct choice {
	double seconds;
	size_t next; /* index of the second width; STAGE_WIDTHS: none */
};

typedef struct choice choices[STAGE_WIDTHS];

static struct choice choose(
        const struct stages *stages, const choices *best, int64_t left, size_t first)
{
	const int64_t unit = stages->width[0], w = stages->width[first], rest = left - w;
	struct choice least = {INFINITY, STAGE_WIDTHS};

	if (rest == 0)
		least.seconds = stages->seconds(stages->context, left, w, 0);
	for (size_t i = 0; i < (stages->narrowing ? first + 1 : stages->widths); i++) {
		const int64_t v = stages->width[i];
		if (v > rest)
			break;
		const double seconds = stages->seconds(stages->context, left, w, v) -
		                       stages->seconds(stages->context, rest, v, 0) +
		                       best[rest / unit][i].seconds;
		if (isfinite(seconds) && seconds < least.seconds)
			least = (struct choice){seconds, i};
	}
	return least;
}

static size_t follow(
        const struct stages *stages, const choices *best, int64_t left, int64_t *widths)
{
	const choices *at = &best[left / stages->width[0]];
	size_t first = 0, count = 0;

	for (size_t i = 1; i < stages->widths; i++)
		if ((*at)[i].seconds < (*at)[first].seconds)
			first = i;
	if (!isfinite((*at)[first].seconds))
		return 0;
	while (first < STAGE_WIDTHS) {
		const size_t next = best[left / stages->width[0]][first].next;
		widths[count++] = stages->width[first];
		left -= stages->width[first];
		first = next;
	}
	return count;
}

size_t stages_least(const struct stages *stages, int64_t n, int64_t *widths)
{
	const int64_t unit = stages->width[0];
	choices *best = xmalloc((size_t)(n / unit + 1) * sizeof *best);

	for (int64_t left = unit; left <= n; left += unit)
		for (size_t i = 0; i < stages->widths; i++)
			best[left / unit][i] = stages->width[i] <= left
			                               ? choose(stages, best, left, i)
			                               : (struct choice){INFINITY, STAGE_WIDTHS};
	const size_t count = follow(stages, best, n, widths);
	free(best);
	return count;
}
