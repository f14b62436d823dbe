/* SPDX-License-Identifier: MIT */
/* Covering sets of cross products. `make test` runs the covering sets; with FATHOM_TEST_FULL=1 in
 * the environment the tests run every combination. */
#pragma once

#include "tests/tap.h"

/* Columns for each row, so that `rows` rows meet each of `columns` columns at least `times` times;
 * never less than `least`. */
static inline size_t test_per_row(size_t rows, size_t columns, size_t times, size_t least)
{
	const size_t needed = rows ? (times * columns + rows - 1) / rows : 0;

	return needed > least ? needed : least;
}

/* Whether the row meets the column in the covering set. Every row meets `per_row` neighbouring
 * columns; the next row goes on behind them. */
static inline bool test_meets(size_t row, size_t column, size_t columns, size_t per_row)
{
	const size_t first = row * per_row % columns;

	return test_full() || (column + columns - first) % columns < per_row;
}
