/* SPDX-License-Identifier: MIT */
/* Widths of a factorization's blocks by dynamic programming over the times of its stages (LAWN 202,
 * section 5).
 *
 * A stage has three numbers, as in the paper: s columns are left, a block of w columns updates
 * them, and a panel of v columns runs beside this update. Its time is not measured alone. Square
 * matrices of s columns are measured: factorized up to the end of their first block (w), and of
 * their first two (w, v). Both include the update of all columns behind.
 *
 * The time of widths w1, w2, w3 ... is then two(s1, w1, w2) + [two(s2, w2, w3) - one(s2, w2)] + ...
 * with s2 = s1 - w1 and so on: every bracket is one stage. The start of a run and the wait for its
 * end cancel, but for one. The sum leaves out overlap over more than two blocks, and caches that an
 * earlier block has filled. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STAGE_WIDTHS = 4 };

struct stages {
	int64_t width[STAGE_WIDTHS]; /* columns, ascending; multiples of the first */
	size_t widths;
	bool narrowing; /* no block is wider than the one left of it */

	/* Seconds of the first block (v = 0) or of the first two, w + v <= s; INFINITY where it is
	 * not known. s, w and v are multiples of width[0]. */
	double (*seconds)(const void *context, int64_t s, int64_t w, int64_t v);
	const void *context;
};

/* Seconds of n columns in blocks of these widths, of which the last repeats; INFINITY where a stage
 * is not known, or the widths do not fill the columns. */
double stages_sum(const struct stages *, int64_t n, const int64_t *widths, size_t count);

/* The widths of the least sum for n columns, from the left, into `widths`: room for n / width[0].
 * Returns their number; 0 where no sequence has a known time. n is a multiple of width[0]. */
size_t stages_least(const struct stages *, int64_t n, int64_t *widths);
