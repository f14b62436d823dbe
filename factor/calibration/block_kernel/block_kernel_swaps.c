/* SPDX-License-Identifier: MIT */
/* Row swaps, and the columns right of LU and QR panels. Data change again and again without
 * growing: triangles are nearly the identity, panels and reflectors small. Deferred row swaps are
 * those of a square, of blocks of DEFERRED_BLOCK columns whose rows come from anywhere below. */
#include "block_kernel_internal.h"

#include "factor/kernels/lu/deferred_swaps.h"

#include <stdlib.h>

enum {
	WARM_ROWS = 2048,    /* of the matrix whose rows are swapped in L2 */
	WARM_COLUMNS = 4096, /* wider ones have fewer rows */
	TURN_ROWS = 512,     /* from one set of pivots to the next */
	BESIDE = 64,         /* columns right of a panel */
	DEFERRED_FROM = 2048,
	DEFERRED_TO = 8192,
	DEFERRED_BLOCK = 64
};

/* ---- pivots ---- */

static void send_pivots(struct bench *b, int64_t rows)
{
	const size_t bytes = BLOCK_KERNEL_TURNS * BLOCK_KERNEL_SWAPS * sizeof(int);
	int *ipiv = xmalloc(bytes);
	uint64_t state = (uint64_t)b->rate.run->common.seed;
	for (int64_t i = 0; i < BLOCK_KERNEL_TURNS * BLOCK_KERNEL_SWAPS; i++)
		ipiv[i] = block_kernel_pivot(&state, i % BLOCK_KERNEL_SWAPS, rows);
	GPU(cudaMemcpy(b->pivots, ipiv, bytes, cudaMemcpyHostToDevice));
	free(ipiv);
}

static struct pivots next_pivots(struct bench *b, int64_t count)
{
	const int64_t turn = b->turn;

	b->turn = (turn + 1) % BLOCK_KERNEL_TURNS;
	return (struct pivots){b->pivots + turn * BLOCK_KERNEL_SWAPS, count};
}

/* ---- row swaps ---- */

static int64_t warm_rows(int64_t n)
{
	return n <= WARM_COLUMNS ? WARM_ROWS : (int64_t)WARM_ROWS * WARM_COLUMNS / n;
}

/* Rows that the next swaps may reach. */
static int64_t swap_rows(const struct bench *b)
{
	return b->cold ? BLOCK_KERNEL_POOL_ROWS - (BLOCK_KERNEL_TURNS - 1) * TURN_ROWS
	               : warm_rows(b->n);
}

/* The columns of the next call; before its pivots. transposed: the matrix is row-major. */
static struct matrix next_columns(struct bench *b, bool transposed)
{
	const int64_t rows = warm_rows(b->n), first = b->turn * TURN_ROWS, n = b->n;
	const int64_t wide = BLOCK_KERNEL_WIDEST, all = BLOCK_KERNEL_POOL_ROWS;

	if (!b->cold)
		return block_kernel_matrix(
		        b, b->pool, transposed ? n : rows, transposed ? rows : n);
	const int64_t column = b->column + n > wide ? 0 : b->column;
	b->column = column + n;
	return transposed ? matrix_view(block_kernel_matrix(b, b->pool, wide, all), column, first,
	                            n, all - first)
	                  : matrix_view(block_kernel_matrix(b, b->pool, all, wide), first, column,
	                            all - first, n);
}

static int laswp(struct bench *b)
{
	const struct matrix columns = next_columns(b, false);

	return block_laswp(columns, next_pivots(b, b->swaps), false, b->rate.stream);
}

/* Of an empty triangle: row swaps only. */
static int lu_rows(struct bench *b)
{
	const struct matrix columns = next_columns(b, true);

	return block_lu_rows(block_kernel_triangle(b, b->kernel->form ? b->swaps : 0),
	        next_pivots(b, b->swaps), columns, b->rate.stream);
}

static int lu_top(struct bench *b)
{
	const struct matrix columns = next_columns(b, false);

	return block_lu_top(block_kernel_triangle(b, b->swaps), next_pivots(b, b->swaps), columns,
	        b->rate.stream);
}

static void fill_swaps(struct bench *b)
{
	send_pivots(b, swap_rows(b));
	GPU(block_fill(
	        WHOLE, block_kernel_little, 1, block_kernel_triangle(b, b->swaps), b->rate.stream));
}

static bool has_rows(const struct bench *b)
{
	return 2 * b->swaps <= swap_rows(b);
}

static bool solves_rows(const struct bench *b)
{
	return has_rows(b) &&
	       b->swaps <= block_lu_rows_most(b->precision, b->rate.gpu.shared_per_block);
}

static bool solves_top(const struct bench *b)
{
	return block_lu_top_bytes(b->precision, b->swaps) <= b->rate.gpu.shared_per_block;
}

/* ---- columns right of a panel ---- */

static struct matrix panel(const struct bench *b)
{
	return block_kernel_matrix(b, b->pool, b->m, b->n);
}

static struct matrix right_of_panel(const struct bench *b)
{
	struct matrix columns = block_kernel_matrix(b, b->pool, b->m, BESIDE);

