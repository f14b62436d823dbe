/* SPDX-License-Identifier: MIT */
/* Exchanges that reach the columns left of them late. An LU by blocks exchanges the rows of all
 * columns left of each panel, and as columns lie in memory an element of a row costs a sector of 32
 * bytes to read and one to write: together 64 n^2 bytes. Here it is only noted where each row is
 * after a block's exchanges; at the end every column is read and written once, whole, in one order
 * and the other: 4 n^2 words' bytes of a square. */
#ifndef FATHOM_DEFERRED_SWAPS_H
#define FATHOM_DEFERRED_SWAPS_H

#include "lib/base/matrix.h"

#include <stdint.h>

/* Of the m rows of so many columns, by blocks, of which there are at most `blocks`. */
struct deferred_swaps {
	int *data; /* deferred_swaps_integers of them; NULL for the model */
	int64_t m, columns, blocks;
};

/* For every column its block, then the row behind that block's own; for every row the one that it
 * was at first; and for every block and row, as numbered at first, where it is after the block. */
static inline int64_t deferred_swaps_integers(struct deferred_swaps t)
{
	return 2 * t.columns + t.m * (t.blocks + 1);
}

static inline int64_t deferred_swaps_origin(struct deferred_swaps t)
{
	return 2 * t.columns;
}

static inline int64_t deferred_swaps_place(struct deferred_swaps t, int64_t block)
{
	return 2 * t.columns + t.m * (block + 1);
}

#ifdef __cplusplus
extern "C" {
#endif

/* deferred_swaps.cu, on the device. track: exchanges p of rows from `first` on, relative to it, by the
 * block of columns first ... first + p.n - 1, one block after the other; a pivot that is no row
 * from its own downwards exchanges nothing. settle: rows of a, m x columns, exchanged as the blocks
 * right of each column have; all blocks are tracked. stream is a cudaStream_t, what returns a
 * cudaError_t. */
int deferred_swaps_record(
        struct deferred_swaps t, struct pivots p, int64_t first, int64_t block, void *stream);
int deferred_swaps_apply(struct deferred_swaps t, struct matrix a, void *stream);

#ifdef __cplusplus
}
#endif

/* Rows of a column that settle has room for in the shared memory of a block of threads. */
static inline int64_t deferred_swaps_most(enum precision precision, int64_t shared_per_block)
{
	return shared_per_block / precision_bytes(precision);
}

#endif
