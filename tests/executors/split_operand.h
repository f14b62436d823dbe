/* SPDX-License-Identifier: MIT */
/* For tests of splits: an operand that an executor splits. */
#pragma once

#include "tests/algorithms/factor_test.h"

/* Whether `to` holds the operand op(a), k x n, in that form. */
typedef bool (*operand_right)(const float *a, int64_t lda, int64_t k, int64_t n, enum trans trans,
        enum split_form form, const float *to, int64_t ld);

/* The split of a random op(a), k x n, whose vectors along k have scales of their own, into `rows`
 * rows of poisoned memory. Whether `right` accepts the split and both memories' margins are
 * intact. */
static inline bool operand_splits(struct executor *e, int64_t k, int64_t n, enum trans trans,
        enum split_form form, int64_t rows, operand_right right)
{
	struct matrix source = {NULL, 0, trans == PLAIN ? k : n, trans == PLAIN ? n : k, 0, SINGLE};
	struct matrix to = {NULL, 0, rows, n, rows + (form == HALF_PAIR ? 4 : 5), SINGLE};
	struct test_memory from = {0}, made = {0};

	source.ld = source.m + 3;
	float *a = xmalloc((size_t)(source.ld * source.n) * sizeof *a);
	float *got = xmalloc((size_t)(to.ld * n) * sizeof *got);
	for (int64_t i = 0; i < source.ld * source.n; i++) {
		const int64_t vector = trans == PLAIN ? i / source.ld : i % source.ld;
		a[i] = (float)test_random(3, i) * ldexpf(1, (int)(vector * 7 % 90) - 45);
	}
	bool good = test_open(e, &from, source.ld * source.n * 4, 0xff) &&
	            test_open(e, &made, to.ld * n * 4, 0xff);
	source.data = from.data;
	to.data = made.data;
	good = good && e->ops->upload(e, a, source.ld, source) &&
	       e->ops->split(e, (struct splits){{{source, trans, form, to}}, 1}) &&
	       e->ops->sync(e) && e->ops->download(e, to, got, to.ld) &&
	       right(a, source.ld, k, n, trans, form, got, to.ld);
	good = test_close(e, &from) && good;
	good = test_close(e, &made) && good;
	free(a);
	free(got);
	return good;
}
