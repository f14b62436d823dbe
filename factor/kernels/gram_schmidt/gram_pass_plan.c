/* SPDX-License-Identifier: MIT */
#include "gram_pass_plan.h"

int64_t gram_pass_chunks(int64_t m, int vector, int unroll)
{
	const int64_t rows = (int64_t)GRAM_PASS_THREADS * vector * unroll;

	return (m + rows - 1) / rows;
}

/* Columns a block needs to repay its work before them; columns a block has in a large pass. */
enum { FEW = 4, LARGE_EACH = 8 };

/* Whether threads have over a quarter more rows than the matrix. */
static bool is_wasteful(int64_t m, int vector, int unroll)
{
	return gram_pass_chunks(m, vector, unroll) * GRAM_PASS_THREADS * vector * unroll >
	       m + m / 4;
}

static int64_t groups_of(int64_t columns, int64_t each)
{
	return (columns + each - 1) / each;
}

/* In L2, long chunks need less work before and after their columns. Short chunks occupy more
 * multiprocessors when few columns are left, and fit short columns. */
static int unroll_of(int64_t m, int64_t columns, int vector, int multiprocessors)
{
	int unroll = 4;

	while (unroll > 1 && vector > 1 &&
	        (gram_pass_chunks(m, vector, unroll) * columns < 2 * multiprocessors * FEW ||
	                is_wasteful(m, vector, unroll)))
		unroll /= 2;
	return unroll;
}

/* DRAM is fastest when its pages are read in order: by blocks that start one after another and have
 * a few columns each. In L2 all blocks start together and share all columns; a block's columns are
 * neighbours if it loads all of them at once. Passes over the same number of columns distribute
 * rows equally, because they read each other's partial dot products. */
struct gram_pass_plan gram_pass_plan(enum gram_step step, enum precision precision, int64_t m,
        int64_t columns, bool aligned, int64_t l2_bytes, int multiprocessors)
{
	const int word = (int)precision_bytes(precision);
	const bool large = m * columns * word > l2_bytes;
	struct gram_pass_plan s = {aligned ? 16 / word : 1, 4, 0, 0, 1};

	if (s.vector > 1)
		s.unroll = large ? 1 : unroll_of(m, columns, s.vector, multiprocessors);
	s.chunks = gram_pass_chunks(m, s.vector, s.unroll);
	const int64_t places = (int64_t)multiprocessors * GRAM_PASS_BLOCKS(s.vector, s.unroll);
	const int each = large ? LARGE_EACH : GRAM_PASS_AT_ONCE(s.unroll, step == GRAM_FUSED);
	const int64_t blocks = s.chunks * groups_of(columns, each);
	if (large || (blocks <= places && blocks >= places / 4))
		s.each = each;
	int64_t groups = places / s.chunks, least = groups_of(columns, GRAM_PASS_COLUMNS);
	groups = groups > columns ? columns : groups;
	groups = groups < least ? least : groups;
	s.groups = (int)(s.each > 0 ? groups_of(columns, each) : groups);
	if (s.groups < 1)
		s.groups = 1;
	return s;
}
