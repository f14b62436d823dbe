/* SPDX-License-Identifier: MIT */
/* Shared by the files of the host_chase probe: its memory, and a set of nodes in it. */
#pragma once

#include "lib/base/base.h"
#include "lib/host/pages.h"
#include "lib/probe/probe.h"
#include "lib/host/core_noise.h"
#include "lib/host/topology.h"

enum {
	LINE = 64,       /* distance of nodes, no more than any processor's line */
	CHAIN = 1 << 15, /* most linked nodes */
	STRETCH = 4096,  /* most loads timed without a break */
	MOST_PAGES = 1 << 14
};

struct chase {
	struct probe_run *run;
	const struct topology *topology;
	struct topology_facts facts;
	struct core_noise noise;
	int core;                 /* the quietest core with the memory of the first core */
	struct pages small, huge; /* huge.bytes 0: no huge pages */
	uint32_t *next, *place;
	uint32_t packed[MOST_PAGES];
	uint64_t random;
	double timer;   /* seconds to read the clock */
	double seconds; /* of the samples of a point */
	double end;     /* clock_now() at the end of the time budget */
};

/* Nodes at base + i * stride, spread within the stride. */
struct set {
	struct chase *chase;
	char *base;
	size_t stride;
	uint32_t nodes, spread;  /* spread: lines of a stride, a power of two */
	const uint32_t *packed;  /* the nodes' lines instead, or NULL */
	size_t stretch, refresh; /* timed loads, random loads before them */
	size_t least;            /* timed loads of a sample */
	void **at;               /* the current node */
};

/* ---- sets (host_chase_set.c) ---- */

uint32_t host_chase_line(uint32_t i, uint32_t lines);
void host_chase_touch(const struct set *set, size_t loads);
double host_chase_time(struct set *set);
void host_chase_link(struct set *set);
void host_chase_link_pairs(struct set *set, size_t apart);
void host_chase_record(struct set *set, const char *series, const struct arg *args, size_t count);
