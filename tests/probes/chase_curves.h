/* SPDX-License-Identifier: MIT */
/* Curves of the pointer_chase probe from simulated machines (cache_machine.h) that run its real
 * chains, machines drawn at random, and what a fit says held against the truth. */
#pragma once

#include "cache_machine.h"
#include "tests/fit_test.h"

static const char *const columns[] = {
        "bytes", "stride", "nodes", "offset", "sm", "line", "distance", "before"};

enum { PROCESSES = 3 };

static inline void put(struct machine *machine, struct table *curve, const char *series,
        const struct arg *args, size_t count, double seconds)
{
	const double shared = 1 + machine->drift * machine_normal(&machine->random);
	const double stated = machine->noise * (1 + machine->doubt);
	for (int process = 0; process < PROCESSES; ++process) {
		const double quicker = 1 + machine->ramp * process;
		const double value = seconds / quicker * shared *
		                     (1 + machine->noise * machine_normal(&machine->random));
		const struct measurement m = {
		        .seconds = {value, value * (1 - stated), value * (1 + stated), 10},
		        .hz = machine->hz * quicker};
		curve_add(curve, series, args, count, process, &m, false);
	}
}

/* A chain over n nodes `stride` apart, each in a random line of its part when spread. */
static inline double chain_of(struct machine *machine, int slots, uint32_t n, uint64_t stride,
        bool spread, uint32_t limit)
{
	uint64_t *address = malloc(n * sizeof *address);
	const uint32_t unit = 128, parts = (uint32_t)(stride / unit);
	for (uint32_t i = 0; i < n; ++i)
		address[i] = i * stride +
		             (spread ? (uint64_t)unit * chain_random(&machine->random, parts) : 0);
	machine_each(machine, cache_start);
	const double seconds = machine_chain(machine, address, n, slots, limit);
	machine_each(machine, cache_stop);
	free(address);
	return seconds;
}

static inline double chain(
        struct machine *machine, uint32_t n, uint64_t stride, bool spread, uint32_t limit)
{
	return chain_of(machine, CHAIN_SLOTS, n, stride, spread, limit);
}

/* Dense sets from `first` to `last` bytes, eight an doubling. */
static inline void put_chains(struct machine *machine, struct table *curve, const char *series,
        uint32_t stride, double first, double last)
{
	for (double bytes = first; bytes <= last; bytes *= 1.13) {
		const uint32_t n = (uint32_t)(bytes / stride);
		const struct arg args[] = {{"bytes", (double)n * stride}, {"stride", stride}};
		put(machine, curve, series, args, 2, chain(machine, n, stride, false, 12000));
	}
}

/* Past the first cache: its hits are not there. */
static inline struct machine without_first(const struct machine *machine)
{
	struct machine rest = *machine;
	rest.base += rest.cache[0].step;
	for (int i = 1; i < rest.caches; ++i)
		rest.cache[i - 1] = rest.cache[i];
	rest.caches--;
	return rest;
}

static inline double memory_latency(const struct machine *machine)
{
	double seconds = machine->base;
	for (int i = 0; i < machine->caches; ++i)
		seconds += machine->cache[i].step;
	return seconds;
}

static inline double last_cache_bytes(const struct machine *machine)
{
	return cache_bytes(&machine->cache[machine->caches - 1]);
}

/* A node in every third line, so that the nodes fill all sets alike; four sizes an doubling. */
static inline void put_entries(struct machine *machine, struct table *curve, const char *series,
        uint32_t line, double first, double last)
{
	for (double nodes = first; nodes <= last; nodes *= 1.19) {
		const struct arg args[] = {{"nodes", floor(nodes)}};
		put(machine, curve, series, args, 1,
		        chain(machine, (uint32_t)nodes, 3 * line, false, 12000));
	}
}

