/* SPDX-License-Identifier: MIT */
/* The kernels of the pointer_chase probe. Launches go to the default stream; each returns the
 * cudaError_t. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"

C_BEGIN

/* Loads are unrolled by CHASE_UNROLL, which is a multiple of CHASE_SLOTS. */
enum {
	CHASE_UNROLL = 32,
	CHASE_SLOTS = 4,              /* pointers of a random chain's node */
	CHASE_THREADS = 1024,         /* that prepare the caches before one of them is timed */
	CHASE_CONSTANT_WORDS = 16384, /* all of constant memory, 4 bytes each */
	CHASE_SHARED_WORDS = 2048,
	CHASE_SLICE_STEPS = 64,
	CHASE_ONCE_NODES = 512,   /* read once; a multiple of CHASE_UNROLL */
	CHASE_CONSTANT_NODES = 32 /* in constant memory; at most as many */
};

enum chase_path {
	CHASE_CA,      /* ld.global.ca: through L1 */
	CHASE_CG,      /* ld.global.cg: from L2 */
	CHASE_CV,      /* ld.global.cv: as if volatile */
	CHASE_NC,      /* ld.global.nc: the read-only path */
	CHASE_CONSTANT /* ld.const at a run-time address */
};

/* Node i lies at base + i * stride + (a random number below places) * unit. */
struct chase_set {
	uint64_t base, stride, unit, seed;
	uint64_t apart; /* bytes from one block's own set to the next block's */
	uint32_t nodes, places;
	int slots; /* pointers in a node: 1 (one cycle) or CHASE_SLOTS (a random chain) */
};

/* The steps of one launch, in this order; only the last is timed. */
struct chase_plan {
	struct chase_set set;
	enum chase_path path;
	int blocks;     /* each on an SM of its own */
	bool touch;     /* all threads read every node once */
	int64_t stroll; /* pointers that each thread follows, its stretch of the chain */
	int64_t warm;   /* pointers that one thread follows untimed */
	int64_t steps;  /* and timed */
	bool go_on;     /* starts where the previous launch stopped, else behind the last stretch */
};

/* Written to pinned memory by each block. */
struct chase_result {
	struct gpu_span whole; /* from the first instruction on */
	struct gpu_span timed;
	uint64_t last; /* where the chase stopped */
};

/* Writes the pointers of the plan's set for every block. Slot s of a random chain's node points to
 * slot s + 1 of another node: one cycle of nodes * slots steps, with nearly independent consecutive
 * nodes. */
int chase_build(const struct chase_plan *plan);

/* Pairs: node i points to its own address xor `offset`, which points to the next node of the cycle.
 */
int chase_build_pairs(const struct chase_set *set, uint64_t offset);

/* Fills constant memory with 4-byte nodes; an address is an offset into it. */
int chase_fill_constant(const uint32_t *words, size_t count);

int chase_launch(const struct chase_plan *plan, struct chase_result *result);

/* One thread follows the cycle `next` of CHASE_SHARED_WORDS words in its own shared memory
 * (distance < 0), or in that of the cluster's block of rank `distance`. */
int chase_shared(const uint32_t *next, int distance, int cluster, int64_t warm, int64_t steps,
        struct chase_result *result);

/* Whether a cluster of `cluster` blocks can run. */
bool chase_cluster_fits(int cluster);

/* One thread on SM `sm` reads each of `count` lines CHASE_SLICE_STEPS times, dependently, warm in
 * L2. line[i] is the address of a word with its own address. cycles[i]: the cycles of each line;
 * span: the whole (ns1 == 0: no block ran on that SM). taken: a zeroed word on the device. */
int chase_slice(int sm, int sm_count, const uint64_t *line, int count, uint32_t *taken,
        uint32_t *cycles, struct gpu_span *span);

/* One block on SM `sm` reads every node of the set once. taken: a zeroed word on the device, 1
 * afterwards if a block ran on that SM. */
int chase_touch(const struct chase_set *set, int sm, int sm_count, uint32_t *taken);

/* Written to pinned memory; a line's number is its place in the cycle. */
struct chase_once {
	struct gpu_span span;             /* ns1 == 0: did not run */
	uint32_t first[CHASE_ONCE_NODES]; /* cycles of each load and of reading the clock */
	uint32_t again[CHASE_ONCE_NODES]; /* the same in a second round */
	uint32_t chained;                 /* a third round, with the clock read only at its ends */
};

/* One thread on SM `sm` follows the cycle of CHASE_ONCE_NODES nodes, past L1, and reads the clock
 * after every load; only if *touched (NULL: always). The last line of a stride is no node. taken:
 * as above. */
int chase_once(const struct chase_set *set, int sm, int sm_count, const uint32_t *touched,
        uint32_t *taken, struct chase_once *result);

/* One thread on SM `reader` follows the cycle of CHASE_CONSTANT_NODES nodes from constant memory's
 * first word and reads the clock after every load. It starts after a thread on SM `before`
 * (negative: none) has read the nodes in the same kernel. turn: two zeroed words on the device. */
int chase_constant(int before, int reader, int sm_count, uint32_t *turn, struct chase_once *result);

/* Makes each of these words hold its own address. */
int chase_close(const uint64_t *line, int count);

C_END
