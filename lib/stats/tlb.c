/* SPDX-License-Identifier: MIT */
#include "tlb.h"

#include <math.h>
#include <stdlib.h>

#include "estimate.h"
#include "lib/base/msg.h"

static bool agree(struct estimate a, struct estimate b)
{
	return a.low <= b.high && b.low <= a.high;
}

struct sighting {
	double stride;
	struct estimate nodes;
};

/* Collects the chains that resolve level k with the same penalty as the first such chain. Returns
 * that chain's level; NULL: none. */
static const struct level *look(
        const struct tlb_walk *chain, size_t n, size_t k, struct sighting *seen, size_t *count)
{
	const struct level *first = NULL;

	*count = 0;
	for (size_t j = 0; j < n; j++) {
		const struct level *level = &chain[j].levels.level[k];
		if (k >= chain[j].levels.count || !level->resolved || !level->step_resolved)
			continue;
		if (first && (level->step.low > 1.5 * first->step.high ||
		                     first->step.low > 1.5 * level->step.high))
			continue;
		first = first ? first : level;
		seen[(*count)++] = (struct sighting){chain[j].stride, level->size};
	}
	return first;
}

/* The most nodes at any larger stride that do not miss this level. */
static double unmissed(const struct tlb_walk *chain, size_t n, size_t k, double stride)
{
	double nodes = NAN;

	for (size_t j = 0; j < n; j++)
		if (chain[j].stride > stride && chain[j].levels.count == k)
			nodes = fmax(nodes, chain[j].levels.level[k].size.low);
	return nodes;
}

/* The weighted mean of the sightings that agree with the first: of the reach in bytes, or of the
 * entries. The interval is the narrowest sighting's, as their errors are systematic. */
static struct estimate together(const struct sighting *seen, size_t count, bool bytes)
{
	struct estimate first = estimate_times(seen[0].nodes, bytes ? seen[0].stride : 1);
	double sum = 0, weights = 0, narrowest = INFINITY;

	for (size_t j = 0; j < count; j++) {
		const struct estimate one =
		        estimate_times(seen[j].nodes, bytes ? seen[j].stride : 1);
		const double wide = log(one.high / one.low);
		if (!agree(one, first) || !(wide > 0))
			continue;
		sum += log(one.value) / (wide * wide);
		weights += 1 / (wide * wide);
		narrowest = fmin(narrowest, wide);
	}
	if (!(weights > 0))
		return first;
	const double value = exp(sum / weights), part = exp(narrowest / 2);
	return (struct estimate){value, value / part, value * part, first.samples};
}

static bool round_to_power(struct estimate *estimate)
{
	const double exact = levels_power_of_two(*estimate);

	if (!isnan(exact))
		*estimate = estimate_exact(exact, estimate->samples);
	return !isnan(exact);
}

/* Pages are powers of two. Without one in the interval the page lies between the two powers around
 * it. */
static void settle_page(struct estimate *page)
{
	if (page->samples == 0 || round_to_power(page))
		return;
	const double below = exp2(floor(log2(page->low)));
	if (page->low > below && page->high < 2 * below)
		*page = estimate_between(below, 2 * below, page->samples);
}

/* For pages of the largest stride or more; `least` nodes at a larger stride have entries. */
static void find_beyond(struct tlb_level *found, struct estimate nodes, double least)
{
	found->page = estimate_between(
	        found->reach.low / nodes.high, found->reach.high / least, nodes.samples);
	found->entries = estimate_between(least, nodes.high, nodes.samples);
	if (round_to_power(&found->page))
		found->entries = estimate_times(found->reach, 1 / found->page.value);
}

/* Nodes of one level by ascending stride: they fall as reach / stride, and are constant from the
 * page size on. */
static void find_level(const struct tlb_walk *chain, size_t n, size_t k, struct tlb_level *found)
{
	struct sighting *seen = xmalloc(n * sizeof *seen);
	size_t count, falling = 1;
	const struct level *first = look(chain, n, k, seen, &count);

	*found = (struct tlb_level){estimate_none, estimate_none, estimate_none,
	        chain[0].levels.level[k].step,
	        estimate_times(chain[0].levels.level[k].size, chain[0].stride)};
	if (!first) {
		found->reach = estimate_between(NAN, found->kink.high, found->kink.samples);
		free(seen);
		return;
	}
	while (falling < count && !agree(seen[falling].nodes, seen[falling - 1].nodes))
		falling++;
	const bool flat = falling < count;
	const struct sighting begin = seen[0], end = seen[falling - 1];
	const size_t below = flat ? falling - 1 : falling; /* strides of less than a page */
	const struct estimate reach = together(seen, below, true),
	                      entries = together(seen + falling - 1, count - falling + 1, false);
	free(seen);
	found->penalty = first->step;
	if (falling == 1) { /* pages of the smallest stride or less, or only one stride */
		const size_t samples = begin.nodes.samples;
		found->entries =
		        flat ? begin.nodes : estimate_between(NAN, begin.nodes.high, samples);
		found->reach = estimate_between(NAN, begin.nodes.high * begin.stride, samples);
		found->page = estimate_between(NAN, flat ? begin.stride : NAN, samples);
		return;
	}
	found->reach = reach;
	if (!flat) {
		find_beyond(found, end.nodes, unmissed(chain, n, k, end.stride));
		return;
	}
	found->entries = entries;
	found->page = levels_quotient(reach, entries);
	if (found->page.low > end.stride || found->page.high < begin.stride)
		found->page = found->reach = found->entries = estimate_none;
	settle_page(&found->page);
}

size_t tlb_find(const struct tlb_walk *chain, size_t n, struct tlb_level *level)
{
	const size_t count = n > 0 ? chain[0].levels.count : 0;

	for (size_t k = 0; k < count; k++)
		find_level(chain, n, k, &level[k]);
	return count;
}
