/* SPDX-License-Identifier: MIT */
/* The calls that block_kernel times, and their data. */
#include "block_kernel_parts.h"

#include "../lib/panel_geqrf.h"
#include "../lib/panel_kernels.h"

#include <stdlib.h>

enum {
	POOL_ROWS = 8192,      /* of the matrix whose rows are swapped in DRAM */
	WARM_ROWS = 2048,      /* of the one in L2 */
	WARM_COLUMNS = 4096,   /* wider ones have fewer rows */
	WARM_BYTES = 16 << 20, /* of LU panels that are factorized in turns */
	MOST_PANELS = 64,
	TURNS = 8,       /* sets of pivots, each further down */
	TURN_ROWS = 512, /* by so many rows */
	LU_COLUMNS = 64  /* right of a panel */
};

static struct matrix at(const struct call *c, void *data, int64_t m, int64_t n, int64_t ld)
{
	return (struct matrix){data, 0, m, n, ld, c->precision};
}

static struct matrix triangle(const struct call *c)
{
	return at(c, c->bench->triangle, c->n, c->n, c->n);
}

static struct matrix inverse(const struct call *c)
{
	return at(c, c->bench->inverse, c->n, c->n, c->n);
}

/* ---- the calls ---- */

void block_kernel_geqrf(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(panel_geqrf(c->precision, b->pool, c->m, c->m, c->n, b->tau, c->beside, NULL, b->work,
	        b->rate.stream));
}

void block_kernel_reflectors(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	const struct block_reflector r = {b->v, c->m, b->t, c->n};
	GPU(panel_geqrf(c->precision, b->pool, c->m, c->m, c->n, b->tau, false, &r, b->work,
	        b->rate.stream));
}

void block_kernel_columns(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(panel_geqrf_columns(
	        c->precision, b->pool, c->m, c->m, c->n, b->tau, b->work, b->rate.stream));
}

void block_kernel_potrf(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	const struct block_room room = {b->rate.gpu.shared_per_block,
	        b->rate.gpu.sm_count / (c->beside ? BLOCK_POTRF_BESIDE : 1), b->readers};
	GPU(block_potrf(
	        LOWER, at(c, b->pool, c->m, c->n, c->m), 0, b->info, &room, b->rate.stream));
}

void block_kernel_trtri(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(block_trtri(LOWER, NON_UNIT, triangle(c), inverse(c), b->rate.gpu.shared_per_block,
	        b->rate.stream));
}

void block_kernel_larft(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(block_larft(triangle(c), at(c, b->tau, c->n, 1, c->n), inverse(c),
	        b->rate.gpu.shared_per_block, b->rate.stream));
}

/* Of right-hand sides for all blocks there are, which are not looked at as the inverse is good. */
void block_kernel_guard(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	struct matrix sides = at(c, b->pool, c->n, BLOCK_KERNEL_WIDEST, c->n);
	GPU(block_trsm_guard(LEFT, LOWER, PLAIN, NON_UNIT, triangle(c), inverse(c), 1e3, sides,
	        sides, b->rate.stream));
}

static int64_t warm_rows(int64_t n)
{
	return n <= WARM_COLUMNS ? WARM_ROWS : (int64_t)WARM_ROWS * WARM_COLUMNS / n;
}

int64_t block_kernel_swap_rows(const struct call *c)
{
	return c->cold ? POOL_ROWS - (TURNS - 1) * TURN_ROWS : warm_rows(c->n);
}

/* The columns of the next call, and its exchanges; turned: the matrix lies by rows. */
static struct matrix next_columns(struct call *c, struct pivots *p, bool turned)
{
	struct bench *b = c->bench;
	const int64_t rows = warm_rows(c->n), first = c->turn * TURN_ROWS;
	const int64_t wide = BLOCK_KERNEL_WIDEST;
	*p = (struct pivots){b->pivots + c->turn * BLOCK_KERNEL_SWAPS, c->swaps};
	c->turn = (c->turn + 1) % TURNS;
	if (!c->cold)
		return turned ? at(c, b->pool, c->n, rows, c->n) : at(c, b->pool, rows, c->n, rows);
	if (c->column + c->n > BLOCK_KERNEL_WIDEST)
		c->column = 0;
	const int64_t column = c->column;
	c->column += c->n;
	return turned ? matrix_view(at(c, b->pool, wide, POOL_ROWS, wide), column, first, c->n,
	                        POOL_ROWS - first)
	              : matrix_view(at(c, b->pool, POOL_ROWS, wide, POOL_ROWS), first, column,
	                        POOL_ROWS - first, c->n);
}

