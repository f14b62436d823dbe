/* SPDX-License-Identifier: MIT */
/* What the distributed factorizations share: panels that their owner factorizes with the
 * factorization of one rank, and buffers in which every rank receives them. */
#pragma once

#include "block_cyclic.h"
#include "factor/algorithms/plan_default.h"
#include "factor/algorithms/schedule.h"

/* Panels in flight, one buffer for each: they take turns (block_turn). */
struct panels {
	struct executor *e;
	const struct distributed *a;
	struct matrix columns[BLOCKS_IN_FLIGHT]; /* layout.m x nb */
	bool waits[BLOCKS_IN_FLIGHT];            /* started, and not known to be here */
};

struct panels panels_workspace(
        struct executor *, const struct distributed *, struct workspace *, int64_t widest);

/* Room for the m x b.w part of block b that its owner sends: contiguous, with aligned columns. */
struct matrix panels_room(const struct panels *, struct block b, int64_t m);

/* Starts the broadcast of the block's room and of another piece (bytes 0: none) from its owner, on
 * the current queue; panels_arrived: later work in this queue, or in one that waits for it, finds
 * them here. */
bool panels_send(struct panels *, struct block b, struct matrix room, struct comm_piece other);
bool panels_arrived(struct panels *, struct block b);

/* The plan of all blocks, which points to the layout of a. */
struct plan panels_blocks(const struct distributed *a);

/* This rank's own columns of a block, from the block's first row on; none on other ranks. */
static inline struct matrix panels_own(const struct distributed *a, struct block b)
{
	return distributed_columns(a, b.j, b.j, b.w);
}

/* The plan of a panel, for the factorization of one rank. The host's library factorizes panels of
 * LU in one call. */
void panels_plan(
        struct executor *, enum operation operation, struct matrix panel, struct default_plan *out);

/* The largest workspace that `work` returns for a panel of this rank with its plan, or -1. */
int64_t panels_work(const struct schedule *, const struct distributed *a, enum operation operation,
        int64_t (*work)(struct executor *, const struct plan *, struct matrix panel));

/* False with the executor's fault when the executor cannot do its math, or not with these columns:
 * products by split operands need columns and blocks that begin at multiples of some bytes. */
bool panels_math_check(struct executor *, const struct distributed *a);

/* Whether the next panel's columns are updated in the panels' queue: products by split operands
 * need QUEUE_MAIN. */
bool panels_narrow(const struct distributed *a, const struct executor *);

/* State of the executor that a factorization within another one changes. */
struct outer {
	enum queue home, queue;
	int64_t block;
	struct split_room split;
};

/* Around a factorization of one rank that works in the current queue, inside another one. */
struct outer panels_enter(struct executor *);
void panels_leave(struct executor *, struct outer);
