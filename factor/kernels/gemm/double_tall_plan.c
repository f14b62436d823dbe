/* SPDX-License-Identifier: MIT */
/* Plans of products of tall matrices in double precision: tiles, and teams of blocks that share the
 * rows, one block per multiprocessor. */
#include "double_tall.h"

enum { SLAB = 32, FEWEST = 4, SHARED_BYTES = 222 << 10 }; /* rows; slabs of a team; of a block */

static int64_t up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* The narrowest kernel for n columns. */
static int width_for(int64_t n)
{
	return n <= 32 ? 32 : n <= 64 ? 64 : DOUBLE_TALL_ACROSS;
}

static struct double_tall_plan plan_of(
        int64_t side, int64_t groups, int64_t n, int64_t rows, int multiprocessors)
{
	const int64_t width = width_for(n), across = up(n, width);
	const int64_t places = multiprocessors / (groups * across);
	const int64_t most = up(rows, SLAB * FEWEST), teams = places < most ? places : most;

	return (struct double_tall_plan){
	        (int)side, (int)width, (int)groups, (int)across, teams > 1 ? (int)teams : 1};
}

static int64_t side_for(int64_t k)
{
	return k <= DOUBLE_TALL_SIDE / 2 ? DOUBLE_TALL_SIDE / 2 : DOUBLE_TALL_SIDE;
}

struct double_tall_plan double_tall_plan_make(
        int64_t k, int64_t n, int64_t rows, int multiprocessors)
{
	return plan_of(side_for(k), up(k, side_for(k)), n, rows, multiprocessors);
}

struct double_tall_plan double_tall_update_plan_make(
        int64_t k, int64_t n, int64_t rows, int multiprocessors)
{
	return plan_of(side_for(k), 1, n, rows, multiprocessors);
}

bool double_tall_has(int code, int64_t shared_per_block)
{
	return code >= 90 && shared_per_block >= SHARED_BYTES;
}
