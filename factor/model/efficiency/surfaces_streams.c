/* SPDX-License-Identifier: MIT */
/* Surfaces of kernels that stream: vectors, matrices by vectors, row swaps, Gram-Schmidt. */
#include "factor/kernels/blocks/block_kernels.h"
#include "factor/kernels/blocks/block_work.h"
#include "factor/kernels/gemm/split_work.h"
#include "factor/kernels/gemv/gemv_work.h"
#include "factor/kernels/gram_schmidt/gram_apply_work.h"
#include "factor/kernels/lu/swaps_work.h"
#include "factor/kernels/update/sweep_work.h"
#include "factor/papers/kerr_work.h"
#include "lib/base/architecture.h"
#include "library_work.h"
#include "surface_work.h"

#include <math.h>
#include <string.h>

static bool ends_in(const char *name, const char *end)
{
	const size_t length = strlen(name), part = strlen(end);

	return length >= part && strcmp(name + length - part, end) == 0;
}

static size_t own_gemv(const struct surface_point *p, struct kernel_work *work)
{
	const struct gemv_call call = {.precision = p->precision,
	        .transposed = ends_in(p->name, ".t"),
	        .m = (int64_t)p->at[0],
	        .n = (int64_t)p->at[1],
	        .alpha = 1,
	        .lda = isnan(p->at[3]) ? 4 * (((int64_t)p->at[0] + 3) / 4) : (int64_t)p->at[3],
	        .incx = 1,
	        .incy = 1};

	gemv_tuned_work(&call, p->tuning, p->at[2] > 0, work);
	return 1;
}

static size_t gemv(const struct surface_point *p, struct kernel_work *work)
{
	library_sweep_work(ends_in(p->name, ".t") ? SWEEP_GEMV_T : SWEEP_GEMV_N, p->precision,
	        p->at[0], p->at[1], p->at[2] > 0, p->tuning->device.sm_count, work);
	return 1;
}

static size_t ger(const struct surface_point *p, struct kernel_work *work)
{
	library_sweep_work(SWEEP_GER, p->precision, p->at[0], p->at[1], p->at[2] > 0,
	        p->tuning->device.sm_count, work);
	return 1;
}

static size_t kerr_gemv(const struct surface_point *p, struct kernel_work *work)
{
	kerr_gemv_work(p->precision, strstr(p->name, ".t.") != NULL, p->at[0], p->at[1], work);
	return 1;
}

static size_t kerr_house(const struct surface_point *p, struct kernel_work *work)
{
	kerr_house_work(p->precision, p->at[0], p->at[1], work);
	return 1;
}

/* A call of the library whose time is mostly its code on the host: queueing it, or waiting for its
 * result. What a call alone takes beyond one in a row is a launch and a wait, too. */
static size_t by_host(const struct surface_point *p, struct kernel_work *work)
{
	(void)p;
	work->launches = 0;
	return 1;
}

/* ---- row swaps ---- */

/* Rows of the matrix whose rows calls swap. */
static double swapped_rows(const struct surface_point *p)
{
	enum { FEWEST = 512, MOST = 2048, WORDS = 1 << 23, POOL_ROWS = 4608 };
	const double words = fmin((double)(p->tuning->device.l2_bytes / 6), WORDS);

	return p->at[2] > 0 ? POOL_ROWS : fmax(FEWEST, fmin(MOST, floor(words / p->at[1])));
}

/* Calls take turns with sets of pivots. Cold ones go through the columns of a pool, too: the
 * working set is what they touch until the same columns return. Warm ones have one matrix. */
static size_t in_turns(const struct surface_point *p, struct kernel_work *work)
{
	enum { TURNS = 8, POOL_COLUMNS = 16384 };
	const double n = p->at[1];

	if (p->at[2] > 0)
		work->working_set *= fmax(TURNS, POOL_COLUMNS / n);
	else
		work->working_set = fmin(TURNS * work->working_set,
		        swapped_rows(p) * n * (double)precision_bytes(p->precision));
	return 1;
}

static size_t laswp(const struct surface_point *p, struct kernel_work *work)
{
	laswp_work(p->precision, swapped_rows(p), p->at[0], p->at[1], work);
	return in_turns(p, work);
}

static size_t swap_rows(const struct surface_point *p, struct kernel_work *work)
{
	lu_rows_work(p->precision, false, p->at[0], p->at[1], work);
	return in_turns(p, work);
}

static size_t lu_rows(const struct surface_point *p, struct kernel_work *work)
{
	lu_rows_work(p->precision, true, p->at[0], p->at[1], work);
	return in_turns(p, work);
}

static bool aligned(const struct surface_point *p)
{
	return !strstr(p->name, "_unaligned");
}

static size_t lu_top(const struct surface_point *p, struct kernel_work *work)
{
	lu_top_work(p->precision, swapped_rows(p), p->at[0], p->at[1], aligned(p), work);
	return in_turns(p, work);
}

