/* SPDX-License-Identifier: MIT */
/* Series of the host_chase probe as input of the fit of levels; the pointer chain over bytes
 * without the misses of small pages' TLBs. */
#include "lib/base/base.h"
#include "host_chase_fit_internal.h"

#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

/* relative error of the misses, from one line a page to all lines */
static const double misses_known = 0.05;

struct curve_series host_chase_less(
        const struct table *curve, const char *series, const char *column, const char *less)
{
	struct curve_series all = curve_series_read(curve, series, column, 0);
	double base = INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < all.n; i++) {
		const struct arg at[] = {{column, all.x[i]}};
		const struct estimate own = curve_at(curve, series, at, 1).seconds,
		                      other = curve_at(curve, less, at, 1).seconds;
		if (other.samples == 0)
			continue;
		all.x[n] = all.x[i];
		all.seconds[n] = own.value - other.value;
		all.error[n++] = hypot(curve_series_error(own), curve_series_error(other));
		base = fmin(base, other.value);
	}
	all.n = n;
	for (size_t i = 0; i < n; i++) {
		all.seconds[i] += base;
		all.error[i] /= all.seconds[i];
	}
	return all;
}

/* TLB misses in a chain over `bytes` bytes of small pages, seconds a load. Beyond the measured
 * pages they follow the last TLB's law. */
static double missing(const struct curve_series *pages, const struct tlbs *small, double bytes)
{
	const struct levels *tlbs = &small->levels;
	const double followed = curve_series_end(pages), n = bytes / small->page;
	double seconds = curve_series_at(pages, n) - curve_series_at(pages, 0);

	if (n > followed && tlbs->count > 0 && tlbs->level[tlbs->count - 1].resolved &&
	        tlbs->level[tlbs->count - 1].step_resolved) {
		const struct level *last = &tlbs->level[tlbs->count - 1];
		seconds += last->step.value * last->size.value * (1 / followed - 1 / n);
	}
	return fmax(0, seconds);
}

/* Whether huge pages are walked like small ones, as under a hypervisor with small pages. */
static bool huge_as_small(const struct curve_series *huge, const struct curve_series *small,
        const struct curve_series *pages, const struct tlbs *tlbs)
{
	static const double counts = 0.1; /* misses above this share of a load count */
	double more = 0, expected = 0;

	for (size_t i = 0; small->n > 0 && i < huge->n; i++) {
		const double misses = missing(pages, tlbs, huge->x[i]);
		if (huge->x[i] > curve_series_end(small) || misses < counts * huge->seconds[i])
			continue;
		more += huge->seconds[i] - (curve_series_at(small, huge->x[i]) - misses);
		expected += misses;
	}
	return more > expected / 2;
}

/* TLB misses in the chains over nodes' memory, all of one size. */
static double node_misses(
        const struct table *curve, const struct curve_series *pages, const struct tlbs *tlbs)
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
	struct curve_series huge = curve_series_read(curve, "chain_huge", "bytes", 0),
	                    small = curve_series_read(curve, "chain_small", "bytes", 0),
	                    pages = host_chase_less(curve, "pages_small", "nodes", "packed");
	struct chain chain = {.points = huge.n ? huge : small};
	const bool known = tlbs->page > 0 && pages.n > 0;

	chain.huge_pages = huge.n && !(known && huge_as_small(&huge, &small, &pages, tlbs));
	if (known && !chain.huge_pages)
		chain.node_misses = node_misses(curve, &pages, tlbs);
	for (size_t i = 0; known && !chain.huge_pages && i < chain.points.n; i++) {
		double *seconds = &chain.points.seconds[i], *error = &chain.points.error[i];
		const double misses = missing(&pages, tlbs, chain.points.x[i]);
		const double left = *seconds - misses;
		*error = hypot(*error * *seconds, misses_known * misses) / left;
		*seconds = left;
	}
	curve_series_free(&pages);
	curve_series_free(huge.n ? &small : &huge);
	return chain;
}
