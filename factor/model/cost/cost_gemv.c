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

/* The surface's rows around a matrix of more than a quarter of L2 may be too large for L2. The cost
 * is then that of a matrix with half its sides, and the other bytes come at the rate of L2. */
static double warm_gemv(struct cost_reader *r, const char *name, struct matrix a, double rate)
{
	const double bytes = cost_bytes(a);
	const bool large = 4 * bytes > cost_scalar(r, "gpu.l2.stated");
	const double side = large ? 0.5 : 1;
	const double at[] = {side * (double)a.m, side * (double)a.n, 0, (double)a.ld};
	const double time = cost_surface_with(r, name, gemv_axes, at, 3, 4);

	return large ? time + 0.75 * bytes / rate : time;
}

/* The time when the matrix is read repeatedly. Between the size of one partition of L2, which
 * either side's multiprocessors may have to copy, and all of L2 a growing part comes from DRAM. */
static double gemv_time(struct cost_reader *r, const char *name, struct matrix a, double rate)
{
	const double all = cost_scalar(r, "gpu.l2.stated"), bytes = cost_bytes(a);
	const double near = cost_near_l2(r);

	if (bytes > all)
		return cold_gemv(r, name, a);
	const double warm = warm_gemv(r, name, a, rate);
	return bytes > near ? warm + (bytes - near) / (all - near) * (cold_gemv(r, name, a) - warm)
	                    : warm;
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
	const char *call = trans == TRANSPOSED ? "gpu.cublas.gemv_t" : "gpu.cublas.gemv";
	struct cost cost =
	        cost_library(r, gemv_time(r, name, a, cost_scalar(r, "gpu.l2.read")), TERM_MEMORY);

	if (own)
		cost.enqueue = cost_scalar(r, "gpu.launch.enqueue");
	else if (cost_known(r, call))
		cost.enqueue = cost_scalar(r, call);
	return cost;
}

/* The library's ger writes what it has read, so L2 holds as much as for gemv. The rate is that of a
 * copy in L2, which counts both ways. */
struct cost cost_ger_measured(struct cost_reader *r, struct matrix a)
{
	const char *name = OF_PRECISION("gpu.ger", a.precision);

	return cost_library(
	        r, gemv_time(r, name, a, cost_scalar(r, "gpu.l2.copy") / 2), TERM_MEMORY);
}
