/* SPDX-License-Identifier: MIT */
/* Question: what does each of our own kernels cost that blocked factorizations go through?
 *
 * Method: calls at powers of two follow each other in one stream, start to start by stamps of both
 * clocks, behind a hold, in fp32 and fp64: the Householder panel, on all multiprocessors or on what
 * it takes beside an update; the LU panel of one cluster; Cholesky of a diagonal block alone and
 * with rows below it; the inverse of a triangle, the same for the T of reflectors, and the look at
 * both that says whether an inverse can be trusted; row swaps; Gram-Schmidt's panel. It is the code
 * of lib/ that the factorizations run. cold = 0: row swaps in rows that L2 holds; cold = 1: every
 * call finds its columns in DRAM. Panels in fp32 once more beside products that take all of the
 * machine that they leave.
 *
 * What can fool it: what is factorized again and again must not overflow (a panel's reflectors have
 * a norm below 2, a Cholesky factor of nearly I is nearly I) nor fail, after which nothing would be
 * done any more (info and tau are looked at in the end); code loaded at first use (every shape runs
 * once before). The factors themselves are not checked (the tests do). Panels are warm, as in a
 * factorization, where an update has just written them.
 *
 * Unit: seconds per call. */
#include "../lib/base.h"
#include "block_kernel.h"
#include "block_kernel_parts.h"

#include "../lib/block_kernels.h"
#include "../lib/panel_geqrf.h"
#include "../lib/panel_kernels.h"

#include <stdlib.h>

enum {
	LARGEST_M = 131072,
	NARROWEST = 16,
	POOL_ROWS = 8192, /* of the matrix whose rows are swapped in DRAM */
	POOL_COLUMNS = 16384,
	WARM_ROWS = 2048,    /* of the one in L2 */
	WARM_COLUMNS = 4096, /* wider ones have fewer rows */
	MOST_SWAPS = 1024,
	FEWEST_BELOW = 32, /* rows below a block of Cholesky */
	MOST_BELOW = 32768,
	TURNS = 8,      /* sets of pivots, each further down */
	TURN_ROWS = 512 /* by so many rows */
};

struct bench {
	struct blas_rate rate;
	void *pool, *triangle, *inverse, *tau, *work;
	int *info, *pivots; /* on the device: TURNS sets of pivots */
	unsigned *readers;
	bool cold; /* the pool is large enough for swaps in DRAM */
};

