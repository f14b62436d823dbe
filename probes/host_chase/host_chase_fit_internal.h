/* SPDX-License-Identifier: MIT */
/* Parts of the host_chase probe's fit. */
#ifndef FATHOM_HOST_CHASE_FIT_INTERNAL_H
#define FATHOM_HOST_CHASE_FIT_INTERNAL_H

#include "host_chase.h"

#include "lib/stats/levels.h"

/* Those of one kind of pages. */
struct tlbs {
	struct levels levels;
	double page; /* bytes; 0: not measured */
};

/* One series as levels_fit takes it. */
struct points {
	double *size, *seconds, *error;
	size_t n;
};

/* less: a series whose seconds at the same argument are subtracted, down to its smallest; or NULL.
 * The caller frees size. And the largest argument of one. */
struct points host_chase_series(
        const struct table *curve, const char *series, const char *column, const char *less);
double host_chase_largest(const struct points *points);

/* The chain over bytes in huge pages, or in small ones without what their TLBs (small) add to it;
 * nor is that in chain_huge's where these are walked like small ones. */
struct chain {
	struct points points;
	bool huge_pages;    /* whose TLBs show in it */
	double node_misses; /* seconds that the chains over nodes' memory have too many */
};
struct chain host_chase_chain(const struct table *curve, const struct tlbs *small);

/* A value, or its bounds when it is not resolved. */
void host_chase_add(struct profile *profile, const struct parameter_spec *spec,
        const struct arg *args, size_t count, const struct estimate *estimate, bool resolved);

/* Of times of a load, and of sizes. */
struct parameter_spec host_chase_seconds(const char *name, const char *method);
struct parameter_spec host_chase_bytes(const char *name, const char *method);

/* The caches among the levels of the chain over bytes: host.l<i>.size, host.l<i>.latency. tlbs:
 * those that show in that chain, or NULL. */
void host_chase_add_caches(const struct table *curve, struct profile *profile,
        const struct levels *levels, const struct tlbs *tlbs);

/* Whether the last plateau is memory: the chain went well beyond the last cache, where that is found
 * or stated to be. */
bool host_chase_reaches_memory(const struct table *curve, const struct levels *levels);

#endif
