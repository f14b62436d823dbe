/* SPDX-License-Identifier: MIT */
/* Shared by the files of the instruction probe: one configuration of one loop, and its samples. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"
#include "lib/probe/probe.h"
#include "instruction.h"

/* Blocks of an SM. The hardware distributes more of them unevenly. */
enum { INSTRUCTION_BLOCKS_MAX = 2 };

struct instruction_bench {
	struct gpu gpu;
	struct gpu_span *span; /* pinned, one a block */
	double *duration;      /* of the blocks, for sorting */
	uint32_t *sink;
	const struct instruction *table;
	size_t count;
};

/* One configuration of one loop. */
struct subject {
	struct instruction_bench *bench;
	enum { CHAIN, SHORT_CHAIN, FED, WARPGROUP } kind;
	size_t index; /* into the table, or enum fed_source, or enum wgmma_kind */
	int chains, warps, blocks, width;
	int64_t turns;
	double instructions; /* of an SM in one turn */
	double flops;        /* of one instruction */
};

/* ---- one point (instruction_point.c) ---- */

struct subject instruction_chains(
        struct instruction_bench *b, size_t index, int chains, int warps, int blocks);
struct subject instruction_warpgroups(struct instruction_bench *b, enum wgmma_kind kind);

/* The first launch loads the kernel; the second gives the turns of a sample. */
void instruction_set_turns(struct subject *subject, double seconds);

/* A sample_function; context is the subject. */
bool instruction_sample(void *context, struct sample *sample);

/* watt: NaN where it was not read. */
void instruction_record(struct probe_run *run, const struct subject *subject, const char *series,
        double watt, const struct measurement *measurement);

void instruction_point(
        struct probe_run *run, struct subject *subject, const char *series, double seconds);

/* ---- long runs (instruction_sustained.c) ---- */

/* FMA and matrix products for `seconds` each, with clock and power. Without `all`: only FMA and the
 * warpgroup's single-precision product. */
void instruction_sustained(
        struct probe_run *run, struct instruction_bench *b, bool all, double seconds);