	columns.offset = b->m * b->n;
	return columns;
}

static int lu_columns(struct bench *b)
{
	return block_lu_columns(panel(b), next_pivots(b, b->n), right_of_panel(b), b->rate.stream);
}

static int qr_columns(struct bench *b)
{
	return block_qr_columns(panel(b), block_kernel_matrix(b, b->t, b->n, b->n),
	        right_of_panel(b), b->rate.stream);
}

static void fill_lu_columns(struct bench *b)
{
	send_pivots(b, b->m);
	block_kernel_random(b, b->pool, b->m * (b->n + BESIDE), 1);
	block_kernel_random(b, b->pool, b->m * b->n, block_kernel_little);
}

static void fill_qr_columns(struct bench *b)
{
	block_kernel_random(b, b->pool, b->m * (b->n + BESIDE), 1);
	block_kernel_fill_panel(b);
	block_kernel_random(b, b->t, b->n * b->n, block_kernel_little);
}

/* ---- deferred row swaps ---- */

static struct deferred_swaps deferred(const struct bench *b)
{
	return (struct deferred_swaps){b->x.data, b->n, b->n, b->n / DEFERRED_BLOCK};
}

static int apply_swaps(struct bench *b)
{
	return deferred_swaps_apply(deferred(b), b->c, b->rate.stream);
}

/* The swaps of every block, each with a row anywhere below its own. */
static void fill_deferred(struct bench *b)
{
	const int64_t n = b->n;
	int host[DEFERRED_BLOCK];
	uint64_t state = (uint64_t)b->rate.run->common.seed;
	b->c = block_kernel_place(b, n, n);
	block_kernel_fill_random(b, b->c, 1);
	b->x.data =
	        block_kernel_take(b, deferred_swaps_integers(deferred(b)) * (int64_t)sizeof(int));
	for (int64_t j = 0; j < n; j += DEFERRED_BLOCK) {
		for (int64_t i = 0; i < DEFERRED_BLOCK; i++)
			host[i] = block_kernel_pivot(&state, i, n - j);
		GPU(cudaMemcpy(b->pivots, host, sizeof host, cudaMemcpyHostToDevice));
		GPU(deferred_swaps_record(deferred(b), (struct pivots){b->pivots, DEFERRED_BLOCK},
		        j, j / DEFERRED_BLOCK, b->rate.stream));
		GPU(cudaStreamSynchronize(b->rate.stream));
	}
}

static bool defers(const struct bench *b)
{
	return b->has_cold &&
	       b->n <= deferred_swaps_most(b->precision, b->rate.gpu.shared_per_block);
}

void block_kernel_swaps(struct bench *b)
{
	const int64_t narrowest = BLOCK_KERNEL_NARROWEST, twice = 2 * b->narrow;
	const struct range cold = {"cold", &b->cold, 0, b->has_cold, 0, block_kernel_one_more},
	                   n = {"n", &b->n, narrowest, BLOCK_KERNEL_WIDEST, twice, NULL},
	                   swaps = {"swaps", &b->swaps, narrowest, BLOCK_KERNEL_SWAPS, twice, NULL},
	                   few = {"swaps", &b->swaps, 32, BLOCK_LU_TOP_MAX, b->narrow, NULL},
	                   m_lu = {"m", &b->m, 256, BLOCK_KERNEL_ROWS, twice, NULL},
	                   n_lu = {"n", &b->n, 32, BLOCK_LU_COLUMNS_MAX, b->narrow, NULL},
	                   m_qr = {"m", &b->m, 128, BLOCK_QR_COLUMNS_ROWS, b->step, NULL},
	                   n_qr = {"n", &b->n, 32, BLOCK_QR_COLUMNS_MAX, b->narrow, NULL},
	                   order = {"n", &b->n, DEFERRED_FROM, DEFERRED_TO, b->narrow, NULL};
	/* the first four change all of the pool's numbers */
	const struct kernel kernels[] = {
	        {"laswp", laswp, fill_swaps, NULL, {cold, n, swaps}, .fits = has_rows},
	        {"lu_rows", lu_rows, fill_swaps, NULL, {cold, n, swaps}, .fits = solves_rows,
	                .form = true},
	        {"swap_rows", lu_rows, fill_swaps, NULL, {cold, n, swaps}, .fits = solves_rows},
	        {"lu_top", lu_top, fill_swaps, NULL, {cold, n, few}, .fits = solves_top},
	        {"lu_columns", lu_columns, fill_lu_columns, NULL, {m_lu, n_lu},
	                .has = block_lu_columns_fits},
	        {"qr_columns", qr_columns, fill_qr_columns, NULL, {m_qr, n_qr},
	                .has = block_qr_columns_fits},
	        {"apply_swaps", apply_swaps, fill_deferred, NULL, {order}, .fits = defers}};

	block_kernel_random(b, b->pool, b->pool_bytes / precision_bytes(b->precision), 1);
	block_kernel_measure(b, kernels, ARRAY_LEN(kernels));
}
