/* SPDX-License-Identifier: MIT */
/* The number of threads for a host panel: one rule for the host_rate probe and the host
 * executor. */
#pragma once

#include <stdint.h>

/* A panel that fits in the cache of one core is factorized by one thread, because threads wait for
 * each other at every column. Larger panels use all threads and their caches. The crossover differs
 * little between processors with caches of 0.5 to 2 MiB. */
enum { HOST_PANEL_PARALLEL_BYTES = 4 << 20 };

static inline int host_panel_threads(int64_t bytes, int all_threads)
{
	return bytes < HOST_PANEL_PARALLEL_BYTES ? 1 : all_threads;
}
