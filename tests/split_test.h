/* SPDX-License-Identifier: MIT */
/* LU and QR by 3xTF32 of matrices that are hard in one way or another, and of larger ones. */
#ifndef FATHOM_SPLIT_TEST_H
#define FATHOM_SPLIT_TEST_H

#include "factor_test.h"

typedef void split_case(struct executor *, const struct plan *, int kind, int64_t n);

/* Four plans, of which the first three are for small matrices. Products of this test's sizes are
 * split, too. */
static inline void test_splits(struct executor *e, const struct plan *plan, split_case *one)
{
	static const struct split_limits small = {
	        .side = 64, .depth = 32, .alignment = 4, .use = 64};
	static const int kinds[] = {MATRIX_RANDOM, MATRIX_GRADED_ROWS, MATRIX_GRADED_COLUMNS,
	        MATRIX_RANK_DEFICIENT, MATRIX_NAN_MIDDLE, TEST_CONDITION_BAD, TEST_NEAR_UNDERFLOW,
	        TEST_NEAR_OVERFLOW, TEST_INF_LAST};
	const struct split_limits *kept = e->tf32;

	if (!kept) {
		skip("3xTF32", "no TF32 units");
		return;
	}
	e->tf32 = &small;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		one(e, &plan[i % 3], kinds[i], 400);
	for (size_t i = 1; i < 4; i++)
		one(e, &plan[i], MATRIX_RANDOM, 1100);
	e->tf32 = kept;
}

#endif
