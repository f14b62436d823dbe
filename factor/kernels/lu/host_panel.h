/* SPDX-License-Identifier: MIT */
/* How LAPACK gets a panel on the host: the one rule that the host_rate probe measures and the host
 * executor runs. */
#ifndef FATHOM_HOST_PANEL_H
#define FATHOM_HOST_PANEL_H

#include <stdint.h>

/* A panel that the cache of one core holds is factorized by one thread: more of them wait for each
 * other at every column. Larger ones get all threads, each with a cache of its own. The sizes at
 * which both are equally quick differ little between processors with caches of 0.5 to 2 MiB. */
enum { HOST_PANEL_PARALLEL_BYTES = 4 << 20 };

static inline int host_panel_threads(int64_t bytes, int all_threads)
{
	return bytes < HOST_PANEL_PARALLEL_BYTES ? 1 : all_threads;
}

#endif
