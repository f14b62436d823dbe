/* SPDX-License-Identifier: MIT */
/* The kernels of the load_latency probe. Launches go to the default stream; each returns the
 * cudaError_t. */
#ifndef FATHOM_PROBE_LOAD_LATENCY_H
#define FATHOM_PROBE_LOAD_LATENCY_H

#include "../lib/base.h"
#include "../lib/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads are unrolled by CHASE_UNROLL; a node is one line; the shared-memory cycle has
 * CHASE_SHARED_NODES words. */
enum { CHASE_UNROLL = 32, CHASE_NODE_BYTES = 128, CHASE_SHARED_NODES = 2048 };

enum chase_path {
	CHASE_L1,    /* ld.global.ca */
	CHASE_L2,    /* ld.global.cg */
	CHASE_SHARED /* ld.shared */
};

/* Left in pinned memory by a kernel. */
struct chase_result {
	struct gpu_span whole; /* warm-up included */
	struct gpu_span timed;
	uint64_t last; /* where the chase stopped; the next may go on from there */
};

/* Writes the cycle: the node at index place[i] points to that at place[next[i]] (both in device
 * memory). */
int chase_build(void *nodes, const uint32_t *place, const uint32_t *next, int64_t count);

/* One thread follows `warm` + `steps` pointers from `start` (multiples of CHASE_UNROLL).
 * CHASE_SHARED takes `next` instead and copies it into shared memory first. */
int chase_launch(enum chase_path path, uint64_t start, const uint32_t *next, int64_t warm,
        int64_t steps, struct chase_result *result);

/* Every SM reads all nodes of the set, by ld.global.cg, so that what fits in L2 is there. */
int chase_touch(const void *nodes, int64_t bytes, int sm_count, uint32_t *sink);

/* Columns of a panel of `threads` rows that fit into shared memory, at most 64, a multiple of 4. */
int update_columns(int threads, int64_t shared_bytes);

/* One block on every SM updates its panel `sweeps` times. */
int update_launch(
        int threads, int columns, int64_t sweeps, int sm_count, struct chase_result *result);

#ifdef __cplusplus
}
#endif

struct table;
struct profile;
void load_latency_fit(const struct table *curve, struct profile *profile);

#endif
