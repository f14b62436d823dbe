/* SPDX-License-Identifier: MIT */
/* What the files of the pointer_chase probe share: its memory and the chase at hand. */
#ifndef FATHOM_POINTER_CHASE_INTERNAL_H
#define FATHOM_POINTER_CHASE_INTERNAL_H

#include "lib/base/base.h"
#include "lib/device/gpu.h"
#include "lib/probe/probe.h"
#include "pointer_chase.h"

#define KIB ((int64_t)1024)
#define MIB (1024 * KIB)
#define SHIFT_BYTES (64 * MIB) /* a set as a whole may start anywhere in so much */

enum {
	LINE = 128,        /* bytes between the nodes of a dense chain: no cache's line is longer */
	WARM_STEPS = 8192, /* of one thread: several times the lines of any L1 */
	PAIRS = 4096,
	CLUSTER = 8, /* the largest that runs everywhere */
	SLICE_LINES = 24
};

struct chase_context {
	struct probe_run *run;
	struct gpu gpu;
	char *memory; /* all sets lie here, one at a time */
	int64_t memory_bytes;
	void *allocation, *flush;
	int64_t flush_bytes;
	uint32_t *next;              /* of the shared-memory cycle, on the device */
	struct chase_result *result; /* pinned, one for each SM */
	uint64_t random;
	double sample_seconds, point_seconds;

	/* the chase at hand */
	struct chase_plan plan;
	bool cold;    /* L2 is overwritten before each sample */
	bool fresh;   /* each sample has its nodes at other places */
	bool shared;  /* in shared memory instead, */
	int distance; /* that far away in the cluster (negative: no cluster) */
	int per_step; /* loads that count as one */
};

/* ---- sets and points (pointer_chase_point.c) ---- */

struct chase_set new_set(
        struct chase_context *context, int64_t nodes, int64_t stride, int64_t places, int64_t unit);
void start_plan(struct chase_context *context, enum chase_path path, struct chase_set set);
int64_t warm_steps(int64_t nodes);
void launch(struct chase_context *context);
void chase_measure_point(struct chase_context *context, const char *series, const struct arg *args,
        size_t arg_count);

/* ---- series (pointer_chase_series.c, pointer_chase_slices.c) ---- */

void chain_sizes(struct chase_context *context, const char *series, enum chase_path path,
        int64_t stride, int64_t low, int64_t high, int per_doubling);
void chain_pages(struct chase_context *context, int64_t stride, bool packed, bool quick);
void chain_constant(struct chase_context *context, int per_doubling);
void cycle_sizes(struct chase_context *context, const char *series, enum chase_path path,
        int64_t high, int64_t first, int factor);
void cold_sizes(struct chase_context *context);
void measure_fetch(
        struct chase_context *context, const char *series, enum chase_path path, int64_t offset);
void measure_shared(struct chase_context *context, int distance);
void measure_all(struct chase_context *context, const char *series, enum chase_path path,
        int64_t bytes, int64_t stride);
void measure_slices(struct chase_context *context, int lines);

/* ---- first reads (pointer_chase_once.c, pointer_chase_constant.c) ---- */

/* Seconds of each of the `nodes` loads from number `skipped` on, less what reading the clock takes.
 * Returns the clock's rate, NaN when the launch did not do it. */
double once_loads(const struct chase_once *result, int nodes, int skipped, double *seconds);

void measure_once(struct chase_context *context);
void measure_constant(struct chase_context *context);

#endif
