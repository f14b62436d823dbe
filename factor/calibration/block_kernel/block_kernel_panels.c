/* SPDX-License-Identifier: MIT */
/* Panels of QR and LU, alone and beside products. */
#include "block_kernel_internal.h"

#include "factor/kernels/lu/panel_kernels.h"
#include "factor/kernels/qr/panel_geqrf.h"

#include <math.h>
#include <stdlib.h>

enum {
	FEWEST_GRID_ROWS = 4096, /* of LU panels of many multiprocessors */
	LITTLE_MORE = 64,        /* rows */
	FEWEST_STEPPED = 1024,
	MOST_STEPPED = 8192,
	WARM_BYTES = 16 << 20, /* of LU panels that take turns */
	MOST_PANELS = 64
};

/* ---- the calls ---- */

static int geqrf(struct bench *b)
{
	return panel_geqrf(b->precision, b->pool, b->m, b->m, b->n, b->tau, b->overlapped, NULL,
	        b->work, b->rate.stream);
}

static int reflectors(struct bench *b)
{
	const struct block_reflector r = {b->v, b->m, b->t, b->n};

	return panel_geqrf(b->precision, b->pool, b->m, b->m, b->n, b->tau, false, &r, b->work,
	        b->rate.stream);
}

static int geqrf_columns(struct bench *b)
{
	return panel_geqrf_columns_unless(
	        NULL, b->precision, b->pool, b->m, b->m, b->n, b->tau, b->work, b->rate.stream);
}

/* Number of LU panels that take turns: L2 holds them all, and no point has more calls. */
static int64_t turns(const struct bench *b)
{
	return min_int64(MOST_PANELS, WARM_BYTES / (b->m * b->n * precision_bytes(b->precision)));
}

/* In a panel that is factorized already, pivots would stay in place and all come from the first
 * block. */
static void *next_panel(struct bench *b)
{
	const int64_t at = b->turn % turns(b) * b->m * b->n;

	b->turn = (b->turn + 1) % turns(b);
	return (char *)b->pool + at * precision_bytes(b->precision);
}

static int cluster(struct bench *b)
{
	return panel_cluster(
	        b->precision, next_panel(b), b->m, b->m, b->n, b->pivots, b->info, b->rate.stream);
}

static int grid(struct bench *b)
{
	const uint32_t tag = b->tag;

	b->tag += (uint32_t)b->n;
	return panel_grid(b->precision, next_panel(b), b->m, b->m, b->n, b->pivots, b->exchange,
	        tag, b->info, b->rate.stream);
}

static void fill_panels(struct bench *b)
{
	block_kernel_random(b, b->pool, turns(b) * b->m * b->n, 1);
}

/* ---- shapes ---- */

static int64_t tallest(const struct bench *b)
{
	return b->rate.run->common.quick ? 8192 : BLOCK_KERNEL_ROWS;
}

/* More rows than one cluster holds take another kernel, which is slower by a step. In single
 * precision the kernel by the Gram matrix comes before that. */
static bool steps_beyond_cluster(const struct bench *b)
{
	return b->precision == DOUBLE && panel_geqrf_cluster_fits(DOUBLE, b->n, b->n);
}

static int64_t rows_of_cluster(const struct bench *b)
{
	return panel_cluster_rows(b->n, precision_bytes(b->precision));
}

/* The next number of rows of a Householder panel: powers of two, then a little more than one
 * cluster holds. */
static int64_t taller_or_stepped(const struct bench *b, int64_t m)
{
	const int64_t last = rows_of_cluster(b) + LITTLE_MORE;

	if (m == last)
		return INT64_MAX;
	return m * b->step > tallest(b) && steps_beyond_cluster(b) ? last : m * b->step;
}

/* The next number of rows: powers of two, and between them a little more than a power of two where
 * a cluster then has more warps than schedulers, which costs a step; not with --quick. */
static int64_t taller(const struct bench *b, int64_t m)
{
	const bool little_more = m % FEWEST_STEPPED == LITTLE_MORE;
	const bool steps = b->step == 2 && m >= FEWEST_STEPPED && m <= MOST_STEPPED;

	return little_more ? b->step * (m - LITTLE_MORE) : steps ? m + LITTLE_MORE : b->step * m;
}

/* The tau of a panel whose blocks gave up waiting for each other is NaN. */
static bool tau_is_finite(const struct bench *b)
{
	double *tau = blas_rate_fetch(&b->rate, b->precision, b->tau, b->n);
	bool finite = true;

	for (int64_t j = 0; j < b->n; j++)
		finite = finite && isfinite(tau[j]);
	free(tau);
	return finite;
}

/* geqrf_columns is for panels that are too tall for the chip; LU panels set info when blocks gave
 * up waiting. */
