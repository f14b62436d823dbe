/* SPDX-License-Identifier: MIT */
#include "lib/base/base.h"
#include "tlb.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/msg.h"

static const struct estimate unknown = {NAN, NAN, NAN, 0};

static bool agree(struct estimate a, struct estimate b)
{
	return a.low <= b.high && b.low <= a.high;
}

static struct estimate times(struct estimate a, double factor)
{
	return (struct estimate){a.value * factor, a.low * factor, a.high * factor, a.samples};
}

static struct estimate between(double low, double high, size_t samples)
{
	return (struct estimate){NAN, low, high, samples};
}

struct sighting {
	double stride;
	struct estimate nodes;
};

/* The chains that resolve a level, with the same penalty as the first that does; NULL: none. */
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

/* The most nodes, more than a stride apart, that a chain goes round without missing this level. */
static double unmissed(const struct tlb_walk *chain, size_t n, size_t k, double stride)
{
	double nodes = NAN;

	for (size_t j = 0; j < n; j++)
		if (chain[j].stride > stride && chain[j].levels.count == k)
			nodes = fmax(nodes, chain[j].levels.level[k].size.low);
	return nodes;
}

/* What several sightings say, those that agree with the first, the surer ones more: of the reach in
 * bytes, or of the entries. The interval is the narrowest one's: what bends them bends all alike.
 */
static struct estimate together(const struct sighting *seen, size_t count, bool bytes)
{
	struct estimate first = times(seen[0].nodes, bytes ? seen[0].stride : 1);
	double sum = 0, weights = 0, narrowest = INFINITY;

	for (size_t j = 0; j < count; j++) {
		const struct estimate one = times(seen[j].nodes, bytes ? seen[j].stride : 1);
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
		*estimate = (struct estimate){exact, exact, exact, estimate->samples};
	return !isnan(exact);
}

/* Pages are powers of two: where none fits what was found lies between two of them, and which one
 * is true is not known. */
static void settle_page(struct estimate *page)
{
	if (page->samples == 0 || round_to_power(page))
		return;
	const double below = exp2(floor(log2(page->low)));
	if (page->low > below && page->high < 2 * below)
		*page = between(below, 2 * below, page->samples);
}

/* Pages of the largest stride or more: `least` nodes a larger one apart have entries. */
static void find_beyond(struct tlb_level *found, struct estimate nodes, double least)
{
	found->page =
	        between(found->reach.low / nodes.high, found->reach.high / least, nodes.samples);
	found->entries = between(least, nodes.high, nodes.samples);
	if (round_to_power(&found->page))
		found->entries = times(found->reach, 1 / found->page.value);
}

/* Nodes of one level by ascending stride: they fall as reach / stride, and are flat from the page
 * on. */
static void find_level(const struct tlb_walk *chain, size_t n, size_t k, struct tlb_level *found)
{
	struct sighting *seen = xmalloc(n * sizeof *seen);
	size_t count, falling = 1;
	const struct level *first = look(chain, n, k, seen, &count);

	*found = (struct tlb_level){unknown, unknown, unknown, chain[0].levels.level[k].step,
	        times(chain[0].levels.level[k].size, chain[0].stride)};
	if (!first) {
		found->reach = between(NAN, found->kink.high, found->kink.samples);
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
		found->entries = flat ? begin.nodes : between(NAN, begin.nodes.high, samples);
		found->reach = between(NAN, begin.nodes.high * begin.stride, samples);
		found->page = between(NAN, flat ? begin.stride : NAN, samples);
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
		found->page = found->reach = found->entries = unknown;
	settle_page(&found->page);
}

size_t tlb_find(const struct tlb_walk *chain, size_t n, struct tlb_level *level)
{
	const size_t count = n > 0 ? chain[0].levels.count : 0;

	for (size_t k = 0; k < count; k++)
		find_level(chain, n, k, &level[k]);
	return count;
}
