/* SPDX-License-Identifier: MIT */
/* Plans of products of tall matrices in double precision: tiles, and teams of blocks that share the
 * rows, one block per multiprocessor. */
#include "double_tall.h"

enum {
	FEWEST = 4,               /* slabs of a team */
	SHARED_BYTES = 200 << 10, /* of a block */
};

static int64_t up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* Of the narrowest kernel for n columns of C, and for k columns of V. */
static int64_t width_for(int64_t n)
{
	return n <= 32 ? 32 : n <= 64 ? 64 : DOUBLE_TALL_ACROSS;
}

static int64_t side_for(int64_t k)
{
	return k <= DOUBLE_TALL_SIDE / 2 ? DOUBLE_TALL_SIDE / 2 : DOUBLE_TALL_SIDE;
}

static struct double_tall_plan plan_of(
        int64_t side, int64_t groups, int64_t n, int64_t rows, int64_t blocks)
{
	const int64_t width = width_for(n), across = up(n, width),
	              places = blocks / across / groups;
	const int64_t most = up(rows, DOUBLE_TALL_SLAB * FEWEST),
	              teams = places < most ? places : most;

	return (struct double_tall_plan){
	        (int)side, (int)width, (int)groups, (int)across, teams > 1 ? (int)teams : 1};
}

struct double_tall_plan double_tall_plan_make(
        int64_t k, int64_t n, int64_t rows, int multiprocessors)
{
	const int64_t side = side_for(k);
	const int64_t room = DOUBLE_TALL_SCRATCH / (side * width_for(n) * (int64_t)sizeof(double));

	return plan_of(side, up(k, side), n, rows, multiprocessors < room ? multiprocessors : room);
}

struct double_tall_plan double_tall_update_plan_make(
        int64_t k, int64_t n, int64_t rows, int multiprocessors)
{
	return plan_of(side_for(k), 1, n, rows, multiprocessors);
}

/* The kernel of 64 by 128 has no registers for columns that are turned. */
bool double_tall_gram_takes(int64_t k, int64_t n, int64_t skipped, bool aligned)
{
	enum { HALF = DOUBLE_TALL_SIDE / 2 };
	const int64_t narrow = k < n ? k : n, wide = k < n ? n : k;

	return narrow <= HALF && wide <= DOUBLE_TALL_SIDE && (aligned || n <= HALF) &&
	       skipped % DOUBLE_TALL_SLAB == 0;
}

struct double_tall_plan double_tall_gram_plan_make(int64_t k, int64_t n, int blocks)
{
	enum { PANEL = 64 }; /* columns of C^T C */

	return (struct double_tall_plan){
	        (int)side_for(k), (int)width_for(n < PANEL ? PANEL : n), 1, 1, blocks};
}

bool double_tall_has(int code, int64_t shared_per_block)
{
	return code >= 90 && shared_per_block >= SHARED_BYTES;
}

/* Of aligned matrices V and C have at most a tile's columns: beyond, the library's tiles are as
 * fast, but not in updates by few columns of V. Few columns of C leave the update's tiles empty. */
bool double_tall_is_ahead(const struct tuning *tuning, const struct gemm_problem *p, bool aligned)
{
	const struct gemm_tuning *t = &tuning->gemm;
	const int64_t rows = p->ta ? p->k : p->m, side = p->ta ? p->m : p->k;

	if (p->precision != DOUBLE || p->tb || p->part != GEMM_WHOLE ||
	        rows < t->ahead_double_rows || side < t->ahead_double_least ||
	        side > t->ahead_double_columns || p->n > t->ahead_double_columns)
		return false;
	if (!p->ta && p->n < t->ahead_double_least)
		return false;
	return !aligned || (!p->ta && side <= DOUBLE_TALL_SIDE / 2) ||
	       (side <= DOUBLE_TALL_SIDE && p->n <= DOUBLE_TALL_ACROSS);
}
