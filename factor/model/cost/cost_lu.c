/* SPDX-License-Identifier: MIT */
/* Exchanges of rows, and LU's kernels that have them in, at level 2. laswp touches, in every
 * column, 2 p.n words of the top rows, which lie together, and 2 p.n words elsewhere, each a sector
 * of its own (in L2) or an access of its own (in DRAM, by the law of strided copies), after every
 * block has read the pivots and followed p.n exchanges, six dependent integer instructions and a
 * read of shared memory each. Where the profile has a kernel as a surface (the block_kernel probe),
 * the surface says how long it takes, and all this what that time goes to. */
#include "cost_blocks.h"

#include "factor/kernels/blocks/block_kernels.h"

#include <math.h>

enum {
	WIDEST_STRIDE = 512,  /* words, of the copy probe */
	LASWP_COLUMNS = 8,    /* of a block */
	LASWP_SWAPS = 128,    /* of a kernel */
	LU_ROWS_COLUMNS = 64, /* of a block of lu_rows */
	LU_CLUSTER = 8,       /* blocks that have so many columns right of an LU panel */
	LU_COLUMNS = 8,
	MOST_BLOCKS = 8 /* of 256 threads on a multiprocessor */
};

static double larger(double a, double b)
{
	return b > a ? b : a;
}

/* Seconds that an element takes that lies apart from all others, read and written: two thirds of
 * what the widest strided copy takes for one, which reads in one place and, to write a part of a
 * sector, reads and writes in another. */
static double scattered(struct cost_reader *r, int64_t ld)
{
	double stride = fmin((double)ld, WIDEST_STRIDE);

	return 2.0 / 3 * 2 * sizeof(float) /
	       cost_surface2(r, "gpu.copy.stride", "words", 0, "stride", stride);
}

/* What all multiprocessors read lies in either half of an L2 that has two. */
static bool in_l2(struct cost_reader *r, struct matrix a)
{
	return cost_bytes(a) <= cost_near_l2(r);
}

/* Seconds to read so many pivots and to follow the exchanges. */
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
	double apart = in_l2(r, a) ? 2 * cost_scalar(r, "gpu.l2.sector") : 0;
	struct cost cost = cost_sweep(r, "gpu.copy.time", elements * (2 * word + apart));

	if (!in_l2(r, a))
		cost.term[TERM_MEMORY] += elements * scattered(r, a.ld);
	cost.share = cost_share(r, ceil((double)a.n / LASWP_COLUMNS));
	cost.term[TERM_BARRIER] = compose(r, swaps);
	return cost;
}

/* Seconds that a cost's kernels have multiprocessors. */
static double stay(const struct cost *cost)
{
	double seconds = 0;

	for (int t = 0; t < TERM_COUNT; t++)
		seconds += t == TERM_LAUNCH ? 0 : cost->term[t];
	return seconds;
}

/* All blocks of its kernels fit at once, and stay until the last column. */
struct cost cost_laswp(struct cost_reader *r, struct matrix a, int64_t swaps)
{
	static const char *const axes[] = {"swaps", "n", "cold"};
	const double at[] = {(double)swaps, (double)a.n, !in_l2(r, a)};
	const char *name = a.precision == SINGLE ? "gpu.laswp.s" : "gpu.laswp.d";
	struct cost cost = estimated_laswp(r, a, swaps);

	if (cost_known(r, name))
		cost = cost_as_measured(cost, cost_surface(r, name, axes, at, 3));
	cost.block = stay(&cost) / ceil((double)swaps / LASWP_SWAPS);
	return cost;
}

/* A shuffle for every row of the triangle and an FMA for every two. */
static double lu_solve(struct cost_reader *r, struct matrix c, int64_t k)
{
	bool single = c.precision == SINGLE;

	return (double)k *
	       (cost_scalar(r, "gpu.warp.shuffle.latency") +
	               cost_scalar(r, single ? "gpu.fma.s.latency" : "gpu.fma.d.latency"));
}

/* How often a multiprocessor gets blocks that hold the triangle, and their columns twice, in shared
 * memory. */
static double lu_top_waves(struct cost_reader *r, struct matrix c, int64_t k)
{
	const double wide = k <= 64 ? 64 : 128, word = (double)precision_bytes(c.precision),
	             bytes = wide * (wide + 2 * LU_COLUMNS) * word,
	             places = fmin(
	                     MOST_BLOCKS, floor(cost_scalar(r, "gpu.shared.per_block") / bytes));

	return ceil(ceil((double)c.n / LU_COLUMNS) /
	            (larger(1, places) * cost_scalar(r, "gpu.sm.count")));
}

