/* SPDX-License-Identifier: MIT */
/* Shared by the files of the pointer_chase probe: memory and current chase. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"
#include "lib/probe/probe.h"
#include "pointer_chase.h"

#define KIB ((int64_t)1024)
#define MIB (1024 * KIB)
#define SHIFT_BYTES (64 * MIB) /* range of a set's start */

enum {
	LINE = 128, /* bytes between the nodes of a dense set, no less than any cache's line */
	WARM_STEPS = 8192, /* of one thread: several times the lines of an L1 */
	PAIRS = 4096,
	CLUSTER = 8, /* the largest portable size */
	SLICE_LINES = 24
};

struct chase_context {
	struct probe_run *run;
	struct gpu gpu;
	char *memory; /* all sets lie here, one at a time */
	int64_t memory_bytes;
	void *allocation, *flush;
	int64_t flush_bytes;
	uint32_t *next;              /* device: the cycle in shared memory */
	struct chase_result *result; /* pinned, one for each SM */
	uint64_t random;
	double sample_seconds, point_seconds;

	/* the current chase */
	struct chase_plan plan;
	bool cold;    /* L2 is flushed before each sample */
	bool fresh;   /* each sample draws new places for its nodes */
	bool shared;  /* in shared memory */
	int distance; /* rank of the block in the cluster (negative: no cluster) */
	int per_step; /* loads that count as one */
};

/* ---- sets and points (pointer_chase_point.c) ---- */

struct chase_set chase_new_set(
        struct chase_context *context, int64_t nodes, int64_t stride, int64_t places, int64_t unit);
void chase_start_plan(struct chase_context *context, enum chase_path path, struct chase_set set);
int64_t chase_warm_steps(int64_t nodes);
void chase_run(struct chase_context *context);
void chase_measure_point(struct chase_context *context, const char *series, const struct arg *args,
        size_t arg_count);

/* ---- series (pointer_chase_series.c) ---- */

void chase_chain_sizes(struct chase_context *context, const char *series, enum chase_path path,
        int64_t stride, int64_t low, int64_t high, int per_doubling);
void chase_chain_pages(struct chase_context *context, int64_t stride, bool packed, bool quick);
void chase_chain_constant(struct chase_context *context, int per_doubling);
void chase_cycle_sizes(struct chase_context *context, const char *series, enum chase_path path,
        int64_t high, int64_t first, int factor);
void chase_cold_sizes(struct chase_context *context);
void chase_measure_fetch(
        struct chase_context *context, const char *series, enum chase_path path, int64_t offset);
void chase_measure_shared(struct chase_context *context, int distance);
void chase_measure_all(struct chase_context *context, const char *series, enum chase_path path,
        int64_t bytes, int64_t stride);

/* ---- single lines and first reads (pointer_chase_once.c) ---- */

void chase_measure_slices(struct chase_context *context, int lines);
void chase_measure_once(struct chase_context *context);
void chase_measure_constant(struct chase_context *context);
