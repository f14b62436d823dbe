/* SPDX-License-Identifier: MIT */
/* The data of the calls that block_kernel times, and one point. */
#include "block_kernel_internal.h"

#include "factor/kernels/qr/panel_geqrf.h"
#include "factor/kernels/lu/panel_kernels.h"
#include "lib/base/random.h"

#include <stdlib.h>

static const double little = 1e-4;

void block_kernel_random(const struct blas_rate *rate, enum precision precision, void *data,
        int64_t count, double scale)
{
	const float scale_s = (float)scale;

	BLAS(cublasSetStream(rate->blas, rate->stream));
	blas_rate_fill(rate, precision, data, count, 0);
	if (precision == SINGLE)
		BLAS(cublasSscal_64(rate->blas, count, &scale_s, data, 1));
	else
		BLAS(cublasDscal_64(rate->blas, count, &scale, data, 1));
}

int block_kernel_pivot(uint64_t *state, int64_t row, int64_t rows)
{
	return (int)(row + 1 + (int64_t)(random_next(state) >> 33) % (rows > row ? rows - row : 1));
}

void block_kernel_fill_swaps_triangle(const struct call *c)
{
	GPU(block_fill(
	        WHOLE, little, 1, block_kernel_triangle(c, c->swaps), c->bench->rate.stream));
}

void block_kernel_fill_triangle(const struct call *c)
{
	GPU(block_fill(WHOLE, little, 1, block_kernel_triangle(c, c->n), c->bench->rate.stream));
	GPU(block_fill(WHOLE, 0, 1, block_kernel_inverse(c), c->bench->rate.stream));
	GPU(block_fill(WHOLE, 1, 1, block_kernel_matrix(c, c->bench->tau, c->n, 1, c->n),
	        c->bench->rate.stream));
}

void block_kernel_fill_identity(const struct call *c)
{
	struct bench *b = c->bench;
	GPU(block_fill(WHOLE, little, 1, block_kernel_matrix(c, b->pool, c->m, c->n, c->m),
	        b->rate.stream));
}

/* Factorizing a panel again shrinks its columns by two thirds. From norm 1 it takes thirty calls
 * until the squares of their elements underflow. */
void block_kernel_fill_panel(const struct call *c)
{
	block_kernel_random(
	        &c->bench->rate, c->precision, c->bench->pool, c->m * c->n, sqrt(3 / (double)c->m));
}

void block_kernel_fill_panels(const struct call *c)
{
	block_kernel_random(&c->bench->rate, c->precision, c->bench->pool,
	        block_kernel_turns(c) * c->m * c->n, 1);
}

void block_kernel_fill_pool(const struct call *c)
{
	block_kernel_random(&c->bench->rate, c->precision, c->bench->pool,
	        c->bench->pool_bytes / precision_bytes(c->precision), 1);
}

void block_kernel_fill_lu_columns(const struct call *c)
{
	const struct bench *b = c->bench;
	block_kernel_random(&b->rate, c->precision, b->pool, c->m * (c->n + BLOCK_KERNEL_RIGHT), 1);
	block_kernel_random(&b->rate, c->precision, b->pool, c->m * c->n, little);
}

void block_kernel_fill_qr_columns(const struct call *c)
{
	const struct bench *b = c->bench;
	block_kernel_random(&b->rate, c->precision, b->pool, c->m * (c->n + BLOCK_KERNEL_RIGHT), 1);
	block_kernel_fill_panel(c);
	block_kernel_random(&b->rate, c->precision, b->t, c->n * c->n, little);
}

void block_kernel_send_pivots(struct bench *b, int64_t rows)
{
	int *ipiv = xmalloc(BLOCK_KERNEL_TURNS * BLOCK_KERNEL_SWAPS * sizeof *ipiv);
	uint64_t state = (uint64_t)b->rate.run->common.seed;
	for (int64_t i = 0; i < BLOCK_KERNEL_TURNS * BLOCK_KERNEL_SWAPS; i++)
		ipiv[i] = block_kernel_pivot(&state, i % BLOCK_KERNEL_SWAPS, rows);
	GPU(cudaMemcpy(b->pivots, ipiv, BLOCK_KERNEL_TURNS * BLOCK_KERNEL_SWAPS * sizeof *ipiv,
	        cudaMemcpyHostToDevice));
	GPU(cudaDeviceSynchronize()); /* a copy from pageable memory returns once it is staged */
	free(ipiv);
}

