/* SPDX-License-Identifier: MIT */
/* Shared by the files of the loaded_latency probe. */
#pragma once

#include "lib/base/base.h"
#include "lib/probe/probe.h"
#include "loaded_latency.h"

enum { LOADED_LEVELS = 14, LOADED_BLOCKS_PER_SM = 4 }; /* paces of the streams; most blocks */

struct bench {
	struct gpu gpu;
	char *region;
	int64_t region_bytes, l2_bytes; /* beyond L2; well inside L2 */
	struct loaded_block *block;     /* pinned */
	struct loaded_shared *shared;
	uint64_t *last; /* pinned */
	uint32_t *sink;
	uint64_t random;
};

/* Latencies of loads from DRAM and L2 beside streams, `seconds` at every pace. Needs cooperative
 * launches. The chase's nodes lie behind the region, where a third of its bytes are free. */
void loaded_latency_chase(struct probe_run *run, struct bench *bench, double seconds);