void block_kernel_laswp(void *context)
{
	struct call *c = context;
	struct pivots p;
	struct matrix columns = next_columns(c, &p, false);
	GPU(block_laswp(columns, p, false, c->bench->rate.stream));
}

static struct matrix swaps_triangle(const struct call *c)
{
	return at(c, c->bench->triangle, c->swaps, c->swaps, c->swaps);
}

void block_kernel_lu_rows(void *context)
{
	struct call *c = context;
	struct pivots p;
	struct matrix columns = next_columns(c, &p, true);
	GPU(block_lu_rows(swaps_triangle(c), p, columns, c->bench->rate.stream));
}

void block_kernel_exchange_rows(void *context)
{
	struct call *c = context;
	struct pivots p;
	struct matrix columns = next_columns(c, &p, true);
	GPU(block_lu_rows(at(c, NULL, 0, 0, 1), p, columns, c->bench->rate.stream));
}

void block_kernel_lu_top(void *context)
{
	struct call *c = context;
	struct pivots p;
	struct matrix columns = next_columns(c, &p, false);
	GPU(block_lu_top(swaps_triangle(c), p, columns, c->bench->rate.stream));
}

/* Right of reflectors of zeros, which leave the columns what they are. */
void block_kernel_qr_columns(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	struct matrix v = at(c, b->pool, c->m, c->n, c->m), t = at(c, b->t, c->n, c->n, c->n);
	struct matrix columns = at(c, b->pool, c->m, LU_COLUMNS, c->m);
	columns.offset = c->m * c->n;
	GPU(block_qr_columns(v, t, columns, b->rate.stream));
}

/* Right of a panel of zeros, which leave the columns what they are. */
void block_kernel_lu_columns(void *context)
{
	struct call *c = context;
	struct bench *b = c->bench;
	struct matrix a = at(c, b->pool, c->m, c->n, c->m);
	struct matrix columns = at(c, b->pool, c->m, LU_COLUMNS, c->m);
	struct pivots p = {b->pivots + c->turn * BLOCK_KERNEL_SWAPS, c->n};
	columns.offset = c->m * c->n;
	GPU(block_lu_columns(a, p, columns, b->rate.stream));
	c->turn = (c->turn + 1) % TURNS;
}

/* Panels of LU that take turns: as many as L2 surely holds, more than a point has calls. */
static int64_t panels(const struct call *c)
{
	const int64_t fit = WARM_BYTES / (c->m * c->n * precision_bytes(c->precision));

	return fit < MOST_PANELS ? fit : MOST_PANELS;
}

/* Of a panel that is factorized already pivots would stay in their place, and all come from the
 * first block. */
