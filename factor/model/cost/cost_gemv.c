/* SPDX-License-Identifier: MIT */
/* Costs of matrix times vector and of rank-1 updates on the device, from surfaces by m, n (start to
 * start), in L2 or not. The host queues them as the library's level 2, our own gemv as a kernel. */
#include "cost_blocks.h"

#include <math.h>

/* The rows are aligned; our own kernel loads narrower words where lda is not. */
static const char *const gemv_axes[] = {"m", "n", "cold", "lda"};

static double cold_gemv(struct cost_reader *r, const char *name, struct matrix a)
{
	const double at[] = {(double)a.m, (double)a.n, 1, (double)a.ld};

	return cost_surface_with(r, name, gemv_axes, at, 3, 4);
}

/* What decides how L2 serves a matrix that is read repeatedly: the bytes a second beyond its first
 * quarter, and whether a line goes to one block. Blocks that share lines ask for each more than
 * once, and from both partitions of L2. narrow: loads of single words along columns. */
struct sweep {
	double rate;
	bool whole_lines, narrow;
};

/* The surface's rows around a matrix of more than a quarter of L2 may be too large for L2. The law
 * knows which, but not how L2 serves shared lines. With these, or without a known work, the cost is
 * that of a matrix with half its sides, and the other bytes take what they take in L2: whole lines
 * as in the probe's reads. No more than the surface has: rows around a larger matrix make that
 * longer, never shorter. Narrow loads take more instructions: with them it is no less than the law
 * says of the whole matrix by the efficiency of the half. */
static double warm_gemv(
        struct cost_reader *r, const char *name, struct matrix a, const struct sweep *sweep)
{
	static const char reads[] = "gpu.read.time";
	const double bytes = cost_bytes(a), m = (double)a.m, n = (double)a.n,
	             whole[] = {m, n, 0, (double)a.ld}, half[] = {m / 2, n / 2, 0, (double)a.ld};
	const bool large = 4 * bytes > cost_scalar(r, "gpu.l2.stated"),
	           known = cost_by_work(r, name, gemv_axes, whole, 3);

	if (!large || (sweep->whole_lines && known))
		return cost_surface_with(r, name, gemv_axes, whole, 3, 4);
	const double time = cost_surface_with(r, name, gemv_axes, half, 3, 4) +
	                    (sweep->whole_lines && cost_known(r, reads)
	                                    ? cost_surface1(r, reads, "bytes", bytes) -
	                                              cost_surface1(r, reads, "bytes", bytes / 4)
	                                    : 0.75 * bytes / sweep->rate);
	return known && sweep->narrow
	               ? fmax(time, cost_surface_near(r, name, gemv_axes, half, whole, 3, 4))
	               : fmin(time, cost_surface_with(r, name, gemv_axes, whole, 3, 4));
}

/* The share of a matrix that L2 holds until the next call. Of shared lines a growing part is lost
 * from the size of one partition on. */
static double held(struct cost_reader *r, double bytes, const struct sweep *sweep)
{
	const double all = cost_scalar(r, "gpu.l2.stated"), near = cost_near_l2(r);

	if (sweep->whole_lines)
		return cost_l2_hits(r, bytes);
	return bytes <= near ? 1 : fmax(0, (all - bytes) / (all - near));
}

static double gemv_time(
        struct cost_reader *r, const char *name, struct matrix a, const struct sweep *sweep)
{
	const double part = held(r, cost_bytes(a), sweep);

	return (part > 0 ? part * warm_gemv(r, name, a, sweep) : 0) +
	       (part < 1 ? (1 - part) * cold_gemv(r, name, a) : 0);
}

/* Seconds of the host for the library's call. It divides the long sums of a tall matrix,
 * transposed, and adds up their parts by a second kernel, which the host queues as well. */
static double enqueue_library(struct cost_reader *r, enum trans trans, struct matrix a)
{
	enum { TALL = 8 /* rows a column */, DIVIDED = 2048 /* rows: seen with cuBLAS 13 */ };
	const bool turned = trans == TRANSPOSED, tall = a.m >= TALL * a.n;
	const char *call = turned ? "gpu.cublas.gemv_t" : "gpu.cublas.gemv",
	           *by_height = turned ? "gpu.cublas.gemv_t_rows" : "gpu.cublas.gemv_rows";

	if (tall && cost_known(r, by_height))
		return cost_at(r, by_height, "rows", (double)a.m);
	const double first =
	        cost_known(r, call) ? cost_scalar(r, call) : cost_scalar(r, "gpu.cublas.level2");
	return first +
	       (tall && turned && a.m >= DIVIDED ? cost_scalar(r, "gpu.launch.enqueue") : 0);
}

/* Our own kernel where the profile has it. */
struct cost cost_gemv(struct cost_reader *r, enum trans trans, struct matrix a)
{
	static const char *const names[2][2][2] = {
	        {{"gpu.gemv.d.n", "gpu.gemv.d.t"}, {"gpu.gemv.s.n", "gpu.gemv.s.t"}},
	        {{"gpu.own_gemv.d.n", "gpu.own_gemv.d.t"},
	                {"gpu.own_gemv.s.n", "gpu.own_gemv.s.t"}}};
	bool single = a.precision == SINGLE;
	bool own = !r->blas_only && cost_known(r, names[1][single][trans == TRANSPOSED]);
	const char *name = names[own][single][trans == TRANSPOSED];
	/* columns are read along, by words of 16 bytes */
	const bool along = trans == TRANSPOSED,
	           whole = along && a.ld * precision_bytes(a.precision) % 16 == 0;
	const struct sweep sweep = {cost_scalar(r, "gpu.l2.read"), whole, own && along && !whole};
	const double seconds = gemv_time(r, name, a, &sweep);
	struct cost cost = cost_library(r, seconds, TERM_MEMORY);

	cost.withheld = !own;
	cost.enqueue = own ? cost_enqueue_early(r) : enqueue_library(r, trans, a);
	return cost;
}

/* The library's ger writes what it has read, so L2 holds as much as for gemv. The rate is that of a
 * copy in L2, which counts both ways. */
struct cost cost_ger_measured(struct cost_reader *r, struct matrix a)
{
	const char *name = OF_PRECISION("gpu.ger", a.precision);
	const struct sweep sweep = {cost_scalar(r, "gpu.l2.copy") / 2, false, false};

	return cost_library(r, gemv_time(r, name, a, &sweep), TERM_MEMORY);
}
