/* SPDX-License-Identifier: MIT */
/* The work of a kernel as plain data, for the hardware law (factor/model/law): what one launch
 * moves, computes and waits for. Zero means none, unless a line says more. */
#pragma once

#include "lib/base/base.h"
#include "lib/base/precision.h"

/* How the bytes of DRAM are asked for. Counters of the hardware count whole sectors: their bytes
 * are contiguous. Bytes that a kernel asks for need the pattern. */
enum work_pattern {
	PATTERN_CONTIGUOUS,
	PATTERN_STRIDE,     /* step: words of 4 bytes from one access to the next */
	PATTERN_MISALIGNED, /* step: bytes off a boundary of 128 */
	PATTERN_RANDOM,     /* step: bytes of an element, each somewhere else */
	PATTERN_WIDTH,      /* contiguous; step: bytes of a thread's access */
	PATTERN_COUNT
};

/* Operations by pipe: flops (a multiply-add is two), and for the last two instructions of a thread.
 */
enum work_pipe {
	PIPE_FP32,
	PIPE_FP64,
	PIPE_FP16,
	PIPE_BF16,
	PIPE_TENSOR_FP64,
	PIPE_TENSOR_FP64_LARGE, /* 16 rows an instruction */
	PIPE_TENSOR_TF32,
	PIPE_TENSOR_BF16,
	PIPE_TENSOR_FP16,
	PIPE_GROUP_TF32, /* instructions of a warpgroup */
	PIPE_GROUP_BF16,
	PIPE_SPECIAL,
	PIPE_INTEGER,
	PIPE_COUNT
};

/* Multiply-adds outside the tensor cores. */
static inline enum work_pipe work_fma_pipe(enum precision precision)
{
	return precision == SINGLE ? PIPE_FP32 : PIPE_FP64;
}

/* What a block waits for, one after the other: loads by level, dependent instructions, and waits
 * for other threads. */
enum work_link {
	LINK_SHARED,
	LINK_L1,
	LINK_L2,
	LINK_DRAM,
	LINK_ATOMIC,
	LINK_FMA,
	LINK_FMA_DOUBLE,
	LINK_SPECIAL,
	LINK_SHUFFLE,
	LINK_REDUX,  /* maximum over a warp */
	LINK_BALLOT, /* vote of a warp */
	LINK_REDUCE, /* sum over a block */
	LINK_SEARCH, /* maximum and its place over a block */
	LINK_BLOCK,  /* __syncthreads */
	LINK_CLUSTER_BARRIER,
	LINK_GRID_BARRIER,
	LINK_COUNT_IN, /* of a block among others, fenced: the last one goes on */
	LINK_COUNT
};

enum work_scope { SCOPE_CLUSTER, SCOPE_GRID, SCOPE_COUNT };

struct kernel_work {
	double launches;          /* of this work, one after the other: at least 1 */
	double waits;             /* of the host for a launch's end, a launch: 0 or 1 */
	double early;             /* 1: a programmatic dependent launch where the machine has it */
	double phase;             /* 1: no launch, but the next part of the one before */
	double blocks, threads;   /* of a launch; of a block */
	double registers, shared; /* of a thread; bytes of a block */
	double cluster;           /* blocks; 0: none */

	struct work_bytes {
		double read, written;
	} dram, l2;         /* l2: hits there; what goes through it to DRAM is in dram */
	double working_set; /* bytes of which earlier launches left in L2 what fits; 0: DRAM's
	                       bytes are never there */
	double state;       /* bytes that a persistent kernel keeps on chip from step to step,
	                       and separate launches read and write in each */
	double in_flight;   /* bytes that a thread has under way at once; 0: 64 */
	enum work_pattern pattern;
	double step;      /* of the pattern */
	double patterned; /* share of DRAM's bytes with that pattern, the others contiguous; 0: all
	                   */

	double apart; /* share of DRAM's bytes that a block moves before or after it computes: only
	                 other blocks compute meanwhile */

	double in_step; /* share of the blocks that begin at once: all load, then all wait, then all
	                 compute; others begin when one of these ends */

	double wavefronts, ways; /* warp-wide accesses to shared memory; passes of each, 0: 1 */
	double operations[PIPE_COUNT];
	double instructions; /* warp-wide, of all kinds; 0: those of operations and wavefronts */
	double chains;       /* independent instructions of a thread, 0: 4 */
	double atomics, atomic_stride; /* of threads, on global memory; bytes from thread to
	                                  thread, 0: one address */

	double link[LINK_COUNT]; /* of a block */
	bool ahead;              /* loads for a step are under way during the step before it */
	struct work_exchange {
		double bytes, count;
	} exchange[SCOPE_COUNT]; /* every block gives and reads; in the grid every cluster */
	double copies;           /* of what a block gives through L2, shared out to readers; 0: 1 */

	/* What a kernel of its class reaches where its own was never measured, with the ends of 95
	 * % of the class; value 0: 1 is taken. */
	struct work_efficiency {
		double value, low, high;
	} efficiency;
};
