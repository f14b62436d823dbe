/* SPDX-License-Identifier: MIT */
#pragma once

#include "lib/profile/profile.h"
#include "lib/base/table.h"

/* Series pair: seconds of one way between cores `from` and `to`, which share a cache of level
 * `shared` (0: only a NUMA node; -1: neither). */

void host_exchange_fit(const struct table *curve, struct profile *profile);
