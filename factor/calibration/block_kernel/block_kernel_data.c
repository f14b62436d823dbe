/* SPDX-License-Identifier: MIT */
/* The memory and the data of the calls that block_kernel times. */
#include "block_kernel_internal.h"

#include "factor/kernels/lu/panel_kernels.h"
#include "factor/kernels/qr/panel_geqrf.h"

void *block_kernel_take(struct bench *b, int64_t bytes)
{
	enum { LINE = 512 };
	void *at = (char *)b->pool + b->used;

	b->used += (bytes + LINE - 1) / LINE * LINE;
	if (b->used > b->pool_bytes)
		msg_die(EXIT_NOT_POSSIBLE, "not enough GPU memory for %s", b->kernel->kind);
	GPU(cudaMemsetAsync(at, 0, (size_t)bytes, b->rate.stream));
	return at;
}

struct matrix block_kernel_place(struct bench *b, int64_t m, int64_t n)
{
	return block_kernel_matrix(
	        b, block_kernel_take(b, m * n * precision_bytes(b->precision)), m, n);
}

void block_kernel_random(const struct bench *b, void *data, int64_t count, double scale)
{
	BLAS(cublasSetStream(b->rate.blas, b->rate.stream));
	blas_rate_fill(&b->rate, b->precision, data, count, 0, scale);
}

void block_kernel_fill_random(const struct bench *b, struct matrix a, double scale)
{
	block_kernel_random(b, a.data, a.m * a.n, scale);
}

/* Factorizing a panel again shrinks its columns by two thirds. From norm 1 it takes thirty calls
 * until the squares of their elements underflow. */
void block_kernel_fill_panel(struct bench *b)
{
	block_kernel_random(b, b->pool, b->m * b->n, sqrt(3 / (double)b->m));
}

void block_kernel_fill_identity(struct bench *b)
{
	GPU(block_fill(WHOLE, block_kernel_little, 1, block_kernel_matrix(b, b->pool, b->m, b->n),
	        b->rate.stream));
}

int block_kernel_pivot(uint64_t *state, int64_t row, int64_t rows)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (int)(row + 1 + (int64_t)(*state >> 33) % (rows > row ? rows - row : 1));
}

bool block_kernel_info_is_clear(const struct bench *b)
{
	int info;
	GPU(cudaMemcpy(&info, b->info, sizeof info, cudaMemcpyDeviceToHost));
	return info == 0;
}

int64_t block_kernel_one_more(const struct bench *b, int64_t value)
{
	(void)b;
	return value + 1;
}

/* Bytes of workspace of the panels of QR. */
static int64_t panel_work(void)
{
	int64_t work = 0;

	for (int64_t m = BLOCK_KERNEL_NARROWEST; m <= BLOCK_KERNEL_ROWS; m *= 2)
		for (int64_t n = BLOCK_KERNEL_NARROWEST; n <= PANEL_GEQRF_COLUMNS && n <= m; n *= 2)
			for (int twice = 0; twice < 2; twice++) {
				enum precision precision = twice ? DOUBLE : SINGLE;
				work = max_int64(work, panel_geqrf_work(precision, m, n));
				work = max_int64(work, panel_geqrf_columns_work(precision, m, n));
			}
	return work;
}

void block_kernel_open(struct bench *b, struct probe_run *run)
{
	const int64_t panel = (int64_t)BLOCK_KERNEL_ROWS * PANEL_GEQRF_COLUMNS * 8;
	const int64_t whole = (int64_t)BLOCK_KERNEL_POOL_ROWS * BLOCK_KERNEL_WIDEST * 8;
	const int64_t block = (int64_t)BLOCK_POTRF_MAX * BLOCK_POTRF_MAX * 8;
	struct blas_rate *rate = &b->rate;
	size_t unused, total;
	blas_rate_open(rate, run);
	b->step = run->common.quick ? 8 : 2;
	b->narrow = run->common.quick ? 4 : 2;
	GPU(cudaMemGetInfo(&unused, &total));
	b->has_cold = whole < (int64_t)(unused / 2);
	if (!b->has_cold)
		msg_warn("only %zu bytes of GPU memory are free: row swaps in DRAM are left out",
		        unused);
	b->pool_bytes = b->has_cold ? whole : 2 * panel;
	b->pool = blas_rate_room(rate, b->pool_bytes);
	b->triangle = blas_rate_room(rate, block);
	b->inverse = blas_rate_room(rate, block);
	b->readers = blas_rate_room(rate, sizeof *b->readers);
	b->v = blas_rate_room(rate, panel);
	b->t = blas_rate_room(rate, PANEL_GEQRF_COLUMNS * PANEL_GEQRF_COLUMNS * 8);
	b->tau = blas_rate_room(rate, PANEL_GEQRF_COLUMNS * 8);
	b->work = blas_rate_room(rate, panel_work());
	b->exchange = blas_rate_room(rate, panel_grid_work());
	b->tag = 1;
	b->info = blas_rate_room(rate, sizeof *b->info);
	b->pivots = blas_rate_room(
	        rate, BLOCK_KERNEL_TURNS * BLOCK_KERNEL_SWAPS * (int64_t)sizeof *b->pivots);
}
