/* SPDX-License-Identifier: MIT */
/* Checks of the barriers and reductions that probes and factorizations use, on the current device,
 * on random data. Only in builds with the CUDA Toolkit. */
#pragma once

#include "lib/base/base.h"

C_BEGIN

enum barrier_kind {
	BARRIER_WARP,    /* __syncwarp */
	BARRIER_BLOCK,   /* __syncthreads */
	BARRIER_CLUSTER, /* hardware barrier of a cluster */
	BARRIER_MASTER,  /* LAWN 202's master/slave barrier */
	BARRIER_COUNTER, /* one counter, release and acquire */
	BARRIER_GRID,    /* cooperative groups' grid.sync() */
	BARRIER_KINDS
};
extern const char *const barrier_name[BARRIER_KINDS];

struct barrier_check {
	bool possible; /* false: this device cannot run the case */
	bool timed_out;
	uint64_t checks; /* values read */
	uint64_t wrong;  /* values of another round */
};

/* A ring of writes and reads. In every round each thread waits a random time, writes a value,
 * passes the barrier, and reads the values of a neighbour and of a random other thread (warp: lane,
 * block: warp, else: block). Values are double-buffered: a barrier that opens too early, or does
 * not make plain writes visible, gives wrong ones. Without `sound` the barrier is left out; the
 * check must then find wrong values. blocks is the cluster's size for BARRIER_CLUSTER. */
void barrier_check_ring(enum barrier_kind kind, bool sound, int blocks, int threads,
        uint32_t rounds, uint32_t seed, struct barrier_check *check);

/* Checks every word of the 128-byte records that the blocks of a cluster exchange, in every round.
 */
void barrier_check_exchange(
        int blocks, int threads, uint32_t rounds, uint32_t seed, struct barrier_check *check);

/* One block of `threads` threads reduces x[0..n): the lowest index of the largest magnitude, and
 * the sum. */
struct reduce_check {
	uint32_t index;
	double sum;
	bool same; /* all threads got the same answers, on every repetition */
};
void reduce_check_float(const float *x, uint32_t n, int threads, struct reduce_check *check);
void reduce_check_double(const double *x, uint32_t n, int threads, struct reduce_check *check);

C_END
