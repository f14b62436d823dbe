/* SPDX-License-Identifier: MIT */
/* Parts of the host_chase probe's fit.
 *
 * Series, with their arguments, in seconds of one dependent load:
 *   chain_small, chain_huge   bytes: all lines of a set, in small or huge pages
 *   chain_node               bytes, node: memory of NUMA node `node`, from the first node
 *   pages_small, pages_huge nodes, stride: one line in each of `nodes` pages of `stride` bytes
 *   packed                  nodes: as many lines in as few (huge) pages as possible
 *   line                    stride: pairs of loads `stride` bytes apart, the pairs far apart
 * Metadata: stated_l1 to stated_l4, stated_line, in bytes; absent when not stated. */
#pragma once

#include "lib/probe/curve_series.h"

/* TLB levels of one page size. */
struct tlbs {
	struct levels levels;
	double page; /* bytes; 0: not measured */
};

/* The pointer chain over bytes, in huge pages; or in small pages, less the misses of their TLBs
 * (small). Those misses are also subtracted from chain_huge where huge pages are walked like small
 * ones. */
struct chain {
	struct curve_series points;
	bool huge_pages;    /* the chain shows the TLBs of huge pages */
	double node_misses; /* TLB misses in the chains over nodes' memory, seconds a load */
};

/* Adds a value, or its bounds when it is not resolved. */
void host_chase_add(struct profile *profile, const struct parameter_spec *spec,
        const struct arg *args, size_t count, const struct estimate *estimate, bool resolved);

/* Parameters that are times of a load, and sizes. */
struct parameter_spec host_chase_seconds(const char *name, const char *method);
struct parameter_spec host_chase_bytes(const char *name, const char *method);

/* Adds host.l<i>.size and host.l<i>.latency. tlbs: the TLBs that show in the chain, or NULL. */
void host_chase_add_caches(const struct table *curve, struct profile *profile,
        const struct levels *levels, const struct tlbs *tlbs);

/* Whether the last plateau is memory: the largest set exceeds the last cache, found or stated, by
 * far. */
bool host_chase_reaches_memory(const struct table *curve, const struct levels *levels);
