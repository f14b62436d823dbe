/* SPDX-License-Identifier: MIT */
/* Prices of the host executor's operations at level 2: a short call of the BLAS plus the bytes it
 * moves at the bandwidth of one thread for the working set (host.memory.*). A strided row moves
 * whole cache lines. Panel copies cost nothing, the panel is there already; the reference code of
 * the fused and resident operations is not priced. */
#include "price.h"

enum { LINE_BYTES = 64 };

/* Seconds to move bytes, the working set being that of the panel or of the operation itself,
 * whichever is larger. */
static double moved(struct price_reader *r, const char *bandwidth, double bytes)
{
	double working_set = bytes > r->working_set ? bytes : r->working_set;

	return bytes / price_at2(r, bandwidth, "threads", 1, "bytes", working_set);
}

static struct price call(double startup, double memory)
{
	return (struct price){
	        .wait = true, .term[TERM_HOST] = startup, .term[TERM_MEMORY] = memory};
}

static struct price iamax(struct price_reader *r, struct matrix x)
{
	return call(
	        price_scalar(r, "host.blas.level1"), moved(r, "host.memory.read", price_bytes(x)));
}

static struct price swap(struct price_reader *r, struct matrix row)
{
	return call(price_scalar(r, "host.blas.level1"),
	        moved(r, "host.memory.copy", 4 * (double)row.n * LINE_BYTES));
}

static struct price scal(struct price_reader *r, struct matrix x)
{
	return call(price_scalar(r, "host.blas.level1"),
	        moved(r, "host.memory.copy", 2 * price_bytes(x)));
}

static struct price ger(struct price_reader *r, struct matrix a)
{
	double bytes = 2 * price_bytes(a);

	return call(price_scalar(r, "host.blas.level2"),
	        bytes / price_at2(r, "host.memory.copy", "threads", 1, "bytes", bytes));
}

static struct price zero_pivot(struct price_reader *r, struct matrix a)
{
	return call(0, moved(r, "host.memory.read", (double)a.n * LINE_BYTES));
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

static struct price host_getrf(struct price_reader *r, struct matrix a)
{
	return call(price_host_getrf(r, a), 0);
}

static double sync(struct price_reader *r)
{
	(void)r;
	return 0;
}

const struct tariff tariff_host_full = {.iamax = iamax,
        .iamax_host = iamax,
        .get = nothing,
        .swap = swap,
        .scal = scal,
        .scale_by = scal,
        .ger = ger,
        .zero_pivot = zero_pivot,
        .store_pivots = store_pivots,
        .copy_out = nothing,
        .host_getrf = host_getrf,
        .copy_in = nothing,
        .sync = sync};
