/* SPDX-License-Identifier: MIT */
/* A block-triangular matrix as a list, LAPACK Working Note 202, section 4.2: the triangle is cut in
 * two pieces of which one, turned around, fits beside the other, and the rectangle that they make
 * is counted through. Blocks are four times as high as wide (64 x 16): row i of them has the first
 * 4 (i + 1) columns, as far as there are so many. */
#ifndef FATHOM_FOLD_TRIANGLE_H
#define FATHOM_FOLD_TRIANGLE_H

#include <stdint.h>

#ifdef __CUDACC__
#define FOLD_FUNCTION static __host__ __device__ __forceinline__
#else
#define FOLD_FUNCTION static inline
#endif

enum { FOLD_STEP = 4 }; /* blocks that a row has more than the one above it */

struct fold_block {
	int row, column;
};

/* How many blocks there are in `rows` of them when no row has more than `columns`, at most
 * 4 rows: those of the triangle above, whose every row is wider, and the full rows below it. */
FOLD_FUNCTION int64_t fold_count(int64_t rows, int64_t columns)
{
	const int64_t triangle = columns / FOLD_STEP;

	return FOLD_STEP * triangle * (triangle + 1) / 2 + (rows - triangle) * columns;
}

/* Block `index` of them, 0 .. fold_count - 1, down the columns of the rectangle. Its rows are the
 * lower half of the triangle's, the longer one when their number is odd; right of each lies, turned
 * around, the row of the upper half that fills it up. */
FOLD_FUNCTION struct fold_block fold_block_at(int index, int rows, int columns)
{
	const int triangle = columns / FOLD_STEP, lower = (triangle + 1) / 2;
	const int upper = triangle - lower;
	const int width = FOLD_STEP * (triangle + 1 - triangle % 2);
	struct fold_block at;

	if (index >= lower * width) { /* of the full rows */
		index -= lower * width;
		at.row = triangle + index % (rows - triangle);
		at.column = index / (rows - triangle);
		return at;
	}
	at.row = upper + index % lower;
	at.column = index / lower;
	if (at.column >= FOLD_STEP * (at.row + 1)) {
		at.row = 2 * upper - 1 - at.row;
		at.column = width - 1 - at.column;
	}
	return at;
}

#endif
