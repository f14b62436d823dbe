/* SPDX-License-Identifier: MIT */
/* Shared by the tests of whole factorizations: test matrices, executor memory between margins,
 * checks in double precision, the comparison with LAPACK's backward error, both executors. */
#pragma once

#include "double_checks.h"
#include "guarded_memory.h"
#include "matrix_kinds.h"
#include "tests/tap.h"

#include "factor/executors/executor.h"
#include "factor/algorithms/plan.h"
#include "lib/base/msg.h"

#include <cblas.h>
#include <float.h>

/* Backward errors, in eps, that are never compared with LAPACK's: to round every element of both
 * factors once may cost as much. Kernels of the GPU multiply by reciprocals, which rounds once
 * more; in the smallest matrices these roundings do not average out. */
#define TEST_ROUNDING 2.0
#define TEST_ROUNDINGS_GPU 8.0

static bool test_on_gpu;         /* whether the tested executor is the GPU's */
static double test_leniency = 1; /* factor of test_backward_fine's bound, */
static double test_loss;         /* or eps beside it, if that allows more */

/* Whether a backward error is at most `times` LAPACK's, or not above `luck`. */
static inline bool test_backward_fine(double ours, double theirs, double times, double luck)
{
	const double least = test_on_gpu ? fmax(luck, TEST_ROUNDINGS_GPU) : luck;

	if (ours <=
	        fmax(least, times * theirs + fmax((test_leniency - 1) * times * theirs, test_loss)))
		return true;
	diag("backward error %.3g eps, LAPACK's %.3g", ours, theirs);
	return false;
}

/* ---- covering sets of cross products ----
 *
 * `make test` runs the covering sets; with FATHOM_TEST_FULL=1 in the environment the tests run
 * every combination, in a small run one column for each row. */

/* Columns for each row, so that `rows` rows meet each of `columns` columns at least `times` times;
 * never less than `least`. */
static inline size_t test_per_row(size_t rows, size_t columns, size_t times, size_t least)
{
	const size_t needed = rows ? (times * columns + rows - 1) / rows : 0;

	return test_small() ? 1 : needed > least ? needed : least;
}

/* Whether the row meets the column in the covering set. Every row meets `per_row` neighbouring
 * columns; the next row goes on behind them. */
static inline bool test_meets(size_t row, size_t column, size_t columns, size_t per_row)
{
	const size_t first = row * per_row % columns;

	return test_full() || (column + columns - first) % columns < per_row;
}

/* ---- executors ---- */

/* Runs a test on the host executor, unless FATHOM_TEST_ON=gpu asks for the GPU alone, and on the
 * cuda executor where there is a GPU. */
static inline int test_on_executors(void (*test)(struct executor *))
{
	struct fault fault;
	struct executor *host = executor_host_new(&fault), *cuda = executor_cuda_new("0", &fault);
	const char *on = getenv("FATHOM_TEST_ON");

	if (!on || strcmp(on, "gpu") != 0)
		test(host);
	test_on_gpu = true;
	if (cuda)
		test(cuda);
	else
		skip("the same on the GPU", fault.text);
	executor_free(cuda);
	executor_free(host);
	return finish();
}
