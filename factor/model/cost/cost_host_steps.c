/* SPDX-License-Identifier: MIT */
/* Costs of the host executor's operations on LU's panels at level 2: the calls of its BLAS and
 * LAPACK from the rate surfaces of the host_rate probe. Copies of panels cost nothing: the panel is
 * in place. The reference code of the fused and resident operations has no costs. */
#include "cost.h"

#include <math.h>

enum { LINE_BYTES = 64 };

static struct cost call(double seconds)
{
	return (struct cost){.wait = true, .term[TERM_HOST] = seconds};
}

/* How many such parts the panel has. The surfaces need it to know the cache that holds the panel;
 * panels smaller and larger than measured lie in the same cache. */
static double times_in_panel(
        struct cost_reader *r, const char *name, const char *arg, struct matrix part)
{
	double times = r->working_set / cost_bytes(part), low, high;

	return model_range(&r->model, name, arg, &low, &high) ? fmin(fmax(times, low), high)
	                                                      : times;
}

static struct cost of_column(struct cost_reader *r, const char *name, struct matrix x)
{
	return call(cost_at2(r, name, "m", (double)x.m, "n", times_in_panel(r, name, "n", x)));
}

static struct cost iamax(struct cost_reader *r, struct matrix x)
{
	return of_column(r, x.precision == SINGLE ? "host.iamax.s" : "host.iamax.d", x);
}

static struct cost scal(struct cost_reader *r, struct matrix x)
{
	return of_column(r, x.precision == SINGLE ? "host.scal.s" : "host.scal.d", x);
}

static struct cost swap(struct cost_reader *r, struct matrix row)
{
	const char *name = row.precision == SINGLE ? "host.swap.s" : "host.swap.d";

	return call(cost_at2(r, name, "m", times_in_panel(r, name, "m", row), "n", (double)row.n));
}

static struct cost ger(struct cost_reader *r, struct matrix a)
{
	const char *name = a.precision == SINGLE ? "host.ger.s" : "host.ger.d";

	return call(cost_at2(r, name, "m", (double)a.m, "n", (double)a.n));
}

static struct cost zero_pivot(struct cost_reader *r, struct matrix a)
{
	double bytes = (double)a.n * LINE_BYTES;

	return (struct cost){.wait = true,
	        .term[TERM_MEMORY] =
	                bytes / cost_host_rate(r, "host.memory.read", r->working_set)};
}

/* The value is in place already. */
static struct cost nothing(struct cost_reader *r, struct matrix a)
{
	return (struct cost){.wait = true};
}

static struct cost store_pivots(struct cost_reader *r, int64_t n)
{
	return (struct cost){.wait = true};
}

static double sync(struct cost_reader *r)
{
	return 0;
}

const struct cost_model cost_host_level2 = {.iamax = iamax,
        .iamax_host = iamax,
        .nrm2 = iamax,
        .get = nothing,
        .swap = swap,
        .scal = scal,
        .scale_by = scal,
        .ger = ger,
        .zero_pivot = zero_pivot,
        .store_pivots = store_pivots,
        .sync = sync};
