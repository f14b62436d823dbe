/* SPDX-License-Identifier: MIT */
#include "base.h"
#include "tlb.h"

#include <math.h>

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

/* The walk's level if it resolves it, with the same penalty as the first stride's. */
static const struct level *seen(const struct tlb_walk *walk, size_t k, const struct level *first)
{
	const struct level *level = &walk->levels.level[k];
	if (k >= walk->levels.count || !level->resolved || !level->step_resolved)
		return NULL;
	return level->step.low <= 1.5 * first->step.high &&
	                       first->step.low <= 1.5 * level->step.high
	               ? level
	               : NULL;
}

/* Nodes of one level by ascending stride: they fall as reach / stride, and are flat from the page
 * on. */
static void find_level(const struct tlb_walk *walk, size_t n, size_t k, struct tlb_level *found)
{
	const struct level *first = &walk[0].levels.level[k];
	const double stride = walk[0].stride;
	struct estimate nodes = first->size, later = unknown;
	double flat_from = NAN, last_stride = stride, falling_to = stride;
	bool fell = false;

	*found = (struct tlb_level){unknown, unknown, unknown, first->step};
	if (!first->resolved) {
		found->reach = between(NAN, nodes.high * stride, nodes.samples);
		return;
	}
	later = nodes;
	for (size_t j = 1; j < n; j++) {
		const struct level *level = seen(&walk[j], k, first);
		if (!level)
			continue;
		if (isnan(flat_from) && agree(level->size, later))
			flat_from = last_stride;
		else if (isnan(flat_from)) {
			fell = true;
			falling_to = walk[j].stride;
			later = level->size;
		}
		last_stride = walk[j].stride;
	}
	if (!fell) { /* pages of the smallest stride or less, or only one stride */
		found->entries = isnan(flat_from) ? between(NAN, nodes.high, nodes.samples) : nodes;
		found->reach = between(NAN, nodes.high * stride, nodes.samples);
		found->page = between(NAN, isnan(flat_from) ? NAN : stride, nodes.samples);
		return;
	}
	found->reach = times(nodes, stride);
	if (isnan(flat_from)) { /* falling to the end: pages of the largest stride or more */
		found->entries = between(NAN, later.high, later.samples);
		found->page = between(found->reach.low / later.high, NAN, later.samples);
		return;
	}
	found->entries = later;
	found->page = levels_quotient(found->reach, later);
	if (found->page.low > falling_to || found->page.high < stride)
		found->page = found->reach = found->entries = unknown;
	const double exact = levels_power_of_two(found->page);
	if (!isnan(exact))
		found->page = (struct estimate){exact, exact, exact, found->page.samples};
}

size_t tlb_find(const struct tlb_walk *walk, size_t n, struct tlb_level *level)
{
	const size_t count = n > 0 ? walk[0].levels.count : 0;

	for (size_t k = 0; k < count; k++)
		find_level(walk, n, k, &level[k]);
	return count;
}