struct call {
	struct bench *bench;
	enum precision precision;
	int64_t m, n, swaps;
	bool beside, cold;
	int64_t turn, column; /* of the next call of row swaps */
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

static void put_geqrf(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(panel_geqrf(c->precision, b->pool, c->m, c->m, c->n, b->tau, c->beside, b->work,
	        b->rate.stream));
}

static void put_columns(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(panel_geqrf_columns(
	        c->precision, b->pool, c->m, c->m, c->n, b->tau, b->work, b->rate.stream));
}

static void put_potrf(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	const struct block_room room = {b->rate.gpu.shared_per_block,
	        b->rate.gpu.sm_count / (c->beside ? 2 : 1), b->readers};
	GPU(block_potrf(
	        LOWER, at(c, b->pool, c->m, c->n, c->m), 0, b->info, &room, b->rate.stream));
}

static void put_trtri(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(block_trtri(LOWER, NON_UNIT, triangle(c), inverse(c), b->rate.gpu.shared_per_block,
	        b->rate.stream));
}

static void put_larft(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(block_larft(triangle(c), at(c, b->tau, c->n, 1, c->n), inverse(c),
	        b->rate.gpu.shared_per_block, b->rate.stream));
}

/* Of right-hand sides for all blocks there are, which are not looked at as the inverse is good. */
static void put_guard(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	struct matrix sides = at(c, b->pool, c->n, POOL_COLUMNS, c->n);
	GPU(block_trsm_guard(LEFT, LOWER, PLAIN, NON_UNIT, triangle(c), inverse(c), 1e3, sides,
	        sides, b->rate.stream));
}

static int64_t warm_rows(int64_t n)
{
	return n <= WARM_COLUMNS ? WARM_ROWS : (int64_t)WARM_ROWS * WARM_COLUMNS / n;
}

static void put_laswp(void *context)
{
	struct call *c = context;
	struct bench *b = c->bench;
	const int64_t rows = warm_rows(c->n);
	struct matrix a = at(c, b->pool, rows, c->n, rows);
	if (c->cold) {
		struct matrix whole = at(c, b->pool, POOL_ROWS, POOL_COLUMNS, POOL_ROWS);
		int64_t first = c->turn * TURN_ROWS;
		if (c->column + c->n > POOL_COLUMNS)
			c->column = 0;
		a = matrix_view(whole, first, c->column, POOL_ROWS - first, c->n);
		c->column += c->n;
	}
	struct pivots p = {b->pivots + c->turn * MOST_SWAPS, c->swaps};
	GPU(block_laswp(a, p, false, b->rate.stream));
	c->turn = (c->turn + 1) % TURNS;
}

static void put_cluster(void *context)
{
	const struct call *c = context;
	struct bench *b = c->bench;
	GPU(panel_cluster(
	        c->precision, b->pool, c->m, c->m, c->n, b->pivots, b->info, b->rate.stream));
}

/* ---- data ---- */

/* A triangle that is nearly the identity. */
static void fill_triangle(const struct call *c)
{
	GPU(block_fill(WHOLE, 1e-4, 1, triangle(c), c->bench->rate.stream));
	GPU(block_fill(WHOLE, 0, 1, inverse(c), c->bench->rate.stream));
	GPU(block_fill(WHOLE, 1, 1, at(c, c->bench->tau, c->n, 1, c->n), c->bench->rate.stream));
}

static void fill_panel(const struct call *c)
{
	struct bench *b = c->bench;
	uint64_t seed = (uint64_t)b->rate.run->common.seed;
	if (c->precision == SINGLE)
		gpu_fill_float(b->pool, c->m * c->n, seed, b->rate.stream);
	else
		gpu_fill_double(b->pool, c->m * c->n, seed, b->rate.stream);
}

/* Rows to exchange that lie anywhere below, as partial pivoting finds them. */
static void send_pivots(struct bench *b, int64_t rows)
{
	int *ipiv = xmalloc(TURNS * MOST_SWAPS * sizeof *ipiv);
	uint64_t state = (uint64_t)b->rate.run->common.seed;
	for (int64_t i = 0; i < TURNS * MOST_SWAPS; i++) {
		int64_t row = i % MOST_SWAPS;
		state = state * 6364136223846793005u + 1442695040888963407u;
		ipiv[i] = (int)(row + 1 + (int64_t)(state >> 33) % (rows > row ? rows - row : 1));
	}
	GPU(cudaMemcpy(b->pivots, ipiv, TURNS * MOST_SWAPS * sizeof *ipiv, cudaMemcpyHostToDevice));
	free(ipiv);
}

static void *room(int64_t bytes)
{
	void *data;
	GPU(cudaMalloc(&data, (size_t)bytes));
	GPU(cudaMemset(data, 0, (size_t)bytes));
	return data;
}

static void set_up(struct bench *b, struct probe_run *run)
{
	const int64_t panel = (int64_t)LARGEST_M * PANEL_GEQRF_COLUMNS * 8;
	const int64_t whole = (int64_t)POOL_ROWS * POOL_COLUMNS * 8;
	const int64_t block = (int64_t)BLOCK_POTRF_MAX * BLOCK_POTRF_MAX * 8;
	size_t unused, total;
	int64_t work = 0;
	blas_rate_open(&b->rate, run);
	GPU(cudaMemGetInfo(&unused, &total));
	b->cold = whole < (int64_t)(unused / 2);
	if (!b->cold)
		msg_warn("only %zu bytes of GPU memory are free: row swaps in DRAM are left out",
		        unused);
	for (int64_t m = NARROWEST; m <= LARGEST_M; m *= 2)
		for (int64_t n = NARROWEST; n <= PANEL_GEQRF_COLUMNS && n <= m; n *= 2)
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
	b->tau = room(PANEL_GEQRF_COLUMNS * 8);
	b->work = room(work);
	b->info = room(sizeof *b->info);
	b->pivots = room(TURNS * MOST_SWAPS * (int64_t)sizeof *b->pivots);
	GPU(cudaDeviceSynchronize());
}

static void clean_up(struct bench *b)
{
	void *pieces[] = {
	        b->pool, b->triangle, b->inverse, b->readers, b->tau, b->work, b->info, b->pivots};
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		GPU(cudaFree(pieces[i]));
	blas_rate_close(&b->rate);
}

/* ---- the sweep ---- */

static void measure_call(
        struct call *c, const char *kind, void (*put)(void *), const struct arg *args, size_t count)
{
	char *series = xasprintf("%s_%c", kind, c->precision);
	c->turn = c->column = 0;
	blas_rate_measure(&c->bench->rate, put, c, 0, series, args, count);
	free(series);
}

/* A panel whose blocks gave up waiting for each other has a tau that is no number. */
static void check_panel(const struct call *c)
{
	double tau[PANEL_GEQRF_COLUMNS];
	float single[PANEL_GEQRF_COLUMNS];
	GPU(cudaMemcpy(c->precision == SINGLE ? (void *)single : tau, c->bench->tau,
	        (size_t)(c->n * precision_bytes(c->precision)), cudaMemcpyDeviceToHost));
	for (int64_t j = 0; j < c->n; j++)
		if (!isfinite(c->precision == SINGLE ? (double)single[j] : tau[j]))
			msg_die(EXIT_MEASURE_FAILED, "the panel of %lld x %lld failed",
			        (long long)c->m, (long long)c->n);
}

static void measure_panels(struct call *c, int64_t step)
{
	for (c->m = 128; c->m <= LARGEST_M; c->m *= step)
		for (c->n = NARROWEST; c->n <= PANEL_GEQRF_COLUMNS; c->n *= 2)
			for (int beside = 0; beside < 2; beside++) {
				const struct arg args[] = {{"m", (double)c->m}, {"n", (double)c->n},
				        {"beside", beside}};
				c->beside = beside;
				fill_panel(c);
				measure_call(c, "geqrf", put_geqrf, args, ARRAY_LEN(args));
				check_panel(c);
			}
}

/* The form that a panel takes which is too tall for the chip, every fourth power of two. */
static void measure_columns(struct call *c, int64_t step)
{
	for (c->m = LARGEST_M; c->m >= PANEL_GEQRF_COLUMNS; c->m /= 2 * step)
		for (c->n = NARROWEST; c->n <= PANEL_GEQRF_COLUMNS; c->n *= 2) {
			const struct arg args[] = {{"m", (double)c->m}, {"n", (double)c->n}};
			fill_panel(c);
			measure_call(c, "geqrf_columns", put_columns, args, ARRAY_LEN(args));
			check_panel(c);
		}
}

/* What is nearly the identity remains so. The kernel says in info that blocks gave up waiting. */
static void measure_clusters(struct call *c, int64_t step)
{
	int info;
	for (c->m = 128; c->m <= LARGEST_M; c->m *= step)
		for (c->n = NARROWEST; c->n <= PANEL_ROW; c->n *= 2) {
			const struct arg args[] = {{"m", (double)c->m}, {"n", (double)c->n}};
			if (!panel_cluster_fits(c->precision, c->m, c->n))
				continue;
			GPU(block_fill(WHOLE, 1e-4, 1, at(c, c->bench->pool, c->m, c->n, c->m),
			        c->bench->rate.stream));
			measure_call(c, "cluster", put_cluster, args, ARRAY_LEN(args));
		}
	GPU(cudaMemcpy(&info, c->bench->info, sizeof info, cudaMemcpyDeviceToHost));
	if (info != 0)
		msg_die(EXIT_MEASURE_FAILED, "blocks of a cluster waited too long for each other");
}

static void measure_block(struct call *c, int64_t below, bool beside)
{
	const struct arg args[] = {{"n", (double)c->n}, {"below", (double)below}};
	c->m = c->n + below;
	c->beside = beside;
	GPU(block_fill(
	        WHOLE, 1e-4, 1, at(c, c->bench->pool, c->m, c->n, c->m), c->bench->rate.stream));
	measure_call(c,
	        beside  ? "potrf_rows_beside"
	        : below ? "potrf_rows"
	                : "potrf",
	        put_potrf, args, below ? 2 : 1);
}

/* Blocks of Cholesky, with rows below them or none, these in strips for all multiprocessors or for
 * half of them, as beside an update; nearly the identity, as it then remains. */
static void measure_cholesky(struct call *c, int64_t step)
{
	int info;
	for (c->n = NARROWEST; c->n <= BLOCK_POTRF_MAX; c->n *= step)
		for (int64_t below = 0; below <= MOST_BELOW;
		        below = below ? 2 * step * below : FEWEST_BELOW)
			for (int beside = 0; beside <= (below > 0); beside++)
				measure_block(c, below, beside);
	GPU(cudaMemcpy(&info, c->bench->info, sizeof info, cudaMemcpyDeviceToHost));
	if (info != 0)
		msg_die(EXIT_MEASURE_FAILED, "a diagonal block was not positive definite");
	c->beside = false;
}

/* Panels of Cholesky have m rows below them. */
static void measure_beside(struct call *c, struct beside *beside, int64_t m)
{
	struct bench *b = c->bench;
	const struct arg shape[] = {{"m", (double)m}, {"n", (double)c->n}};
	const struct arg rows[] = {{"n", (double)c->n}, {"below", (double)m}};
	c->m = m;
	fill_panel(c);
	beside_measure(beside, &b->rate, put_geqrf, c, "geqrf_shared_s", shape, ARRAY_LEN(shape));
	GPU(block_fill(WHOLE, 1e-4, 1, at(c, b->pool, m, c->n, m), beside->high));
	if (c->n <= PANEL_ROW && panel_cluster_fits(c->precision, m, c->n))
		beside_measure(beside, &b->rate, put_cluster, c, "cluster_shared_s", shape,
		        ARRAY_LEN(shape));
	c->m = m + c->n;
	GPU(block_fill(WHOLE, 1e-4, 1, at(c, b->pool, c->m, c->n, c->m), beside->high));
	beside_measure(
	        beside, &b->rate, put_potrf, c, "potrf_rows_shared_s", rows, ARRAY_LEN(rows));
}

/* Panels in fp32 beside products. */
static void measure_shared(struct bench *bench, int64_t step)
{
	struct call call = {.bench = bench, .precision = SINGLE, .beside = true};
	const cudaStream_t alone = bench->rate.stream;
	struct beside beside;
	beside_open(&beside, &bench->rate);
	bench->rate.stream = beside.high;
	for (int64_t m = 512; m <= 32768; m *= 2 * step)
		for (call.n = 32; call.n <= PANEL_GEQRF_COLUMNS; call.n *= 2)
			measure_beside(&call, &beside, m);
	bench->rate.stream = alone;
	beside_close(&beside);
}

static void measure_blocks(struct call *c)
{
	for (c->n = NARROWEST; c->n <= BLOCK_TRTRI_MAX; c->n *= 2) {
		const struct arg n = {"n", (double)c->n};
		fill_triangle(c);
		measure_call(c, "guard", put_guard, &n, 1);
		measure_call(c, "larft", put_larft, &n, 1);
		measure_call(c, "trtri", put_trtri, &n, 1);
	}
}

static void measure_swaps(struct call *c, int64_t step)
{
	for (int cold = 0; cold <= c->bench->cold; cold++) {
		c->cold = cold;
		for (c->n = NARROWEST; c->n <= POOL_COLUMNS; c->n *= 2 * step) {
			const int64_t rows =
			        cold ? POOL_ROWS - (TURNS - 1) * TURN_ROWS : warm_rows(c->n);
			send_pivots(c->bench, rows);
			for (c->swaps = NARROWEST; c->swaps <= MOST_SWAPS && 2 * c->swaps <= rows;
			        c->swaps *= 2 * step) {
				const struct arg args[] = {{"swaps", (double)c->swaps},
				        {"n", (double)c->n}, {"cold", cold}};
				measure_call(c, "laswp", put_laswp, args, ARRAY_LEN(args));
			}
		}
	}
}

static void measure(struct probe_run *run)
{
	const int64_t step = run->common.quick ? 8 : 2, narrow = run->common.quick ? 4 : 2;
	struct bench bench = {0};
	set_up(&bench, run);
	for (int twice = 0; twice < 2; twice++) {
		struct call call = {.bench = &bench, .precision = twice ? DOUBLE : SINGLE};
		measure_panels(&call, step);
		measure_columns(&call, step);
		measure_clusters(&call, step);
		measure_cholesky(&call, narrow);
		measure_blocks(&call);
		measure_swaps(&call, narrow);
		block_kernel_gram(&bench.rate, call.precision, step);
	}
	measure_shared(&bench, step);
	clean_up(&bench);
}

static const char *const arguments[] = {"m", "n", "beside", "swaps", "cold", "below"};

const struct probe block_kernel_probe = {
        .name = "block_kernel",
        .question =
                "What does each of our own kernels cost that blocked factorizations go through?",
        .args = arguments,
        .arg_count = ARRAY_LEN(arguments),
        .needs_gpu = true,
        .seconds = 1.8, /* of a quick device */
        .processes = 3,
        .measure = measure,
        .fit = block_kernel_fit,
};