void block_kernel_panels(struct bench *b)
{
	const int64_t narrowest = BLOCK_KERNEL_NARROWEST, most = tallest(b);
	const struct range n = {"n", &b->n, narrowest, PANEL_GEQRF_COLUMNS, b->narrow, NULL},
	                   m_stepped = {"m", &b->m, 128, most, 0, taller_or_stepped},
	                   overlapped = {"overlapped", &b->overlapped, 0, 1, 0,
	                           block_kernel_one_more},
	                   m_all = {"m", &b->m, 128, BLOCK_KERNEL_ROWS, 0, taller},
	                   m_some = {"m", &b->m, most, PANEL_GEQRF_COLUMNS, 2 * b->step, NULL},
	                   n_lu = {"n", &b->n, narrowest, PANEL_ROW, b->narrow, NULL},
	                   m_lu = {"m", &b->m, 128, most, 0, taller},
	                   m_grid = {"m", &b->m, most, FEWEST_GRID_ROWS, b->step, NULL};
	const struct kernel kernels[] = {{"geqrf", geqrf, block_kernel_fill_panel, tau_is_finite,
	                                         {n, m_stepped, overlapped}, .has = NULL},
	        {"reflectors", reflectors, block_kernel_fill_panel, tau_is_finite, {m_all, n},
	                .has = panel_geqrf_reflects},
	        {"geqrf_columns", geqrf_columns, block_kernel_fill_panel, tau_is_finite,
	                {m_some, n}, .has = NULL},
	        {"cluster", cluster, fill_panels, block_kernel_info_is_clear, {m_lu, n_lu},
	                .has = panel_cluster_fits},
	        {"grid", grid, fill_panels, block_kernel_info_is_clear, {m_grid, n_lu},
	                .has = panel_grid_fits}};

	block_kernel_measure(b, kernels, ARRAY_LEN(kernels));
}

/* ---- beside products ---- */

static bool geqrf_fits(const struct bench *b)
{
	return b->n * precision_bytes(b->precision) / 4 <= PANEL_ROW;
}

static bool grid_is_tall(const struct bench *b)
{
	return b->m >= FEWEST_GRID_ROWS;
}

static const struct kernel shared[] = {
        {"geqrf_shared", geqrf, block_kernel_fill_panel, .fits = geqrf_fits},
        {"cluster_shared", cluster, fill_panels, .has = panel_cluster_fits},
        {"grid_shared", grid, fill_panels, .has = panel_grid_fits, .fits = grid_is_tall}};
static const struct kernel shared_rows = {"potrf_rows_shared", block_kernel_potrf,
        block_kernel_fill_identity, .form = BLOCK_POTRF_BESIDE};

static void measure_shape(struct bench *b, struct beside *beside, const struct kernel *kernel)
{
	const struct arg shape[] = {{"m", (double)b->m}, {"n", (double)b->n}};

	if (block_kernel_fits(b, kernel))
		beside_measure(beside, kernel, shape, ARRAY_LEN(shape));
}

/* Around the most rows that one cluster holds, with one warp a scheduler and with more. Both widths
 * have all of these rows, which makes them part of the surface's grid. */
static void measure_steps_beside(struct bench *b, struct beside *beside)
{
	const int64_t widest = PANEL_ROW * 4 / precision_bytes(b->precision);

	b->n = widest;
	const int64_t held = rows_of_cluster(b);
	const int64_t rows[] = {
	        held / 2 + LITTLE_MORE, held, held + LITTLE_MORE, 2 * held + LITTLE_MORE};
	for (size_t i = 0; steps_beyond_cluster(b) && i < ARRAY_LEN(rows); i++)
		for (b->m = rows[i], b->n = widest; b->n >= widest / 2; b->n /= 2)
			measure_shape(b, beside, &shared[0]);
}

/* Panels of Cholesky have m rows below them. */
static void measure_beside(struct bench *b, struct beside *beside, int64_t m)
{
	const struct arg rows[] = {{"n", (double)b->n}, {"below", (double)m}};

	b->m = m;
	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		measure_shape(b, beside, &shared[i]);
	b->m = m + b->n;
	beside_measure(beside, &shared_rows, rows, ARRAY_LEN(rows));
}

void block_kernel_panels_beside(struct bench *b)
{
	const cudaStream_t alone = b->rate.stream;
	struct beside beside;
	beside_open(&beside, b);
	b->rate.stream = beside.high;
	b->overlapped = true;
	for (int64_t m = 512; m <= 32768; m *= 2 * b->step)
		for (b->n = 32; b->n <= PANEL_GEQRF_COLUMNS; b->n *= b->step)
			measure_beside(b, &beside, m);
	if (!b->rate.run->common.quick)
		measure_steps_beside(b, &beside);
	b->rate.stream = alone;
	BLAS(cublasSetStream(b->rate.blas, alone));
	beside_close(&beside);
}
