/* SPDX-License-Identifier: MIT */
/* A block-triangular matrix as a list (LAPACK Working Note 202, section 4.2). The triangle is cut
 * in two pieces; one piece, rotated, completes the other to a rectangle, whose blocks are counted.
 * Blocks are 64 x 16, four times as high as wide: block row i has its first 4 (i + 1) columns, or
 * all columns if there are fewer. */
#pragma once

#include "lib/base/base.h"

enum { FOLD_STEP = 4 }; /* blocks that a row has more than the row above */

struct fold_block {
	int row, column;
};

/* Number of blocks in `rows` block rows with at most `columns` <= 4 rows columns: the triangle
 * above plus the full rows below. */
HOST_DEVICE static inline int64_t fold_count(int64_t rows, int64_t columns)
{
	const int64_t triangle = columns / FOLD_STEP;

	return FOLD_STEP * triangle * (triangle + 1) / 2 + (rows - triangle) * columns;
}

/* Block `index`, 0 .. fold_count - 1, down the columns of the rectangle. The rectangle's rows are
 * the lower half of the triangle's (the larger half if the number is odd). Right of each lies,
 * rotated, the row of the upper half that completes it. */
HOST_DEVICE static inline struct fold_block fold_block_at(int index, int rows, int columns)
{
	const int triangle = columns / FOLD_STEP, lower = (triangle + 1) / 2;
	const int upper = triangle - lower;
	const int width = FOLD_STEP * (triangle + 1 - triangle % 2);
	struct fold_block at;

	if (index >= lower * width) { /* a block of the full rows */
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