static size_t lu_columns(const struct surface_point *p, struct kernel_work *work)
{
	enum { BESIDE = 64 /* columns of the calibration */ };

	lu_columns_work(p->precision, p->at[0], BESIDE, p->at[1], p->tuning->device.sm_count,
	        aligned(p), work);
	return 1;
}

static size_t apply_swaps(const struct surface_point *p, struct kernel_work *work)
{
	deferred_swaps_work(
	        p->precision, p->at[0], ARCHITECTURE_SHARED(p->tuning->device.capability), work);
	return 1;
}

/* ---- operands, triangles, updates ---- */

static size_t tf32_split(const struct surface_point *p, struct kernel_work *work)
{
	tf32_split_work(p->at[0], p->at[1], work);
	return 1;
}

static size_t half_pair(const struct surface_point *p, struct kernel_work *work)
{
	half_pair_work(p->at[0], p->at[1], work);
	return 1;
}

static size_t guard(const struct surface_point *p, struct kernel_work *work)
{
	enum { SIDES = 16384 /* of the calibration */ };

	block_guard_work(p->precision, p->at[0], SIDES, work);
	return 1;
}

/* Trapezoids of 128 columns with as many tiles as fill `rounds` rounds on all multiprocessors. */
static size_t rank(const struct surface_point *p, struct kernel_work *work)
{
	enum { TILE = 32, COLUMNS = 128 };
	const double most = p->at[0] * p->tuning->device.sm_count;
	int64_t rows = COLUMNS;

	while ((double)block_rank_tiles(rows + TILE, COLUMNS) <= most)
		rows += TILE;
	block_rank_work(p->precision, (double)rows, COLUMNS, p->at[1],
	        strstr(p->name, "_unaligned") == NULL, work);
	return 1;
}

/* Columns for one round of blocks. */
static size_t gram_apply(const struct surface_point *p, struct kernel_work *work)
{
	const double n = p->at[2] * p->tuning->device.sm_count;

	gram_apply_work(p->precision, p->at[0], p->at[1], n, p->at[2], work);
	return 1;
}

static size_t sweep(const struct surface_point *p, struct kernel_work *work)
{
	sweep_work(p->precision, p->at[0], p->at[1], p->at[2], p->tuning->device.sm_count, work);
	return 1;
}

/* R is filled before each. */
static size_t slide(const struct surface_point *p, struct kernel_work *work)
{
	enum { THREADS = 256, ELEMENTS = 2048 /* of a block */ };
	const double elements = p->at[1] * p->at[1];

	work[0] = (struct kernel_work){.launches = 1,
	        .blocks = ceil(elements / ELEMENTS),
	        .threads = THREADS,
	        .registers = 32,
	        .l2.written = elements * (double)precision_bytes(p->precision)};
	return 1 + sweep(p, work + 1);
}

const struct surface surfaces_streams[] = {
        {"gpu.own_gemv.?.?", {"m", "n", "cold", "?lda"}, own_gemv},
        {"gpu.gemv.?.?", {"m", "n", "cold"}, gemv}, {"gpu.ger.?", {"m", "n", "cold"}, ger},
        {"gpu.kerr_gemv.[nt].?", {"m", "n"}, kerr_gemv},
        {"gpu.kerr_house.?", {"m", "j"}, kerr_house}, {"gpu.cublas.iamax", {"bytes"}, by_host},
        {"gpu.cublas.nrm2_length", {"bytes"}, by_host}, {"gpu.alone.potrf.?", {"n"}, by_host},
        {"gpu.alone.panel_*", {"m", "n"}, by_host}, {"gpu.cublas.gemv*_rows", {"rows"}, by_host},
        {"gpu.laswp.?", {"swaps", "n", "cold"}, laswp},
        {"gpu.swap_rows.?", {"swaps", "n", "cold"}, swap_rows},
        {"gpu.lu_rows.?", {"swaps", "n", "cold"}, lu_rows},
        {"gpu.lu_top*", {"swaps", "n", "cold"}, lu_top},
        {"gpu.lu_columns*", {"m", "n"}, lu_columns}, {"gpu.apply_swaps.?", {"n"}, apply_swaps},
        {"gpu.tf32_split.s", {"n", "k"}, tf32_split}, {"gpu.half_pair.s", {"n", "k"}, half_pair},
        {"gpu.trsm_guard.?", {"n"}, guard}, {"gpu.rank.?", {"rounds", "k"}, rank},
        {"gpu.rank_unaligned.?", {"rounds", "k"}, rank},
        {"gpu.gram_apply.?", {"m", "k", "columns"}, gram_apply},
        {"gpu.band_sweep*.?", {"p", "n", "rows"}, sweep},
        {"gpu.band_slide*.?", {"p", "n", "rows"}, slide}, {NULL, {NULL}, NULL}};
