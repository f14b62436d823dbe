/* SPDX-License-Identifier: MIT */
/* What the distributed factorizations share: panels that their owner factorizes with the
 * factorization of one rank, and buffers in which every rank receives its rows of them.
 *
 * On a grid of several process rows all ranks of a process column own a panel. They gather it, and
 * each factorizes all of it: no reduction a column, the arithmetic of one rank, and every rank has
 * its rows of the result. The ranks must be alike, so that their results are the same bits. */
#pragma once

#include "block_cyclic.h"
#include "factor/algorithms/plan_default.h"
#include "factor/algorithms/schedule.h"

/* Panels in flight, one buffer for each: they take turns (block_turn). */
struct panels {
	struct executor *e;
	const struct distributed *a;
	struct matrix columns[BLOCKS_IN_FLIGHT]; /* this rank's rows x nb */
	bool waits[BLOCKS_IN_FLIGHT];            /* started, and not known to be here */
	int64_t kept_block;                      /* its part is a shared split operand; -1: none */
	/* where a panel is gathered: other ranks' rows, and all rows */
	struct matrix others, whole;
};

/* Rows that a block takes in rooms, those of square blocks on several process rows: a block higher
 * than the matrix is the only one, and takes the matrix's rows. Columns of rooms stay aligned. */
static inline int64_t panels_block_rows(const struct block_cyclic *d)
{
	enum { ALIGNED_ROWS = 64 };

	return min_int64(
	        d->nb, (max_int64(d->m, 1) + ALIGNED_ROWS - 1) / ALIGNED_ROWS * ALIGNED_ROWS);
}

struct panels panels_workspace(
        struct executor *, const struct distributed *, struct workspace *, int64_t widest);
void panels_gather_workspace(struct panels *, struct workspace *);

/* Room for this rank's rows of block b from row i of the matrix on, the first one of a block of
 * rows: contiguous, with aligned columns. */
struct matrix panels_room(const struct panels *, struct block b, int64_t i);

/* On a grid of several process rows. gather: makes the whole panel of all ranks' rooms from the
 * block's first row on. take: this rank's rows of the whole panel, or of a matrix in such room, to
 * its room. panels_like: such room, for the largest panel, and for a block. */
struct matrix panels_whole(const struct panels *, struct block b);
bool panels_gather(struct panels *, struct block b);
bool panels_take(struct panels *, struct block b, struct matrix whole);
struct matrix panels_like_workspace(const struct panels *, struct workspace *);
struct matrix panels_like(const struct panels *, struct block b, struct matrix room);

/* Starts the broadcast of the block's room and of other pieces (at most PANELS_OTHERS; their roots
 * are not read) from its owners, along process rows, on the current queue; panels_arrived: later
 * work in this queue, or in one that waits for it, finds them here. */
enum { PANELS_OTHERS = 2 };
bool panels_send(struct panels *, struct block b, struct matrix room,
        const struct comm_piece *others, int count);
bool panels_arrived(struct panels *, struct block b);

/* The same of all panels on their way, before another call uses their room: of QR's last panel,
 * which no update waits for. */
bool panels_all_arrived(struct panels *);

/* Before an update by the block: the part that its products share (split.h). */
void panels_keep(struct panels *, struct block b, struct matrix part);

/* The plan of all blocks, which points to the layout of a. */
struct plan panels_blocks(const struct distributed *a);

/* This rank's own part of a block's columns, from the block's first row on; none on ranks of other
 * process columns. */
static inline struct matrix panels_own(const struct distributed *a, struct block b)
{
	return distributed_columns(a, b.j, b.j, b.w);
}

/* The plan of a panel, for the factorization of one rank. The host's library factorizes panels of
 * LU in one call. */
void panels_plan(
        struct executor *, enum operation operation, struct matrix panel, struct default_plan *out);

/* The largest workspace that `work` returns for a panel of this rank with its plan, or -1: a
 * gathered panel, where there is room for it, or else this rank's part with the diagonal block. */
int64_t panels_work(const struct panels *, const struct schedule *, enum operation operation,
        int64_t (*work)(struct executor *, const struct plan *, struct matrix panel));

/* False with the executor's fault when the layout is impossible, or its blocks are not square where
 * rows are divided; panels_check: also when the executor cannot do its math, or not with these
 * columns: products by split operands need columns and blocks that begin at multiples of some
 * bytes. */
bool panels_layout_check(struct executor *, const struct distributed *a);
bool panels_check(struct executor *, const struct distributed *a);

/* The operations with next_update only where it can be: products by split operands need
 * QUEUE_MAIN. */
struct factorization panels_operations(
        const struct factorization *, const struct distributed *a, const struct executor *);

/* State of the executor that a factorization within another one changes. */
struct outer {
	enum queue home, queue;
	int64_t block;
	struct split_room split;
};

/* Around a factorization of one rank that works in the current queue, inside another one. */
struct outer panels_enter(struct executor *);
void panels_leave(struct executor *, struct outer);
