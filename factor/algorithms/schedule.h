/* SPDX-License-Identifier: MIT */
/* The order of work of all blocked right-looking factorizations: panel, update of the columns right
 * of it, next panel. With look-ahead the next panel's columns are updated first, and the panel runs
 * beside the update of the rest: in QUEUE_PANEL, or on the host CPU with QUEUE_OUT and QUEUE_IN for
 * the copies (LAWN 202, section 5). Work that nothing waits for goes into a side queue, which the
 * panels leave free. */
#pragma once

#include "factor/executors/executor.h"
#include "plan.h"

/* Updates run beside the next panel: memory that a block's update reads exists this many times, and
 * blocks take turns (block_turn). */
enum { BLOCKS_IN_FLIGHT = 2 };

/* Block `index` of a factorization: columns j .. j+w-1; w = 0 is the end. */
struct block {
	int64_t index, j, w;
};

static inline int64_t block_turn(struct block b)
{
	return b.index % BLOCKS_IN_FLIGHT;
}

/* The state of a factorization, which every factorization defines for itself. */
struct factor;

/* The steps of a factorization. Each works on the current queue. NULL where "or
 * NULL" stands: the step does not exist. */
struct factorization {
	/* the part of the matrix that a panel on the host changes */
	struct matrix (*panel)(struct factor *, struct block b);
	/* rows of a host panel's columns that are final before the panel. Or NULL */
	struct matrix (*above)(struct factor *, struct block b);
	/* before the panel on the device, where it may run beside other work, or before the copy to
	 * the host. Or NULL */
	bool (*fetch)(struct factor *, struct block b);
	/* beside the first panel: work that the updates need and the first panel does not touch. Or
	 * NULL */
	bool (*begin)(struct factor *, struct block b);
	/* between a panel and its updates, beside the side queue only; pauses: whether there is any
	 * at this block. Or NULL */
	bool (*pause)(struct factor *, struct block b);
	bool (*pauses)(struct factor *, struct block b);
	/* the panel on the device; and its part that needs only the diagonal block up to date,
	 * first (or NULL) */
	bool (*on_device)(struct factor *, struct block b);
	bool (*corner_on_device)(struct factor *, struct block b);
	/* the panel on the host, in place; the current queue is that of the copy back */
	bool (*on_host)(struct factor *, struct block b, struct matrix host);
	/* on the device when a host panel is back */
	bool (*back)(struct factor *, struct block b);
	/* columns j .. j+n-1 right of the block; with corner_on_device only the part below their
	 * diagonal block, which update_corner does first */
	bool (*update)(struct factor *, struct block b, int64_t j, int64_t n);
	bool (*update_corner)(struct factor *, struct block b, int64_t j, int64_t n);
	/* the update in two parts: the block's rows, and the rest. Or NULL */
	bool (*top)(struct factor *, struct block b, int64_t j, int64_t n);
	bool (*bottom)(struct factor *, struct block b, int64_t j, int64_t n);
	/* the same as update, with all blocks of `half` as one: of columns that their own updates
	 * left out; NULL: one level of blocks alone */
	bool (*coarse)(struct factor *, struct block half, int64_t j, int64_t n);
	/* operands of bottom brought into the form it needs; may run early. Or NULL */
	bool (*ready)(struct factor *, struct block b, int64_t j, int64_t n);
	/* the same as update, of the n columns that the next panel on the device waits for, in the
	 * panels' queue (or NULL); narrow: whether it is faster for n columns (NULL:
	 * always) */
	bool (*next_update)(struct factor *, struct block b, int64_t n);
	bool (*narrow)(struct factor *, struct block b, int64_t n);
	/* work that no later panel or update reads, in the blocks' order; it may change columns
	 * left of the block. Or NULL */
	bool (*side_queue)(struct factor *, struct block b);
	/* the update beside a panel on the device starts after the panel, which then finds the
	 * device empty; for panels that are kernels of few blocks */
	bool panel_first;
};

struct schedule {
	struct executor *e;
	const struct plan *plan;
	int64_t steps;   /* columns of all panels together */
	int64_t columns; /* of the matrix */
	const struct factorization *operations;
	struct factor *self;
	struct split_room split; /* for the updates' products */
};

/* Of all columns of a, with panels in the first min(m, n). */
struct schedule schedule_of(struct executor *, const struct plan *, struct matrix a,
        const struct factorization *, struct factor *self);

struct block schedule_first(const struct schedule *);
struct block schedule_next(const struct schedule *, struct block);

/* Blocks whose updates of far columns are one: half a coarse block, or one block. */
static inline int64_t plan_half(const struct plan *plan)
{
	return plan->coarse ? plan->coarse / 2 : 1;
}

/* The largest workspace that `leaf` returns for a leaf of a panel on the device; -1 when it returns
 * -1 for one, 0 with panels on the host. */
int64_t schedule_leaves_work(const struct schedule *,
        int64_t (*leaf)(struct executor *, const struct plan *, struct matrix a));

/* Runs all blocks, after earlier work in QUEUE_MAIN and before later work there. Host panels use
 * stage 0 of the executor. */
bool schedule_run(const struct schedule *);
