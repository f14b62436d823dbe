/* SPDX-License-Identifier: MIT */
/* Question: what does each of our own kernels cost that blocked factorizations go through?
 *
 * Method: calls at powers of two (panels of a little more rows, too, from where on they take longer
 * by a step) follow each other in one stream, start to start by stamps of both clocks, behind a
 * hold, in fp32 and fp64: the Householder panel, on all multiprocessors or on what it takes beside
 * an update; the LU panels of one cluster and of many multiprocessors; Cholesky of
 * a diagonal block alone and with rows below it, and its updates of small rank; the inverse of a
 * triangle, the same for the T of reflectors, and the look at both that says whether an inverse can
 * be trusted; row swaps, and those of a matrix by rows, alone and with the solve of an LU's block
 * row; sweeps of one kernel, short and long, with little and much of Q; what columns right of an LU
 * panel go through before the next one; Gram-Schmidt's panel; operands split for tensor cores, and
 * exchanges of rows that are late. It is the code of lib/ that the
 * factorizations run. cold = 0: row swaps in rows that L2 holds; cold = 1: every call finds its
 * columns in DRAM. Panels in fp32 once more beside products that take all of the machine that they
 * leave, with pauses in between, in which the products take all places.
 *
 * What can fool it: what is factorized again and again must not overflow (a panel's reflectors have
 * a norm below 2, a Cholesky factor of nearly I is nearly I) nor vanish (norms that underflow are
 * found by scaling, at more than twice the time: panels are new again and again), yet not be zeros
 * (what columns are taken out of, or off, is random and small), nor fail, after which nothing would
 * be done any more (info and tau are looked at in the end), and the pivots of LU must come from
 * anywhere (fresh panels take turns: of one that keeps its pivots a column takes 15 % longer); code
 * loaded at first use (every shape runs once before). The factors themselves are not checked (the
 * tests do). Panels are warm, as in a factorization, where an update has just written them.
 *
 * Unit: seconds per call. */
#include "lib/base/base.h"
#include "block_kernel.h"
#include "block_kernel_internal.h"

#include "factor/kernels/qr/panel_geqrf.h"
#include "factor/kernels/lu/panel_kernels.h"

#include <stdlib.h>

enum {
	FEWEST_BELOW = 32, /* rows below a block of Cholesky */
	TILES_BELOW =
	        8192, /* from here on strips of several tiles, which a row more of can cost much */
	MOST_BELOW = 32768
};

void block_kernel_measure(
        struct call *c, const char *kind, void (*put)(void *), const struct arg *args, size_t count)
{
	char *series = xasprintf("%s_%c", kind, c->precision);
	c->turn = c->column = 0;
	blas_rate_measure(&c->bench->rate, put, c, 0, series, args, count);
	free(series);
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

/* Blocks of Cholesky, with rows below them or none, these in strips for all multiprocessors or for
 * as few as beside an update; nearly the identity, as it then remains. */
static void measure_cholesky(struct call *c, int64_t step)
{
	int info;
	for (c->n = BLOCK_KERNEL_NARROWEST; c->n <= BLOCK_POTRF_MAX; c->n *= step)
		for (int64_t below = 0; below <= MOST_BELOW;
		        below = below < FEWEST_BELOW  ? FEWEST_BELOW
		                : below < TILES_BELOW ? 2 * step * below
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

static void measure_swaps(struct call *c, int64_t step)
{
	block_kernel_fill_pool(c);
	for (int cold = 0; cold <= c->bench->cold; cold++) {
		c->cold = cold;
		for (c->n = BLOCK_KERNEL_NARROWEST; c->n <= BLOCK_KERNEL_WIDEST; c->n *= 2 * step) {
			const int64_t rows = block_kernel_swap_rows(c);
			block_kernel_send_pivots(c->bench, rows);
			for (c->swaps = BLOCK_KERNEL_NARROWEST;
			        c->swaps <= BLOCK_KERNEL_SWAPS && 2 * c->swaps <= rows;
			        c->swaps *= 2 * step) {
				const struct arg args[] = {{"swaps", (double)c->swaps},
				        {"n", (double)c->n}, {"cold", cold}};
				block_kernel_measure(
				        c, "laswp", block_kernel_laswp, args, ARRAY_LEN(args));
				if (c->swaps > block_lu_rows_most(c->precision,
				                       c->bench->rate.gpu.shared_per_block))
					continue;
				block_kernel_fill_swaps_triangle(c);
				block_kernel_measure(
				        c, "lu_rows", block_kernel_lu_rows, args, ARRAY_LEN(args));
				block_kernel_measure(c, "swap_rows", block_kernel_exchange_rows,
				        args, ARRAY_LEN(args));
			}
		}
	}
}

/* Right of panels of LU that are not the narrowest. */
static void measure_lu_top(struct call *c, int64_t step)
{
	const int64_t shared = c->bench->rate.gpu.shared_per_block;
	for (int cold = 0; cold <= c->bench->cold; cold++) {
		c->cold = cold;
		for (c->n = BLOCK_KERNEL_NARROWEST; c->n <= BLOCK_KERNEL_WIDEST; c->n *= 2 * step) {
			block_kernel_send_pivots(c->bench, block_kernel_swap_rows(c));
			for (c->swaps = 32; c->swaps <= BLOCK_LU_TOP_MAX;
			        c->swaps *= block_kernel_wider(c)) {
				const struct arg args[] = {{"swaps", (double)c->swaps},
				        {"n", (double)c->n}, {"cold", cold}};
				if (block_lu_top_bytes(c->precision, c->swaps) > shared)
					continue;
				block_kernel_fill_swaps_triangle(c);
				block_kernel_measure(
				        c, "lu_top", block_kernel_lu_top, args, ARRAY_LEN(args));
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

static void measure(struct probe_run *run)
{
	const int64_t step = run->common.quick ? 8 : 2, narrow = run->common.quick ? 4 : 2;
	struct bench bench = {0};
	block_kernel_open(&bench, run);
	for (int twice = 0; twice < 2; twice++) {
		struct call call = {.bench = &bench, .precision = twice ? DOUBLE : SINGLE};
		block_kernel_panels(&call, step);
		measure_cholesky(&call, narrow);
		block_kernel_rank(&bench.rate, call.precision, narrow);
		measure_blocks(&call);
		measure_swaps(&call, narrow);
		measure_lu_top(&call, narrow);
		measure_lu_columns(&call, narrow);
		block_kernel_sweeps(&bench.rate, call.precision);
		measure_qr_columns(&call, step);
		block_kernel_gram(&bench.rate, call.precision, step);
		block_kernel_gram_apply(&bench.rate, call.precision, bench.rate.gpu.sm_count);
		block_kernel_deferred(&bench.rate, call.precision, narrow);
	}
	block_kernel_splits(&bench.rate, narrow);
	block_kernel_panels_beside(&bench, SINGLE, step);
	block_kernel_panels_beside(&bench, DOUBLE, step);
	block_kernel_close(&bench);
}

static const char *const arguments[] = {
        "m", "n", "overlapped", "swaps", "cold", "below", "k", "columns", "p", "rows", "rounds"};

const struct probe block_kernel_probe = {
        .name = "block_kernel",
        .question =
                "What does each of our own kernels cost that blocked factorizations go through?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .seconds = 2.2, /* of a quick device */
        .processes = 3,
        .revisits = true,
        .measure = measure,
        .fit = block_kernel_fit,
};