static void *next_panel(struct call *c)
{
	const int64_t at = c->turn % panels(c) * c->m * c->n;

	c->turn = (c->turn + 1) % panels(c);
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

/* ---- data ---- */

void block_kernel_fill_swaps_triangle(const struct call *c)
{
	GPU(block_fill(WHOLE, 1e-4, 1, swaps_triangle(c), c->bench->rate.stream));
}

void block_kernel_fill_zero(const struct call *c)
{
	GPU(block_fill(
	        WHOLE, 0, 0, at(c, c->bench->pool, c->m, c->n, c->m), c->bench->rate.stream));
}

void block_kernel_fill_triangle(const struct call *c)
{
	GPU(block_fill(WHOLE, 1e-4, 1, triangle(c), c->bench->rate.stream));
	GPU(block_fill(WHOLE, 0, 1, inverse(c), c->bench->rate.stream));
	GPU(block_fill(WHOLE, 1, 1, at(c, c->bench->tau, c->n, 1, c->n), c->bench->rate.stream));
}

void block_kernel_fill_identity(const struct call *c)
{
	struct bench *b = c->bench;
	GPU(block_fill(WHOLE, 1e-4, 1, at(c, b->pool, c->m, c->n, c->m), b->rate.stream));
}

/* Factorized again, reflectors lose the norm of their columns, and after some calls the squares of
 * what is left are no numbers any more that a column's norm is found by: columns of norm 1 lose two
 * thirds a time and last for thirty calls. */
void block_kernel_fill_panel(const struct call *c)
{
	struct bench *b = c->bench;
	const int count = (int)(c->m * c->n);
	const uint64_t seed = (uint64_t)b->rate.run->common.seed;
	const double scale = sqrt(3 / (double)c->m);
	const float scale_s = (float)scale;
	BLAS(cublasSetStream(b->rate.blas, b->rate.stream));
	if (c->precision == SINGLE) {
		gpu_fill_float(b->pool, count, seed, b->rate.stream);
		BLAS(cublasSscal(b->rate.blas, count, &scale_s, b->pool, 1));
	} else {
		gpu_fill_double(b->pool, count, seed, b->rate.stream);
		BLAS(cublasDscal(b->rate.blas, count, &scale, b->pool, 1));
	}
}

void block_kernel_fill_panels(const struct call *c)
{
	const int64_t count = panels(c) * c->m * c->n;
	const uint64_t seed = (uint64_t)c->bench->rate.run->common.seed;
	if (c->precision == SINGLE)
		gpu_fill_float(c->bench->pool, count, seed, c->bench->rate.stream);
	else
		gpu_fill_double(c->bench->pool, count, seed, c->bench->rate.stream);
}

void block_kernel_send_pivots(struct bench *b, int64_t rows)
{
	int *ipiv = xmalloc(TURNS * BLOCK_KERNEL_SWAPS * sizeof *ipiv);
	uint64_t state = (uint64_t)b->rate.run->common.seed;
	for (int64_t i = 0; i < TURNS * BLOCK_KERNEL_SWAPS; i++) {
		int64_t row = i % BLOCK_KERNEL_SWAPS;
		state = state * 6364136223846793005u + 1442695040888963407u;
		ipiv[i] = (int)(row + 1 + (int64_t)(state >> 33) % (rows > row ? rows - row : 1));
	}
	GPU(cudaMemcpy(b->pivots, ipiv, TURNS * BLOCK_KERNEL_SWAPS * sizeof *ipiv,
	        cudaMemcpyHostToDevice));
	free(ipiv);
}

static void *room(int64_t bytes)
{
	void *data;
	GPU(cudaMalloc(&data, (size_t)bytes));
	GPU(cudaMemset(data, 0, (size_t)bytes));
	return data;
}

void block_kernel_open(struct bench *b, struct probe_run *run)
{
	const int64_t panel = (int64_t)BLOCK_KERNEL_ROWS * PANEL_GEQRF_COLUMNS * 8;
	const int64_t whole = (int64_t)POOL_ROWS * BLOCK_KERNEL_WIDEST * 8;
	const int64_t block = (int64_t)BLOCK_POTRF_MAX * BLOCK_POTRF_MAX * 8;
	size_t unused, total;
	int64_t work = 0;
	blas_rate_open(&b->rate, run);
	GPU(cudaMemGetInfo(&unused, &total));
	b->cold = whole < (int64_t)(unused / 2);
	if (!b->cold)
		msg_warn("only %zu bytes of GPU memory are free: row swaps in DRAM are left out",
		        unused);
	for (int64_t m = BLOCK_KERNEL_NARROWEST; m <= BLOCK_KERNEL_ROWS; m *= 2)
		for (int64_t n = BLOCK_KERNEL_NARROWEST; n <= PANEL_GEQRF_COLUMNS && n <= m; n *= 2)
			for (int twice = 0; twice < 2; twice++) {
				enum precision precision = twice ? DOUBLE : SINGLE;
				int64_t bytes = panel_geqrf_work(precision, m, n),
				        columns = panel_geqrf_columns_work(precision, m, n);
				work = bytes > work ? bytes : work;
				work = columns > work ? columns : work;
			}
	b->pool = room(b->cold && whole > panel ? whole : panel);
	b->triangle = room(block);
	b->inverse = room(block);
	b->readers = room(sizeof *b->readers);
	b->v = room(panel);
	b->t = room(PANEL_GEQRF_COLUMNS * PANEL_GEQRF_COLUMNS * 8);
	b->tau = room(PANEL_GEQRF_COLUMNS * 8);
	b->work = room(work);
	b->exchange = room(panel_grid_work());
	b->tag = 1;
	b->info = room(sizeof *b->info);
	b->pivots = room(TURNS * BLOCK_KERNEL_SWAPS * (int64_t)sizeof *b->pivots);
	GPU(cudaDeviceSynchronize());
}

void block_kernel_close(struct bench *b)
{
	void *pieces[] = {b->pool, b->triangle, b->inverse, b->readers, b->tau, b->work, b->info,
	        b->pivots, b->v, b->t, b->exchange};
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		GPU(cudaFree(pieces[i]));
	blas_rate_close(&b->rate);
}
