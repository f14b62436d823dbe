/* SPDX-License-Identifier: MIT */
/* Deferred row swaps, left of the panel. An LU by blocks swaps rows in all columns left of each
 * panel. In column-major order an element of a row costs a sector of 32 bytes to read and one to
 * write: 64 n^2 bytes in all. Here each block of columns only records the positions of all rows
 * after its swaps. At the end every column is read and written once, whole: 4 n^2 words of a
 * square. */
#pragma once

#include "lib/base/matrix.h"

#include <stdint.h>

/* For m rows of `columns` columns, in at most `blocks` blocks. */
struct deferred_swaps {
	int *data; /* deferred_swaps_integers of them; NULL in the model */
	int64_t m, columns, blocks;
};

/* Per column its block, then the row after the block's own; per row its original row; and per block
 * and original row the position after the block. */
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

C_BEGIN

/* deferred_swaps.cu, on the device. track: records the swaps p of rows from `first` on, relative to
 * it, by the block of columns first ... first + p.n - 1, block after block; a pivot outside the
 * rows from its own on swaps nothing. settle: applies to each column of a, m x columns, the swaps
 * of all blocks right of it; all blocks are tracked. stream is a cudaStream_t. Each returns a
 * cudaError_t. */
int deferred_swaps_record(
        struct deferred_swaps t, struct pivots p, int64_t first, int64_t block, void *stream);
int deferred_swaps_apply(struct deferred_swaps t, struct matrix a, void *stream);

C_END

/* Most rows of a column that fit in the shared memory of a block of threads, for settle. */
static inline int64_t deferred_swaps_most(enum precision precision, int64_t shared_per_block)
{
	return shared_per_block / precision_bytes(precision);
}

/* Columns of m rows that a block of threads holds at once: several where they are short. */
static inline int deferred_swaps_group(
        enum precision precision, int64_t m, int64_t shared_per_block)
{
	const int64_t most = 100 << 10, /* bytes of several columns */
	        bytes = shared_per_block < most ? shared_per_block : most,
	              rows = deferred_swaps_most(precision, bytes);

	return 4 * m <= rows ? 4 : 2 * m <= rows ? 2 : 1;
}