void block_kernel_measure(
        struct call *c, const char *kind, void (*put)(void *), const struct arg *args, size_t count)
{
	if (!c->cold) /* cold calls go on behind the columns that another kind's have left in L2 */
		c->turn = c->column = 0;
	blas_rate_point(&c->bench->rate, put, c, kind, c->precision, args, count);
}

void block_kernel_measure_shape(
        struct call *c, const char *kind, void (*fill)(const struct call *), void (*put)(void *))
{
	const struct arg args[] = {{"m", (double)c->m}, {"n", (double)c->n}};
	fill(c);
	block_kernel_measure(c, kind, put, args, ARRAY_LEN(args));
}

int64_t block_kernel_wider(const struct call *c)
{
	return c->bench->rate.run->common.quick ? 4 : 2;
}

int64_t block_kernel_next_width(const struct call *c, int64_t widest)
{
	const int64_t next = c->n * block_kernel_wider(c);
	return c->n < widest && next > widest ? widest : next;
}

/* Of QR's panels: of all that fit, and of the tallest. */
static int64_t panel_work(const struct bench *b)
{
	int64_t work = 0;

	for (int64_t m = BLOCK_KERNEL_NARROWEST; m <= b->tallest; m *= 2)
		for (int64_t n = BLOCK_KERNEL_NARROWEST; n <= PANEL_GEQRF_COLUMNS && n <= m; n *= 2)
			for (int twice = 0; twice < 2; twice++) {
				enum precision precision = twice ? DOUBLE : SINGLE;
				work = max_int64(work, panel_geqrf_work(precision, m, n, true));
				work = max_int64(work, panel_geqrf_columns_work(precision, m, n));
			}
	return work;
}

void block_kernel_open(struct bench *b, struct probe_run *run)
{
	const int64_t tall = (int64_t)BLOCK_KERNEL_TALLEST * PANEL_GRAM_COLUMNS * 8;
	const int64_t whole = (int64_t)BLOCK_KERNEL_POOL_ROWS * BLOCK_KERNEL_WIDEST * 8;
	const int64_t block = (int64_t)BLOCK_POTRF_MAX * BLOCK_POTRF_MAX * 8;
	int64_t panel = (int64_t)BLOCK_KERNEL_ROWS * PANEL_GEQRF_COLUMNS * 8;
	size_t unused, total;
	blas_rate_open(&b->rate, run);
	GPU(cudaMemGetInfo(&unused, &total));
	b->cold = whole < (int64_t)(unused / 2);
	if (!b->cold)
		msg_warn("only %zu bytes of GPU memory are free: row swaps in DRAM are left out",
		        unused);
	b->tallest = BLOCK_KERNEL_ROWS;
	if (b->cold && !run->common.quick) {
		b->tallest = BLOCK_KERNEL_TALLEST;
		panel = max_int64(panel, tall);
	}
	b->pool_bytes = b->cold && whole > panel ? whole : panel;
	b->pool = blas_rate_room(b->pool_bytes);
	b->triangle = blas_rate_room(block);
	b->inverse = blas_rate_room(block);
	b->readers = blas_rate_room(sizeof *b->readers);
	b->v = blas_rate_room(panel);
	b->t = blas_rate_room(PANEL_GEQRF_COLUMNS * PANEL_GEQRF_COLUMNS * 8);
	b->tau = blas_rate_room(PANEL_GEQRF_COLUMNS * 8);
	b->work = blas_rate_room(panel_work(b));
	b->exchange = blas_rate_room(panel_grid_work());
	b->tag = 1;
	b->info = blas_rate_room(sizeof *b->info);
	b->pivots = blas_rate_room(
	        BLOCK_KERNEL_TURNS * BLOCK_KERNEL_SWAPS * (int64_t)sizeof *b->pivots);
}

void block_kernel_close(struct bench *b)
{
	void *pieces[] = {b->pool, b->triangle, b->inverse, b->readers, b->tau, b->work, b->info,
	        b->pivots, b->v, b->t, b->exchange};

	blas_rate_release(&b->rate, pieces, ARRAY_LEN(pieces));
	blas_rate_close(&b->rate);
}
