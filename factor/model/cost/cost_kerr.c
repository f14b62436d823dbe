/* SPDX-License-Identifier: MIT */
/* Costs of Kerr's kernels on the device: a start, and what the hardware law says of their work
 * (factor/papers/kerr_work.c), which no probe times. Without a law, the time of their bytes. */
#include "cost_blocks.h"

#include <math.h>

static struct cost by_law(struct cost_reader *r, const char *name, const char *const *axes,
        const double at[2], const char *curve, double bytes)
{
	struct cost cost = cost_sweep(r, curve, bytes);
	const double body = cost_of_work(r, name, axes, at, 2);

	if (isfinite(body)) {
		cost.term[TERM_BARRIER] = fmax(0, body - cost.term[TERM_MEMORY]);
		cost.term[TERM_MEMORY] = fmin(body, cost.term[TERM_MEMORY]);
	}
	return cost;
}

struct cost cost_kerr_gemv(struct cost_reader *r, enum trans trans, struct matrix a)
{
	enum { THREADS = 64 };
	const double at[] = {(double)a.m, (double)a.n};
	const bool transposed = trans == TRANSPOSED;
	struct cost cost = by_law(r,
	        transposed ? OF_PRECISION("gpu.kerr_gemv.t", a.precision)
	                   : OF_PRECISION("gpu.kerr_gemv.n", a.precision),
	        axes_mn, at, "gpu.read.time", cost_bytes(a) + (double)(a.m + a.n) * word_bytes(a));

	cost.share = cost_share(r, transposed ? (double)a.n : ceil((double)a.m / THREADS));
	return cost;
}

struct cost cost_kerr_house(struct cost_reader *r, struct matrix a, int64_t j)
{
	static const char *const axes[] = {"m", "j"};
	const double at[] = {(double)a.m, (double)j};

	return by_law(r, OF_PRECISION("gpu.kerr_house", a.precision), axes, at, "gpu.copy.time",
	        2 * (double)(a.m - j) * word_bytes(a));
}
