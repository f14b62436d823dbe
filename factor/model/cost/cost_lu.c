/* SPDX-License-Identifier: MIT */
/* Costs at level 2 of row swaps, and of LU's kernels that contain them. In every column laswp
 * touches 2 p.n contiguous words of the top rows, and 2 p.n words elsewhere. Each word elsewhere is
 * a sector of its own (in L2), or an access of its own (in DRAM, by the law of strided copies).
 * Before that every block reads the pivots and follows p.n swaps, each six dependent integer
 * instructions and a read of shared memory. Where the profile has a kernel's surface (block_kernel
 * probe), the surface gives the time, and these formulas its division into terms. */
#include "cost_blocks.h"

#include "factor/kernels/blocks/block_kernels.h"

#include <math.h>

enum {
	LASWP_COLUMNS = 8,    /* of a block */
	LASWP_SWAPS = 128,    /* of a kernel */
	LU_ROWS_COLUMNS = 64, /* of a block of lu_rows */
	LU_CLUSTER = 8,       /* blocks that have so many columns right of an LU panel */
	LU_COLUMNS = 8,
	LU_THREADS = 256,
	LU_REGISTERS = 32 /* of a thread: they limit no block */
};

/* Seconds to read and write an element far from all others: two thirds of the widest strided
 * copy, which reads in one place and, to write part of a sector, reads and writes in another. */
static double scattered(struct cost_reader *r, int64_t ld)
{
	static const char name[] = "gpu.copy.stride";
	const double stride = fmin((double)ld, cost_last(r, name, "stride"));

	return 2.0 / 3 * 2 * sizeof(float) / cost_surface2(r, name, "words", 0, "stride", stride);
}

/* Data that all multiprocessors read must fit into the near part of L2. */
static bool in_l2(struct cost_reader *r, struct matrix a)
{
	return cost_bytes(a) <= cost_near_l2(r);
}

/* Seconds to read so many pivots and to follow their swaps. */
static double compose(struct cost_reader *r, int64_t swaps)
{
	return (double)swaps * (6 * cost_scalar(r, "gpu.int.logic.latency") +
	                               cost_scalar(r, "gpu.shared.latency")) +
	       2 * cost_scalar(r, "gpu.l2.latency");
}

static struct cost estimated_laswp(struct cost_reader *r, struct matrix a, int64_t swaps)
{
	double word = (double)precision_bytes(a.precision);
	double elements = (double)swaps * (double)a.n;
	double sectors = in_l2(r, a) ? 2 * cost_scalar(r, "gpu.l2.sector") : 0;
	struct cost cost = cost_sweep(r, "gpu.copy.time", elements * (2 * word + sectors));

	if (!in_l2(r, a))
		cost.term[TERM_MEMORY] += elements * scattered(r, a.ld);
	cost.share = cost_share(r, ceil((double)a.n / LASWP_COLUMNS));
	cost.term[TERM_BARRIER] = compose(r, swaps);
	return cost;
}

/* Seconds for which the kernels of a cost have multiprocessors. */
static double occupied(const struct cost *cost)
{
	double seconds = 0;

	for (int t = 0; t < TERM_COUNT; t++)
		seconds += t == TERM_LAUNCH ? 0 : cost->term[t];
	return seconds;
}

/* All blocks of a kernel fit at once, and live until the last column. */
struct cost cost_laswp(struct cost_reader *r, struct matrix a, int64_t swaps)
{
	const double at[] = {(double)swaps, (double)a.n, !in_l2(r, a)};
	struct cost cost = cost_if_measured(r, estimated_laswp(r, a, swaps),
	        OF_PRECISION("gpu.laswp", a.precision), axes_swaps, at, 3);

	cost.block_lifetime = occupied(&cost) / ceil((double)swaps / LASWP_SWAPS);
	return cost;
}

/* A shuffle for every row of the triangle and an FMA for every two. */
static double lu_solve(struct cost_reader *r, struct matrix c, int64_t k)
{
	const char *fma = c.precision == SINGLE ? "gpu.fma.s.latency" : "gpu.fma.d.latency";

	return (double)k * (cost_scalar(r, "gpu.warp.shuffle.latency") + cost_scalar(r, fma));
}

/* Rounds of blocks, each with the triangle and twice its columns in shared memory. */
static double lu_top_waves(struct cost_reader *r, struct matrix c, int64_t k)
{
	const double wide = k <= 64 ? 64 : 128, word = (double)precision_bytes(c.precision),
	             bytes = wide * (wide + 2 * LU_COLUMNS) * word,
	             places = fmin(cost_resident_blocks(r, LU_THREADS, LU_REGISTERS),
	                     floor(cost_scalar(r, "gpu.shared.per_block") / bytes));

	return ceil(ceil((double)c.n / LU_COLUMNS) /
	            (fmax(1, places) * cost_scalar(r, "gpu.sm.count")));
}

