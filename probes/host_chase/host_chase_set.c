/* SPDX-License-Identifier: MIT */
/* A set of nodes: its loads, its pointer chains, its samples. */
#include "host_chase_internal.h"

#include "lib/host/clock.h"
#include "lib/stats/pointer_chain.h"
#include "lib/base/random.h"

#include <math.h>

enum {
	RESIDENT = 512, /* smaller sets need no loads between stretches */
	SAMPLED = 1024, /* loads timed without a break in a sampled set */
	TRIES = 3,      /* of a point while the clock changes or the core is shared */
	LOADS_UNROLLED = 16
};

static const double steady = 0.01;

#define FOLLOW(p)                                                                                  \
	p = (void **)p[0];                                                                         \
	p = (void **)p[1];                                                                         \
	p = (void **)p[2];                                                                         \
	p = (void **)p[3];

static void **follow(void **p, size_t loads)
{
	for (size_t i = 0; i < loads; i += LOADS_UNROLLED) {
		FOLLOW(p)
		FOLLOW(p)
		FOLLOW(p)
		FOLLOW(p)
	}
	return p;
}

/* A pseudo-random line for node i. */
uint32_t host_chase_line(uint32_t i, uint32_t lines)
{
	return (i * 0x9e3779b9u >> 8) & (lines - 1);
}

static void **node(const struct set *set, uint32_t i)
{
	if (set->packed)
		return (void **)(set->base + (size_t)set->packed[i] * LINE);
	return (void **)(set->base + i * set->stride +
	                 (size_t)host_chase_line(i, set->spread) * LINE);
}

/* Independent loads at random nodes. */
void host_chase_touch(const struct set *set, size_t loads)
{
	uint64_t state = chain_random(&set->chase->random, UINT32_MAX), sum = 0;

	for (size_t i = 0; i < loads; i++)
		sum += (uintptr_t)*node(
		        set, (uint32_t)((random_next(&state) >> 32) * set->nodes >> 32));
	__asm__ volatile("" ::"r"(sum)); /* keeps the loads alive */
}

double host_chase_time(struct set *set)
{
	double start = clock_now();
	set->at = follow(set->at, set->stretch);
	__asm__ volatile("" ::"r"(set->at));
	return clock_now() - start;
}

/* The stretches of a sample; random loads before each make the caches forget the last one. */
static bool take_loads(void *context, struct sample *sample)
{
	struct set *set = context;
	size_t stretches = 0;

	do {
		host_chase_touch(set, set->refresh);
		sample->span += host_chase_time(set) - set->chase->timer;
		stretches++;
	} while (stretches * set->stretch < set->least);
	sample->seconds = sample->span / (double)(stretches * set->stretch);
	sample->agreed = sample->seconds > 0;
	return true;
}

/* Links all nodes, or CHAIN of them in one cycle. */
void host_chase_link(struct set *set)
{
	struct chase *chase = set->chase;
	uint32_t *next = chase->next, *place = chase->place;

	if (set->nodes <= CHAIN) {
		chain_make(next, set->nodes, &chase->random);
		for (uint32_t i = 0; i < set->nodes; i++)
			for (uint32_t slot = 0; slot < CHAIN_SLOTS; slot++)
				node(set, i)[slot] = node(set, next[CHAIN_SLOTS * i + slot]);
		set->at = node(set, 0);
		return;
	}
	chain_places(place, CHAIN, set->nodes, &chase->random);
	chain_cycle(next, CHAIN, &chase->random);
	for (uint32_t i = 0; i < CHAIN; i++)
		for (uint32_t slot = 0; slot < CHAIN_SLOTS; slot++)
			node(set, place[i])[slot] = node(set, place[next[i]]);
	set->at = node(set, place[0]);
}

/* Links pairs of loads, the second `apart` bytes behind the first: slots 0 and 2 of the first, 1
 * and 3 of the second. */
void host_chase_link_pairs(struct set *set, size_t apart)
{
	uint32_t *next = set->chase->next;

	chain_cycle(next, set->nodes, &set->chase->random);
	for (uint32_t i = 0; i < set->nodes; i++) {
		void **first = node(set, i), **second = first + apart / sizeof(void *);
		first[0] = first[2] = second;
		second[1] = second[3] = node(set, next[i]);
	}
	set->at = node(set, 0);
}

/* Loads of a sample. A sampled chain is followed once, at most half of it at a time. */
static struct sample_plan plan_loads(struct set *set)
{
	const double seconds = set->chase->seconds;
	const size_t half = set->nodes / 2 / LOADS_UNROLLED * LOADS_UNROLLED;

	set->least = set->nodes > CHAIN ? SAMPLED : STRETCH;
	set->stretch = set->nodes <= RESIDENT || half > set->least ? set->least : half;
	set->refresh = set->nodes <= RESIDENT ? 0 : set->stretch;
	if (set->nodes <= CHAIN)
		return (struct sample_plan){.warm_seconds = seconds / 10,
		        .max_seconds = seconds,
		        .min_samples = 6,
		        .max_samples = 400,
		        .target = 0.002};
	set->refresh = 4 * SAMPLED;
	return (struct sample_plan){.max_seconds = 2 * seconds,
	        .min_samples = CHAIN / SAMPLED,
	        .max_samples = CHAIN / SAMPLED};
}

void host_chase_record(struct set *set, const char *series, const struct arg *args, size_t count)
{
	struct sample_plan plan = plan_loads(set);
	const struct chase *chase = set->chase;
	struct measurement measurement;

	for (int i = 0; i < TRIES; i++) {
		const double before = clock_core_hz();
		const bool undisturbed = core_noise_undisturbed(&chase->noise);
		if (!sample_run(take_loads, set, &plan, 0, &measurement))
			return;
		measurement.hz = clock_core_hz();
		const bool same = !(fabs(before / measurement.hz - 1) > steady);
		if (set->nodes > CHAIN ||
		        (same && undisturbed && core_noise_undisturbed(&chase->noise)))
			break; /* a sampled chain is followed once */
	}
	probe_record(chase->run, series, args, count, &measurement);
}
