/* SPDX-License-Identifier: MIT */
/* Question: what does each of our own kernels cost that blocked factorizations use?
 *
 * Method: calls of one kernel follow each other in one stream behind a hold, timed from start to
 * start by stamps of both clocks, in fp32 and fp64, at powers of two; panels also at a few more
 * rows. cold = 0: L2 holds the rows that are swapped; cold = 1: calls go through the columns of a
 * matrix far larger than L2. The same rows of the same columns return after 8 calls or more, and L2
 * still holds them where few are swapped: the stated work counts these hits. Panels also run beside
 * products that occupy the rest of the machine (block_kernel_beside.c), and called alone, behind
 * other work (block_kernel_alone.c).
 *
 * What can fool it: repeated factorization of the same data must neither overflow (reflectors of
 * norm below 2, Cholesky of nearly the identity) nor vanish (norms that underflow are found by
 * scaling, in twice the time: panels are filled anew). Data must not be zeros. A call that failed
 * would make the next ones do nothing (info and tau are checked at the end). Pivots must come from
 * all rows: fresh LU panels take turns. Code is loaded at first use: every shape runs once before.
 * The tests, not the probe, check the factors. Panels are warm, as in a factorization, where an
 * update has just written them.
 *
 * Unit: seconds per call. */
#include "lib/base/base.h"
#include "block_kernel.h"
#include "block_kernel_internal.h"

#include "factor/kernels/qr/panel_geqrf.h"
#include "factor/kernels/lu/panel_kernels.h"

#include <stdlib.h>

enum {
	FEWEST_BELOW = 32, /* rows below a block of Cholesky: a tile */
	MOST_BELOW = 32768
};

static void measure_block(struct call *c, int64_t below, bool beside)
{
	const struct arg args[] = {{"n", (double)c->n}, {"below", (double)below}};
	c->m = c->n + below;
	c->beside = beside;
	block_kernel_fill_identity(c);
	block_kernel_measure(c,
	        beside  ? "potrf_rows_overlapped"
	        : below ? "potrf_rows"
	                : "potrf",
	        block_kernel_potrf, args, below ? 2 : 1);
}

/* Diagonal blocks of Cholesky, without rows below them and with; the rows on all multiprocessors
 * and on the few that are used beside an update. Nearly the identity, which it remains. Beyond
 * a tile for each multiprocessor strips have several tiles, and one more costs much. */
static void measure_cholesky(struct call *c, int64_t step)
{
	const int64_t one_tile = FEWEST_BELOW * (int64_t)c->bench->rate.gpu.sm_count;
	int info;
	for (c->n = BLOCK_KERNEL_NARROWEST; c->n <= BLOCK_POTRF_MAX; c->n *= step)
		for (int64_t below = 0; below <= MOST_BELOW;
		        below = below < FEWEST_BELOW ? FEWEST_BELOW
		                : below < one_tile   ? 2 * step * below
		                                     : step * below)
			for (int beside = 0; beside <= (below > 0); beside++)
				measure_block(c, below, beside);
	GPU(cudaMemcpy(&info, c->bench->info, sizeof info, cudaMemcpyDeviceToHost));
	if (info != 0)
		msg_die(EXIT_MEASURE_FAILED, "a diagonal block was not positive definite");
	c->beside = false;
}

static void measure_blocks(struct call *c)
{
	for (c->n = BLOCK_KERNEL_NARROWEST; c->n <= BLOCK_TRTRI_MAX;
	        c->n *= block_kernel_wider(c)) {
		const struct arg n = {"n", (double)c->n};
		block_kernel_fill_triangle(c);
		block_kernel_measure(c, "guard", block_kernel_guard, &n, 1);
		block_kernel_measure(c, "larft", block_kernel_larft, &n, 1);
		block_kernel_measure(c, "trtri", block_kernel_trtri, &n, 1);
	}
}

/* Arguments of the calls that swap rows. */
struct swap_args {
	struct arg arg[3];
};

static struct swap_args swap_args(const struct call *c)
{
	return (struct swap_args){
	        {{"swaps", (double)c->swaps}, {"n", (double)c->n}, {"cold", c->cold}}};
}

enum { MOVED_STEP = 16 }; /* from one number of columns or swaps to the next */

static void measure_swaps(struct call *c)
{
	block_kernel_fill_pool(c);
	for (int cold = 0; cold <= c->bench->cold; cold++) {
		c->cold = cold;
		for (c->n = BLOCK_KERNEL_NARROWEST; c->n <= BLOCK_KERNEL_WIDEST;
		        c->n *= MOVED_STEP) {
			const int64_t rows = block_kernel_swap_rows(c);
			block_kernel_send_pivots(c->bench, rows);
			for (c->swaps = BLOCK_KERNEL_NARROWEST;
			        c->swaps <= BLOCK_KERNEL_SWAPS && 2 * c->swaps <= rows;
			        c->swaps *= MOVED_STEP) {
				const struct swap_args args = swap_args(c);
				block_kernel_measure(c, "laswp", block_kernel_laswp, args.arg, 3);
				if (c->swaps > block_lu_rows_most(c->precision,
				                       c->bench->rate.gpu.shared_per_block))
					continue;
				block_kernel_fill_swaps_triangle(c);
				block_kernel_measure(
				        c, "lu_rows", block_kernel_lu_rows, args.arg, 3);
				block_kernel_measure(
				        c, "swap_rows", block_kernel_exchange_rows, args.arg, 3);
			}
		}
	}
}

