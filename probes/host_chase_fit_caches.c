/* SPDX-License-Identifier: MIT */
/* Which levels of the walk over bytes are caches, and which: not what TLBs reach, and where hwloc
 * states sizes, near them. */
#include "../lib/base.h"
#include "host_chase_fit_parts.h"

#include "../lib/msg.h"

#include <math.h>
#include <stdlib.h>

static const double alike = 1.3;  /* sizes of a cache and a TLB taken for the same */
static const double own_step = 3; /* of a TLB's penalties: more is a cache's, which lies there */

enum { CACHES = 4 };

/* Whether a level lies where the TLB reaches, as far as both are known. */
static bool lies_at(const struct level *level, double reach)
{
	if (!level->resolved)
		return level->size.low <= reach && reach <= level->size.high;
	return reach < alike * level->size.value && alike * reach > level->size.value;
}

/* Whether what comes beyond a level is slower than a TLB's misses make it; unknown steps of levels
 * that are not resolved may be. */
static bool is_slower(const struct level *level, const struct level *tlb)
{
	const double most = own_step * tlb->step.high;

	if (!tlb->step_resolved || (level->resolved && !level->step_resolved))
		return false;
	return level->step_resolved ? level->step.low > most : !(level->step.high <= most);
}

/* Whether a level of the walk over bytes is what a TLB reaches, and no slower beyond it than the
 * TLB's misses make it. */
static bool is_tlb(const struct level *level, const struct tlbs *tlbs)
{
	for (size_t i = 0; tlbs && i < tlbs->levels.count; i++) {
		const struct level *tlb = &tlbs->levels.level[i];
		if (tlb->resolved && !is_slower(level, tlb) &&
		        lies_at(level, tlb->size.value * tlbs->page))
			return true;
	}
	return false;
}

/* What hwloc states of a cache, bytes; 0: nothing. */
static double stated_bytes(const struct table *curve, size_t cache)
{
	char *key = xasprintf("stated_l%zu", cache);
	const char *text = table_meta(curve, key);

	free(key);
	return text ? atof(text) : 0;
}

/* Within a factor of two of what is stated, as far as the level's size is known; or nothing is
 * stated. A kink farther off may be a cache, too; but in a virtual machine it may as well be the
 * pages of the host below, or what other guests leave of a shared cache, and the walk cannot tell.
 */
static bool is_credible(const struct level *level, double stated)
{
	const double least = level->resolved ? level->size.value : level->size.low,
	             most = level->resolved ? level->size.value : level->size.high;

	return !(stated > 0) || !(most <= stated / 2 || least >= 2 * stated); /* NaN: unknown */
}

/* Whether its size is known to be that, or bounds that hold it. */
static bool is_at(const struct level *level, double stated)
{
	return level->resolved ? is_credible(level, stated) : lies_at(level, stated);
}

/* The next level that is a cache: TLBs are passed over, and kinks before the stated size when one
 * at that size follows. levels->count: none. */
static size_t next_cache(
        const struct levels *levels, const struct tlbs *tlbs, size_t from, double stated)
{
	size_t first = levels->count, credible = levels->count;

	for (size_t i = levels->count; i-- > from;) {
		const struct level *level = &levels->level[i];
		if (is_tlb(level, tlbs))
			continue;
		first = i;
		if (is_credible(level, stated) &&
		        (credible == levels->count || is_at(level, stated) ||
		                !is_at(&levels->level[credible], stated)))
			credible = i;
	}
	return credible < levels->count ? credible : first;
}

void host_chase_add_caches(const struct table *curve, struct profile *profile,
        const struct levels *levels, const struct tlbs *tlbs)
{
	static const char method[] = "random walk over all lines of a set";
	size_t i = 0;

	for (size_t cache = 1; cache <= CACHES; cache++, i++) {
		const double stated = stated_bytes(curve, cache);
		i = next_cache(levels, tlbs, i, stated);
		if (i >= levels->count)
			return;
		const struct level *level = &levels->level[i], *served = level;
		while (served > levels->level && is_tlb(served - 1, tlbs))
			served--; /* before the TLB's misses join */
		char *size = xasprintf("host.l%zu.size", cache);
		char *latency = xasprintf("host.l%zu.latency", cache);
		const struct parameter_spec bytes = host_chase_bytes(size, method);
		const struct parameter_spec seconds = host_chase_seconds(latency, method);
		if (is_credible(level, stated))
			host_chase_add(profile, &bytes, NULL, 0, &level->size, level->resolved);
		else
			profile_add_bounded(
			        profile, &bytes, NULL, 0, NAN, NAN, level->size.samples);
		host_chase_add(
		        profile, &seconds, NULL, 0, &served->latency, served->latency_resolved);
		free(size);
		free(latency);
	}
}