/* The exchange of rows, whose blocks go through the triangle as well. */
struct cost cost_lu_top(struct cost_reader *r, struct matrix c, int64_t k)
{
	static const char *const axes[] = {"swaps", "n", "cold"};
	const double at[] = {(double)k, (double)c.n, !in_l2(r, c)};
	const char *name = c.precision == SINGLE ? "gpu.lu_top.s" : "gpu.lu_top.d";
	struct cost cost = cost_laswp(r, c, k);

	cost.term[TERM_BARRIER] += lu_solve(r, c, k);
	if (cost_known(r, name))
		cost = cost_as_measured(cost, cost_surface(r, name, axes, at, 3));
	cost.block = stay(&cost) / lu_top_waves(r, c, k);
	cost.early = true;
	return cost;
}

/* In one kernel: the pivots and the rows they name, one after the other; the solution; the other
 * operations and the bytes of a block. */
static struct cost one_kernel(struct cost_reader *r, struct matrix c, int64_t k)
{
	double blocks = LU_CLUSTER * ceil((double)c.n / LU_COLUMNS), rows = (double)(c.m - k);
	const char *rate = c.precision == SINGLE ? "gpu.fma.s.rate" : "gpu.fma.d.rate";
	struct cost cost = cost_kernel(r);

	cost.loose = true;
	cost.early = true;
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

/* Rows that take as long: the blocks of a cluster, half of them as long as that is enough, go
 * through theirs in turns (H100: of 64 columns right of 64, less a mark's time, up to 2100 rows 10
 * us, up to 4160 13, up to 8256 17). */
static double lu_columns_rows(struct matrix c, int64_t k)
{
	const double turn = BLOCK_LU_COLUMNS_TURN / (double)precision_bytes(c.precision),
	             below = (double)(c.m - k);

	return 2 * below <= turn ? (double)c.m : (double)k + turn * ceil(below / turn);
}

/* Where the profile has the surface of the kernel the device has the kernel; else it is two. */
struct cost cost_lu_columns(struct cost_reader *r, struct matrix c, int64_t k)
{
	static const char *const axes[] = {"m", "n"};
	const double at[] = {lu_columns_rows(c, k), (double)k};
	const char *name = c.precision == SINGLE ? "gpu.lu_columns.s" : "gpu.lu_columns.d";

	if (cost_known(r, name))
		return cost_as_measured(one_kernel(r, c, k), cost_surface(r, name, axes, at, 2));
	return cost_both(cost_lu_top(r, c, k),
	        cost_gemm(r, PLAIN, PLAIN, matrix_view(c, k, 0, c.m - k, c.n), k));
}

/* A solve without exchanges takes what one with them takes more than they do alone, and a launch
 * and the words it moves. Where the profile does not have it: the words, the exchanges composed as
 * laswp's, the solve as the library's. */
struct cost cost_lu_rows(
        struct cost_reader *r, struct matrix c, int64_t k, bool exchanges, bool solves)
{
	static const char *const axes[] = {"swaps", "n", "cold"};
	const double at[] = {(double)k, (double)c.m, !in_l2(r, c)};
	const char *alone = c.precision == SINGLE ? "gpu.swap_rows.s" : "gpu.swap_rows.d";
	const char *name = !solves                 ? alone
	                   : c.precision == SINGLE ? "gpu.lu_rows.s"
	                                           : "gpu.lu_rows.d";
	const double words = (exchanges ? 4 : 2) * (double)k * (double)c.m;
	struct cost cost =
	        cost_sweep(r, "gpu.copy.time", words * (double)precision_bytes(c.precision));

	cost.loose = true;
	cost.share = cost_share(r, ceil((double)c.m / LU_ROWS_COLUMNS));
	cost.term[TERM_BARRIER] = exchanges ? compose(r, k) : 0;
	if (cost_known(r, name) && exchanges)
		cost = cost_as_measured(cost, cost_surface(r, name, axes, at, 3));
	else if (cost_known(r, name))
		cost.term[TERM_BARRIER] = larger(0,
		        cost_surface(r, name, axes, at, 3) - cost_surface(r, alone, axes, at, 3));
	else if (solves)
		cost = cost_both(cost, cost_trsm(r, LEFT, UNIT, k, c.m, c.precision));
	cost.block = stay(&cost);
	return cost;
}
