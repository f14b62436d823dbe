/* SPDX-License-Identifier: MIT */
/* Panels of QR and LU, alone and beside products. */
#include "lib/base/base.h"
#include "block_kernel_internal.h"

#include "factor/kernels/qr/panel_geqrf.h"
#include "factor/kernels/lu/panel_kernels.h"

#include <math.h>
#include <stdlib.h>

enum {
	FEWEST_GRID_ROWS = 4096, /* of LU panels of many multiprocessors */
	LITTLE_MORE = 64,        /* rows */
	FEWEST_STEPPED = 1024,
	MOST_STEPPED = 8192
};

/* The tau of a panel whose blocks gave up waiting for each other is NaN. */
static void check_panel(const struct call *c)
{
	double *tau = blas_rate_fetch(&c->bench->rate, c->precision, c->bench->tau, c->n);

	for (int64_t j = 0; j < c->n; j++)
		if (!isfinite(tau[j]))
			msg_die(EXIT_MEASURE_FAILED, "the panel of %lld x %lld failed",
			        (long long)c->m, (long long)c->n);
	free(tau);
}

static int64_t tallest(const struct call *c)
{
	return c->bench->rate.run->common.quick ? 8192 : BLOCK_KERNEL_ROWS;
}

static void measure_panel(struct call *c)
{
	for (int beside = 0; beside < 2; beside++) {
		const struct arg args[] = {
		        {"m", (double)c->m}, {"n", (double)c->n}, {"overlapped", beside}};
		c->beside = beside;
		block_kernel_fill_panel(c);
		block_kernel_measure(c, "geqrf", block_kernel_geqrf, args, ARRAY_LEN(args));
		check_panel(c);
	}
}

/* More rows than one cluster holds take another kernel, which is slower by a step. In single
 * precision the kernel by the Gram matrix comes before that. */
static bool steps_beyond_cluster(const struct call *c)
{
	return c->precision == DOUBLE && panel_geqrf_cluster_fits(DOUBLE, c->n, c->n);
}

static int64_t rows_of_cluster(const struct call *c)
{
	return panel_cluster_rows(c->n, precision_bytes(c->precision));
}

static void measure_panels(struct call *c, int64_t step)
{
	for (c->n = BLOCK_KERNEL_NARROWEST; c->n <= PANEL_GEQRF_COLUMNS;
	        c->n = block_kernel_next_width(c, PANEL_GEQRF_COLUMNS)) {
		for (c->m = 128; c->m <= tallest(c); c->m *= step)
			measure_panel(c);
		c->m = rows_of_cluster(c) + LITTLE_MORE;
		if (steps_beyond_cluster(c) && c->m <= tallest(c))
			measure_panel(c);
	}
}

/* The next number of rows: powers of two, and between them a little more than a power of two where
 * a cluster then has more warps than schedulers, which costs a step; not with --quick. */
static int64_t taller(const struct call *c, int64_t step)
{
	const bool little_more = c->m % FEWEST_STEPPED == LITTLE_MORE;
	const bool steps = step == 2 && c->m >= FEWEST_STEPPED && c->m <= MOST_STEPPED;

	return little_more ? step * (c->m - LITTLE_MORE) : steps ? c->m + LITTLE_MORE : step * c->m;
}

/* Panels with V and T by the Gram matrix, of the widths between which the model reads. */
static void measure_gram_widths(struct call *c, const char *kind)
{
	for (c->n = PANEL_GRAM_COLUMNS / 2; c->n <= PANEL_GRAM_COLUMNS; c->n *= 2) {
		if (!panel_gram_takes(c->precision, c->m, c->n) ||
		        !panel_geqrf_gram_fits(c->precision, c->m, c->n))
			continue;
		block_kernel_measure_shape(
		        c, kind, block_kernel_fill_panel, block_kernel_reflectors);
		check_panel(c);
	}
}

/* Panels with V and T in one call. */
static void measure_reflectors(struct call *c, int64_t step)
{
	for (c->m = 128; c->m <= BLOCK_KERNEL_ROWS; c->m = taller(c, step))
		for (c->n = BLOCK_KERNEL_NARROWEST; c->n <= PANEL_GEQRF_COLUMNS;
		        c->n = block_kernel_next_width(c, PANEL_GEQRF_COLUMNS)) {
			if (!panel_geqrf_reflects(c->precision, c->m, c->n, false))
				continue;
			block_kernel_measure_shape(
			        c, "reflectors", block_kernel_fill_panel, block_kernel_reflectors);
			check_panel(c);
		}
	c->m = c->bench->tallest;
	if (c->precision == SINGLE && c->m > BLOCK_KERNEL_ROWS)
		measure_gram_widths(c, "reflectors");
}

/* The same by the Gram matrix in double precision. */
static void measure_gram(struct call *c, int64_t step)
{
	if (c->precision == SINGLE)
		return;
	c->gram = true;
	for (c->m = 128; c->m <= BLOCK_KERNEL_ROWS; c->m *= step)
		measure_gram_widths(c, "geqrf_gram");
	c->m = c->bench->tallest;
	if (c->m > BLOCK_KERNEL_ROWS)
		measure_gram_widths(c, "geqrf_gram");
	c->gram = false;
}

/* The kernel for panels that are too tall for the chip, at every other power of two; the tallest,
 * which outgrow L2, at every one. */