static inline void put_caches(struct machine *machine, struct table *curve, uint32_t stride)
{
	const double l1 = cache_bytes(&machine->cache[0]), l2 = last_cache_bytes(machine);
	const double through_l1 = fmin(9 * l1, 0.8 * cache_bytes(&machine->cache[1]));
	struct machine past = without_first(machine);
	put_chains(machine, curve, "chain_ca", stride, l1 / 60, through_l1);
	put_chains(&past, curve, "chain_cg", stride, l2 / 30, 8 * l2);
	put_entries(machine, curve, "entries_ca", stride, l1 / stride / 8, 8 * l1 / stride);
	put_entries(&past, curve, "entries_cg", stride, l2 / stride / 4, 8 * l2 / stride);
	machine->random = past.random;
	for (double bytes = 4 * l2; bytes <= 16 * l2; bytes *= 2) {
		const struct arg cold[] = {{"bytes", bytes}};
		put(machine, curve, "cold", cold, 1, memory_latency(machine));
	}
}

/* One node at a random line of each stride. */
static inline void put_pages(
        struct machine *machine, struct table *curve, uint64_t stride, uint32_t nodes)
{
	const struct arg args[] = {{"stride", (double)stride}, {"nodes", nodes}};
	put(machine, curve, "pages", args, 2, chain(machine, nodes, stride, true, 20000));
}

/* Whether a parameter is resolved; *wrong is set when `truth` lies outside its interval by more
 * than a hair. */
static inline bool is_resolved(const struct parameter *p, double truth, bool *wrong)
{
	const struct estimate e = p->estimate;
	const bool absent = strcmp(p->status, "absent") == 0;
	const bool outside = truth < e.low * 0.999 || truth > e.high * 1.001;
	if (!absent && (outside || strcmp(p->status, "failed") == 0))
		*wrong = true;
	return !absent && strcmp(p->status, "bounded") != 0;
}

static inline bool resolved(
        const struct profile *profile, const char *name, double truth, bool *wrong)
{
	return is_resolved(row_of(profile, name), truth, wrong);
}

/* A parameter that must be resolved. */
struct truth {
	const char *name;
	double value;
	const char *what;
};

static inline void hold(const struct profile *profile, const struct truth *truth, size_t count)
{
	for (size_t i = 0; i < count; ++i) {
		const struct parameter *p = row_of(profile, truth[i].name);
		bool wrong = false;
		if (!ok(is_resolved(p, truth[i].value, &wrong) && !wrong, "%s", truth[i].what))
			diag("%s %g, %g to %g, want %g", truth[i].name, p->estimate.value,
			        p->estimate.low, p->estimate.high, truth[i].value);
	}
}
#define HOLD(profile, ...)                                                                         \
	hold(profile, (const struct truth[]){__VA_ARGS__},                                         \
	        ARRAY_LEN(((const struct truth[]){__VA_ARGS__})))

/* ---- machines at random ---- */

static inline uint32_t pick(struct machine *machine, uint32_t low, uint32_t high)
{
	return low + chain_random(&machine->random, high - low + 1);
}

/* Half of L2 is near: what misses it takes longer, and memory longer still. A measurement's
 * interval is stated as twice its deviation. */
static inline void divide(struct machine *m)
{
	m->doubt = 1;
	m->cache[1].sets /= 2;
	m->cache[m->caches] = m->cache[1];
	m->cache[m->caches].sets *= 2;
	m->cache[1].step = 1e-9 * pick(m, 60, 150);
	m->caches++;
}

static inline struct machine draw(uint64_t seed)
{
	static const uint32_t ways[] = {2, 4, 8, 16, 32};
	struct machine m = {.caches = 2, .random = seed * 7919 + 13, .hz = 1.5e9};
	m.noise = 0.0005 + 0.00002 * pick(&m, 0, 150);
	m.drift = 0.00001 * pick(&m, 0, 100);
	m.base = 1e-9 * pick(&m, 8, 40);
	for (int i = 0; i < 2; ++i) {
		struct cache *c = &m.cache[i];
		*c = (struct cache){.line = 128,
		        .sector = 32,
		        .ways = ways[pick(&m, i ? 2 : 0, 4)],
		        .replacement = (enum replacement)pick(&m, 0, REPLACEMENTS - 1),
		        .hashed = pick(&m, 0, 1)};
		const uint32_t lines = i == 0 ? pick(&m, 96, 900) : pick(&m, 4000, 9000);
		c->sets = lines / c->ways > 0 ? lines / c->ways : 1;
		c->step = 1e-9 * pick(&m, 60, 250);
	}
	if (seed % 3 == 0)
		divide(&m);
	return m;
}
