/* SPDX-License-Identifier: MIT */
/* Which levels of the pointer chain over bytes are which caches. Levels that TLBs reach are none.
 * There are as many caches as hwloc states, near the stated sizes; only the last one may be
 * smaller, as other guests of a virtual machine's host use it, too. Further levels are not
 * assigned. */
#include "host_chase_fit_internal.h"

#include "lib/probe/curve_fit.h"
#include "lib/base/msg.h"

#include <math.h>
#include <stdlib.h>

static const double alike = 1.3;  /* ratio below which sizes of a cache and a TLB are equal */
static const double own_step = 3; /* a larger step, in TLB penalties, is a cache's */
static const double alike_plateaus =
        0.2; /* widest interval over several plateaus, relative to their latency */
/* A chain over so much more than the stated size misses that cache in a fifth of its loads. */
static const double well_beyond = 1.25;

enum { CACHES = 4, COUNTED = 3 /* where no size is stated */ };

/* Whether a level lies at the TLB's reach, as far as both are known. */
static bool lies_at(const struct level *level, double reach)
{
	if (!level->resolved)
		return level->size.low <= reach && reach <= level->size.high;
	return reach < alike * level->size.value && alike * reach > level->size.value;
}

/* Whether accesses beyond a level are slower than the TLB's misses explain. An unknown step of an
 * unresolved level may be. */
static bool is_slower(const struct level *level, const struct level *tlb)
{
	const double most = own_step * tlb->step.high;

	if (!tlb->step_resolved || (level->resolved && !level->step_resolved))
		return false;
	return level->step_resolved ? level->step.low > most : !(level->step.high <= most);
}

/* Whether a level is a TLB's reach, and not slower beyond than its misses explain. */
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

/* A cache's size as hwloc states it, bytes; 0: not stated. */
static double stated_bytes(const struct table *curve, size_t cache)
{
	char *key = xasprintf("stated_l%zu", cache);
	const double bytes = curve_fact(curve, key);

	free(key);
	return bytes > 0 ? bytes : 0;
}

/* The last cache with a stated size; 0: none. */
static size_t last_stated(const struct table *curve)
{
	size_t cache = CACHES;

	while (cache > 0 && !(stated_bytes(curve, cache) > 0))
		cache--;
	return cache;
}

/* Whether the size is within a factor of two of the stated one, as far as it is known; or no size
 * is stated. A level farther off may be the host's pages below a virtual machine, or the part of a
 * shared cache that other guests leave. */
static bool is_credible(const struct level *level, double stated)
{
	const double least = level->resolved ? level->size.value : level->size.low,
	             most = level->resolved ? level->size.value : level->size.high;

	return !(stated > 0) || !(most <= stated / 2 || least >= 2 * stated); /* NaN: unknown */
}

/* Whether the level's size, or its bounds, agree with the stated size. */
static bool is_at(const struct level *level, double stated)
{
	return level->resolved ? is_credible(level, stated) : lies_at(level, stated);
}

/* Whether a level has the stated size of a later cache. */
static bool is_later(const struct table *curve, const struct level *level, size_t cache)
{
	for (size_t later = cache + 1; later <= CACHES; later++) {
		const double stated = stated_bytes(curve, later);
		if (stated > 0 && is_at(level, stated))
			return true;
	}
	return false;
}

/* The next level that is this cache; levels->count: none. Skips TLBs, and levels before the stated
 * size when a level at that size follows. */
static size_t next_cache(const struct table *curve, const struct levels *levels,
        const struct tlbs *tlbs, size_t from, size_t cache)
{
	const double stated = stated_bytes(curve, cache);
	size_t first = levels->count, credible = levels->count;

	for (size_t i = levels->count; i-- > from;) {
		const struct level *level = &levels->level[i];
		if (is_tlb(level, tlbs))
			continue;
		if (!is_later(curve, level, cache))
			first = i;
		if (is_credible(level, stated) &&
		        (credible == levels->count || is_at(level, stated) ||
		                !is_at(&levels->level[credible], stated)))
			credible = i;
	}
	return credible < levels->count ? credible : first;
}

static bool followed_beyond(const struct levels *levels, double stated)
{
	return levels->level[levels->count].size.low >= well_beyond * stated;
}

