/* SPDX-License-Identifier: MIT */
/* The calls that block_kernel times. */
#include "block_kernel_internal.h"

#include "factor/kernels/qr/panel_geqrf.h"
#include "factor/kernels/lu/panel_kernels.h"

enum {
	MOST_PANELS = 64,
	TURN_ROWS = 512 /* from one set of pivots to the next */
};

void block_kernel_geqrf(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(panel_geqrf(c->precision, b->pool, c->m, c->m, c->n, b->tau, c->beside, false, false,
	        NULL, b->work, b->rate.stream));
}

void block_kernel_reflectors(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	const struct block_reflector r = {b->v, c->m, b->t, c->n};
	GPU(panel_geqrf(c->precision, b->pool, c->m, c->m, c->n, b->tau, false, c->gram, false, &r,
	        b->work, b->rate.stream));
}

void block_kernel_columns(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(panel_geqrf_columns_unless(
	        NULL, c->precision, b->pool, c->m, c->m, c->n, b->tau, b->work, b->rate.stream));
}

void block_kernel_potrf(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	const struct block_room room = {b->rate.gpu.shared_per_block,
	        b->rate.gpu.sm_count / (c->beside ? BLOCK_POTRF_BESIDE : 1), b->readers};
	GPU(block_potrf(LOWER, block_kernel_matrix(c, b->pool, c->m, c->n, c->m),
	        (struct matrix){0}, 0, b->info, &room, b->rate.stream));
}

void block_kernel_trtri(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(block_trtri(LOWER, NON_UNIT, block_kernel_triangle(c, c->n), block_kernel_inverse(c),
	        b->rate.gpu.shared_per_block, b->rate.stream));
}

void block_kernel_larft(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(block_larft(block_kernel_triangle(c, c->n),
	        block_kernel_matrix(c, b->tau, c->n, 1, c->n), block_kernel_inverse(c),
	        b->rate.gpu.shared_per_block, b->rate.stream));
}

/* Right-hand sides for all blocks of threads, which leave them alone: the inverse is good. */
void block_kernel_guard(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	struct matrix sides = block_kernel_matrix(c, b->pool, c->n, BLOCK_KERNEL_WIDEST, c->n);
	GPU(block_trsm_guard(LEFT, LOWER, PLAIN, NON_UNIT, block_kernel_triangle(c, c->n),
	        block_kernel_inverse(c), 1e3, sides, sides, b->rate.stream));
}

/* Rows of a matrix of n columns whose rows are swapped in L2: L2 holds the matrix in single
 * precision, but for the widest on a small L2. */
static int64_t warm_rows(const struct call *c)
{
	enum { FEWEST = 512, MOST = 2048, MOST_WORDS = 1 << 23 };
	const int64_t words = min_int64(c->bench->rate.gpu.l2_bytes / 6, MOST_WORDS);

	return max_int64(FEWEST, min_int64(MOST, words / c->n));
}

int64_t block_kernel_swap_rows(const struct call *c)
{
	return c->cold ? BLOCK_KERNEL_POOL_ROWS - (BLOCK_KERNEL_TURNS - 1) * TURN_ROWS
	               : warm_rows(c);
}

/* The columns of the next call, and its row swaps; transposed: the matrix is row-major. */
static struct matrix next_columns(struct call *c, struct pivots *p, bool transposed)
{
	struct bench *b = c->bench;
	const int64_t rows = warm_rows(c), first = c->turn * TURN_ROWS;
	const int64_t wide = BLOCK_KERNEL_WIDEST;
	*p = (struct pivots){b->pivots + c->turn * BLOCK_KERNEL_SWAPS, c->swaps};
	c->turn = (c->turn + 1) % BLOCK_KERNEL_TURNS;
	if (!c->cold)
		return transposed ? block_kernel_matrix(c, b->pool, c->n, rows, c->n)
		                  : block_kernel_matrix(c, b->pool, rows, c->n, rows);
	c->column = (c->column + c->n - 1) / c->n * c->n;
	if (c->column + c->n > BLOCK_KERNEL_WIDEST)
		c->column = 0;
	const int64_t column = c->column;
	c->column += c->n;
	return transposed ? matrix_view(block_kernel_matrix(
	                                        c, b->pool, wide, BLOCK_KERNEL_POOL_ROWS, wide),
	                            column, first, c->n, BLOCK_KERNEL_POOL_ROWS - first)
	                  : matrix_view(block_kernel_matrix(c, b->pool, BLOCK_KERNEL_POOL_ROWS,
	                                        wide, BLOCK_KERNEL_POOL_ROWS),
	                            first, column, BLOCK_KERNEL_POOL_ROWS - first, c->n);
}

