/* SPDX-License-Identifier: MIT */
/* The one order of work of all blocked right-looking factorizations: panel, update of the columns
 * right of it, next panel. With look-ahead the next panel's columns are updated first, and the
 * panel then runs beside the update of the rest: in QUEUE_PANEL, or on the host CPU with QUEUE_OUT
 * and QUEUE_IN as its way there and back (LAWN 202, section 3.6). What nobody waits for runs aside,
 * in a queue that the panels leave free. */
#ifndef FATHOM_SCHEDULE_H
#define FATHOM_SCHEDULE_H

#include "factor/executors/executor.h"
#include "plan.h"

/* Updates run beside the next panel: what belongs to a block and is read by its update exists this
 * many times, the blocks taking turns (block_turn). */
enum { BLOCKS_IN_FLIGHT = 2 };

/* Block `index` of a factorization: columns j .. j+w-1; w = 0 is the end. */
struct block {
	int64_t index, j, w;
};

static inline int64_t block_turn(struct block b)
{
	return b.index % BLOCKS_IN_FLIGHT;
}

static inline int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What a factorization does in each place; self is its state. All work on the current queue. */
struct factorization {
	/* the part of the matrix that a panel on the host changes */
	struct matrix (*panel)(void *self, struct block b);
	/* what comes before the panel on the device and may take place beside others. NULL: nothing
	 */
	bool (*fetch)(void *self, struct block b);
	/* what the updates need and the first panel neither needs nor changes: beside it. NULL:
	 * nothing */
	bool (*begin)(void *self, struct block b);
	/* between a panel and its updates, beside nothing but what runs aside; false in pauses:
	 * there is nothing to do. NULL: never */
	bool (*pause)(void *self, struct block b);
	bool (*pauses)(void *self, struct block b);
	/* the panel on the device; what it can do when only its diagonal block is up to date, first
	 * (NULL: nothing) */
	bool (*on_device)(void *self, struct block b);
	bool (*corner_on_device)(void *self, struct block b);
	/* the panel on the host, in place; the current queue is that of its way back */
	bool (*on_host)(void *self, struct block b, struct matrix host);
	/* what is left to do on the device when a host panel is back */
	bool (*back)(void *self, struct block b);
	/* columns j .. j+n-1 right of the block; with corner_on_device only what is below their
	 * diagonal block, which update_corner does before */
	bool (*update)(void *self, struct block b, int64_t j, int64_t n);
	bool (*update_corner)(void *self, struct block b, int64_t j, int64_t n);
	/* the update in two parts: what changes only the block's rows, and all the rest. NULL: it
	 * is not in parts */
	bool (*top)(void *self, struct block b, int64_t j, int64_t n);
	bool (*bottom)(void *self, struct block b, int64_t j, int64_t n);
	/* what bottom reads brought into the form it needs, which can be done before. NULL: it is
	 * as it should be */
	bool (*ready)(void *self, struct block b, int64_t j, int64_t n);
	/* the same as update of the n columns that the next panel on the device waits for, in the
	 * panels' queue; false in narrow: for so many it is no quicker. NULL: nothing such */
	bool (*next_update)(void *self, struct block b, int64_t n);
	bool (*narrow)(void *self, struct block b, int64_t n);
	/* what no later panel or update reads, in the blocks' order; it may change columns left of
	 * the block. NULL: nothing */
	bool (*side_queue)(void *self, struct block b);
	/* the update beside a panel on the device starts after the panel has, which then finds the
	 * device empty; worth it where panels are kernels of few blocks */
	bool panel_first;
};

struct schedule {
	struct executor *e;
	const struct plan *plan;
	int64_t steps;   /* columns of all panels together */
	int64_t columns; /* of the matrix */
	const struct factorization *operations;
	void *self;
	struct split_room split; /* for the updates' products */
};

struct block schedule_first(const struct schedule *);
struct block schedule_next(const struct schedule *, struct block);

/* Runs it all. What was put into QUEUE_MAIN before comes before it, what comes later after it. The
 * host panels use stage 0 of the executor. */
bool schedule_run(const struct schedule *);

#endif