static void measure_columns(struct call *c, int64_t step)
{
	const int64_t every = tallest(c) / step;

	for (c->m = tallest(c); c->m >= PANEL_GEQRF_COLUMNS;
	        c->m /= c->m >= every ? step : 2 * step)
		for (c->n = BLOCK_KERNEL_NARROWEST; c->n <= PANEL_GEQRF_COLUMNS;
		        c->n *= block_kernel_wider(c)) {
			block_kernel_measure_shape(
			        c, "geqrf_columns", block_kernel_fill_panel, block_kernel_columns);
			check_panel(c);
		}
}

/* LU panels set info when blocks gave up waiting. */
static void check_waits(const struct call *c)
{
	int info;
	GPU(cudaMemcpy(&info, c->bench->info, sizeof info, cudaMemcpyDeviceToHost));
	if (info != 0)
		msg_die(EXIT_MEASURE_FAILED, "blocks of a panel waited too long for each other");
}

/* Few of the largest panels fit in L2. */
static void refill(void *context)
{
	struct call *c = context;
	block_kernel_fill_panels(c);
	c->turn = 0;
}

static void measure_lu(struct call *c, const char *kind, void (*put)(void *),
        bool (*fits)(enum precision, int64_t, int64_t))
{
	for (c->n = BLOCK_KERNEL_NARROWEST; c->n <= PANEL_ROW;
	        c->n = block_kernel_next_width(c, PANEL_ROW))
		if (fits(c->precision, c->m, c->n))
			block_kernel_measure_shape(c, kind, block_kernel_fill_panels, put);
}

static void measure_lu_panels(struct call *c, int64_t step)
{
	c->bench->rate.refresh = refill;
	for (c->m = 128; c->m <= tallest(c); c->m = taller(c, step))
		measure_lu(c, "cluster", block_kernel_cluster, panel_cluster_fits);
	for (c->m = tallest(c); c->m >= FEWEST_GRID_ROWS; c->m /= step)
		measure_lu(c, "grid", block_kernel_grid, panel_grid_fits);
	c->bench->rate.refresh = NULL;
	c->turn = 0;
	check_waits(c);
}

void block_kernel_panels(struct call *c, int64_t step)
{
	measure_panels(c, step);
	measure_reflectors(c, step);
	measure_gram(c, step);
	measure_columns(c, step);
	measure_lu_panels(c, step);
}

/* ---- beside products ---- */

static void measure_geqrf_beside(struct call *c, struct beside *beside)
{
	const struct arg shape[] = {{"m", (double)c->m}, {"n", (double)c->n}};

	beside_measure(beside, &c->bench->rate, block_kernel_fill_panel, block_kernel_geqrf, c,
	        "geqrf_shared", shape, ARRAY_LEN(shape));
}

/* Around the most rows that one cluster holds, with one warp a scheduler and with more. Both widths
 * have all of these rows, which makes them part of the surface's grid. */
static void measure_steps_beside(struct call *c, struct beside *beside)
{
	const int64_t widest = PANEL_ROW * 4 / precision_bytes(c->precision);

	c->n = widest;
	const int64_t held = rows_of_cluster(c);
	const int64_t rows[] = {
	        held / 2 + LITTLE_MORE, held, held + LITTLE_MORE, 2 * held + LITTLE_MORE};
	for (size_t i = 0; steps_beyond_cluster(c) && i < ARRAY_LEN(rows); i++)
		for (c->m = rows[i], c->n = widest; c->n >= widest / 2; c->n /= 2)
			measure_geqrf_beside(c, beside);
}

/* Panels of Cholesky have m rows below them. */
static void measure_beside(struct call *c, struct beside *beside, int64_t m)
{
	struct bench *b = c->bench;
	const struct arg shape[] = {{"m", (double)m}, {"n", (double)c->n}};
	const struct arg rows[] = {{"n", (double)c->n}, {"below", (double)m}};
	c->m = m;
	if (c->n * precision_bytes(c->precision) / 4 <= PANEL_ROW)
		measure_geqrf_beside(c, beside);
	if (c->n <= PANEL_ROW && panel_cluster_fits(c->precision, m, c->n))
		beside_measure(beside, &b->rate, block_kernel_fill_panels, block_kernel_cluster, c,
		        "cluster_shared", shape, ARRAY_LEN(shape));
	if (c->n <= PANEL_ROW && m >= FEWEST_GRID_ROWS && panel_grid_fits(c->precision, m, c->n))
		beside_measure(beside, &b->rate, block_kernel_fill_panels, block_kernel_grid, c,
		        "grid_shared", shape, ARRAY_LEN(shape));
	c->m = m + c->n;
	beside_measure(beside, &b->rate, block_kernel_fill_identity, block_kernel_potrf, c,
	        "potrf_rows_shared", rows, ARRAY_LEN(rows));
}

void block_kernel_panels_beside(struct bench *bench, enum precision precision, int64_t step)
{
	struct call call = {.bench = bench, .precision = precision, .beside = true};
	const cudaStream_t alone = bench->rate.stream;
	struct beside beside;
	beside_open(&beside, &bench->rate, precision);
	bench->rate.stream = beside.high;
	for (int64_t m = 512; m <= 32768; m *= 2 * step)
		for (call.n = 32; call.n <= PANEL_GEQRF_COLUMNS;
		        call.n = block_kernel_next_width(&call, PANEL_GEQRF_COLUMNS))
			measure_beside(&call, &beside, m);
	if (!bench->rate.run->common.quick)
		measure_steps_beside(&call, &beside);
	bench->rate.stream = alone;
	BLAS(cublasSetStream(bench->rate.blas, alone));
	beside_close(&beside, &bench->rate);
}
