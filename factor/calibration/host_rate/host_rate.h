/* SPDX-License-Identifier: MIT */
/* Single points of the host_rate probe by its own code, outside its sweep: does the host still take
 * the profile's time for a call? */
#pragma once

#include "lib/base/base.h"
#include "lib/host/core_noise.h"

struct rates;

/* noise: of the calling thread, which is on the quietest core; NULL: it is on any. NULL without
 * memory. */
struct rates *host_rate_open(struct core_noise *noise);
void host_rate_free(struct rates *rates);

/* Samples, for longer than the sweep, the call of a row of the profile, as "host.getrf.d"
 * with its m and n; a square has m = n. False when the probe has no such row, or the call failed.
 */
bool host_rate_again(
        struct rates *rates, const char *parameter, int m, int n, struct measurement *measurement);
