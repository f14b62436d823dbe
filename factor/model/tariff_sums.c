/* SPDX-License-Identifier: MIT */
/* Level 1: LAWN 202 eq. (2) for every call, alpha + bytes / beta, summed. Nothing overlaps, memory
 * has one bandwidth, a kernel one start-up: gpu.launch.stream, inside a persistent kernel a grid
 * barrier a column. Words as in LAWN 202 section 3.8. */
#include "price.h"

static double word_of(struct matrix a)
{
	return (double)precision_bytes(a.precision);
}

static struct price call(struct price_reader *r, double bytes)
{
	return (struct price){.wait = true,
	        .term[TERM_LAUNCH] = price_scalar(r, "gpu.launch.stream"),
	        .term[TERM_MEMORY] = bytes / price_scalar(r, "gpu.copy.beta")};
}

static struct price from_device(struct price_reader *r, double bytes)
{
	return (struct price){.wait = true,
	        .term[TERM_TRANSFER] = model_line(price_scalar(r, "link.d2h.pinned.alpha"),
	                price_scalar(r, "link.d2h.pinned.beta"), bytes)};
}

static struct price to_device(struct price_reader *r, double bytes)
{
	return (struct price){.wait = true,
	        .term[TERM_TRANSFER] = model_line(price_scalar(r, "link.h2d.pinned.alpha"),
	                price_scalar(r, "link.h2d.pinned.beta"), bytes)};
}

static double ger_bytes(struct matrix a)
{
	return 2 * price_bytes(a) + (double)(a.m + a.n) * word_of(a);
}

static struct price iamax(struct price_reader *r, struct matrix x)
{
	return call(r, price_bytes(x));
}

static struct price column_from_device(struct price_reader *r, struct matrix x)
{
	return from_device(r, price_bytes(x));
}

static struct price swap(struct price_reader *r, struct matrix row)
{
	return call(r, 4 * price_bytes(row));
}

static struct price scal(struct price_reader *r, struct matrix x)
{
	return call(r, 2 * price_bytes(x));
}

static struct price ger(struct price_reader *r, struct matrix a)
{
	return call(r, ger_bytes(a));
}

static struct price zero_pivot(struct price_reader *r, struct matrix a)
{
	return from_device(r, (double)a.n * word_of(a));
}

static struct price store_pivots(struct price_reader *r, int64_t n)
{
	return to_device(r, (double)(n + 1) * sizeof(int));
}

static struct price fused_begin(struct price_reader *r, struct matrix a)
{
	return call(r, (double)a.m * word_of(a));
}

static struct price fused_pivot(struct price_reader *r, struct matrix a, int64_t j)
{
	(void)j;
	return call(r, 4 * (double)a.n * word_of(a));
}

static struct price fused_update(struct price_reader *r, struct matrix a, int64_t j)
{
	double column = 2 * (double)(a.m - j) * word_of(a);

	return call(r, column + 2 * price_bytes(matrix_view(a, 0, 0, a.m - j - 1, a.n - j - 1)));
}

static struct price resident_panel(
        struct price_reader *r, struct matrix a, const struct panel_geometry *g)
{
	struct price price = call(r, 2 * price_bytes(a));

	price.term[TERM_BARRIER] = (double)a.n * price_at2(r, "gpu.barrier.grid", "blocks",
	                                                 g->blocks, "threads", g->threads);
	return price;
}

static double sync(struct price_reader *r)
{
	(void)r;
	return 0;
}

const struct tariff tariff_cuda_sums = {iamax, column_from_device, iamax, column_from_device, swap,
        scal, scal, ger, zero_pivot, store_pivots, fused_begin, fused_pivot, fused_update,
        resident_panel, sync};

/* ---- the host: start-up is that of a short BLAS call ---- */

static struct price host_call(struct price_reader *r, const char *alpha, double bytes)
{
	return (struct price){.wait = true,
	        .term[TERM_HOST] = price_scalar(r, alpha),
	        .term[TERM_MEMORY] = bytes / price_scalar(r, "host.memory.copy.peak")};
}

static struct price host_iamax(struct price_reader *r, struct matrix x)
{
	return host_call(r, "host.blas.level1", price_bytes(x));
}

static struct price host_swap(struct price_reader *r, struct matrix row)
{
	return host_call(r, "host.blas.level1", 4 * price_bytes(row));
}

static struct price host_scal(struct price_reader *r, struct matrix x)
{
	return host_call(r, "host.blas.level1", 2 * price_bytes(x));
}

static struct price host_ger(struct price_reader *r, struct matrix a)
{
	return host_call(r, "host.blas.level2", ger_bytes(a));
}

static struct price nothing(struct price_reader *r, struct matrix a)
{
	(void)r;
	(void)a;
	return (struct price){.wait = true};
}

static struct price no_pivots(struct price_reader *r, int64_t n)
{
	(void)r;
	(void)n;
	return (struct price){.wait = true};
}

const struct tariff tariff_host_sums = {.iamax = host_iamax,
        .iamax_host = host_iamax,
        .nrm2 = host_iamax,
        .get = nothing,
        .swap = host_swap,
        .scal = host_scal,
        .scale_by = host_scal,
        .ger = host_ger,
        .zero_pivot = nothing,
        .store_pivots = no_pivots,
        .sync = sync};
