/* SPDX-License-Identifier: MIT */
/* What the files of the host_chase probe share: its memory, and a set of nodes in it. */
#ifndef FATHOM_HOST_CHASE_INTERNAL_H
#define FATHOM_HOST_CHASE_INTERNAL_H

#include "lib/base/base.h"
#include "lib/host/pages.h"
#include "lib/probe/probe.h"
#include "lib/host/core_noise.h"
#include "lib/host/topology.h"
#include "host_chase.h"

enum {
	LINE = 64,       /* distance of nodes; no processor of today has shorter lines */
	CHAIN = 1 << 15, /* most nodes that are linked */
	STRETCH = 4096,  /* loads timed without a break, at most */
	MOST_PAGES = 1 << 14
};

struct chase {
	struct probe_run *run;
	const struct topology *topology;
	struct topology_facts facts;
	struct core_noise noise;
	int core;                 /* the quietest one that has its memory where the first one has */
	struct pages small, huge; /* huge.bytes is 0 when there are none */
	uint32_t *next, *place;
	uint32_t packed[MOST_PAGES];
	uint64_t random;
	double timer;   /* seconds of reading the clock */
	double seconds; /* for the samples of a point */
	double end;     /* clock_now() when the time is spent */
};

/* Nodes at base + i * stride, spread within the stride. */
struct set {
	struct chase *chase;
	char *base;
	size_t stride;
	uint32_t nodes, spread;  /* spread: lines of a stride, a power of two */
	const uint32_t *packed;  /* the lines of the nodes instead, or NULL */
	size_t stretch, refresh; /* timed loads, random loads before them */
	size_t least;            /* timed loads of a sample */
	void **at;               /* where the chain is */
};

/* ---- sets (host_chase_set.c) ---- */

uint32_t some_line(uint32_t i, uint32_t lines);
void touch(const struct set *set, size_t loads);
double time_loads(struct set *set);
void link_set(struct set *set);
void link_pairs(struct set *set, size_t apart);
void record_set(struct set *set, const char *series, const struct arg *args, size_t count);

#endif
