/* SPDX-License-Identifier: MIT */
/* The list of a block triangle's blocks: for every small number of rows and columns it has each
 * block of the triangle exactly once and no other; the count of a large triangle. */
#include "factor/kernels/blocks/fold_triangle.h"
#include "tests/tap.h"

enum { MOST_ROWS = 24, MOST_COLUMNS = FOLD_STEP * MOST_ROWS };

/* Whether the list for these numbers of rows and columns is the triangle. */
static bool is_triangle(int rows, int columns)
{
	int times[MOST_ROWS][MOST_COLUMNS] = {{0}};
	const int64_t count = fold_count(rows, columns);

	for (int i = 0; i < count; i++) {
		const struct fold_block at = fold_block_at(i, rows, columns);
		if (at.row < 0 || at.row >= rows || at.column < 0 || at.column >= columns)
			return false;
		times[at.row][at.column]++;
	}
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < columns; j++)
			if (times[i][j] != (j < FOLD_STEP * (i + 1)))
				return false;
	return true;
}

/* Neighbours in the list share columns of B. */
static void test_order(void)
{
	const struct fold_block first = fold_block_at(0, 6, 24), second = fold_block_at(1, 6, 24),
	                        even = fold_block_at(83, 6, 24), odd = fold_block_at(59, 5, 20);

	ok(first.row == 3 && first.column == 0, "the first block is in the longer half");
	ok(second.row == 4 && second.column == 0, "the second block lies below the first");
	ok(even.row == 0 && even.column == 0,
	        "the last block of six rows is the corner, in a row that is reversed");
	ok(odd.row == 4 && odd.column == 19,
	        "the last block of five rows is in the longest row, which has no partner");
	ok(fold_block_at(16 * 3, 6, 24).row == 2, "right of row 3 lies row 2");
}

int main(void)
{
	for (int rows = 1; rows <= MOST_ROWS; rows++) {
		bool good = true;
		for (int columns = 1; columns <= FOLD_STEP * rows; columns++)
			if (!is_triangle(rows, columns)) {
				diag("%d columns", columns);
				good = false;
			}
		ok(good, "%d rows of blocks, every number of columns", rows);
	}
	test_order();
	ok(fold_count(32768, 4 * 32768) == INT64_C(2) * 32768 * 32769,
	        "2 R (R + 1) blocks in R rows");
	ok(fold_count(100, 3) == 300, "a narrow triangle is a rectangle");
	return finish();
}
