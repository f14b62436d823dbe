/* SPDX-License-Identifier: MIT */
/* The kernels of the barrier probe: every rung of the ladder, repeated inside one kernel. */
#pragma once

#include "lib/base/base.h"
#include "lib/device/gpu.h"

C_BEGIN

enum rung {
	RUNG_BLOCK, /* up to RUNG_GRID in the order of enum barrier_kind; a warp's barrier is no
	               instruction where its lanes are together */
	RUNG_CLUSTER,
	RUNG_MASTER,
	RUNG_COUNTER,
	RUNG_GRID,
	RUNG_REDUCE_MAX,
	RUNG_REDUCE_SUM,
	RUNG_EXCHANGE_CLUSTER,
	RUNG_EXCHANGE_GRID,
	RUNG_FLAG,
	RUNGS
};

static inline bool rung_clustered(enum rung rung)
{
	return rung == RUNG_CLUSTER || rung == RUNG_EXCHANGE_CLUSTER;
}

/* blocks is the size of the cluster for RUNG_CLUSTER and RUNG_EXCHANGE_CLUSTER; words is the length
 * of a record of RUNG_EXCHANGE_GRID. */
struct rung_case {
	enum rung rung;
	int blocks, threads, words;
};

/* Repetitions in the two timed intervals (multiples of RUNG_UNROLL); for RUNG_FLAG the block that
 * answers block 0 and the memory line of the flags. */
enum { RUNG_UNROLL = 32, RUNG_LINES = 512 };
struct rung_plan {
	uint32_t few, many;
	uint32_t partner, line;
};

/* Written to pinned memory by the kernel. */
struct rung_result {
	struct gpu_span few, many;
	uint32_t ok;   /* 0: a wait timed out */
	uint32_t sink; /* keeps the results alive */
};

/* Largest number of resident blocks (clusters for the cluster rungs); 0: not possible here. */
int rung_resident(const struct rung_case *which);

/* Bytes of device memory for a launch, to be cleared before each. */
size_t rung_bytes(const struct rung_case *which);

/* Launches in the default stream. Returns the cudaError_t. */
int rung_launch(const struct rung_case *which, const struct rung_plan *plan, void *work,
        struct rung_result *result);

C_END
