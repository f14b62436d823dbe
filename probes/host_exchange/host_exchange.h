/* SPDX-License-Identifier: MIT */
/* What the host_exchange probe's sweep and its fit share. */
#ifndef FATHOM_HOST_EXCHANGE_H
#define FATHOM_HOST_EXCHANGE_H

#include "lib/profile/profile.h"
#include "lib/base/table.h"

/* Series pair: seconds of one way between the cores `from` and `to`, which share a cache of level
 * `shared` (0: only a NUMA node; -1: not even that). */

void host_exchange_fit(const struct table *curve, struct profile *profile);

#endif
