/* SPDX-License-Identifier: MIT */
/* Prices of the host executor's operations at level 2: the calls of its BLAS and LAPACK, each from
 * the rate surface of the host_rate probe; what bounds them is the library's code as often as the
 * memory. Panel copies cost nothing, the panel is there already; the reference code of the fused
 * and resident operations is not priced. */
#include "price.h"

#include <math.h>

enum { LINE_BYTES = 64 };

static struct price call(double seconds)
{
	return (struct price){.wait = true, .term[TERM_HOST] = seconds};
}

/* How often the panel holds a part of it. The surfaces need it only to know the cache in which the
 * panel lies: smaller and larger panels than measured are in the same one. */
static double times_in_panel(
        struct price_reader *r, const char *name, const char *arg, struct matrix part)
{
	double times = r->working_set / price_bytes(part), low, high;

	return model_range(&r->model, name, arg, &low, &high) ? fmin(fmax(times, low), high)
	                                                      : times;
}

static struct price of_column(struct price_reader *r, const char *name, struct matrix x)
{
	return call(price_at2(r, name, "m", (double)x.m, "n", times_in_panel(r, name, "n", x)));
}

static struct price iamax(struct price_reader *r, struct matrix x)
{
	return of_column(r, x.precision == SINGLE ? "host.iamax.s" : "host.iamax.d", x);
}

static struct price scal(struct price_reader *r, struct matrix x)
{
	return of_column(r, x.precision == SINGLE ? "host.scal.s" : "host.scal.d", x);
}

static struct price swap(struct price_reader *r, struct matrix row)
{
	const char *name = row.precision == SINGLE ? "host.swap.s" : "host.swap.d";

	return call(price_at2(r, name, "m", times_in_panel(r, name, "m", row), "n", (double)row.n));
}

static struct price ger(struct price_reader *r, struct matrix a)
{
	const char *name = a.precision == SINGLE ? "host.ger.s" : "host.ger.d";

	return call(price_at2(r, name, "m", (double)a.m, "n", (double)a.n));
}

static struct price zero_pivot(struct price_reader *r, struct matrix a)
{
	double bytes = (double)a.n * LINE_BYTES;

	return (struct price){.wait = true,
	        .term[TERM_MEMORY] =
	                bytes / price_host_rate(r, "host.memory.read", r->working_set)};
}

/* A value that is where it is wanted. */
static struct price nothing(struct price_reader *r, struct matrix a)
{
	(void)r;
	(void)a;
	return (struct price){.wait = true};
}

static struct price store_pivots(struct price_reader *r, int64_t n)
{
	(void)r;
	(void)n;
	return (struct price){.wait = true};
}

static double sync(struct price_reader *r)
{
	(void)r;
	return 0;
}

const struct tariff tariff_host_full = {.iamax = iamax,
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
