/* SPDX-License-Identifier: MIT */
/* Parts of the host_chase probe's fit. */
#ifndef FATHOM_HOST_CHASE_FIT_PARTS_H
#define FATHOM_HOST_CHASE_FIT_PARTS_H

#include "host_chase.h"

#include "../lib/levels.h"

/* Those of one kind of pages. */
struct tlbs {
	struct levels levels;
	double page; /* bytes; 0: not measured */
};

/* A value, or its bounds when it is not resolved. */
void host_chase_add(struct profile *profile, const struct parameter_spec *spec,
        const struct arg *args, size_t count, const struct estimate *estimate, bool resolved);

/* Of times of a load, and of sizes. */
struct parameter_spec host_chase_seconds(const char *name, const char *method);
struct parameter_spec host_chase_bytes(const char *name, const char *method);

/* The caches among the levels of the walk over bytes: host.l<i>.size, host.l<i>.latency. tlbs:
 * those that show in that walk, or NULL. */
void host_chase_add_caches(const struct table *curve, struct profile *profile,
        const struct levels *levels, const struct tlbs *tlbs);

#endif