/* Columns right of LU panels, but for the narrowest panels. */
static void measure_lu_top(struct call *c)
{
	const int64_t shared = c->bench->rate.gpu.shared_per_block;
	for (int cold = 0; cold <= c->bench->cold; cold++) {
		c->cold = cold;
		for (c->n = BLOCK_KERNEL_NARROWEST; c->n <= BLOCK_KERNEL_WIDEST;
		        c->n *= MOVED_STEP) {
			block_kernel_send_pivots(c->bench, block_kernel_swap_rows(c));
			for (c->swaps = 32; c->swaps <= BLOCK_LU_TOP_MAX;
			        c->swaps *= block_kernel_wider(c)) {
				const struct swap_args args = swap_args(c);
				if (block_lu_top_bytes(c->precision, c->swaps) > shared)
					continue;
				block_kernel_fill_swaps_triangle(c);
				block_kernel_measure(c, "lu_top", block_kernel_lu_top, args.arg, 3);
			}
		}
	}
}

static void measure_lu_columns(struct call *c, int64_t step)
{
	for (c->m = 256; c->m <= BLOCK_KERNEL_ROWS; c->m *= 2 * step) {
		block_kernel_send_pivots(c->bench, c->m);
		for (c->n = 32; c->n <= BLOCK_LU_COLUMNS_MAX; c->n *= block_kernel_wider(c)) {
			if (!block_lu_columns_fits(c->precision, c->m, c->n))
				continue;
			block_kernel_measure_shape(c, "lu_columns", block_kernel_fill_lu_columns,
			        block_kernel_lu_columns);
		}
	}
}

static void measure_qr_columns(struct call *c, int64_t step)
{
	for (c->m = 128; c->m <= BLOCK_QR_COLUMNS_ROWS; c->m *= step)
		for (c->n = 32; c->n <= BLOCK_QR_COLUMNS_MAX; c->n *= block_kernel_wider(c)) {
			if (!block_qr_columns_fits(c->precision, c->m, c->n))
				continue;
			block_kernel_measure_shape(c, "qr_columns", block_kernel_fill_qr_columns,
			        block_kernel_qr_columns);
		}
}

/* Kernels in clusters, or with barriers that can be waited for, need code for 9.0. */
static void note_lacking(struct probe_run *run, const struct gpu *gpu)
{
	static const char *const kinds[] = {"cluster", "grid", "lu_columns", "qr_columns",
	        "cluster_shared", "grid_shared", "alone_cluster", "alone_grid"};
	for (size_t i = 0; i < 2 * ARRAY_LEN(kinds) && gpu->code < 90; i++) {
		char *series = xasprintf("%s_%c", kinds[i / 2], i % 2 ? DOUBLE : SINGLE);
		probe_lacks(run, gpu, series, 90);
		free(series);
	}
}

static void measure(struct probe_run *run)
{
	const int64_t step = run->common.quick ? 8 : 2, narrow = run->common.quick ? 4 : 2;
	struct bench bench = {0};
	block_kernel_open(&bench, run);
	note_lacking(run, &bench.rate.gpu);
	for (int twice = 0; twice < 2; twice++) {
		struct call call = {.bench = &bench, .precision = twice ? DOUBLE : SINGLE};
		block_kernel_panels(&call, step);
		measure_cholesky(&call, narrow);
		block_kernel_rank(&bench.rate, call.precision, narrow);
		measure_blocks(&call);
		measure_swaps(&call);
		measure_lu_top(&call);
		measure_lu_columns(&call, narrow);
		block_kernel_sweeps(&bench.rate, call.precision);
		measure_qr_columns(&call, step);
		block_kernel_gram(&bench.rate, call.precision, 2 * narrow);
		block_kernel_gram_apply(&bench.rate, call.precision, bench.rate.gpu.sm_count);
		block_kernel_deferred(&bench.rate, call.precision, narrow);
	}
	block_kernel_splits(&bench.rate, 2 * narrow);
	block_kernel_panels_beside(&bench, SINGLE, step);
	block_kernel_panels_beside(&bench, DOUBLE, step);
	block_kernel_alone(&bench);
	block_kernel_close(&bench);
}

static const char *const arguments[] = {
        "m", "n", "overlapped", "swaps", "cold", "below", "k", "columns", "p", "rows", "rounds"};

const struct probe block_kernel_probe = {
        .name = "block_kernel",
        .question = "What does each of our own kernels cost that blocked factorizations use?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .seconds = 2.2, /* of a quick device */
        .processes = 3,
        .revisits = true,
        .by_host = block_kernel_is_alone,
        .measure = measure,
        .fit = block_kernel_fit,
};