/* The last level, far below the stated size, when larger sets would have shown a level there;
 * levels->count: unknown. Other guests use the rest of the last cache. */
static size_t what_is_left(
        const struct levels *levels, const struct tlbs *tlbs, size_t from, double stated)
{
	size_t last = levels->count;

	while (last > from && is_tlb(&levels->level[last - 1], tlbs))
		last--;
	if (last <= from || !followed_beyond(levels, stated))
		return levels->count;
	const struct level *level = &levels->level[last - 1];
	const double most = level->resolved ? level->size.value : level->size.high;
	return level->step_resolved && most < stated ? last - 1 : levels->count;
}

bool host_chase_reaches_memory(const struct table *curve, const struct levels *levels)
{
	const double stated = stated_bytes(curve, last_stated(curve));

	return levels->count > 0 && (followed_beyond(levels, stated) ||
	                                    is_at(&levels->level[levels->count - 1], stated));
}

/* One cache: the level at its end, and whether that level is known to be it. */
struct cache {
	size_t number, from, end; /* the first level that may be its end */
	const char *method;
	bool known;
};

static struct cache find_cache(const struct table *curve, const struct levels *levels,
        const struct tlbs *tlbs, size_t number, size_t from)
{
	static const char chain[] = "random chain over all lines of a set",
	                  counted[] = "random chain over all lines of a set, levels counted: no "
	                              "sizes are stated",
	                  left[] = "random chain over all lines of a set: the last level before "
	                           "memory, far below the stated size";
	const size_t last = last_stated(curve);
	const double stated = stated_bytes(curve, number);
	struct cache cache = {number, from, next_cache(curve, levels, tlbs, from, number),
	        last > 0 ? chain : counted, true};

	if (cache.end < levels->count && !is_credible(&levels->level[cache.end], stated)) {
		const size_t rest =
		        number == last ? what_is_left(levels, tlbs, from, stated) : levels->count;
		cache.known = rest < levels->count;
		if (cache.known) {
			cache.end = rest;
			cache.method = left;
		}
	}
	return cache;
}

/* The latency of a cache's hits: the plateau before its end, without TLB misses. Where levels were
 * skipped, the interval spans all plateaus between them. */
static void add_latency(struct profile *profile, const struct levels *levels,
        const struct tlbs *tlbs, const struct cache *cache)
{
	char *name = xasprintf("host.l%zu.latency", cache->number);
	const struct parameter_spec seconds = host_chase_seconds(name, cache->method);
	const struct level *served = &levels->level[cache->end];
	size_t first = cache->from;

	while (first < cache->end && is_tlb(&levels->level[first], tlbs))
		first++;
	while (served > levels->level && is_tlb(served - 1, tlbs))
		served--;
	struct estimate latency = served->latency;
	latency.low = fmin(latency.low, levels->level[first].latency.low);
	const bool near = latency.high - latency.low <= alike_plateaus * latency.value;
	host_chase_add(profile, &seconds, NULL, 0, &latency,
	        served->latency_resolved && (first == cache->end || near));
	free(name);
}

static void add_size(
        struct profile *profile, const struct levels *levels, const struct cache *cache)
{
	char *name = xasprintf("host.l%zu.size", cache->number);
	const struct parameter_spec bytes = host_chase_bytes(name, cache->method);
	const struct level *level = &levels->level[cache->end];

	if (cache->known)
		host_chase_add(profile, &bytes, NULL, 0, &level->size, level->resolved);
	else
		profile_add_bounded(profile, &bytes, NULL, 0, NAN, NAN, level->size.samples);
	free(name);
}

void host_chase_add_caches(const struct table *curve, struct profile *profile,
        const struct levels *levels, const struct tlbs *tlbs)
{
	const size_t last = last_stated(curve), caches = last > 0 ? last : COUNTED;
	size_t from = 0;

	for (size_t number = 1; number <= caches; number++) {
		const struct cache cache = find_cache(curve, levels, tlbs, number, from);
		if (cache.end >= levels->count)
			continue;
		add_size(profile, levels, &cache);
		add_latency(profile, levels, tlbs, &cache);
		from = cache.end + 1;
	}
}