void block_kernel_laswp(void *context)
{
	struct call *c = context;
	struct pivots p;
	struct matrix columns = next_columns(c, &p, false);
	GPU(block_laswp(columns, p, false, c->bench->rate.stream));
}

void block_kernel_lu_rows(void *context)
{
	struct call *c = context;
	struct pivots p;
	struct matrix columns = next_columns(c, &p, true);
	GPU(block_lu_rows(block_kernel_triangle(c, c->swaps), p, columns, c->bench->rate.stream));
}

void block_kernel_exchange_rows(void *context)
{
	struct call *c = context;
	struct pivots p;
	struct matrix columns = next_columns(c, &p, true);
	GPU(block_lu_rows(
	        block_kernel_matrix(c, NULL, 0, 0, 1), p, columns, c->bench->rate.stream));
}

void block_kernel_lu_top(void *context)
{
	struct call *c = context;
	struct pivots p;
	struct matrix columns = next_columns(c, &p, false);
	GPU(block_lu_top(block_kernel_triangle(c, c->swaps), p, columns, c->bench->rate.stream));
}

void block_kernel_qr_columns(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	struct matrix v = block_kernel_matrix(c, b->pool, c->m, c->n, c->m),
	              t = block_kernel_matrix(c, b->t, c->n, c->n, c->n);
	struct matrix columns = block_kernel_matrix(c, b->pool, c->m, BLOCK_KERNEL_RIGHT, c->m);
	columns.offset = c->m * c->n;
	GPU(block_qr_columns(v, t, columns, b->rate.stream));
}

void block_kernel_lu_columns(void *context)
{
	struct call *c = context;
	struct bench *b = c->bench;
	struct matrix a = block_kernel_matrix(c, b->pool, c->m, c->n, c->m);
	struct matrix columns = block_kernel_matrix(c, b->pool, c->m, BLOCK_KERNEL_RIGHT, c->m);
	struct pivots p = {b->pivots + c->turn * BLOCK_KERNEL_SWAPS, c->n};
	columns.offset = c->m * c->n;
	GPU(block_lu_columns(a, p, columns, b->rate.stream));
	c->turn = (c->turn + 1) % BLOCK_KERNEL_TURNS;
}

int64_t block_kernel_turns(const struct call *c)
{
	const int64_t held = min_int64(c->bench->rate.gpu.l2_bytes / 3, c->bench->pool_bytes),
	              fit = held / (c->m * c->n * precision_bytes(c->precision));

	return max_int64(1, min_int64(fit, MOST_PANELS));
}

/* In a panel that is factorized already, pivots would stay in place and all come from the first
 * block.
 */
static void *next_panel(struct call *c)
{
	const int64_t at = c->turn % block_kernel_turns(c) * c->m * c->n;

	c->turn = (c->turn + 1) % block_kernel_turns(c);
	return (char *)c->bench->pool + at * precision_bytes(c->precision);
}

void block_kernel_cluster(void *context)
{
	struct call *c = context;
	struct bench *b = c->bench;
	GPU(panel_cluster(
	        c->precision, next_panel(c), c->m, c->m, c->n, b->pivots, b->info, b->rate.stream));
}

void block_kernel_grid(void *context)
{
	struct call *c = context;
	struct bench *b = c->bench;
	GPU(panel_grid(c->precision, next_panel(c), c->m, c->m, c->n, b->pivots, b->exchange,
	        b->tag, b->info, b->rate.stream));
	b->tag += (uint32_t)c->n;
}
