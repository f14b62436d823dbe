/* SPDX-License-Identifier: MIT */
/* Series of the host_chase probe as the fit of levels takes them; the chain over bytes without what
 * small pages' TLBs add to it. */
#include "lib/base/base.h"
#include "host_chase_fit_internal.h"

#include "lib/probe/curve.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

static const double normal_95 = 1.96;
static const double misses_known = 0.05; /* how well those of one line a page are those of a chain */

static double error_of(const struct estimate *e)
{
	return (e->high - e->low) / (2 * normal_95);
}

struct points host_chase_series(
        const struct table *curve, const char *series, const char *column, const char *less)
{
	struct point *point;
	struct points points = {.n = 0};
	const size_t count = curve_points(curve, series, &point);
	double base = INFINITY;

	points.size = xmalloc(3 * (count + 1) * sizeof *points.size);
	points.seconds = points.size + count + 1;
	points.error = points.seconds + count + 1;
	for (size_t i = 0; i < count; i++) {
		const struct arg at[] = {{column, curve_arg(curve, &point[i], column)}};
		struct estimate seconds = point[i].seconds;
		double error = error_of(&seconds);
		if (less) {
			const struct point other = curve_at(curve, less, at, 1);
			if (other.seconds.samples == 0)
				continue;
			seconds.value -= other.seconds.value;
			error = hypot(error, error_of(&other.seconds));
			base = fmin(base, other.seconds.value);
		}
		if (seconds.samples == 0)
			continue;
		points.size[points.n] = at[0].value;
		points.seconds[points.n] = seconds.value;
		points.error[points.n++] = error;
	}
	for (size_t i = 0; i < points.n; i++) {
		points.seconds[i] += less ? base : 0;
		points.error[i] /= points.seconds[i];
	}
	free(point);
	return points;
}

double host_chase_largest(const struct points *points)
{
	double most = 0;
	for (size_t i = 0; i < points->n; i++)
		most = fmax(most, points->size[i]);
	return most;
}

/* A series at any size: between its points by the logarithm of the size, its ends beyond them. */
static double at_size(const struct points *points, double size)
{
	size_t below = points->n, above = points->n;

	for (size_t i = 0; i < points->n; i++) {
		if (points->size[i] <= size &&
		        (below == points->n || points->size[i] > points->size[below]))
			below = i;
		if (points->size[i] >= size &&
		        (above == points->n || points->size[i] < points->size[above]))
			above = i;
	}
	if (below == points->n || above == points->n || below == above)
		return points->seconds[below < points->n ? below : above];
	const double part =
	        log(size / points->size[below]) / log(points->size[above] / points->size[below]);
	return points->seconds[below] + part * (points->seconds[above] - points->seconds[below]);
}

/* Misses of the TLBs in a chain over so many bytes of small pages, seconds a load: beyond the pages
 * that were walked by the last TLB's law. */
static double missing(const struct points *pages, const struct tlbs *small, double bytes)
{
	const struct levels *tlbs = &small->levels;
	const double followed = host_chase_largest(pages), n = bytes / small->page;
	double seconds = at_size(pages, n) - at_size(pages, 0);

	if (n > followed && tlbs->count > 0 && tlbs->level[tlbs->count - 1].resolved &&
	        tlbs->level[tlbs->count - 1].step_resolved) {
		const struct level *last = &tlbs->level[tlbs->count - 1];
		seconds += last->step.value * last->size.value * (1 / followed - 1 / n);
	}
	return fmax(0, seconds);
}

/* Whether huge pages are walked like small ones, as under a hypervisor whose own pages are small.
 */
static bool huge_as_small(const struct points *huge, const struct points *small,
        const struct points *pages, const struct tlbs *tlbs)
{
	static const double counts = 0.1; /* of a load: misses that are looked at */
	double more = 0, expected = 0;

	for (size_t i = 0; small->n > 0 && i < huge->n; i++) {
		const double misses = missing(pages, tlbs, huge->size[i]);
		if (huge->size[i] > host_chase_largest(small) || misses < counts * huge->seconds[i])
			continue;
		more += huge->seconds[i] - (at_size(small, huge->size[i]) - misses);
		expected += misses;
	}
	return more > expected / 2;
}

/* What misses add to the chains over nodes' memory, all of one size. */
static double node_misses(
        const struct table *curve, const struct points *pages, const struct tlbs *tlbs)
{
	struct point *point;
	const size_t count = curve_points(curve, "chain_node", &point);
	const double misses =
	        count ? missing(pages, tlbs, curve_arg(curve, &point[0], "bytes")) : 0;

	free(point);
	return misses;
}

struct chain host_chase_chain(const struct table *curve, const struct tlbs *tlbs)
{
	struct points huge = host_chase_series(curve, "chain_huge", "bytes", NULL),
	              small = host_chase_series(curve, "chain_small", "bytes", NULL),
	              pages = host_chase_series(curve, "pages_small", "nodes", "packed");
	struct chain chain = {.points = huge.n ? huge : small};
	const bool known = tlbs->page > 0 && pages.n > 0;

	chain.huge_pages = huge.n && !(known && huge_as_small(&huge, &small, &pages, tlbs));
	if (known && !chain.huge_pages)
		chain.node_misses = node_misses(curve, &pages, tlbs);
	for (size_t i = 0; known && !chain.huge_pages && i < chain.points.n; i++) {
		double *seconds = &chain.points.seconds[i], *error = &chain.points.error[i];
		const double misses = missing(&pages, tlbs, chain.points.size[i]);
		const double left = *seconds - misses;
		*error = hypot(*error * *seconds, misses_known * misses) / left;
		*seconds = left;
	}
	free(pages.size);
	free(huge.n ? small.size : huge.size);
	return chain;
}