/* A kernel's surface, of panels whose columns begin at 16 bytes. Others are copied word by word. */
static struct cost as_measured(struct cost_reader *r, struct cost cost, const char *name,
        const char *unaligned, const char *const *axes, const double *at, size_t count)
{
	if (!cost_known(r, name))
		return cost;
	const double time = cost_surface(r, name, axes, at, count);
	return cost_as_measured(
	        cost, unaligned ? cost_unaligned(r, time, unaligned, name, axes, at, count) : time);
}

/* Row swaps by blocks that also go through the triangle. */
struct cost cost_lu_top(struct cost_reader *r, struct matrix c, int64_t k, bool aligned)
{
	const double at[] = {(double)k, (double)c.n, !in_l2(r, c)};
	struct cost cost = cost_laswp(r, c, k);

	cost.term[TERM_BARRIER] += lu_solve(r, c, k);
	cost = as_measured(r, cost, OF_PRECISION("gpu.lu_top", c.precision),
	        aligned ? NULL : OF_PRECISION("gpu.lu_top_unaligned", c.precision), axes_swaps, at,
	        3);
	cost.block_lifetime = occupied(&cost) / lu_top_waves(r, c, k);
	cost.early = true;
	cost.enqueue = cost_enqueue_early(r);
	return cost;
}

/* Swaps, solve and update in one kernel: the pivots and the rows that they name, in turn; the
 * solve; the other operations and the bytes of a block. */
static struct cost one_kernel(struct cost_reader *r, struct matrix c, int64_t k)
{
	double blocks = LU_CLUSTER * ceil((double)c.n / LU_COLUMNS), rows = (double)(c.m - k);
	const char *rate = c.precision == SINGLE ? "gpu.fma.s.rate" : "gpu.fma.d.rate";
	struct cost cost = cost_kernel(r);

	cost.coresident = true;
	cost.early = true;
	cost.enqueue = cost_enqueue_early(r);
	cost.share = cost_share(r, blocks);
	cost.term[TERM_BARRIER] = 2 * cost_scalar(r, "gpu.l2.latency") + lu_solve(r, c, k);
	cost.term[TERM_ARITHMETIC] = 2 * rows * (double)c.n * (double)k *
	                             cost_scalar(r, "gpu.sm.count") /
	                             (blocks * cost_scalar(r, rate));
	cost.term[TERM_MEMORY] = rows * (double)(k + 2 * LU_COLUMNS) *
	                         (double)precision_bytes(c.precision) / LU_CLUSTER /
	                         cost_scalar(r, "gpu.sm.l2_read");
	return cost;
}

/* The rows that take as long: the blocks of a cluster, or half of them where half is enough, go
 * through their rows in rounds. */
static double lu_columns_rows(struct matrix c, int64_t k)
{
	const double turn = BLOCK_LU_COLUMNS_TURN / (double)precision_bytes(c.precision),
	             below = (double)(c.m - k);

	return 2 * below <= turn ? (double)c.m : (double)k + turn * ceil(below / turn);
}

/* A device whose profile has the kernel's surface runs the kernel; else it runs two kernels. */
struct cost cost_lu_columns(struct cost_reader *r, struct matrix c, int64_t k, bool aligned)
{
	const double at[] = {lu_columns_rows(c, k), (double)k};
	const char *name = OF_PRECISION("gpu.lu_columns", c.precision);

	if (cost_known(r, name))
		return as_measured(r, one_kernel(r, c, k), name,
		        aligned ? NULL : OF_PRECISION("gpu.lu_columns_unaligned", c.precision),
		        axes_mn, at, 2);
	return cost_both(cost_lu_top(r, c, k, aligned),
	        cost_gemm(r, PLAIN, PLAIN, matrix_view(c, k, 0, c.m - k, c.n), k, true, true));
}

/* A solve without swaps takes the difference between one with swaps and the swaps alone, and a
 * launch and its words. Without surfaces: the words, the swaps followed as in laswp, the library's
 * solve. */
struct cost cost_lu_rows(
        struct cost_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves)
{
	const double at[] = {(double)k, (double)c.m, !in_l2(r, c)};
	const char *alone = OF_PRECISION("gpu.swap_rows", c.precision),
	           *name = solves ? OF_PRECISION("gpu.lu_rows", c.precision) : alone;
	const double words = (exchanges ? 4 : 2) * (double)k * (double)c.m;
	struct cost cost =
	        cost_sweep(r, "gpu.copy.time", words * (double)precision_bytes(c.precision));

	cost.coresident = true;
	cost.share = cost_share(r, ceil((double)c.m / LU_ROWS_COLUMNS));
	cost.term[TERM_BARRIER] = exchanges ? compose(r, k) : 0;
	if (cost_known(r, name) && exchanges)
		cost = cost_as_measured(cost, cost_surface(r, name, axes_swaps, at, 3));
	else if (cost_known(r, name))
		cost.term[TERM_BARRIER] =
		        fmax(0, cost_surface(r, name, axes_swaps, at, 3) -
		                        cost_surface(r, alone, axes_swaps, at, 3));
	else if (solves)
		cost = cost_both(cost, cost_trsm(r, LEFT, UNIT, k, c.m, c.precision));
	cost.block_lifetime = occupied(&cost);
	return cost;
}
